"""The conductor: whose turn it is, in which order, and what ends a run. Every way of driving uses one scheduler."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from glasshouse import Agent, Draft, MemoryStore, SqliteStore, kinds
from glasshouse.runtime.store_port import Store
from glasshouse.terrarium import Terrarium
from glasshouse.turns.moment.moment import Moment
from tests.runtime.stage_crew import (
    Doing,
    Speaker,
    cast_on,
    events_of,
    hearing,
    ledger_of,
    on_stage,
    said,
    the_end,
    ticking,
    turns_begun,
    words,
    world_of,
)
from tests.runtime.troupe import soon

Drive = Callable[[Terrarium], Awaitable[None]]


async def by_run(t: Terrarium) -> None:
    await t.run()


async def by_single_turns(t: Terrarium) -> None:
    while await t.step():
        pass


async def by_three_turns(t: Terrarium) -> None:
    while await t.step(3):
        pass


async def by_acts(t: Terrarium) -> None:
    while await t.step_one() is not None:
        pass
    assert await t.step_one() is None


async def by_all_in_turn(t: Terrarium) -> None:
    await t.step_one()
    await t.step(2)
    await t.step_one()
    await t.run()


WAYS = (by_run, by_single_turns, by_three_turns, by_acts, by_all_in_turn)


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    return MemoryStore() if request.param == "memory" else SqliteStore(tmp_path / "t.db")


# One scheduler


async def test_a_tick_is_answered_at_the_beginning_of_the_next_turn(store: Store) -> None:
    minds = {"a": Speaker(), "b": Speaker()}
    async with on_stage(store) as t:
        await cast_on(t, minds, ticking("a"), hearing("b"))

        await t.step(3)

        assert await said(t) == ["a1", "b2", "a2", "b3", "a3"]


async def _digest_when_driven(drive: Drive, world: dict[str, object]) -> tuple[str, list[str], list[str]]:
    minds = {name: Speaker() for name in "abcd"}
    async with on_stage(minds=minds) as t:
        run = await t.open_world(
            world_of(ticking("a"), hearing("b"), ticking("c", 2), ticking("d", 5), **world)
        )
        await soon(drive(t))
        events = await t.run_events(run.id)
        assert t.run_of(run.id).is_finished
        return await t.digest(run.id), words(events), await said(t)


TWO_STAGES = {
    "channels": {"wood": "", "pond": ""},
    "cast": [
        {"use": name, "channels": {"listen": [room], "send": [room]}}
        for name, room in (("a", "wood"), ("b", "wood"), ("c", "wood"), ("d", "pond"))
    ],
}


@pytest.mark.parametrize("drive", WAYS)
@pytest.mark.parametrize(
    "world",
    [
        {"governor": {"max_turns": 12}},
        {"governor": {"max_total_calls": 17}},
        {"governor": {"max_calls_per_turn": 2, "on_turn_limit": "defer", "max_turns": 9}},
        {"ends_when": {"kind": "agent.spoke", "count": 14}},
        {"beats": [{"turn": 4, "text": "Rain."}], "governor": {"max_turns": 12}},
        {**TWO_STAGES, "governor": {"max_total_calls": 17}},
        {**TWO_STAGES, "governor": {"max_turns": 11}},
        {**TWO_STAGES, "ends_when": {"kind": "agent.spoke", "count": 14}},
    ],
    ids=["turns", "calls", "defer", "ends", "beats", "graphs-calls", "graphs-turns", "graphs-ends"],
)
async def test_every_way_of_driving_gives_the_same_transcript(drive: Drive, world: dict[str, object]) -> None:
    usual = await _digest_when_driven(by_run, world)

    assert await _digest_when_driven(drive, world) == usual


async def test_an_act_driven_alone_gives_back_the_event_it_ended_in_or_that_ended_its_run() -> None:
    async with on_stage(minds={"a": Speaker()}) as t:
        run = await t.open_world(world_of(ticking("a"), governor={"max_turns": 2}))

        got = [await t.step_one() for _ in range(4)]

        assert [event and event.kind for event in got] == ["agent.spoke", "agent.spoke", "run.finished", None]
        assert t.run_of(run.id).is_finished


async def test_what_an_act_driven_alone_makes_the_end_of_a_run_is_the_end_of_it() -> None:
    async with on_stage(minds={"a": Speaker()}) as t:
        await t.open_world(
            world_of(hearing("a", "world.observed"), opening="Dusk.", ends_when={"kind": "agent.spoke"})
        )

        got = [await t.step_one() for _ in range(3)]

        assert [event and event.kind for event in got] == ["agent.spoke", "run.finished", None]


async def test_an_end_that_came_before_a_reopening_is_told_after_it(tmp_path: Path) -> None:
    world = world_of(hearing("a", "world.observed"), opening="Dusk.", ends_when={"kind": "agent.spoke"})
    async with on_stage(SqliteStore(tmp_path / "t.db"), minds={"a": Speaker()}) as t:
        run = await t.open_world(world)
        await t.step_one()

    async with on_stage(SqliteStore(tmp_path / "t.db"), minds={"a": Speaker()}) as t:
        await t.run()

        assert t.run_of(run.id).is_finished
        assert (await the_end(t)).payload["calls"] == 1


# Never for its own event


async def test_nobody_answers_its_own_line() -> None:
    minds = {"a": Speaker(), "b": Speaker()}
    async with on_stage() as t:
        await cast_on(t, minds, ticking("a", subscribes_to=("agent.spoke",)), hearing("b", "tale.told"))

        await t.step(3)

        assert await said(t) == ["a1", "a2", "a3"]


async def test_two_who_answer_each_other_are_bounded_by_the_calls_of_a_turn_and_the_run_ends_once(
    store: Store,
) -> None:
    async with on_stage(store, {"a": Speaker(), "b": Speaker()}) as t:
        world = world_of(
            hearing("a", "agent.spoke", "world.observed"),
            hearing("b"),
            opening="Go.",
            governor={"max_calls_per_turn": 5, "on_turn_limit": "finish"},
        )
        await t.open_world(world)

        assert (await soon(t.run())).turns == 1

        end = await the_end(t)
        assert await said(t) == ["a1", "b1", "a1", "b1", "a1"]
        assert (end.payload["reason"], end.payload["axis"]) == ("budget", "max_calls_per_turn")
        assert (end.payload["turns"], end.payload["calls"]) == (1, 5)
        assert (await t.run()).turns == 0


async def test_deferring_leaves_the_rest_of_a_turn_to_the_next(store: Store) -> None:
    async with on_stage(store, {"a": Speaker(), "b": Speaker()}) as t:
        await t.open_world(
            world_of(
                hearing("a", "agent.spoke", "world.observed"),
                hearing("b"),
                opening="Go.",
                governor={"max_calls_per_turn": 3, "on_turn_limit": "defer", "max_turns": 3},
            )
        )

        await soon(t.run())

        assert await said(t) == ["a1", "b1", "a1", "b2", "a2", "b2", "a3", "b3", "a3"]
        end = await the_end(t)
        assert (end.payload["axis"], end.payload["turns"], end.payload["calls"]) == ("max_turns", 3, 9)


async def test_ticks_put_off_come_before_the_ticks_of_the_next_turn_and_none_is_doubled() -> None:
    names = ("a", "b", "c")
    async with on_stage(minds={name: Speaker() for name in names}) as t:
        await t.open_world(
            world_of(
                *[ticking(name) for name in names],
                governor={"max_calls_per_turn": 2, "on_turn_limit": "defer", "max_turns": 4},
            )
        )

        await soon(t.run())

        lines = await said(t)
        assert len(lines) == 8
        assert lines[:2] == ["a1", "b1"]
        assert {line[0] for line in lines} == {"a", "b", "c"}
        causes = [(event.actor, event.caused_by) for event in await events_of(t, kinds.AGENT_SPOKE)]
        assert len(causes) == len(set(causes))


async def test_empty_turns_are_skipped_by_computation() -> None:
    minds = {"three": Speaker(), "five": Speaker()}
    async with on_stage() as t:
        await cast_on(t, minds, ticking("three", 3), ticking("five", 5))

        await t.step(15)

        assert await turns_begun(t) == [3, 5, 6, 9, 10, 12, 15]
        assert (await said(t))[-2:] == ["three15", "five15"]


async def test_nothing_is_due_where_nobody_ticks_and_nobody_is_owed() -> None:
    async with on_stage() as t:
        await cast_on(t, {"a": Speaker(), "b": Speaker()}, hearing("a"), hearing("b"))
        before = len(await ledger_of(t))

        assert ((await t.run()).turns, (await t.step(5)).turns, await t.step_one()) == (0, 0, None)
        assert len(await ledger_of(t)) == before


async def test_reactions_go_by_cause_and_then_by_age() -> None:
    names = ("old", "mid", "new")
    minds = {name: Speaker() for name in names}
    async with on_stage() as t:
        await cast_on(t, minds, *[hearing(name, "user.injected", "tale.told") for name in names])
        for text in ("first", "second"):
            await t.disturb(t.default_run_id, text)

        await t.run()

        spoken = [
            (e.actor, (await t.event(e.caused_by or "")).payload["text"])
            for e in await events_of(t, "agent.spoke")
        ]
        assert spoken == [(name, text) for text in ("first", "second") for name in names]


# Wires, rests, beats


async def test_a_wire_hands_a_line_to_its_target_at_the_end_of_the_act() -> None:
    minds = {"a": Speaker(), "b": Speaker(), "c": Speaker()}
    async with on_stage() as t:
        await cast_on(t, minds, ticking("a"), hearing("b", "tale.told"), hearing("c", "tale.told"))
        await t.wire("a", "b")
        await t.wire("b", "c")

        await t.step(2)

        assert await said(t) == ["a1", "b2", "c2", "a2"]


async def test_a_wire_hands_on_neither_silence_nor_failure() -> None:
    async def fails(moment: Moment) -> None:
        raise ValueError("no ink")

    async def passes(moment: Moment) -> Draft:
        return Draft(kind=kinds.AGENT_PASSED, payload={"reason": "nothing to add"})

    minds: dict[str, Agent] = {"a": Doing(fails), "b": Doing(passes), "c": Speaker()}
    async with on_stage() as t:
        await cast_on(t, minds, ticking("a"), ticking("b"), hearing("c", "tale.told"))
        await t.wire("a", "c")
        await t.wire("b", "c")

        await t.step(3)

        assert await said(t) == []


async def test_what_waited_for_a_resting_creature_becomes_one_act_that_answers_the_newest() -> None:
    minds = {"a": Speaker(), "b": Speaker()}
    async with on_stage() as t:
        await cast_on(t, minds, ticking("a"), hearing("b"))
        await t.step(1)
        await t.stop_creature("b")
        await t.step(3)
        await t.start_creature("b")

        await t.step(1)

        assert await said(t) == ["a1", "a2", "a3", "a4", "b4", "b4"]
        answered = [
            (await t.event(e.caused_by or "")).payload["text"]
            for e in await events_of(t, "agent.spoke")
            if e.actor == "b"
        ]
        assert answered == ["a1", "a4"]


async def test_who_rests_has_no_turn_and_its_graph_skips_what_was_its_alone() -> None:
    minds = {"a": Speaker(), "b": Speaker()}
    async with on_stage() as t:
        await cast_on(t, minds, ticking("a"), ticking("b", 4))
        await t.stop_creature("a")

        await t.step(8)

        assert await turns_begun(t) == [4, 8]


async def test_beats_come_at_their_turn_also_when_no_tick_falls_on_it() -> None:
    beats = [
        {"turn": 1, "text": "Dawn."},
        {"turn": 4, "text": "Rain.", "title": "II"},
        {"turn": 8, "text": "Dusk."},
    ]
    minds = {"a": Speaker(), "b": Speaker()}
    async with on_stage(minds=minds) as t:
        await t.open_world(
            world_of(ticking("a", 3), hearing("b", "world.observed"), beats=beats, governor={"max_turns": 9})
        )

        await t.run()

        shown = [(e.turn, e.payload) for e in await events_of(t, kinds.WORLD_OBSERVED)]
        assert shown == [
            (1, {"text": "Dawn."}),
            (4, {"text": "Rain.", "title": "II"}),
            (8, {"text": "Dusk."}),
        ]
        assert await said(t) == ["b1", "a3", "b4", "a6", "b8", "a9"]
        assert await turns_begun(t) == [1, 3, 4, 6, 8, 9]


async def test_a_beat_waits_for_a_run_that_pauses_while_its_graph_plays_on() -> None:
    async with on_stage(minds={"a": Speaker(), "b": Speaker()}) as t:
        first = await t.open_world(
            world_of(ticking("a"), beats=[{"turn": 3, "text": "Rain."}], governor={"max_turns": 5})
        )
        await t.open_world(world_of(ticking("b")))
        await t.connect("a", "b", both=True)
        await t.step(1)
        await t.pause(first.id)
        await t.step(4)
        assert t.run_of(first.id).turns == 1

        await t.continue_run(first.id)
        await t.step(6)

        assert [e.turn for e in await events_of(t, kinds.WORLD_OBSERVED)] == [7]
        assert [word for word in await said(t) if word[0] == "a"] == ["a1", "a5", "a6", "a7", "a8", "a9"]
        assert (await the_end(t, first.id)).payload["turns"] == 5
