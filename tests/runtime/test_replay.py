"""Replay: a run driven again from its record gives the same bytes, and every difference is reported."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from glasshouse import Draft, Event, MemoryStore, Observer, Terrarium, kinds
from glasshouse.manifests.loading import LoadedWorld
from glasshouse.models.router import ModelRouter
from glasshouse.models.scripted import CountingModel
from glasshouse.runtime.clock import HandMovedClock, SeededIds
from glasshouse.runtime.replay.record import RunRecord, record_of
from glasshouse.runtime.replay.replay import Verification, compared
from glasshouse.terrarium import verify
from tests.runtime.stage_crew import Speaker, on_stage, ticking
from tests.simulation.worlds_by_code import end_in_the_second_room, two_troupes

WORLDS = ["thousand-token-wood", "mystery-roots", "twenty-sprouts", two_troupes(), end_in_the_second_room()]


def named(world: str | LoadedWorld) -> str:
    return world if isinstance(world, str) else world.scenario.name


@pytest.mark.parametrize("world", WORLDS, ids=named)
async def test_a_run_comes_out_the_same_without_a_single_call(world: str | LoadedWorld) -> None:
    troupe = CountingModel(ModelRouter().route("fast").model)
    async with Terrarium(MemoryStore(), models=ModelRouter(troupe)) as t:
        run = await t.open_world(world, rng_seed=5)
        await t.run(run.id)
        asked = troupe.calls

        outcome = await verify(t, run.id)

        assert outcome.is_same
        assert (outcome.recorded_event, outcome.replayed_event, outcome.prompt_diffs) == (None, None, ())
        assert outcome.events == len(await t.run_events(run.id))
        assert troupe.calls == asked


async def test_what_a_visitor_said_is_said_again_at_its_place() -> None:
    async with Terrarium(MemoryStore()) as t:
        run = await t.open_world("thousand-token-wood", rng_seed=2)
        await t.disturb(run.id, "A lantern starts whispering recipes.")
        for number in range(9):
            await t.step_one()
            if number in {2, 3, 7}:
                await t.disturb(run.id, f"Bell number {number} rings.")
        await t.pause(run.id)
        await t.continue_run(run.id)
        await t.run(run.id)

        outcome = await verify(t, run.id)

        assert outcome.is_same


async def test_a_file_with_a_run_of_the_same_id_that_is_imported_meanwhile_changes_nothing(
    tmp_path: Path,
) -> None:
    async with Terrarium(MemoryStore()) as elsewhere:
        await elsewhere.open_world("twenty-sprouts", run_id="r-demo")
        await elsewhere.step()
        path = await elsewhere.export("r-demo", tmp_path / "demo.glass")
    async with Terrarium(MemoryStore()) as t:
        await t.open_world("thousand-token-wood", run_id="r-demo")
        await t.step()
        await t.import_file(path)
        await t.step()

        outcome = await verify(t, "r-demo")

        assert outcome.is_same
        assert outcome.events == len(await t.run_events("r-demo"))


async def test_what_a_program_said_for_a_creature_is_said_again_in_a_second_run_of_one_store() -> None:
    async with Terrarium(MemoryStore()) as t:
        await t.open_world("thousand-token-wood")
        run = await t.open_world("thousand-token-wood", rng_seed=1)
        await t.step_one(run.graph_ids[0])
        line = Draft(kind=kinds.AGENT_SPOKE, channel="stage", payload={"text": "A tin snorrel hums."})
        await t.append("echo~2", line)
        await t.run(run.id)

        assert (await verify(t, run.id)).is_same


async def test_a_run_that_was_stopped_from_outside_is_stopped_again() -> None:
    async with Terrarium(MemoryStore()) as t:
        run = await t.open_world("mystery-roots")
        await t.step(4)
        await t.finish(run.id)

        assert (await verify(t, run.id)).is_same


async def test_a_run_that_is_still_open_is_compared_as_far_as_it_went() -> None:
    async with Terrarium(MemoryStore()) as t:
        run = await t.open_world("mystery-roots")
        await t.step(5)

        assert (await verify(t, run.id)).is_same


async def test_what_python_creatures_said_is_said_again() -> None:
    async with on_stage(minds={"drum": Speaker()}) as t:
        run = await t.open_world(two_troupes())
        await t.run(run.id)

        assert (await verify(t, run.id)).is_same


async def verified_otherwise(
    t: Terrarium, run_id: str, alter: Callable[[RunRecord], RunRecord]
) -> Verification:
    """What comes of a record that is shown otherwise than it is."""
    return await compared(t._house, t._parts.tools, alter(await record_of(t._house, run_id)))


def written(record: RunRecord) -> list[Event]:
    """What a record holds of its own graphs, in the order of commits."""
    events = [event for change in record.changes for event in change.events]
    return [event for event in events if event.session_id in record.sessions]


def forged(record: RunRecord, event: Event) -> RunRecord:
    """A record in which one event is another."""

    def with_it(events: tuple[Event, ...]) -> tuple[Event, ...]:
        return tuple([event if known.id == event.id else known for known in events])

    changes = [replace(change, events=with_it(change.events)) for change in record.changes]
    return replace(record, story=with_it(record.story), changes=tuple(changes))


def answered_otherwise(record: RunRecord, number: int) -> RunRecord:
    """One answer of a model is another."""
    # Who passes or ends in a loop says no text that could be another.
    spoken = [event for event in written(record) if event.model is not None and event.payload.get("text")][
        number
    ]
    calls = [
        replace(call, completion=re.sub(r'"text": ?"', '"text": "Well now. ', call.completion))
        for call in spoken.calls
    ]
    assert spoken.model is not None
    return forged(record, replace(spoken, model=replace(spoken.model, calls=tuple(calls))))


async def test_a_record_that_was_tampered_with_is_told_with_its_first_event_and_the_prompts_that_change() -> (
    None
):
    async with Terrarium(MemoryStore()) as t:
        run = await t.open_world("thousand-token-wood")
        await t.run(run.id)

        outcome = await verified_otherwise(t, run.id, lambda record: answered_otherwise(record, 3))

        assert not outcome.is_same
        assert outcome.recorded_event is not None
        assert outcome.replayed_event is not None
        assert outcome.recorded_event.payload != outcome.replayed_event.payload
        assert outcome.prompt_diffs
        assert any(line.startswith("-[") for line in outcome.prompt_diffs[0].splitlines())
        assert any(line.startswith("+[") for line in outcome.prompt_diffs[0].splitlines())


async def test_a_run_without_a_scenario_is_built_again_from_what_was_asked_for() -> None:
    async with on_stage() as t:
        await t.add_creature(ticking("ada"), agent=Speaker())
        await t.add_creature(ticking("bo"), agent=Speaker())
        await t.connect("ada", "bo", both=True)
        await t.step(3)

        outcome = await verify(t, t.default_run_id)

        assert outcome.is_same, (outcome.recorded_event, outcome.replayed_event)
        assert outcome.events > 10


@pytest.mark.parametrize("observers", [0, 1, 5])
async def test_the_number_of_observers_changes_nothing(observers: int) -> None:
    async with Terrarium(MemoryStore(), clock=HandMovedClock(), ids=SeededIds(3)) as t:
        watching = [Observer(role="director") for _ in range(observers)]
        for observer in watching:
            t.observe(observer)
        run = await t.open_world("mystery-roots", rng_seed=9)
        await t.run(run.id)
        digest = await t.digest(run.id)

    async with Terrarium(MemoryStore(), clock=HandMovedClock(), ids=SeededIds(4)) as alone:
        again = await alone.open_world("mystery-roots", rng_seed=9)
        await alone.run(again.id)

        assert await alone.digest(again.id) == digest
    assert all(observer.view.run is not None and observer.view.run.finished for observer in watching)


async def test_playing_one_seed_twice_in_one_store_makes_two_runs_of_one_digest() -> None:
    async with Terrarium(MemoryStore()) as t:
        first = await t.open_world("twenty-sprouts", rng_seed=3)
        await t.run(first.id)
        second = await t.open_world("twenty-sprouts", rng_seed=3)
        await t.run(second.id)

        assert first.id != second.id
        assert await t.digest(first.id) == await t.digest(second.id)
        assert [e.kind for e in await t.run_events(second.id)].count(kinds.RUN_FINISHED) == 1


async def passing(_graph_id: str) -> None:
    """A gate that lets everybody pass."""


@pytest.mark.parametrize("is_crowded", [False, True])
async def test_the_end_of_a_run_comes_after_everything_of_it_however_it_is_driven(is_crowded: bool) -> None:
    digests = set()
    for how in ("run", "step_one", "gated"):
        async with Terrarium(MemoryStore()) as t:
            run = await t.open_world(end_in_the_second_room(is_crowded=is_crowded), rng_seed=1)
            if how == "run":
                await t.run(run.id)
            elif how == "step_one":
                while await t.step_one() is not None:
                    pass
            else:
                await t.run(run.id, turns=10_000, before_act=passing)
            digests.add(await t.digest(run.id))

            assert (await t.run_events(run.id))[-1].kind == kinds.RUN_FINISHED
    assert len(digests) == 1
