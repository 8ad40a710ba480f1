"""Reflections by cadence: after every Nth line of its own a creature owes one act, which ends in a reflection (ADR 0161)."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest

from glasshouse import Agent, Draft, Event, Manifest, MemoryStore, Refused, kinds
from glasshouse.manifests.loading import LoadedWorld
from glasshouse.models.router import ModelRouter
from glasshouse.runtime.past.what_if import WhatIf
from glasshouse.terrarium import Terrarium, verify
from glasshouse.turns.moment.moment import Moment
from tests.runtime.reflecting_model import (
    ReflectingModel,
    asks_for_reflection,
    cadences,
    lines_that_owe,
    reflection_acts,
)
from tests.runtime.stage_crew import Speaker, hearing, ledger_of, show, the_end, ticking, world_of
from tests.simulation.ledger_checks import check_ends, check_folds

ADA = ticking("ada", memory={"reflect_every": 2})
BO = hearing("bo", memory={"reflect_every": 3})
CY = ticking("cy", together=True)


def table(*cast: Manifest, turns: int = 6, **limits: Any) -> LoadedWorld:
    governor = {"max_turns": turns, "max_calls_per_turn": 64, **limits}
    return world_of(*(cast or (ADA, BO, CY)), governor=governor)


def stage(store: MemoryStore | None = None) -> Terrarium:
    return show(store, models=ModelRouter(ReflectingModel()))


async def every_of(t: Terrarium) -> dict[str, int]:
    return cadences(await ledger_of(t))


async def played(t: Terrarium, world: LoadedWorld | None = None) -> tuple[str, tuple[Event, ...]]:
    run = await t.open_world(world or table(), run_id="r-reflects")
    await t.run(run.id)
    return run.id, await t.run_events(run.id)


async def test_every_nth_line_of_its_own_is_followed_by_one_reflection_that_it_causes() -> None:
    async with stage() as t:
        _, events = await played(t)
        every = await every_of(t)
        owing = lines_that_owe(events, every)

        assert [len(ends) for ends in reflection_acts(events).values()] == [1] * len(owing)
        assert [*reflection_acts(events)] == owing
        assert len(owing) >= 6
        reflections = [event for event in events if event.kind == kinds.AGENT_REFLECTED]
        assert all(event.payload["rests_on"] and event.channel_id is None for event in reflections)
        assert {t.creature(actor).handle for actor, _ in owing} == {"ada", "bo"}


async def test_a_reflection_comes_last_in_the_turn_of_its_line_and_is_counted_as_a_call() -> None:
    async with stage() as t:
        run_id, events = await played(t)
        by_id = {event.id: event for event in events}

        for event in events:
            if event.kind == kinds.AGENT_REFLECTED:
                later = [e for e in events if e.turn == event.turn and e.lamport > event.lamport]
                assert by_id[event.caused_by or ""].turn == event.turn
                assert {e.kind for e in later} <= {kinds.AGENT_REFLECTED, kinds.RUN_FINISHED}
        assert t.run_of(run_id).calls == sum(len(event.calls) for event in events)
        assert all(len(event.calls) == 1 for event in events if event.kind == kinds.AGENT_REFLECTED)


async def test_its_prompt_offers_only_a_reflection_of_few_words_and_no_tool() -> None:
    model = ReflectingModel()
    async with show(models=ModelRouter(model)) as t:
        await played(t, table(ticking("ada", memory={"reflect_every": 1}, voice={"say_words_max": 200})))

    asked, usual = model.prompts[1], model.prompts[0]
    assert asks_for_reflection(asked)
    assert not asks_for_reflection(usual)
    assert "reflect now on line [1]" in asked.user.lower()
    assert "At most 30 words." in asked.user
    assert asked.reply_tokens_max == 200 < usual.reply_tokens_max


async def test_what_was_reflected_comes_back_in_what_a_creature_remembers() -> None:
    model = ReflectingModel()
    async with show(models=ModelRouter(model)) as t:
        ada = ticking("ada", memory={"reflect_every": 2, "window": 2})
        _, events = await played(t, table(ada, ticking("cy")))
        reflected = [event.payload["text"] for event in events if event.kind == kinds.AGENT_REFLECTED]

    of_ada = [prompt.user for prompt in model.prompts if prompt.system.startswith("You are ada,")]
    remembered = of_ada[-1].partition("WHAT YOU REMEMBER")[2].partition("WHAT YOU ANSWER NOW")[0]
    assert len(reflected) == 3
    assert reflected[0] in remembered
    of_cy = [prompt.user for prompt in model.prompts if prompt.system.startswith("You are cy,")]
    assert not any(text in user for text in reflected for user in of_cy)


@pytest.mark.parametrize("how", ["defer", "finish"])
async def test_a_full_turn_leaves_reflections_out_and_goes_on(how: str) -> None:
    ada, bo = (ticking(name, memory={"reflect_every": 1}) for name in ("ada", "bo"))
    async with stage() as t:
        run_id, events = await played(t, table(ada, bo, turns=5, max_calls_per_turn=3, on_turn_limit=how))

        lines = [event for event in events if event.kind == kinds.AGENT_SPOKE]
        reflected = [event.turn for event in events if event.kind == kinds.AGENT_REFLECTED]
        assert [event.turn for event in lines] == sorted([1, 2, 3, 4, 5] * 2)
        assert reflected == [1, 2, 3, 4, 5]  # Two are owed in each turn, and there is one call for them.
        turn_of = {event.id: event.turn for event in lines}
        causes = [event.caused_by or "" for event in events if event.kind == kinds.AGENT_REFLECTED]
        assert [turn_of[cause] for cause in causes] == reflected  # What a turn left out does not come later.
        assert (await the_end(t, run_id)).payload["axis"] == "max_turns"
        assert (await verify(t, run_id)).is_same


class _Reflects(Agent):
    """Reflects when it is asked to, in the way that it was told."""

    def __init__(self, kind: str, rests_on: object) -> None:
        self.kind = kind
        self.rests_on = rests_on

    async def act(self, moment: Moment) -> Draft | None:
        if not moment.is_reflection:
            return Draft(kind=kinds.AGENT_SPOKE, payload={"text": f"line {moment.turn}"})
        cited = [moment.cause.id] if self.rests_on == "cause" else self.rests_on
        return Draft(kind=self.kind, payload={"text": "So it is.", "rests_on": cited})


@pytest.mark.parametrize(
    ("kind", "rests_on", "words"),
    [
        ("agent.spoke", "cause", "This act is a reflection"),
        ("agent.reflected", [], "rests on nothing"),
        ("agent.reflected", ["s-0000000000000000.1"], "There is no event"),
        ("agent.reflected", "cause", ""),
    ],
)
async def test_code_that_plays_a_creature_is_held_to_the_same(
    kind: str, rests_on: object, words: str
) -> None:
    async with show(minds={"ada": _Reflects(kind, rests_on)}) as t:
        _, events = await played(t, table(ADA, turns=2))

    (end,) = [event for event in events if event.turn == 2 and event.caused_by == events[-3].id]
    assert end.kind == (kinds.AGENT_FAILED if words else kinds.AGENT_REFLECTED)
    assert words in str(end.payload)


async def test_a_line_that_a_program_appends_counts_and_does_not_settle_what_is_owed() -> None:
    async with show(minds={"ada": Speaker()}) as t:
        run = await t.open_world(table(hearing("ada", memory={"reflect_every": 2})))
        ada = t.creatures()[0].id
        lines = [
            await t.append(ada, Draft(kind=kinds.AGENT_SPOKE, payload={"text": f"{n}"})) for n in range(2)
        ]
        agenda = t._house.ledger.agenda
        assert [*agenda.reflections[ada]] == [lines[1].id]

        await t.append(ada, Draft(kind=kinds.AGENT_SPOKE, payload={"text": "3"}), caused_by=lines[1].id)
        assert agenda.owes_reflection(ada, lines[1].id)
        rests = {"text": "So.", "rests_on": [lines[0].id]}
        await t.append(ada, Draft(kind=kinds.AGENT_REFLECTED, payload=rests), caused_by=lines[1].id)

        assert agenda.reflections == {}
        assert agenda.own_lines == {ada: 1}
        await t.finish(run.id)
        assert agenda.own_lines == {}


async def test_a_run_with_reflections_verifies_and_branches_at_every_event_to_the_same_digest() -> None:
    async with stage() as t:
        run_id, events = await played(t, table(turns=4))
        digest = await t.digest(run_id)

        assert (await verify(t, run_id)).is_same
        for event in events:
            branch = await t.branch(event.session_id, event.id)
            await t.run(branch.id)
            assert await t.digest(branch.id) == digest, event
            assert (await verify(t, branch.id)).is_same, event


@pytest.mark.parametrize(
    "change", [WhatIf(replace="a fox at the gate"), WhatIf(drop=True)], ids=["replace", "drop"]
)
async def test_a_branch_that_changes_the_nth_line_owes_one_reflection_or_none_for_it(change: WhatIf) -> None:
    async with stage() as t:
        _run_id, events = await played(t, table(ADA, turns=5))
        line = [event for event in events if event.kind == kinds.AGENT_SPOKE][1]

        branch = await t.branch(line.session_id, line.id, change)
        await t.run(branch.id)

        story = await t.run_events(branch.id)
        ends = reflection_acts(story)
        lines = [event for event in story if event.kind == kinds.AGENT_SPOKE]
        assert [len(kinds_of) for kinds_of in ends.values()] == [1] * len(ends)
        # Dropped, the line is not counted: the next one is the second.
        assert [cause for _, cause in ends] == [line.id for line in lines[1::2]]
        await check_folds(t._house.store)


async def _part(t: Terrarium) -> None:
    for name, other in (("ada", "bo"), ("bo", "ada")):
        for channel in [each.name for each in t.environment(t.creature(name).graph_id).channels]:
            with suppress(Refused):
                await t.disconnect(name, other, channel=channel)


async def test_counts_and_debts_go_on_through_merges_and_splits() -> None:
    async with stage() as t:
        run = await t.open_world(table(ADA, ticking("bo", memory={"reflect_every": 3}), turns=9))
        await t.run(run.id, turns=2)
        await _part(t)
        await t.run(run.id, turns=2)
        await t.connect("ada", "bo", both=True)
        await t.run(run.id, turns=2)
        await _part(t)
        await t.run(run.id)

        events = await ledger_of(t)
        owing = lines_that_owe(events, await every_of(t))
        assert reflection_acts(events).keys() == set(owing)
        assert all(len(ends) == 1 for ends in reflection_acts(events).values())
        assert len({event.graph_id for event in events if event.kind == kinds.AGENT_REFLECTED}) > 1
        await check_ends(t._house.store)
        await check_folds(t._house.store)
        assert (await verify(t, run.id)).is_same


async def test_a_resumed_run_counts_on_where_its_past_stopped() -> None:
    async with stage() as t:
        _run_id, events = await played(t, table(ADA, turns=3))
        assert (
            len(lines_that_owe(events, await every_of(t))) == 1
        )  # Three lines: one is counted towards the next.

        resumed = await t.resume(events[-1].session_id, world=table(ADA, turns=4))
        await t.run(resumed.id)

        story = await t.run_events(resumed.id)
        lines = [event.id for event in story if event.kind == kinds.AGENT_SPOKE]
        reflected = [event.caused_by for event in story if event.kind == kinds.AGENT_REFLECTED]
        assert reflected == [lines[1], lines[3]]


async def test_a_stopped_creature_reflects_when_it_is_started() -> None:
    async with stage() as t:
        run = await t.open_world(table(hearing("ada", memory={"reflect_every": 1}), CY, turns=6))
        ada = t.creature("ada").id
        line = await t.append(ada, Draft(kind=kinds.AGENT_SPOKE, payload={"text": "Before."}))
        await t.stop_creature(ada)
        await t.run(run.id, turns=3)
        assert t._house.ledger.agenda.owes_reflection(ada, line.id)

        await t.start_creature(ada)
        await t.run(run.id, turns=1)

        (first, *_) = [event for event in await ledger_of(t) if event.kind == kinds.AGENT_REFLECTED]
        assert first.caused_by == line.id
