"""A world that was edited before its start: recorded, replayed, and resumed from its record, whatever the disk says."""

from __future__ import annotations

from pathlib import Path

import pytest

from glasshouse import Event, MemoryStore, Terrarium, verify
from glasshouse.errors import Refused
from glasshouse.events.payloads import CreatureStarted, RunStarted, payload_of
from glasshouse.manifests.editing import CreatureEdits, ScheduleEdit, WorldEdits, edited_world
from glasshouse.manifests.loading import LoadedWorld, load_world
from glasshouse.terrarium import is_edited

SCENARIO = """\
name: pond
goal: Count the rings.
cast: [newt, reed, heron]
deal: {word: {to: reed, from: words.txt}}
governor: {max_turns: 30}
"""
EDITS = WorldEdits(
    off=("heron",),
    creatures={"newt": CreatureEdits(wants="A dry stone.", schedule=ScheduleEdit(tick_every=2))},
)


def pond(folder: Path) -> LoadedWorld:
    """A small world in files."""
    (folder / "creatures").mkdir(parents=True)
    (folder / "scenario.yaml").write_text(SCENARIO)
    (folder / "words.txt").write_text("ring\nripple\nstone\n")
    for name in ("newt", "reed", "heron"):
        text = f"name: {name}\npersona: A {name}.\nschedule: {{tick_every: 1}}\n"
        (folder / "creatures" / f"{name}.yaml").write_text(text)
    return load_world(folder)


def start_in(events: tuple[Event, ...], run_id: str) -> RunStarted:
    own = (event for event in events if event.kind == "run.started" and event.run_id == run_id)
    return payload_of(next(own), RunStarted)


def wants_in(events: tuple[Event, ...]) -> dict[str, str]:
    """The wants of each creature, as it began last."""
    births = [payload_of(event, CreatureStarted) for event in events if event.kind == "creature.started"]
    return {born.handle: str((born.manifest or {}).get("wants", "")) for born in births}


async def session_of(t: Terrarium, run_id: str) -> str:
    return t.graph(t.run_of(run_id).graph_ids[0]).session_id


async def test_a_run_records_the_world_as_it_was_edited_and_says_so(tmp_path: Path) -> None:
    world = pond(tmp_path / "pond")
    edited = edited_world(world, EDITS)

    async with Terrarium(MemoryStore()) as t:
        plain = await t.open_world(world)
        run = await t.open_world(edited)
        started = start_in(await t.run_events(run.id), run.id)

    assert (plain.is_edited, run.is_edited) == (False, True)
    assert started.is_edited
    assert started.recipe is not None
    assert (started.recipe.digest, started.scenario_digest) == (world.digest, edited.digest)
    assert [entry.handle for entry in started.cast] == ["newt", "reed"]


async def test_an_edited_run_is_replayed_event_for_event(tmp_path: Path) -> None:
    async with Terrarium(MemoryStore()) as t:
        run = await t.open_world(edited_world(pond(tmp_path / "pond"), EDITS), rng_seed=7)
        await t.step(5)
        await t.finish(run.id)

        assert (await verify(t, run.id)).is_same


async def test_the_same_edits_make_the_same_play(tmp_path: Path) -> None:
    edited = edited_world(pond(tmp_path / "pond"), EDITS)
    digests = []
    for _ in range(2):
        async with Terrarium(MemoryStore()) as t:
            run = await t.open_world(edited, rng_seed=7)
            await t.step(5)
            digests.append(await t.digest(run.id))

    assert digests[0] == digests[1]


@pytest.mark.parametrize("disk", ["other", "gone"])
async def test_an_edited_run_is_resumed_from_its_record_and_not_from_the_disk(
    tmp_path: Path, disk: str
) -> None:
    folder = tmp_path / "pond"
    async with Terrarium(MemoryStore()) as t:
        run = await t.open_world(edited_world(pond(folder), EDITS))
        await t.step(3)
        await t.remove_creature(next(c.id for c in t.creatures() if c.handle == "reed"))
        await t.finish(run.id)
        if disk == "other":
            (folder / "creatures/newt.yaml").write_text("name: newt\nwants: A boat.\n")
        else:
            folder.rename(tmp_path / "elsewhere")

        child = await t.resume(await session_of(t, run.id))
        events = await t.run_events(child.id)
        dealt = [event for event in events if event.run_id == child.id and event.sealed is not None]
        await t.step(3)
        await t.finish(child.id)
        grandchild = await t.resume(await session_of(t, child.id))
        await t.run(grandchild.id, turns=2)
        later = await t.run_events(grandchild.id)

        assert child.is_edited
        assert grandchild.is_edited
        assert wants_in(events) == wants_in(later) == {"newt": "A dry stone.", "reed": ""}
        assert len(dealt) == 1, "the reed that had left came back, and the record could deal again"
        then, now = start_in(events, run.id), start_in(later, grandchild.id)
        assert (now.scenario, now.scenario_digest, now.recipe) == (
            then.scenario,
            then.scenario_digest,
            then.recipe,
        )
        assert (await verify(t, grandchild.id)).is_same


async def test_an_interrupted_edited_run_goes_on_in_place_although_the_files_differ(tmp_path: Path) -> None:
    world = pond(tmp_path / "pond")
    async with Terrarium(MemoryStore()) as t:
        run = await t.open_world(edited_world(world, EDITS))
        await t.step(2)

        assert not is_edited(t, run.id)
        assert is_edited(t, run.id, world=world), "who names a world means that one"


async def test_who_names_a_world_resumes_an_edited_run_with_it(tmp_path: Path) -> None:
    world = pond(tmp_path / "pond")
    async with Terrarium(MemoryStore()) as t:
        run = await t.open_world(edited_world(world, EDITS))
        await t.step(2)
        await t.finish(run.id)

        child = await t.resume(await session_of(t, run.id), world=world)

        assert not child.is_edited
        assert {c.handle for c in t.creatures() if c.run_id == child.id} == {"newt", "reed", "heron"}


async def test_models_that_were_chosen_by_name_are_kept(tmp_path: Path) -> None:
    async with Terrarium(MemoryStore()) as t:
        run = await t.open_world(
            edited_world(pond(tmp_path / "pond"), EDITS), models={"newt": "offline:hasty"}
        )
        await t.finish(run.id)

        child = await t.resume(await session_of(t, run.id))
        started = start_in(await t.run_events(child.id), child.id)

    assert [(entry.handle, entry.model) for entry in started.cast if entry.is_bound] == [
        ("newt", "offline:hasty")
    ]


async def test_an_edited_run_travels_in_a_file(tmp_path: Path) -> None:
    async with Terrarium(MemoryStore()) as t:
        run = await t.open_world(edited_world(pond(tmp_path / "pond"), EDITS))
        await t.step(3)
        await t.finish(run.id)
        files = {
            role: await t.export(run.id, tmp_path / f"{role}.glass", role=role)
            for role in ("spectator", "audience", "director")
        }

    for role in ("audience", "director"):
        async with Terrarium(MemoryStore()) as other:
            session = await other.import_file(files[role])
            child = await other.resume(session.id)
            assert child.is_edited
            assert wants_in(await other.run_events(child.id))["newt"] == "A dry stone."
    async with Terrarium(MemoryStore()) as other:
        session = await other.import_file(files["spectator"])
        with pytest.raises(Refused, match="exported for the audience"):
            await other.resume(session.id)
