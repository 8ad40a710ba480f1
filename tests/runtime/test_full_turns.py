"""Full turns: what a turn leaves over is bundled, ticks keep their cadence, and the run plays on (ADR 0106)."""

from __future__ import annotations

from pathlib import Path

import pytest

from glasshouse import Agent, Event, Governor, MemoryStore, ModelRouter, SqliteStore, Terrarium, kinds
from glasshouse.events.payloads import RunFinished, RunStarted, TurnStarted, payload_of
from glasshouse.manifests import LoadedWorld, Manifest
from glasshouse.models.scripted import ScriptedModel
from glasshouse.runtime.store_port import Store
from glasshouse.terrarium import verify
from tests.runtime.stage_crew import (
    Asker,
    Speaker,
    events_of,
    hearing,
    on_stage,
    said,
    the_end,
    ticking,
    world_of,
)
from tests.runtime.troupe import soon

WHOLE_CASTS = [2, 3, 5]
NOTES = {"note.made": {"text": "string"}}
late_lines_max = 15
"""How many lines may be said between a line and its answer, if a turn has 16 calls."""


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    return MemoryStore() if request.param == "memory" else SqliteStore(tmp_path / "t.db")


def chatty(names: str, *more: Manifest, **governor: object) -> LoadedWorld:
    """Creatures that all hear what the others say, and a judge that ticks."""
    first, *others = list(names)
    creatures = [hearing(first, "agent.spoke", "world.observed"), *[hearing(name) for name in others]]
    return world_of(*creatures, *more, opening="Go.", kinds=NOTES, governor={"max_turns": 12, **governor})


def judge(every: int = 4) -> Manifest:
    return ticking("j", every, role="judge", may_emit=("judge.verdict",))


def lateness(events: list[Event]) -> list[int]:
    """For each answer: how many other lines were said between it and the line that it answers."""
    lines = [event for event in events if event.kind == kinds.AGENT_SPOKE]
    number = {event.id: n for n, event in enumerate(lines)}
    return [n - number[line.caused_by] - 1 for n, line in enumerate(lines) if line.caused_by in number]


async def played(t: Terrarium) -> list[Event]:
    (run,) = t.runs()
    return list(await t.run_events(run.id))


@pytest.mark.parametrize("count", WHOLE_CASTS)
async def test_creatures_that_answer_each_other_play_all_their_turns_and_answer_soon(count: int) -> None:
    names = "abcde"[:count]
    async with on_stage(
        minds={**{name: Speaker() for name in names}, "j": Speaker(kinds.JUDGE_VERDICT)}
    ) as t:
        await t.open_world(chatty(names, judge(), max_calls_per_turn=16))

        await soon(t.run())

        events = await played(t)
        verdicts = [event.turn for event in events if event.kind == kinds.JUDGE_VERDICT]
        end = payload_of(events[-1], RunFinished)
        assert (end.axis, end.turns, end.full_turns) == ("max_turns", 12, 12)
        assert max(lateness(events)) <= late_lines_max
        assert verdicts == [4, 8, 12]


async def test_who_says_nothing_gets_defer_and_the_ledger_says_so() -> None:
    async with on_stage(minds={"a": Speaker(), "b": Speaker()}, governor=Governor(max_turns=3)) as t:
        run = await t.open_world(chatty("ab"))
        limits = payload_of((await t.run_events(run.id))[0], RunStarted).limits

        assert limits is not None
        assert limits.on_turn_limit == "defer"
        assert t.run_of(run.id).governor.on_turn_limit == "defer"
        assert Governor(on_turn_limit="finish") != Governor()


async def test_a_run_may_still_end_at_its_first_full_turn() -> None:
    async with on_stage(minds={"a": Speaker(), "b": Speaker()}) as t:
        await t.open_world(chatty("ab", on_turn_limit="finish", max_calls_per_turn=5))

        await soon(t.run())

        end = await the_end(t)
        assert (end.payload["axis"], end.payload["turns"], end.payload["calls"]) == (
            "max_calls_per_turn",
            1,
            5,
        )
        assert await said(t) == ["a1", "b1", "a1", "b1", "a1"]
        assert "full_turns" not in end.payload


async def test_what_a_full_turn_leaves_over_is_answered_by_one_act_for_each_creature(store: Store) -> None:
    minds = {name: Speaker() for name in "abc"}
    async with on_stage(store, minds) as t:
        await t.open_world(chatty("abc", max_turns=2, max_calls_per_turn=4))

        await soon(t.run())

        first, second = await events_of(t, kinds.TURN_STARTED)
        lines = await events_of(t, kinds.AGENT_SPOKE)
        left_over = lines[:4]
        assert payload_of(first, TurnStarted).full == []
        assert payload_of(second, TurnStarted).full == [t.runs()[0].id]
        answers = {line.actor: line.caused_by for line in reversed(lines[4:])}
        for name in "abc":  # The first act of each in the second turn answers the newest line of another.
            assert answers[name] == [line.id for line in left_over if line.actor != name][-1]
        causes = [(line.actor, line.caused_by) for line in lines]
        assert len(causes) == len(set(causes))


async def test_a_bundle_is_heard_whole_by_the_act_that_answers_it() -> None:
    minds = {name: Speaker() for name in "abc"}
    async with on_stage(minds=minds) as t:
        await t.open_world(chatty("abc", max_turns=2, max_calls_per_turn=4))

        await soon(t.run())

        lines = await events_of(t, kinds.AGENT_SPOKE)
        moment = next(moment for moment in minds["c"].moments if moment.turn == 2)
        heard = [event.id for event in moment.recent_events]
        assert {line.id for line in lines[:4] if line.actor != "c"} <= set(heard)


@pytest.mark.parametrize(("limit", "tickers", "kept"), [(6, 1, 1), (6, 2, 2), (6, 5, 3), (1, 2, 1)])
async def test_a_turn_keeps_calls_for_its_ticks_and_at_most_half_of_them(
    limit: int, tickers: int, kept: int
) -> None:
    watching = [ticking(f"t{n}", subscribes_to=(), may_emit=("note.made",)) for n in range(tickers)]
    minds = {**{name: Speaker() for name in "ab"}, **{each.name: Speaker("note.made") for each in watching}}
    async with on_stage(minds=minds) as t:
        await t.open_world(chatty("ab", *watching, max_turns=1, max_calls_per_turn=limit))

        await soon(t.run())

        notes = [event.actor for event in await events_of(t, "note.made")]
        assert len(notes) == kept
        assert notes == [f"t{n}" for n in range(kept)]
        assert len(await said(t)) == limit - kept


async def test_ticks_that_found_no_room_come_first_in_the_next_turn() -> None:
    watching = [ticking(f"t{n}", subscribes_to=(), may_emit=("note.made",)) for n in range(4)]
    minds = {**{name: Speaker() for name in "ab"}, **{each.name: Speaker("note.made") for each in watching}}
    async with on_stage(minds=minds) as t:
        await t.open_world(chatty("ab", *watching, max_turns=4, max_calls_per_turn=4))

        await soon(t.run())

        notes = [event.actor for event in await events_of(t, "note.made")]
        assert notes == ["t0", "t1", "t2", "t3", "t0", "t1", "t2", "t3"]


async def test_a_run_that_is_full_bundles_nothing_of_another_run_in_its_graph() -> None:
    async with on_stage(minds={name: Speaker() for name in "abxy"}) as t:
        loud = await t.open_world(chatty("ab", max_turns=3, max_calls_per_turn=3))
        calm = await t.open_world(
            world_of(
                ticking("x", subscribes_to=()),
                hearing("y", "note.made"),
                kinds=NOTES,
                governor={"max_turns": 3},
            )
        )
        await t.connect("a", "x")

        await soon(t.run())

        full = {
            run_id
            for event in await events_of(t, kinds.TURN_STARTED)
            for run_id in payload_of(event, TurnStarted).full
        }
        assert full == {loud.id}
        assert "full_turns" not in (await the_end(t, calm.id)).payload


def three_and_a_judge() -> dict[str, Speaker]:
    return {**{name: Speaker() for name in "abc"}, "j": Speaker(kinds.JUDGE_VERDICT)}


async def test_a_play_with_full_turns_verifies_and_is_the_same_after_every_reopening(tmp_path: Path) -> None:
    world = chatty("abc", judge(2), max_turns=4, max_calls_per_turn=5)
    async with on_stage(MemoryStore(), three_and_a_judge()) as t:
        run = await t.open_world(world)
        await soon(t.run())
        usual = await t.digest(run.id)

        assert (await verify(t, run.id)).is_same

    store = tmp_path / "show.glasshouse"
    async with on_stage(SqliteStore(store), three_and_a_judge()) as t:
        run = await t.open_world(world)
    is_over, again = False, ""
    while not is_over:
        async with on_stage(SqliteStore(store), three_and_a_judge()) as t:
            is_over = await soon(t.step_one()) is None
            again = await t.digest(run.id)
    assert again == usual


async def test_the_further_calls_of_an_act_leave_those_kept_for_ticks_too() -> None:
    ticker = ticking("t", subscribes_to=(), may_emit=("note.made",))
    minds: dict[str, Agent] = {"a": Asker(calls=3), "b": Speaker(), "t": Speaker("note.made")}
    async with on_stage(minds=minds, models=ModelRouter(ScriptedModel("-"))) as t:
        await t.open_world(chatty("ab", ticker, max_turns=1, max_calls_per_turn=3))

        await soon(t.run())

        (failed,) = await events_of(t, kinds.AGENT_FAILED)
        assert (failed.actor, failed.payload["axis"], len(failed.calls)) == ("a", "max_calls_per_turn", 2)
        assert [event.actor for event in await events_of(t, "note.made")] == ["t"]
