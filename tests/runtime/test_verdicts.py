"""Verdicts in play: a judge that names an unknown winner is asked once more, and may cite only events it saw."""

import json
from typing import Any

import pytest

from glasshouse import Agent, Draft, Event, MemoryStore, Refused, Terrarium, kinds
from glasshouse.model_values import Tokens
from glasshouse.models.router import ModelRouter
from glasshouse.models.scripted import ScriptedModel
from glasshouse.turns.moment.moment import Moment
from glasshouse.turns.moment.prompt import Completion, Prompt
from glasshouse.world.decisions.intents import LeaveChannel
from tests.runtime.stage_crew import Doing, Speaker, events_of, on_stage, the_end, ticking, world_of

CONTEST = {
    "competition": {"kind": "judged", "contestants": ["a", "b"]},
    "ends_when": {"kind": "judge.verdict"},
    "governor": {"max_turns": 4},
}


def _verdict(winner: str, text: str = "It was told best.", cites: tuple[str, ...] = ("1",)) -> str:
    return json.dumps(
        {"kind": "judge.verdict", "thought": "", "winner": winner, "text": text, "cites": list(cites)}
    )


async def _judged_by(*answers: str, **changes: Any) -> tuple[list[Event], Event, ScriptedModel]:
    model = ScriptedModel(*answers)
    judge = ticking("j", 2, role="judge", may_emit=("judge.verdict",), model_profile="strong")
    models = ModelRouter({"strong": model, "fast": ScriptedModel("x")})
    minds: dict[str, Agent] = {"a": Speaker(), "b": Speaker()}
    async with on_stage(minds=minds, models=models) as t:
        await t.open_world(world_of(ticking("a"), ticking("b"), judge, **{**CONTEST, **changes}))
        await t.run()
        return await events_of(t, kinds.JUDGE_VERDICT, kinds.AGENT_FAILED), await the_end(t), model


async def test_an_unknown_winner_is_asked_about_once_more_in_words() -> None:
    (verdict,), end, model = await _judged_by(_verdict("the owl"), _verdict("contestant A"))

    assert verdict.payload["winner"] in {"a", "b"}
    assert (end.payload["reason"], end.payload["winner"]) == ("ended", verdict.payload["winner"])
    assert '"winner" may not be "the owl": give one of "contestant A"' in model.prompts[1].user


async def test_after_that_it_is_no_contest_and_the_judges_text_is_kept() -> None:
    (verdict,), end, model = await _judged_by(_verdict("the owl"), *[_verdict("the owl", cites=("#77",))] * 2)

    assert verdict.payload == {
        "winner": "nobody",
        "text": "It was told best.",
        "cites": [],
        "named": "the owl",
    }
    assert (end.payload["reason"], end.payload["winner"]) == ("no_contest", None)
    assert end.payload["why"] == "It was told best."
    assert model.calls == 3


PASSES = '{"kind": "agent.passed", "reason": "It is too dark to tell."}'


@pytest.mark.parametrize(("next_one", "calls"), [("Well, who knows.", 3), (PASSES, 2)])
async def test_the_text_is_kept_also_where_the_next_answers_are_none(next_one: str, calls: int) -> None:
    (verdict,), end, model = await _judged_by(_verdict("the owl"), next_one, next_one)

    assert (verdict.payload["winner"], verdict.payload["named"]) == ("nobody", "the owl")
    assert (end.payload["reason"], end.payload["why"]) == ("no_contest", "It was told best.")
    assert model.calls == calls


async def test_a_winner_who_is_known_stands_though_a_line_it_cites_is_not() -> None:
    bad = _verdict("contestant B", cites=("#77",))

    (verdict,), end, model = await _judged_by(bad, bad, bad)

    assert (verdict.payload["cites"], verdict.payload["winner"]) == ([], end.payload["winner"])
    assert "named" not in verdict.payload
    assert '"cites" names no line before you: "#77"' in model.prompts[1].user


async def test_a_verdict_without_words_fails_as_any_act() -> None:
    (failed, *_), end, _ = await _judged_by(_verdict("a", text=""))

    assert failed.kind == kinds.AGENT_FAILED
    assert end.payload["winner"] is None


async def test_nobody_is_a_verdict_too() -> None:
    (verdict,), end, model = await _judged_by(_verdict("nobody"))

    assert (verdict.payload["winner"], end.payload["reason"], model.calls) == ("nobody", "no_contest", 1)


@pytest.mark.parametrize(
    ("payload", "words"),
    [
        ({"winner": "owl", "text": "x"}, "'owl' cannot win here. Name a, b or nobody."),
        (
            {"winner": "a", "text": "x", "cites": ["s-0000000000000000.9"]},
            "j cites s-0000000000000000.9, and has",
        ),
        ({"winner": "a", "text": "x", "cites": "all"}, "cites may not be 'all'"),
        ({"winner": ["a"], "text": "x"}, "cannot win here"),
    ],
)
async def test_a_verdict_by_code_that_does_not_hold_is_refused_in_words(
    payload: dict[str, Any], words: str
) -> None:
    async def judges(moment: Moment) -> Draft:
        return Draft(kind=kinds.JUDGE_VERDICT, payload=payload)

    judge = ticking("j", 2, role="judge", may_emit=("judge.verdict",))
    minds: dict[str, Agent] = {"a": Speaker(), "b": Speaker(), "j": Doing(judges)}
    async with on_stage(minds=minds) as t:
        await t.open_world(world_of(ticking("a"), ticking("b"), judge, **CONTEST))
        await t.step(2)
        (failed,) = await events_of(t, kinds.JUDGE_VERDICT, kinds.AGENT_FAILED)

    assert failed.kind == kinds.AGENT_FAILED
    assert words in failed.payload["reason"]


class _PicksTheSecondSpeaker:
    """A judge that reads nothing but its prompt: whoever spoke second has won."""

    name = "picking"

    async def complete(self, prompt: Prompt) -> Completion:
        spoke = [
            line.split("] ")[1].split(" (")[0] for line in prompt.user.splitlines() if "agent.spoke" in line
        ]
        return Completion(_verdict(spoke[1]), self.name, Tokens(1, 1), usd=0.0)


@pytest.mark.parametrize("rng_seed", range(4))
async def test_other_names_on_the_same_seats_leave_the_label_the_same(rng_seed: int) -> None:
    async def label_named(first: str, second: str) -> tuple[str, str]:
        judge = ticking("owl", 2, role="judge", may_emit=("judge.verdict",), model_profile="strong")
        models = ModelRouter({"strong": _PicksTheSecondSpeaker(), "fast": ScriptedModel("x")})
        minds: dict[str, Agent] = {first: _Says("Rain."), second: _Says("Sun.")}
        contest = {**CONTEST, "competition": {"kind": "judged", "contestants": [first, second]}}
        async with on_stage(MemoryStore(), minds=minds, models=models) as t:
            await t.open_world(world_of(ticking(first), ticking(second), judge, **contest), rng_seed=rng_seed)
            await t.run()
            (verdict,) = await events_of(t, kinds.JUDGE_VERDICT)
            return json.loads(verdict.calls[0].completion)["winner"], verdict.payload["winner"]

    once, again = await label_named("ada", "bo"), await label_named("zed", "moth")

    assert once[0] == again[0]
    assert (once[1], again[1]) == ("bo", "moth")


class _Says(Agent):
    def __init__(self, text: str) -> None:
        self._text = text

    async def act(self, moment: Moment) -> Draft | None:
        return Draft(kind=kinds.AGENT_SPOKE, payload={"text": self._text})


async def test_why_names_who_said_each_line_that_a_judge_read_under_a_label() -> None:
    async with Terrarium() as t:
        run = await t.open_world("mystery-roots", rng_seed=3)
        await t.run(run.id)
        events = await t.run_events(run.id)
        *_, verdict = [event for event in events if event.kind == kinds.JUDGE_VERDICT]

        link = (await t.why(verdict.id, role="director")).links[0]

    said = {event.id: event for event in events}
    shown = link.prompts[-1].user or ""
    assert "] contestant A (" in shown
    assert len(link.lines) == shown.partition("WHAT YOU ANSWER")[0].count("\n[")
    for line in link.lines:
        assert line.who == (
            "world" if said[line.event_id].actor == "conductor" else said[line.event_id].actor
        )
        assert line.text == said[line.event_id].payload["text"]


async def test_a_verdict_from_outside_rests_on_nothing_that_never_happened() -> None:
    judge = ticking("j", 2, role="judge", may_emit=("judge.verdict",))
    async with on_stage(minds={}) as t:
        await t.open_world(world_of(ticking("a"), ticking("b"), judge, **CONTEST))
        payload = {"winner": "a", "text": "So.", "cites": ["s-0000000000000000.1"]}

        with pytest.raises(Refused, match="so no verdict can cite it"):
            await t.append("j", Draft(kind=kinds.JUDGE_VERDICT, payload=payload))


async def test_a_branch_keeps_the_models_that_its_run_asked_for() -> None:
    async with Terrarium() as t:
        run = await t.open_world("twenty-sprouts", models={"guesser": "offline:hasty"})
        await t.run(run.id)
        lines = [event for event in await t.run_events(run.id) if event.kind == "question.asked"]

        branch = await t.branch(lines[2].session_id, lines[2].id)
        await t.run(branch.id)

        asked = {
            call.model
            for event in await t.run_events(branch.id)
            if event.run_id == branch.id and event.kind == "question.asked"
            for call in event.calls
        }
        standings = {standing.name: standing.played for standing in t.leaderboard("model", branches=True)}
    assert asked <= {"offline:hasty"}
    assert standings == {"offline": 2, "offline:hasty": 2}


async def _says_well(_moment: Moment) -> Draft:
    return Draft(kind=kinds.AGENT_SPOKE, payload={"text": "Well."})


@pytest.mark.parametrize("is_removed", [True, False])
async def test_a_contestant_keeps_its_label_under_every_name_it_had_and_nobody_else_gets_it(
    *, is_removed: bool
) -> None:
    model = ScriptedModel('{"kind": "agent.passed", "thought": "", "reason": ""}')
    judge = ticking("j", role="judge", may_emit=("judge.verdict",), model_profile="strong")
    models = ModelRouter({"strong": model, "fast": ScriptedModel("x")})
    minds: dict[str, Agent] = {name: Doing(_says_well) for name in ("a", "b", "c", "d", "e")}
    async with on_stage(minds=minds, models=models) as t:
        others = world_of(*(ticking(name) for name in ("a", "c", "d", "e")), governor={"max_turns": 9})
        await t.open_world(others)
        run = await t.open_world(world_of(ticking("a"), ticking("b"), judge, **CONTEST))
        ours = next(
            creature.id for creature in t.creatures() if creature.run_id == run.id and creature.handle == "a"
        )
        await t.connect("a", "j", both=True)
        assert t.creature(ours).handle == "a~2"
        await t.step(1)
        merged = model.prompts[-1].user
        if is_removed:
            await t.remove_creature(ours)
        else:
            (stage,) = t._house.ledger.world.topology.channels_of[ours]
            await t._house.ledger.change(LeaveChannel(ours, stage, ("listen", "send")))
            assert t.creature(ours).graph_id != t.creature("j").graph_id
        await t.append("a", Draft(kind=kinds.AGENT_SPOKE, payload={"text": "Where is a~2?"}, channel="a-j"))
        await t.step(1)

    after = model.prompts[-1].user
    assert merged.count("a (worker, on") == 1
    assert merged.count("contestant A (worker, on") == 1
    assert '"Where is contestant A?"' in after
    assert "a~2" not in merged
    assert "a~2" not in after
