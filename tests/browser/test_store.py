"""The page's state against a source that a test holds in its hands: gaps, joins, races and pages that grow."""

from __future__ import annotations

from glasshouse import Terrarium
from tests.browser.looking import Looking, page_of

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

        # Where a run joins, the events are counted anew. The moment shown is the same event.
        await viewer.evaluate("window.fake.join()")
        await viewer.until("store.isRewound.value && store.view().scene.n === 5_500")
        assert await viewer.evaluate("store.shown.value") == 6_000
        assert (await viewer.seek(700))["scene"]["n"] == 200
