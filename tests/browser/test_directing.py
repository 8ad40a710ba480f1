"""Directing: a play is started, watched, disturbed, rewound and branched, with the mouse and with the keyboard alone."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.async_api import Locator, expect

from glasshouse import Manifest, MemoryStore, Terrarium, kinds
from glasshouse.events.codec import encoded
from glasshouse.models.router import ModelRouter
from tests.browser.looking import Looking, Viewer, page_of
from tests.runtime.stage_crew import ticking, world_of
from tests.web.test_signals import Halting

MEMBERS = "glasshouse.graph.members()"


RANKED = """
(async () => {
  const { ranked } = await import("page/palette/rank");
  const entry = (kind, name, words = "") => ({id: `${kind} ${name}`, kind, name, words, run() {}});
  const all = [
    entry("line", "The newt is new here.", "Reed"), entry("run", "Newer Pond"), entry("world", "Pond", "a new world"), entry("creature", "Newt"),
    entry("creature", "Renew", "a moth"), entry("command", "To the newest event"), entry("command", "New play"), entry("setting", "Théme: dark", "light"),
  ];
  const many = Array.from({length: 500}, (_, n) => entry("creature", `Moth ${n}`));
  const names = (typed, some = all) => ranked(typed, some).map(({name}) => name);
  return [names("new"), names("newt"), names("theme"), names("play new"), names("reed"), names("nothing like it"), names("moth", many).length, names(" (").length];
})()
"""
RANKING = [
    ["New play", "Newt", "Newer Pond", "To the newest event", "Renew", "Pond", "The newt is new here."],
    ["Newt", "The newt is new here."],
    ["Théme: dark"],
    ["New play"],
    ["The newt is new here."],
    [],
    10,
    0,
]
"""What is found for each text, in order: names before other words, what can be done before who there is, few of each kind."""
HINTS = """
(async () => {
  const { hintDue } = await import("page/coach/due");
  const facts = {seen: new Set(), lines: 9, graphs: 2, face: "graph", mayChange: true, mayRead: true, isCovered: false, places: new Set(["time", "draw", "minds"])};
  const seen = (...names) => ({...facts, seen: new Set(names)});
  return [facts, seen("time"), seen("time", "draw"), seen("time", "draw", "minds"), {...seen("time"), mayChange: false},
    {...facts, mayChange: false, mayRead: false}, {...facts, lines: 1}, {...facts, isCovered: true}].map(hintDue);
})()
"""


async def ledger_bytes(t: Terrarium, run_id: str) -> list[bytes]:
    return [encoded(event) for event in await t.run_events(run_id)]


async def wants_of(t: Terrarium, run_id: str) -> set[tuple[str, str]]:
    """What each creature of a run wants. Nobody plays who was left out."""
    births = [event.payload for event in await t.run_events(run_id) if event.kind == "creature.started"]
    assert "gate-snail" not in {birth["handle"] for birth in births}
    return {(birth["handle"], birth["manifest"].get("wants", "")) for birth in births}


async def unfinished_file(folder: Path) -> Path:
    """A file with a run that has not ended."""
    async with Terrarium(MemoryStore()) as t:
        run = await t.open_world("twenty-sprouts")
        await t.run(run.id, turns=2)
        return await t.export(run.id, folder / "unfinished.glass")


async def edit_the_cast(viewer: Viewer, dialog: Locator) -> None:
    """The world that was chosen is in the dialog. Who plays may be edited: what does not hold is refused beside its field, and what holds is played."""
    await expect(dialog.get_by_role("radio", name=re.compile("Mystery Roots"))).to_be_checked()
    await dialog.get_by_text("Edit the cast before the start").click()
    await dialog.get_by_label("Who judges").select_option("hypothesis-former")
    await expect(dialog.get_by_role("alert")).to_contain_text("contestants must not judge")
    await expect(viewer.button("Start the play")).to_be_disabled()
    await dialog.get_by_title("Edit Clue Gatherer").click()
    assert await viewer.axe("[role=dialog]") == []
    await viewer.button("Undo all").click()
    await dialog.get_by_role("checkbox", name="Gate Snail plays").uncheck()
    await dialog.get_by_role("textbox", name="Wants").fill("To find a dry clue.")
    await expect(viewer.button("Start the play")).to_be_enabled()


async def rehearse_in_the_studio(viewer: Viewer) -> None:
    """A world's texts are edited: a mistake is told under its line, and what checks is rehearsed. Then back."""
    await viewer.page.get_by_role("radio", name=re.compile("Mystery Roots")).check()
    await viewer.button("Studio").click()
    text = viewer.page.get_by_role("textbox", name="Text of scenario.yaml")
    before = await text.input_value()
    rehearsal = viewer.region("Rehearsal")
    await expect(rehearsal).to_contain_text("0 kept")
    await text.fill(before.replace("gate-snail", "gate-snial", 1))
    await expect(rehearsal).to_contain_text("does not check, so nothing new is called")
    assert await viewer.axe(".page") == []
    await viewer.page.keyboard.press("Alt+Enter")
    await expect(text).to_have_value(before)
    await expect(rehearsal).to_contain_text("0 new")
    await rehearsal.get_by_role("button", name=re.compile("Prompt of")).first.click()
    await expect(viewer.region("Prompt")).to_contain_text("Who you are")
    assert await viewer.axe(".page") == []
    await viewer.button("Leave the studio").click()
    await viewer.page.get_by_role("radio", name=re.compile("Mystery Roots")).check()
    await expect(viewer.button("Watch Mystery Roots")).to_be_enabled()


async def test_a_play_is_started_watched_disturbed_finished_and_played_on(
    look: Looking, tmp_path: Path
) -> None:
    async with Terrarium(MemoryStore()) as t, look.at(t) as page:
        viewer = await look(page_of(page))
        await rehearse_in_the_studio(viewer)
        await viewer.button("Configure").click()
        dialog = viewer.page.get_by_role("dialog", name="What shall they play tonight?")
        await dialog.get_by_label("Seed text").fill("a lamp with a cold")
        await edit_the_cast(viewer, dialog)
        await expect(dialog).to_contain_text(re.compile(r"[Cc]alls"))
        await viewer.button("Start the play").click()
        await viewer.ready()
        (run,) = t.runs()
        assert (run.seed, run.is_edited) == ("a lamp with a cold", True)
        assert await wants_of(t, run.id) >= {("clue-gatherer", "To find a dry clue.")}
        await expect(viewer.page.get_by_role("heading", level=1)).to_have_text("Mystery Roots")
        await expect(viewer.page.get_by_role("status")).to_have_text("Live")
        await viewer.until("Object.values(store.view().creatures).some((creature) => creature.line)")
        (line,) = await viewer.evaluate(
            "Object.values(store.view().creatures).filter(({line}) => line).map(({line}) => line.text).slice(0, 1)"
        )
        await expect(viewer.region("Stage")).to_contain_text(line[:40])
        await expect(viewer.region("Events").get_by_role("log")).to_contain_text(line[:40])

        await viewer.button("Disturb").click()
        await viewer.page.get_by_label("What happens?").fill("A quandle walks in, asking for soup.")
        await viewer.page.get_by_role("dialog").get_by_role("button", name="Disturb").click()
        await expect(viewer.region("Events").get_by_role("log")).to_contain_text("A quandle walks in")
        visit = next(event for event in await t.run_events(run.id) if event.kind == "user.injected")
        await viewer.region("Timeline").get_by_role("button", name="reading pace").click()
        await viewer.until("store.status.value === 'finished'")
        await expect(viewer.page.get_by_role("status")).to_have_text("Recorded")
        lines = [
            event for event in await t.run_events(run.id) if event.model is not None and event.id != visit.id
        ]
        reasons = [await page.get(f"/api/v1/runs/{run.id}/events/{event.id}/why") for event in lines[-8:]]
        assert any(visit.id in str(reason) for reason in reasons)

        await expect(viewer.button("Disturb")).to_have_count(0)
        await viewer.button("Play on").click()
        await viewer.until("store.session.value.run !== given && store.status.value === 'live'", run.id)
        child = t.runs()[-1]
        assert child.branch_of == run.id
        await viewer.button("Finish").click()
        await viewer.page.get_by_role("dialog").get_by_role("button", name="Finish").click()
        await expect(viewer.page.get_by_role("status")).to_have_text("Recorded")
        assert t.run_of(child.id).reason == "stopped"

        # Another store's run, in the middle: here nobody can play it as it is, so nothing of that is offered.
        await t.import_file(await unfinished_file(tmp_path))
        (imported,) = t.imported_runs()
        await viewer.evaluate("store.open(given)", imported)
        await expect(viewer.page.get_by_role("status")).to_have_text("Recorded")
        for dead in ("Disturb", "Finish", "Play", "Pause"):
            await expect(viewer.button(dead)).to_have_count(0)
        await expect(viewer.button("Replay from the start")).to_be_enabled()
        await viewer.page.keyboard.press(".")
        await viewer.button("Play on").click()
        await viewer.until("store.session.value.run !== given && store.status.value === 'live'", imported)
        assert t.runs()[-1].branch_of == imported


async def test_a_play_is_started_paused_rewound_and_branched_by_keyboard_alone(look: Looking) -> None:
    async with Terrarium(MemoryStore()) as t, look.at(t) as page:
        viewer = await look(page_of(page))
        press = viewer.page.keyboard.press
        await expect(viewer.button("Watch Three Ways In")).to_be_enabled()
        await press("Enter")
        await viewer.ready()
        await viewer.until("store.head.value > 12")
        await press("Space")
        await expect(viewer.page.get_by_role("status")).to_have_text("Paused")
        await viewer.until("store.driver.value?.state !== 'playing'")
        (parent,) = t.runs()
        head = await viewer.evaluate("store.head.value")
        await press("[")
        await press("[")
        await expect(viewer.page.get_by_role("status")).to_have_text(f"Rewound to {head - 2}")
        await press("]")
        await expect(viewer.page.get_by_role("status")).to_have_text(f"Rewound to {head - 1}")
        await press("Home")
        await expect(viewer.page.get_by_role("status")).to_have_text("Rewound to 1")
        await press("End")
        await expect(viewer.page.get_by_role("status")).to_have_text("Paused")
        await press("[")
        before = await ledger_bytes(t, parent.id)
        await press("b")
        await expect(viewer.page.get_by_role("dialog")).to_be_visible()
        await press("Enter")
        await viewer.until("store.session.value.run !== given && store.headView()", parent.id)

        branch = await viewer.evaluate("store.session.value.run")
        assert t.run_of(branch).branch_of is not None
        await press("Control+k")
        option = viewer.page.get_by_role("option")
        for typed, first in (
            ("new", "New play"),
            ("theme", "Theme: "),
            ("stone b", "Stone Bench"),
            ("mystery", "Mystery Roots"),
        ):
            await viewer.page.get_by_role("combobox").fill(typed)
            await expect(option.first).to_contain_text(first)
            await expect(option.first).to_have_attribute("aria-selected", "true")
        assert await viewer.page.evaluate(RANKED) == RANKING
        assert await viewer.page.evaluate(HINTS) == [
            "time",
            "draw",
            "minds",
            None,
            "minds",
            "time",
            None,
            None,
        ]
        await viewer.page.get_by_role("combobox").fill("pause")
        await press("Enter")
        await expect(viewer.page.get_by_role("dialog")).to_have_count(0)
        assert await ledger_bytes(t, parent.id) == before


# A file that is dragged over the page, or dropped on it.
DRAGGED = """([bytes, what]) => {
  const held = new DataTransfer();
  held.items.add(new File([new Uint8Array(bytes)], "kept.glass"));
  document.body.dispatchEvent(new DragEvent(what, {dataTransfer: held, bubbles: true, cancelable: true}));
}"""


async def exported(folder: Path, *worlds: str) -> dict[str, Path]:
    """A run of each world in a file, from another store."""
    async with Terrarium(MemoryStore()) as t:
        runs = {world: await t.open_world(world) for world in worlds}
        return {world: await t.export(run.id, folder / f"{world}.glass") for world, run in runs.items()}


async def test_space_pauses_and_continues_without_an_event_of_its_own(look: Looking, tmp_path: Path) -> None:
    model = Halting()
    async with Terrarium(MemoryStore(), models=ModelRouter(model)) as t, look.at(t) as page:
        run = await t.open_world(world_of(ticking("ada"), title="Moths", governor={"max_turns": 3}))
        viewer = await (await look(page_of(page, run), may_fail="/imports")).ready()
        status, press = viewer.page.get_by_role("status"), viewer.page.keyboard.press
        await expect(status).to_have_text("Paused")
        await press("Space")
        await expect(status).to_have_text("Live")
        await model.is_asked.wait()
        before = await ledger_bytes(t, run.id)
        await press("Space")
        await expect(status).to_have_text("Pausing: one act ends first")
        await press("Space")
        await expect(status).to_have_text("Live")
        assert await ledger_bytes(t, run.id) == before

        await press("Space")
        await expect(status).to_have_text("Pausing: one act ends first")
        model.may_go_on.set()
        await expect(status).to_have_text("Paused")
        await viewer.button("Archive").click()
        row = viewer.page.get_by_role("row", name=re.compile("Moths"))
        await expect(row.locator(".pill")).to_have_text("Paused")
        await press("Escape")
        await press(".")
        await viewer.until("store.run().spent.calls === 2")
        await expect(status).to_have_text("Paused")
        await viewer.evaluate("store.source().post(`runs/${store.session.value.run}/play`, {speed: 'fast'})")
        await expect(status).to_have_text("Recorded")
        kinds_written = {event.kind for event in await t.run_events(run.id)}
        assert not kinds_written & {kinds.RUN_PAUSED, kinds.RUN_CONTINUED}

        # A file is imported by the palette, or by dropping it anywhere; then it is a run that is over.
        files = await exported(tmp_path, "mystery-roots", "two-tale-hearth")
        async with viewer.page.expect_file_chooser() as choosing:
            await press("Control+k")
            await viewer.page.keyboard.type("import")
            await press("Enter")
        await (await choosing.value).set_files(files["mystery-roots"])
        await expect(viewer.page).to_have_title(re.compile("^Mystery.* · Recorded"))
        bytes_of_file = list(files["two-tale-hearth"].read_bytes())
        await viewer.page.evaluate(DRAGGED, [bytes_of_file, "dragover"])
        await expect(viewer.page.get_by_text("Drop to import")).to_be_visible()
        await viewer.page.evaluate(DRAGGED, [bytes_of_file[:99], "drop"])
        await expect(viewer.page.get_by_text("kept.glass cannot be read")).to_be_visible()
        await viewer.page.evaluate(DRAGGED, [bytes_of_file, "drop"])
        await expect(viewer.page).to_have_title(re.compile("^Two.* · Recorded"))
        await expect(viewer.page.get_by_text("Drop to import")).to_have_count(0)


async def test_an_earlier_topology_comes_back_and_is_branched_from(look: Looking) -> None:
    async with Terrarium(MemoryStore()) as t, look.at(t) as page:
        run = await t.open_world("mystery-roots")
        await t.run(run.id, turns=1)
        guest = await t.add_creature(Manifest(name="lamplighter", persona="Lights lamps."), run=run.id)
        merge = await t.connect(guest.id, "gate-snail", channel="lamps", both=True)
        split = await t.remove_channel(merge.new_graph_ids[0], "lamps")
        assert (merge.kind, split.kind) == ("merge", "split")
        records = await page.get(f"/api/v1/runs/{run.id}/diffs", after=0)
        together, apart = (record["k"] for record in records if record["row"]["icon"] in ("merge", "split"))
        viewer = await (await look(page_of(page, run))).ready()
        hulls = {}
        for k in (together, apart, apart - 1, together - 1):
            await viewer.seek(k)
            hulls[k] = sorted(map(len, (await viewer.page.evaluate(MEMBERS)).values()))
        assert hulls == {together - 1: [1, 5], together: [6], apart - 1: [6], apart: [1, 5]}
        await viewer.evaluate("store.goLive()")
        assert sorted(map(len, (await viewer.page.evaluate(MEMBERS)).values())) == [1, 5]

        await viewer.seek(together)
        before = await ledger_bytes(t, run.id)
        await viewer.region("Timeline").get_by_role("button", name="Branch from here").click()
        await viewer.page.get_by_role("checkbox", name="Play on at once").uncheck()
        await viewer.page.get_by_role("dialog").get_by_role("button", name="Branch").click()
        await viewer.until("store.session.value.run !== given && store.headView()", run.id)
        assert list(map(len, (await viewer.page.evaluate(MEMBERS)).values())) == [6]
        assert await ledger_bytes(t, run.id) == before
