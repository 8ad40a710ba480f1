"""From a model's reply to a line: parse, clean, check, one repair, one simpler form, then a failure with a message."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from glasshouse import Event, Manifest, MemoryStore, Terrarium, kinds
from glasshouse.events.redaction import redacted
from glasshouse.manifests.manifest import Schedule
from glasshouse.models.router import ModelRouter
from glasshouse.models.scripted import ScriptedModel
from glasshouse.terrarium import verify
from glasshouse.turns.moment.prompt import Completion, Prompt

GOOD = '{"kind":"agent.spoke","thought":"now","text":"The pond is rising."}'


async def acts_of(*answers: str | Completion, reply: Any = "auto") -> tuple[list[Event], ScriptedModel]:
    """What ada's first turn comes to, with a model that answers so; bo speaks after her."""
    model = ScriptedModel(*answers)
    steady = ScriptedModel(GOOD.replace("rising", "falling"))
    models = ModelRouter({"fast": model, "tiny": steady})
    async with Terrarium(MemoryStore(), models=models) as t:
        ada = await t.add_creature(Manifest(name="ada", schedule=Schedule(tick_every=1), reply=reply))
        bo = await t.add_creature(Manifest(name="bo", schedule=Schedule(tick_every=1), model_profile="tiny"))
        await t.connect(ada.id, bo.id, channel="talk", both=True)
        await t.step(1)
        events = await t.events(t.creature("ada").session_id)
    return [event for event in events if event.caused_by is not None], model


@pytest.mark.parametrize(
    "answer",
    [
        GOOD,
        f"Sure! Here it is:\n```json\n{GOOD}\n```",
        GOOD.replace('"The pond', '"ada: The pond'),
        GOOD.replace('"The pond is rising."', '"\\"The pond is rising.\\""'),
        GOOD.replace("rising.", "rising.\\nbo: I disagree with that."),
    ],
    ids=["plain", "fenced", "own name", "quoted", "speaks for another"],
)
async def test_an_untidy_answer_becomes_a_clean_line_at_the_first_call(answer: str) -> None:
    acts, model = await acts_of(answer)

    assert acts[0].payload == {"text": "The pond is rising."}
    assert acts[0].private is not None
    assert acts[0].private["thought"] == "now"
    assert model.calls == 1


async def test_an_answer_that_holds_no_line_is_asked_for_once_more() -> None:
    acts, model = await acts_of("I would rather not say.", GOOD)

    assert acts[0].payload == {"text": "The pond is rising."}
    assert model.calls == 2
    assert acts[0].model is not None
    assert [call.completion for call in acts[0].model.calls] == ["I would rather not say.", GOOD]
    assert "I would rather not say." in model.prompts[1].user


async def test_a_kind_that_was_not_granted_is_asked_for_again_and_then_fails() -> None:
    verdict = '{"kind":"judge.verdict","thought":"mine","winner":"ada","text":"I win."}'

    acts, model = await acts_of(verdict, verdict, verdict)

    assert acts[0].kind == kinds.AGENT_FAILED
    assert acts[0].payload["attempts"] == 3
    assert "judge.verdict" in acts[0].payload["reason"]
    assert model.calls == 3


@pytest.mark.parametrize(
    ("reply", "forms"),
    [
        ("auto", ["schema", "schema", "json"]),
        ("schema", ["schema", "schema", "json"]),
        ("json", ["json", "json", "prose"]),
        ("prose", ["prose", "prose"]),
    ],
)
async def test_an_answer_is_asked_for_again_then_in_a_simpler_form_then_no_more(
    reply: Any, forms: list[str]
) -> None:
    acts, model = await acts_of("nothing", "nothing", "nothing", reply=reply)

    assert acts[0].kind == kinds.AGENT_FAILED
    assert [prompt.form for prompt in model.prompts] == forms
    assert acts[0].model is not None
    assert [call.form for call in acts[0].model.calls] == forms
    assert len({prompt.seed for prompt in model.prompts}) == len(forms)
    assert ["YOUR LAST ANSWER" in prompt.user for prompt in model.prompts] == [False, True, False][
        : len(forms)
    ]


async def test_the_simpler_form_may_bring_a_line() -> None:
    acts, model = await acts_of("nothing", "nothing", GOOD)
    in_prose, _ = await acts_of(
        "nothing", "nothing", "KIND: agent.spoke\nSAY: The pond is low.", reply="json"
    )

    assert acts[0].payload == {"text": "The pond is rising."}
    assert in_prose[0].payload == {"text": "The pond is low."}
    assert model.prompts[2].system == model.prompts[0].system


async def test_an_answer_that_was_cut_off_is_asked_for_shorter() -> None:
    cut = Completion(GOOD[:30], "m", finish="length")
    whole = Completion(GOOD + " " * 99, "m", finish="length")

    acts, model = await acts_of(cut, GOOD)
    at_once, _ = await acts_of(whole)
    prose, asked = await acts_of(
        Completion("SAY: The pond is", "m", finish="length"), "SAY: Wet.", reply="prose"
    )

    assert acts[0].payload == at_once[0].payload == {"text": "The pond is rising."}
    assert "It does not count. The answer was cut off" in model.prompts[1].user
    assert prose[0].payload == {"text": "Wet."}
    assert asked.calls == 2


async def test_what_a_filter_refused_is_a_pass() -> None:
    acts, model = await acts_of(Completion("I cannot", "m", finish="filtered"))

    assert acts[0].kind == kinds.AGENT_PASSED
    assert acts[0].payload == {"reason": "The model refused to answer."}
    assert model.calls == 1


async def test_reasoning_is_a_private_thought() -> None:
    acts, _ = await acts_of(Completion('{"kind":"agent.spoke","text":"Wet."}', "m", reasoning="Ponds are."))

    assert acts[0].private is not None
    assert acts[0].private["thought"] == "Ponds are."


async def test_when_one_fails_the_others_go_on() -> None:
    acts, _ = await acts_of("nothing", "nothing", "nothing")

    assert [(act.actor, act.kind) for act in acts] == [
        ("ada", kinds.AGENT_FAILED),
        ("bo", kinds.AGENT_SPOKE),
    ]
    assert acts[1].payload == {"text": "The pond is falling."}


async def test_an_answer_may_be_that_there_is_nothing_to_say() -> None:
    acts, _ = await acts_of('{"kind":"agent.passed","reason":"The clues contradict each other."}')

    assert acts[0].kind == kinds.AGENT_PASSED
    assert acts[0].payload == {"reason": "The clues contradict each other."}


SEALED = """
name: hush
cast: [keeper]
deal: {{word: {{to: keeper, from: [fern], may_say: {may_say}}}}}
governor: {{max_turns: 1}}
"""
KEEPER = "name: keeper\npersona: Keeps a word.\nschedule: {tick_every: 1}\n"


@pytest.mark.parametrize(
    ("may_say", "answers", "text", "calls"),
    [
        ("false", ("It is a fern.", "It is green."), "It is green.", 2),
        ("false", ("It is a fern.", "A fern, I say.", "Green."), "A [sealed], I say.", 2),
        ("true", ("It is a fern.", "Green."), "It is a fern.", 1),
    ],
)
async def test_a_line_with_ones_own_sealed_word_is_asked_for_again_and_then_masked(
    tmp_path: Path, may_say: str, answers: tuple[str, ...], text: str, calls: int
) -> None:
    (tmp_path / "hush" / "creatures").mkdir(parents=True)
    (tmp_path / "hush" / "scenario.yaml").write_text(SEALED.format(may_say=may_say))
    (tmp_path / "hush" / "creatures" / "keeper.yaml").write_text(KEEPER)
    model = ScriptedModel(*[GOOD.replace("The pond is rising.", answer) for answer in answers])

    async with Terrarium(MemoryStore(), models=ModelRouter(model)) as t:
        run = await t.open_world(tmp_path / "hush")
        await t.step(1)
        (line,) = [event for event in await t.run_events(run.id) if event.kind == kinds.AGENT_SPOKE]

    assert line.payload == {"text": text}
    assert model.calls == len(line.calls) == calls
    assert (line.private or {}).get("masked") == (["word"] if "[sealed]" in text else None)
    if calls == 2:
        assert 'You alone know "fern": say it without that word, or pass.' in model.prompts[1].user


async def test_reasoning_becomes_a_thought_that_tells_the_audience_no_sealed_word() -> None:
    class Musing(ScriptedModel):
        async def complete(self, prompt: Prompt) -> Completion:
            (word,) = re.findall(r'^word: "([^"]+)"', prompt.user, flags=re.MULTILINE)[:1] or ["nothing"]
            words.add(word)
            kind = "word.described" if "word.described" in prompt.system else kinds.AGENT_PASSED
            text = json.dumps({"kind": kind, "text": f"Line {self.calls}.", "reason": f"I keep {word}."})
            answer = await super().complete(prompt)
            return replace(answer, text=text, reasoning=f"I was dealt {word}, so I say little.")

    words: set[str] = set()
    async with Terrarium(MemoryStore(), models=ModelRouter(Musing(GOOD))) as t:
        run = await t.open_world("one-odd-acorn")
        await t.run(run.id, turns=2)
        events = await t.run_events(run.id)
        is_same = (await verify(t, run.id)).is_same

    secrets = words - {"nothing"}
    notes = [redacted(event, "audience").private for event in events if event.calls]
    assert len(secrets) == 2
    assert {"thought": "I was dealt [sealed], so I say little."} in notes
    for event in [event for event in events if event.calls]:
        shown = str(redacted(event, "audience"))
        assert [word for word in secrets if word in shown] == []
        assert event.calls[0].reasoning != redacted(event, "audience").calls[0].reasoning is None
        assert redacted(event, "spectator").private is None
    assert is_same
