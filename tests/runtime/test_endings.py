"""What ends a run and who wins it, and how a visitor is answered in the next turn."""

import pytest

from glasshouse import Agent, Draft, MemoryStore, Terrarium, kinds
from glasshouse.turns.moment.moment import Moment
from tests.runtime.stage_crew import (
    Doing,
    Speaker,
    cast_on,
    events_of,
    hearing,
    on_stage,
    said,
    the_end,
    ticking,
    world_of,
)
from tests.runtime.troupe import line

# Endings


async def test_so_many_events_of_a_kind_end_a_run() -> None:
    async with on_stage(minds={"a": Speaker(), "b": Speaker()}) as t:
        run = await t.open_world(
            world_of(ticking("a"), ticking("b"), ends_when={"kind": "agent.spoke", "count": 3})
        )

        await t.run()

        end = await the_end(t)
        assert (end.payload["reason"], end.payload["axis"], end.payload["winner"]) == ("ended", None, None)
        assert (end.payload["turns"], end.payload["calls"]) == (2, 3)
        assert t.run_of(run.id).is_finished
        assert await said(t) == ["a1", "b1", "a2"]


def _guessing(**competition: object) -> dict[str, object]:
    return {
        "deal": {"word": {"to": "keeper", "from": ["lantern"]}},
        "competition": {
            "kind": "versus",
            "teams": {"keepers": ["keeper"], "guessers": ["guesser"]},
            "referee": "names_the_word",
        },
        "ends_when": {"referee": True},
        "governor": {"max_turns": 3},
        **competition,
    }


def _line(text: str, kind: str = kinds.AGENT_SPOKE) -> Doing:
    async def says(moment: Moment) -> Draft:
        return Draft(kind=kind, payload={"text": text})

    return Doing(says)


@pytest.mark.parametrize(
    ("keeper", "guesser", "reason", "winner"),
    [
        ("It glows.", "Is it a LANTERN?", "ended", "guessers"),
        ("It is a lantern, oh no.", "Hm.", "ended", "guessers"),
        ("It glows.", "Is it lanterns or a lamp?", "budget", "keepers"),
    ],
)
async def test_the_referee_ends_a_run_when_the_word_is_named(
    keeper: str, guesser: str, reason: str, winner: str
) -> None:
    async with on_stage(minds={"keeper": _line(keeper), "guesser": _line(guesser)}) as t:
        run = await t.open_world(world_of(ticking("keeper"), ticking("guesser"), **_guessing()))

        await t.run()

        end = await the_end(t)
        assert (end.payload["reason"], end.payload["winner"]) == (reason, winner)
        assert t.run_of(run.id).winner == winner


async def test_a_word_that_is_told_in_a_line_made_for_it_decides_nothing() -> None:
    deal = {"word": {"to": "keeper", "from": ["lantern"], "may_say": ["hat.lifted"]}}
    minds: dict[str, Agent] = {
        "keeper": _line("It was a lantern.", "hat.lifted"),
        "guesser": _line("Is it a lamp?"),
    }
    keeper = ticking("keeper", may_emit=("hat.lifted",))
    competition = _guessing(deal=deal, kinds={"hat.lifted": {"text": "string"}})
    async with on_stage(minds=minds) as t:
        run = await t.open_world(world_of(keeper, ticking("guesser"), **competition))

        await t.run()

        lifted = [event for event in await t.run_events(run.id) if event.kind == "hat.lifted"]
        assert lifted[0].payload["text"] == "It was a lantern."
        assert (await the_end(t)).payload["winner"] == "keepers"


async def test_a_referee_hears_lines_and_neither_thoughts_nor_reasons_for_silence() -> None:
    async def passes(moment: Moment) -> Draft:
        return Draft(kind=kinds.AGENT_PASSED, payload={"reason": "I must not say lantern."})

    minds: dict[str, Agent] = {
        "keeper": _line("It is a lantern.", kinds.AGENT_THOUGHT),
        "guesser": Doing(passes),
    }
    keeper = ticking("keeper", may_emit=("agent.thought", "agent.spoke"))
    async with on_stage(minds=minds) as t:
        await t.open_world(world_of(keeper, ticking("guesser"), **_guessing()))

        await t.run()

        assert (await the_end(t)).payload["winner"] == "keepers"


@pytest.mark.parametrize(("named", "reason", "winner"), [("a", "ended", "a"), ("nobody", "no_contest", None)])
async def test_a_verdict_names_the_winner(named: str, reason: str, winner: str | None) -> None:
    async def judges(moment: Moment) -> Draft:
        payload = {"winner": named, "text": "It was told best.", "cites": [moment.recent_events[-1].id]}
        return Draft(kind=kinds.JUDGE_VERDICT, payload=payload)

    minds: dict[str, Agent] = {"a": Speaker(), "j": Doing(judges)}
    judge = ticking("j", 2, role="judge", may_emit=("judge.verdict",))
    async with on_stage(minds=minds) as t:
        await t.open_world(
            world_of(
                ticking("a"),
                judge,
                competition={"kind": "judged", "contestants": ["a"]},
                ends_when={"kind": "judge.verdict"},
            )
        )

        await t.run()

        end = await the_end(t)
        assert (end.payload["reason"], end.payload["winner"]) == (reason, winner)
        assert end.payload["why"] == "It was told best."


# Visitors


async def test_what_a_visitor_says_is_answered_in_the_next_turn() -> None:
    async with on_stage(minds={"a": Speaker(), "b": Speaker()}) as t:
        run = await t.open_world(
            world_of(ticking("a"), hearing("b", "user.injected"), governor={"max_turns": 4})
        )
        await t.step_one()

        injected = await t.disturb(run.id, "A bell rings.")
        await t.run()

        assert await said(t) == ["a1", "b2", "a2", "a3", "a4"]
        answer = next(event for event in await events_of(t, "agent.spoke") if event.actor == "b")
        assert (answer.caused_by, injected.turn, injected.run_id) == (injected.id, 1, run.id)


async def test_a_visitor_wakes_a_graph_in_which_nothing_was_due() -> None:
    async with on_stage() as t:
        await cast_on(t, {"a": Speaker()}, hearing("a", "user.injected"))
        assert (await t.run()).turns == 0

        await t.disturb(t.default_run_id, "A bell rings.")

        assert (await t.run()).turns == 1
        assert await said(t) == ["a1"]


async def test_what_is_appended_from_outside_is_answered_in_the_next_turn_too() -> None:
    minds = {"a": Speaker(), "b": Speaker()}
    async with on_stage() as t:
        await cast_on(t, minds, ticking("a"), hearing("b"))
        await t.step(1)

        await t.append("a", line("out of turn", "stage"))
        await t.step(1)

        assert await said(t) == ["a1", "out of turn", "b2", "b2", "a2"]


async def test_a_run_without_a_scenario_is_told_whole_though_its_graphs_never_met() -> None:
    async with on_stage() as t:
        for name in ("ada", "bo"):
            await t.add_creature(ticking(name), agent=Speaker())

        await t.step(1)

        events = await t.run_events(t.default_run_id)
        assert {event.actor for event in events if event.kind == kinds.AGENT_SPOKE} == {"ada", "bo"}


async def test_a_session_knows_the_recipe_it_was_opened_from_and_hands_it_down() -> None:
    async with on_stage() as t:
        run = await t.open_world("mystery-roots")
        opened = t.session(t.graph(run.graph_ids[0]).session_id)
        await t.remove_creature("devils-advocate")
        later = t.session(t.graph(run.graph_ids[0]).session_id)

    assert opened.config_path is not None
    assert opened.config_path.endswith("mystery-roots")
    assert opened.recipes == later.recipes == (opened.config_path,)


async def test_a_visitor_who_went_away_is_not_waited_for() -> None:
    guest = ticking("guest").model_copy(update={"played_by": "visitor"})
    async with Terrarium(MemoryStore()) as t:
        run = await t.open_world(world_of(guest, governor={"max_turns": 2}))
        t.speak_as("guest", "I was here.")

        assert t.send_visitors_away(run.id) == ("guest",)
        await t.run(run.id)

        assert [(e.kind, e.payload) for e in await t.run_events(run.id) if e.actor == "guest"] == [
            (kinds.AGENT_SPOKE, {"text": "I was here."}),
            (kinds.AGENT_PASSED, {"reason": "The visitor said nothing in time."}),
        ]
