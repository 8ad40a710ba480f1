"""Reading the page: minds, themes, and what would be wrong for somebody who cannot see it."""

from __future__ import annotations

import re

from playwright.async_api import CDPSession, expect

from glasshouse import MemoryStore, Terrarium
from glasshouse.manifests.world_folders import bundled_worlds
from glasshouse.runtime.sharing.page_files import VENDOR
from glasshouse.web.access import Access
from tests.browser.cable import cable_to
from tests.browser.looking import Looking, Viewer, page_of

SECRET = "a secret of more than sixteen characters"
first_visit_bytes_max = 300_000
"""What comes until the first picture: the page, its modules, the story, all headers, and the two fonts that it is drawn with.
The other two fonts come after it."""
LATER_FONTS = ("italic", "jetbrains-mono")
FILE = b"GET /static/"
SURFACE = "getComputedStyle(document.body).backgroundColor"
WORLDS = [world.name for world in bundled_worlds()]
IS_SEEN = "(it) => getComputedStyle(it).backgroundColor !== getComputedStyle(document.body).backgroundColor"
LONGEST = 5
UNREAD = """async ([run, count]) => {
  const { store, graph } = glasshouse;
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  if (store.session.value.run !== run) await store.open(run);
  while (store.loadedFrom.value > 1 || !store.record(store.head.value)) await frame();
  await document.fonts.ready;
  const lines = [];
  for (let k = 1; k <= store.head.value; k += 1) {
    const { row, d } = store.record(k);
    const said = d.find(([what, path]) => what === "s" && path[0] === "creatures" && path[2] === "line");
    if (said && row.text) lines.push({ k, id: said[1][1], text: row.text });
  }
  lines.sort((a, b) => b.text.length - a.text.length);
  const inside = (box, room) => box.left >= room.left - 1 && box.right <= room.right + 1 && box.top >= room.top - 1 && box.bottom <= room.bottom + 1;
  const isWhole = (words) => words.scrollHeight <= words.clientHeight + 1 && words.scrollWidth <= words.clientWidth + 1;
  const faces = () => Object.entries(graph.positions()).filter(([id]) => store.view().creatures[id]).map(([, point]) => point);
  const wrongWith = ({ k, id, text }) => {
    const bubble = document.querySelector(`.bubble.is-newest[data-n="${k}"]:not(.is-gone)`);
    const words = bubble?.querySelector(".bubble-words");
    if (!words || words.textContent !== text) return "has no bubble";
    const [box, room] = [bubble, document.querySelector(".graph")].map((element) => element.getBoundingClientRect());
    if (!isWhole(words) || !inside(box, room)) return "is cut in its bubble";
    const isOver = ({ x, y }) => x + room.left > box.left && x + room.left < box.right && y + room.top > box.top && y + room.top < box.bottom;
    if (faces().some(isOver)) return "covers a face";
    const card = document.querySelector(`.cast [data-id="${CSS.escape(id)}"]`)?.closest(".card");
    const line = card?.querySelector(".front .line");
    if (!line || line.textContent !== text || !isWhole(line)) return "is cut on its card";
    const [cast, side] = [document.querySelector(".cast"), card.querySelector(".front")].map((element) => element.getBoundingClientRect());
    return inside(side, cast) || (side.height > cast.height - 14 && side.top < cast.top + 14) ? "" : "is on a card that is out of sight";
  };
  const unread = [];
  for (const line of lines.slice(0, count)) {
    await store.seek(line.k);
    let wrong = wrongWith(line);
    for (let frames = 0; wrong && frames < 300; frames += 1) {
      await frame();
      wrong = wrongWith(line);
    }
    if (wrong) {
      unread.push(`${line.k} ${wrong}: ${line.text}`);
      break; // The others would make whoever reads this wait.
    }
  }
  return { read: Math.min(lines.length, count), unread };
}"""

# What suits a play at every moment of it, and the words of the marks in its script.
FACES_AND_MARKS = """async () => {
  const { store } = glasshouse;
  const [{ foldFrom }, { faceAtOpening }, { wordsOf }] = await Promise.all(["page/script/fold", "page/centre/faces", "page/script/marks"].map((name) => import(name)));
  const fold = foldFrom(await store.source().view(store.session.value.run, 0));
  const faces = [];
  const marks = [];
  let facts = [];
  for (let k = 1; k <= store.head.value; k += 1) {
    const entry = fold.take(store.record(k));
    const face = faceAtOpening(fold.view, false);
    if (faces.at(-1) !== face) faces.push(face);
    if (entry?.fact) facts.push(entry.fact);
    if (facts.length && (entry?.line || k === store.head.value)) {
      const { main, rest } = wordsOf(facts);
      marks.push(`${main} ${rest}`.trim());
      facts = [];
    }
  }
  return { faces, marks };
}"""
# While graphs come one by one, the graph is shown; from the first turn on, no merge and no split changes the face.
FACES = {
    "three-ways-in": ["graph"],
    "mystery-roots": ["graph", "table"],
    "far-end-of-the-attic": ["graph", "table"],
}
MARKS = {
    "three-ways-in": [
        r"^.+, .+ and .+ join .+\. Weathercock called them in\.",
        r"^Hedge Squirrel, .+ and Moat Duck stay silent\.$",
    ],
    "far-end-of-the-attic": [r"^Brigadier hires Wall Bat\.", r"^Brigadier sends Wall Bat away\.$"],
}


async def test_a_card_turns_and_tells_what_its_creature_thinks(look: Looking) -> None:
    access = Access(SECRET)
    async with Terrarium(MemoryStore()) as t, look.at(t, access) as page:
        run = await t.open_world("mystery-roots")
        await t.run(run.id, turns=3)
        link = f"{page_of(page, run)}#token="
        viewer = await look(page_of(page, run), may_fail="/api/v1/")
        await expect(viewer.page.get_by_role("heading", name="This page needs a link")).to_be_visible()
        # A link that is pasted into the tab: only the fragment changes, so the page is not loaded again.
        await viewer.page.goto(link + access.token_for("audience"))
        await viewer.ready()
        assert "#" not in viewer.page.url
        creatures = (await viewer.view())["creatures"]
        name, mind = next((name, creature) for name, creature in creatures.items() if creature.get("thought"))
        card = (
            viewer.region("Stage")
            .get_by_role("listitem")
            .filter(has=viewer.page.locator(f'[data-id="{name}"]'))
        )
        reads = card.get_by_role("button", name="Read the mind of")

        await expect(card.locator("[aria-hidden=false]")).to_contain_text(mind["line"]["text"])
        await reads.click()
        await expect(reads).to_have_attribute("aria-pressed", "true")
        await expect(card.locator("[aria-hidden=false]")).to_contain_text(mind["thought"])
        await viewer.page.keyboard.press("Enter")
        await expect(card.locator("[aria-hidden=false]")).not_to_contain_text(mind["thought"])
        await viewer.page.locator("body").click(position={"x": 5, "y": 5})
        await viewer.page.keyboard.press("t")
        others = [creature["thought"] for creature in creatures.values() if creature.get("thought")]
        for thought in others:
            await expect(viewer.region("Stage").get_by_text(thought).first).to_be_visible()

        stranger = await (await look(link + access.token_for("spectator"))).ready()
        await expect(stranger.region("Stage").get_by_role("listitem")).to_have_count(len(creatures))
        await expect(stranger.page.get_by_role("button", name="Read the mind of")).to_have_count(0)


async def test_the_longest_lines_of_every_world_are_whole_in_their_bubble_and_on_their_card(
    look: Looking,
) -> None:
    async with Terrarium(MemoryStore()) as t, look.at(t) as page:
        runs = {name: await t.open_world(name) for name in WORLDS}
        for run in runs.values():
            await t.run(run.id)
        viewer = await (await look(page_of(page, next(iter(runs.values()))))).ready()
        for name, run in runs.items():
            for width, height in ((1440, 900), (1024, 768)):
                await viewer.page.set_viewport_size({"width": width, "height": height})
                answer = await viewer.page.evaluate(UNREAD, [run.id, LONGEST])
                assert answer == {"read": LONGEST, "unread": []}, f"{name} at {width}"
            script = await viewer.page.evaluate(FACES_AND_MARKS)
            assert script["faces"] == FACES.get(name, script["faces"]), name
            for pattern in MARKS.get(name, []):
                assert any(re.search(pattern, words) for words in script["marks"]), (pattern, script["marks"])

        assert await viewer.page.locator(".bubbles").get_attribute("aria-hidden") == "true"
        title = await viewer.evaluate("`${store.run().title} · Rewound to ${store.shown.value} · Glasshouse`")
        await expect(viewer.page).to_have_title(title)
        await viewer.page.emulate_media(forced_colors="active")
        for selector in (".chip.is-on", ".meter-bar div", ".playhead", ".playhead i"):
            painted = viewer.page.locator(selector).first
            assert await painted.evaluate(IS_SEEN), f"{selector} has no colour of its own"
        await viewer.page.keyboard.press("End")
        await expect(viewer.page).to_have_title(re.compile("· Recorded · Glasshouse$"))


async def test_the_theme_follows_the_system_until_somebody_chooses(look: Looking) -> None:
    async with Terrarium(MemoryStore()) as t, look.at(t) as page, cable_to(page) as cable:
        run = await t.open_world("mystery-roots")
        await t.run(run.id, turns=4)
        viewer = await (await look(page_of(cable), theme="dark")).ready()
        await viewer.page.evaluate("document.fonts.ready.then(() => true)")
        fonts = [path for path in (VENDOR / "fonts").iterdir() if path.name.encode() in cable.asked]
        later = [path.stat().st_size for path in fonts if any(name in path.name for name in LATER_FONTS)]
        assert len(cable.came) - sum(later) <= first_visit_bytes_max
        assert cable.asked.count(FILE) > 50
        dark = await viewer.page.evaluate(SURFACE)
        await viewer.page.emulate_media(color_scheme="light")
        await expect(viewer.page.locator("html")).not_to_have_attribute("data-theme", "dark")
        light = await viewer.page.evaluate(SURFACE)
        assert light != dark

        await viewer.button("Dark theme").click()
        await expect(viewer.button("Light theme")).to_be_visible()
        assert await viewer.page.evaluate(SURFACE) == dark
        cable.asked.clear()
        await viewer.page.reload()
        await viewer.ready()
        assert cable.asked.count(b"GET /api/v1/me ") == 1
        assert cable.asked.count(FILE) == 0, "what has not changed is not asked for again"
        assert await viewer.page.evaluate(SURFACE) == dark
        await viewer.page.keyboard.press("d")
        await expect(viewer.button("Dark theme")).to_be_visible()
        assert await viewer.page.evaluate(SURFACE) == light
        await look.close()  # Before the cable, which would cut its stream.


async def test_axe_finds_nothing_wrong_with_any_state_of_the_page_in_either_theme(look: Looking) -> None:
    violations: dict[str, list[str]] = {}
    async with Terrarium(MemoryStore()) as t, look.at(t) as page:
        empty = await look(page_of(page))
        await expect(empty.page.get_by_role("radio").first).to_be_visible()
        violations["no run"] = await empty.axe()
        run = await t.open_world("mystery-roots")
        await t.run(run.id, turns=4)
        lost = await look(page_of(page, query="&run=r-nowhere"), may_fail="r-nowhere")
        await expect(lost.page.get_by_role("heading", name="There is no such run")).to_be_visible()
        violations["no such run"] = await lost.axe()
        viewer = await (await look(page_of(page, run))).ready()
        violations["live"] = await viewer.axe()
        await viewer.page.keyboard.press("2")
        await expect(viewer.region("Script").locator(".script-row.is-newest")).to_be_visible()
        violations["script"] = await viewer.axe()
        await viewer.page.keyboard.press("1")
        await expect(viewer.region("Script")).to_have_count(0)
        for name in await viewer.page.evaluate(
            "import('page/dialogs/all').then(({dialogs}) => Object.keys(dialogs))"
        ):
            await viewer.evaluate(
                "store.openDialog(given, {creature: 'gate-snail', graph: Object.keys(store.view().graphs)[0]})",
                name,
            )
            await expect(viewer.page.get_by_role("dialog")).to_be_visible()
            violations[name] = await viewer.axe("[role=dialog]")
            await viewer.evaluate("store.closeDialog()")
        await viewer.seek(12)
        await viewer.evaluate(
            "(store.minds.value = true, store.panel.value = `why:${store.headView().event_id}`)"
        )
        await expect(viewer.region("Why was this said?")).to_be_visible()
        violations["rewound, all minds, why"] = await viewer.axe()
        await viewer.evaluate("store.panel.value = ''")
        await viewer.region("Events").get_by_role("log").locator("[aria-expanded]").last.click()
        await viewer.page.set_viewport_size({"width": 1024, "height": 768})
        await viewer.page.keyboard.press("e")
        violations["narrow, with the drawer"] = await viewer.axe()
        await viewer.page.wait_for_url("**layout=feed**")
        await viewer.page.reload()
        await viewer.ready()
        await expect(viewer.region("Events")).to_be_visible()
        await viewer.page.keyboard.press("e")
        await viewer.page.wait_for_url(lambda address: "layout" not in address)
        await viewer.page.set_viewport_size({"width": 768, "height": 900})
        violations["tabs"] = await viewer.axe()
        await expect_all_on_a_phone(await look(page_of(page, run), size=(320, 844)), violations)
        await t.run(run.id)
        await viewer.evaluate("store.goLive()")
        await viewer.until("store.status.value === 'finished'")
        violations["finished"] = await viewer.axe()
    assert {state: wrong for state, wrong in violations.items() if wrong} == {}


SMALL_TARGETS = """() => [...document.querySelectorAll("button, a[href], input:not([type=range]), select, textarea")]
  .filter((target) => target.checkVisibility({visibilityProperty: true}) && !target.closest(".hidden"))
  .filter((target) => { const {width, height} = target.getBoundingClientRect(); return width > 1 && (width < 44 || height < 44); })
  .map((target) => target.outerHTML.slice(0, 120))"""
SIDEWAYS = "Math.max(document.documentElement.scrollWidth, document.body.scrollWidth) > innerWidth"
WHOLE_IN_SIGHT = """() => {
  const {left, right, top, bottom} = document.querySelector(".read-words").getBoundingClientRect();
  return bottom > top && left >= 0 && right <= innerWidth && top >= 0 && bottom <= innerHeight && document.querySelector(".read-words").scrollWidth <= Math.ceil(right - left);
}"""
NEWEST = "Object.values(store.view().creatures).map(({line}) => line).filter(Boolean).sort((a, b) => b.n - a.n)[0].text"


async def expect_all_on_a_phone(viewer: Viewer, violations: dict[str, list[str]]) -> None:
    """A phone opens on the words and is used with a finger; at 400 % the newest line stands first."""
    page = (await viewer.ready()).page
    await expect(viewer.region("Words")).to_be_visible()
    finger = await page.context.new_cdp_session(page)
    await finger.send("Emulation.setTouchEmulationEnabled", {"enabled": True, "maxTouchPoints": 2})
    tabs = page.get_by_role("navigation", name="Panels").get_by_role("button")
    for width in (320, 390):
        await page.set_viewport_size({"width": width, "height": 844})
        await expect(page.locator(".read-words")).to_have_text(await viewer.evaluate(NEWEST))
        assert await page.evaluate(WHOLE_IN_SIGHT)
        await expect(page.locator(".read header p")).to_have_text(re.compile(r"^in \w"))
        await expect(
            page.get_by_role("list", name="Earlier lines").get_by_role("listitem").nth(1)
        ).to_be_visible()
        for tab in ("Graph", "Events", "Words"):
            await tabs.filter(has_text=tab).click()
            await expect(viewer.region(tab)).to_be_visible()
            assert await page.evaluate(SMALL_TARGETS) == [], (width, tab)
            assert not await page.evaluate(SIDEWAYS), (width, tab)
    violations["phone"] = await viewer.axe()
    await swipe(finger, (300, 400), (80, 410))
    await expect(viewer.region("Graph")).to_be_visible()
    await expect_a_finger_moves_the_graph(viewer, finger)
    await tabs.filter(has_text="Words").click()
    face = viewer.region("Cast").get_by_role("button").first
    await face.click()
    await expect(face).to_have_attribute("aria-pressed", "true")
    await face.click()
    await expect(face).to_have_attribute("aria-pressed", "false")

    await page.set_viewport_size({"width": 360, "height": 225})
    await expect(page.locator(".low-speaker")).to_be_visible()
    assert await page.evaluate(WHOLE_IN_SIGHT)
    assert not await page.evaluate(SIDEWAYS)
    regions = [
        await region.get_attribute("aria-label") for region in await page.locator("main section").all()
    ]
    assert regions == ["Words", "Cast", "Graph", "Timeline", "Events"]
    violations["400 %"] = await viewer.axe()


async def expect_a_finger_moves_the_graph(viewer: Viewer, finger: CDPSession) -> None:
    """A finger moves the picture, two enlarge it, a tap chooses, and a long press opens the menu."""
    canvas = viewer.page.locator(".graph-canvas")
    box = await canvas.bounding_box()
    assert box is not None
    await swipe(finger, (box["x"] + 60, box["y"] + 420), (box["x"] + 90, box["y"] + 450))
    assert await viewer.evaluate("window.glasshouse.graph.picture.lens.camera.isFree")
    scale = "window.glasshouse.graph.picture.lens.camera.scale"
    before = await viewer.evaluate(scale)
    apart = [
        {"x": box["x"] + 100, "y": box["y"] + 420, "id": 1},
        {"x": box["x"] + 160, "y": box["y"] + 420, "id": 2},
    ]
    await touch(finger, "touchStart", apart)
    await touch(finger, "touchMove", [apart[0], {**apart[1], "x": box["x"] + 220}])
    await touch(finger, "touchEnd", [])
    assert await viewer.evaluate(scale) > before
    await viewer.evaluate(
        "(window.glasshouse.graph.picture.fit(), new Promise((end) => requestAnimationFrame(() => requestAnimationFrame(end))))"
    )
    name, at = next(iter((await viewer.evaluate("window.glasshouse.graph.positions()")).items()))
    middle = [{"x": box["x"] + at["x"], "y": box["y"] + at["y"], "id": 1}]
    await touch(finger, "touchStart", middle)
    await touch(finger, "touchEnd", [])
    await viewer.until("store.selection.value?.id === given", name)
    await touch(finger, "touchStart", middle)
    await expect(viewer.page.get_by_role("menu")).to_be_visible()
    await touch(finger, "touchEnd", [])
    assert await viewer.page.evaluate(SMALL_TARGETS) == []
    await viewer.page.keyboard.press("Escape")
    await viewer.evaluate("store.selection.value = null")


async def touch(finger: CDPSession, kind: str, points: list[dict[str, float]]) -> None:
    await finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})


async def swipe(finger: CDPSession, start: tuple[float, float], end: tuple[float, float]) -> None:
    """Move a finger from one point of the page to another, in two steps."""
    halfway = ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2)
    await touch(finger, "touchStart", [{"x": start[0], "y": start[1]}])
    for x, y in (halfway, end):
        await touch(finger, "touchMove", [{"x": x, "y": y}])
    await touch(finger, "touchEnd", [])
