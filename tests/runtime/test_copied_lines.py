"""A line that consists of its prompt, of the scene or of earlier lines is asked for again once, and then skipped."""

import json
from typing import Any

import pytest

from glasshouse import Toolbox, kinds, tool, verify
from glasshouse.events import Event
from glasshouse.manifests import Voice
from glasshouse.models import Completion, Prompt, Tokens
from glasshouse.models.router import ModelRouter
from glasshouse.runtime.minds.minds import SAY_IT_OTHERWISE, WHAT_IT_COPIED
from tests.runtime.stage_crew import on_stage, ticking, world_of
from tests.runtime.troupe import soon

VOICE = "I hang nobody on a smell, and I have smelled a good deal."
SCENE = "Five in the morning, in November, in the walled garden behind the almshouse."
FIRST = "Whoever took the bell had a key to the garden gate, and wore gloves."
ECHO = "Whoever took the bell had a key to the garden gate, I say."
FRESH = "The mole has earth on his spectacles, and it is red."
JUDGE = ticking("ada", voice=Voice(examples=(VOICE,)))
REFUSED = "It does not count."


class Answers:
    """A model that gives these replies, one a call, and then the last one for ever."""

    name, is_free = "answers", True

    def __init__(self, *replies: str | dict[str, Any]) -> None:
        self.replies = replies
        self.prompts: list[Prompt] = []

    async def complete(self, prompt: Prompt) -> Completion:
        reply = self.replies[min(len(self.prompts), len(self.replies) - 1)]
        self.prompts.append(prompt)
        said = {"kind": kinds.AGENT_SPOKE, "thought": "Hm.", "text": reply, "mood": "calm"}
        return Completion(
            json.dumps(said if isinstance(reply, str) else reply), self.name, Tokens(5, 5), usd=0.0
        )


async def acts_of(model: Answers, count: int, *manifests: Any, tools: Any = None) -> list[Event]:
    async with on_stage(models=ModelRouter(model), **({"tools": tools} if tools else {})) as t:
        run = await t.open_world(world_of(*manifests, opening=SCENE))
        await soon(t.run(run.id, turns=count))
        played = await t.played(run.id)
        assert (await verify(t, run.id)).is_same
        return [event for event in played.events if event.ends_its_act and event.caused_by]


COPIES = {
    "voice": "Madam, I hang nobody on a smell, and I have smelled a good.",
    "prompt": "Everything between quotation marks in the next message was said by others.",
    "scene": "It is five in the morning, in November, in the walled garden.",
}


@pytest.mark.parametrize("of", ["voice", "prompt", "scene"])
async def test_a_copied_line_is_asked_for_again_once_and_a_new_one_counts(of: Any) -> None:
    model = Answers(COPIES[of], FRESH)

    (act,) = await acts_of(model, 1, JUDGE)

    assert (act.kind, act.payload["text"], len(act.calls)) == (kinds.AGENT_SPOKE, FRESH, 2)
    assert f"{REFUSED} {SAY_IT_OTHERWISE[of]}" in model.prompts[1].user
    assert model.prompts[0].seed != model.prompts[1].seed


@pytest.mark.parametrize("of", ["voice", "prompt", "scene"])
async def test_a_line_copied_twice_is_skipped_and_the_ledger_says_what_it_was_copied_from(of: Any) -> None:
    (act,) = await acts_of(Answers(COPIES[of]), 1, JUDGE)

    assert (act.kind, act.payload["of"], len(act.calls)) == (kinds.LOOP_SUSPECTED, of, 2)
    assert act.payload["reason"] == WHAT_IT_COPIED[of]
    assert ("repeats" in act.payload) == (of == "scene")
    assert act.private == {"thought": "Hm.", "mood": "calm"}


async def test_an_echo_is_told_the_number_of_the_line_and_who_said_it() -> None:
    model = Answers(FIRST, ECHO, FRESH, ECHO, ECHO)

    first, second, third = (await acts_of(model, 2, ticking("ada"), ticking("bo")))[:3]

    assert second.payload["text"] == FRESH
    assert third.kind == kinds.LOOP_SUSPECTED
    assert (third.payload["of"], third.payload["repeats"]) == ("heard", first.id)
    assert "Your line repeats [2], which was said a moment ago:" in model.prompts[2].user
    assert "[2] ada" in model.prompts[2].user
    assert "Your line repeats [2], which you said a moment ago:" in model.prompts[4].user


async def test_a_line_that_the_prompt_does_not_show_is_not_named_by_a_number() -> None:
    model = Answers(FIRST, FRESH, "Nobody asked the heron where it slept.", ECHO)

    await acts_of(model, 4, ticking("ada", memory={"window": 1}))

    assert "Your line repeats a line that you said a moment ago:" in model.prompts[4].user


async def test_a_whole_line_said_again_is_recorded_as_before() -> None:
    first, second = await acts_of(Answers(FIRST), 2, ticking("ada"))

    assert second.payload == {"reason": WHAT_IT_COPIED["heard"], "repeats": first.id}


async def test_a_creature_that_may_repeat_recites_and_echoes_undisturbed() -> None:
    parrot = ticking("ada", voice=Voice(examples=(VOICE,), may_repeat=True))

    acts = await acts_of(Answers(VOICE, FIRST, ECHO, SCENE), 4, parrot)

    assert [event.payload["text"] for event in acts] == [VOICE, FIRST, ECHO, SCENE]
    assert [len(event.calls) for event in acts] == [1] * 4


async def test_what_a_tool_answered_in_the_act_may_be_read_out() -> None:
    @tool
    async def minutes() -> str:
        """Read the minutes."""
        return f"It is written here: {FIRST}"

    call = {"kind": kinds.TOOL_CALLED, "thought": "", "tool": "minutes", "arguments": {}}
    model = Answers(FIRST, call, ECHO, ECHO, ECHO)

    first, second, third = await acts_of(model, 3, ticking("ada", tools=("minutes",)), tools=Toolbox(minutes))

    assert [event.payload.get("text") for event in (first, second)] == [FIRST, ECHO]
    assert third.kind == kinds.LOOP_SUSPECTED


async def test_readers_are_told_what_was_copied() -> None:
    async with on_stage(models=ModelRouter(Answers(VOICE))) as t:
        run = await t.open_world(world_of(JUDGE))
        await soon(t.run(run.id, turns=1))

        played = await t.played(run.id)

        assert f"(ada: {WHAT_IT_COPIED['voice']})" in [line.plain for line in played.lines]


async def test_a_verdict_that_copies_is_asked_for_again_and_then_kept() -> None:
    judge = ticking("ada", role="judge", may_emit=(kinds.JUDGE_VERDICT,))
    model = Answers(
        {"kind": kinds.JUDGE_VERDICT, "thought": "Hm.", "text": COPIES["scene"], "mood": "", "cites": ["1"]}
    )

    (verdict,) = await acts_of(model, 1, judge)

    assert (verdict.kind, verdict.payload["text"]) == (kinds.JUDGE_VERDICT, COPIES["scene"])
    assert SAY_IT_OTHERWISE["scene"] in model.prompts[1].user
    assert len(model.prompts) == 2
