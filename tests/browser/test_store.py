"""The page's state against a source that a test holds in its hands: gaps, joins, races and pages that grow."""

from __future__ import annotations

from playwright.async_api import Locator, expect

from glasshouse import Terrarium
from tests.browser.looking import Looking, Viewer, page_of

# A source whose story says "line K" at event K, and which answers when it is told to.
SOURCE = """
(async () => {
  const page = 1000;
  const asked = [];
  const waiting = [];
  let runs = {r: {title: "r", state: "playing", seed: "", rng_seed: 0, spent: {turns: 0, calls: 0, tokens: 0, usd: 0}}};
  let events = 3_500;
  let shift = 0;
  let handlers = null;
  const recordOf = (k) => ({k, p: k, id: `s.${k + shift}`, row: {icon: "line", actor: "a", turn: 1, text: `line ${k + shift}`, tokens: 1},
    d: [["s", ["scene"], {n: k + shift}]]});
  const viewAt = (k) => ({k, position: k, event_id: `s.${k + shift}`, role: "director", runs: structuredClone(runs), scene: {n: k + shift}, graphs: {},
    creatures: {}, channels: {}, wires: {}, lanes: {s: {graph: "g", origin: "root", parents: [], first: 1, last: k}}, approvals: {},
    contest: {teams: {}, score: {}, verdicts: [], sealed: {}}});
  const answer = (name, make) => new Promise((resolve) => {
    asked.push(name);
    const give = () => resolve(make());
    if (fake.isHeld && name.startsWith("records")) waiting.push(give);
    else give();
  });
  const fake = {
    kind: "server", isHeld: false, asked, streams: 0,
    me: async () => ({}), runs: async () => [], worlds: async () => [], lineage: async () => ({family: []}),
    timeline: () => answer("timeline", () => ({events, width: 2, bins: [], marks: []})),
    view: (run, at) => answer(`view ${at}`, () => viewAt(at ?? events)),
    records: (run, number) => answer(`records ${number}`, () => {
      const some = [];
      for (let k = number * page + 1; k <= Math.min(events, (number + 1) * page); k += 1) some.push(recordOf(k));
      return some;
    }),
    about: async (run, id) => ({k: Number(id.slice(2)) - shift}),
    stream: (run, given) => { fake.streams += 1; handlers = given; handlers.onConnection(true); handlers.onView(viewAt(events)); return () => (handlers = null); },
    post: async () => ({}),
    happen: (count) => { for (let n = 0; n < count; n += 1) handlers.onRecord(recordOf(events += 1)); },
    skip: (count) => (events += count),
    join: () => { runs = {...runs, q: runs.r}; shift = -500; events += 500; handlers.onView(viewAt(events)); },
    release: async () => { while (waiting.length) { waiting.shift()(); await new Promise((done) => setTimeout(done)); } },
  };
  window.fake = fake;
  store.readFrom(fake);
  await store.open("r");
})()
"""

rows_in_page_max = 40
"""Rows of the script that are in the page: those in sight, and some above and below."""
IS_WHOLE = """() => {
  const [room, row] = [".script-scroll", ".script-row.is-newest"].map((name) => document.querySelector(name).getBoundingClientRect());
  return row.top >= room.top && row.bottom <= room.bottom + 1;
}"""
# Scrolls up until a row of an event before `k` is in the page: its number, and how many rows are in the page then.
SCROLL_UP = """async (k) => {
  const box = document.querySelector(".script-scroll");
  for (let tries = 0; tries < 600; tries += 1) {
    const rows = [...document.querySelectorAll(".script-row")];
    if (!document.querySelector(".script-gap") && Number(rows[0]?.dataset.k) < k) return [Number(rows[0].dataset.k), rows.length];
    if (!document.querySelector(".script-gap")) box.scrollTop -= 400; // What is on its way is waited for.
    await new Promise((resolve) => requestAnimationFrame(resolve));
  }
  throw new Error(`${k} does not come into sight.`);
}"""


async def read_the_script(viewer: Viewer) -> Locator:
    """The script of a long story: it ends at the moment shown, few of its rows are in the page, older records come when one
    scrolls up, and new lines are read aloud where that is wanted. Its newest line."""
    await viewer.page.keyboard.press("2")
    newest = viewer.region("Script").locator(".script-row.is-newest")
    await expect(newest).to_contain_text("line 5500")
    await viewer.page.wait_for_function(IS_WHOLE)
    assert await viewer.evaluate("store.record(4_900)") is None
    first, rows = await viewer.page.evaluate(SCROLL_UP, 4_900)
    assert (first > 4_800, rows < rows_in_page_max) == (True, True)
    await expect(viewer.region("Script").get_by_text("line 5500")).to_have_count(0)
    assert await viewer.evaluate("store.shown.value") == 5_500
    await viewer.region("Script").get_by_role("button", name="Jump to 5500").click()
    await viewer.button("Event 5499: rewind there").click()
    await expect(newest).to_contain_text("line 5499")
    await viewer.evaluate("store.goLive()")
    await expect(newest).to_contain_text("line 84205")
    await viewer.evaluate("import('page/script/aloud').then(({ turnAloud }) => turnAloud(true))")
    await viewer.evaluate("window.fake.happen(1)")
    await expect(newest).to_contain_text("line 84206")
    log = viewer.region("Script").get_by_role("log")
    await expect(log).to_have_attribute("aria-live", "polite")
    await expect(log.locator("[aria-live=off]")).to_have_count(1)
    await expect(log.locator("> .hidden")).to_contain_text("line 84206")
    await viewer.page.wait_for_function(IS_WHOLE)
    assert await viewer.page.locator(".script-row").count() < rows_in_page_max
    assert "face=script" in viewer.page.url
    await viewer.seek(5_500)
    return newest


async def test_the_page_s_state_has_neither_gap_nor_duplicate_nor_a_wrong_number(look: Looking) -> None:
    async with Terrarium() as house, look.at(house) as address:
        viewer = await look(page_of(address, await house.open_world("mystery-roots")))
        await viewer.until("store.session.value.role === 'director'")
        await viewer.evaluate(SOURCE)
        await viewer.until("store.loadedFrom.value === 1")

        # What streams in can be rewound without a request, also across the end of a page of records.
        await viewer.evaluate("(window.fake.asked.length = 0, window.fake.happen(700))")
        assert await viewer.evaluate("[store.head.value, store.view().scene.n]") == [4_200, 4_200]
        for k in (4_100, 4_001, 4_000, 3_999, 1):
            assert (await viewer.seek(k))["scene"]["n"] == k
        assert await viewer.evaluate("window.fake.asked") == []

        # A record that is missing is noticed; the moment shown stays.
        await viewer.evaluate("(window.fake.skip(3), window.fake.happen(1))")
        await viewer.until("store.head.value === 4204 && store.record(4202)")
        assert await viewer.evaluate("[window.fake.streams, store.shown.value, store.record(4202).row.text]") == [
            2, 1, "line 4202",
        ]  # fmt: skip

        # Of many seeks the last one wins, and not every page on the way is asked for. These pages are so old that the page
        # does not load them by itself when it is idle.
        await viewer.evaluate("store.goLive()")
        await viewer.evaluate("window.fake.skip(80_000), window.fake.happen(1)")
        await viewer.until("store.head.value === 84_205")
        await viewer.evaluate("(window.fake.isHeld = true, window.fake.asked.length = 0)")
        await viewer.evaluate("void [9_500, 8_500, 7_500, 6_500, 5_500].map((k) => store.seek(k))")
        await viewer.evaluate("(window.fake.isHeld = false, window.fake.release())")
        await viewer.until("store.shown.value === 5_500")
        asked = await viewer.evaluate("window.fake.asked.filter((name) => name.startsWith('records'))")
        assert "records 5" in asked
        assert not {"records 8", "records 7", "records 6"} & set(asked)

        newest = await read_the_script(viewer)

        # Where a run joins, the events are counted anew. The moment shown is the same event.
        await viewer.evaluate("window.fake.join()")
        await viewer.until("store.isRewound.value && store.view().scene.n === 5_500")
        assert await viewer.evaluate("store.shown.value") == 6_000
        await expect(newest).to_contain_text("line 5500")
        assert (await viewer.seek(700))["scene"]["n"] == 200
        # The face that was chosen is shown again, also where no address names it.
        await viewer.page.goto(page_of(address, face=""))
        await expect(viewer.region("Script")).to_be_visible()
        await expect(viewer.region("Graph")).to_be_visible()
