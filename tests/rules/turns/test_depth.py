"""The depth of a prompt: window, voice lines and thought follow the size of the model that plays."""

import re
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from glasshouse.events.event import Event
from glasshouse.turns.moment.character import Character, Memory, Voice
from glasshouse.turns.moment.depth import DEPTHS, PromptDepth
from glasshouse.turns.moment.moment import Moment
from glasshouse.turns.moment.prompt import PROFILES, Prompt
from glasshouse.turns.moment.reply_schema import length_asked_max
from glasshouse.turns.prompts.context import in_form, prompt_for
from tests.rules.turns.moments_by_hand import a_moment, injected, said
from tests.rules.turns.prompts_read_back import discussion_in, sections_in

ROOT = Path(__file__).parents[3]
SHALLOW = PromptDepth(window_lines_max=4, voice_lines_max=1, thought_asked_chars_max=90)
DEEP = PromptDepth(window_lines_max=20, voice_lines_max=3, thought_asked_chars_max=300)
VOICE = Voice(examples=("Hush, moss.", "Who goes?", "Not the lantern."))
TALK = [said(number, "moth-id", f"No. {number}.") for number in range(1, 13)]


def at_depth(depth: PromptDepth, events: list[Event] = TALK, **character: Any) -> Moment:
    return a_moment(events, character=Character(name="echo", voice=VOICE, **character), depth=depth)


def lines_discussed(moment: Moment) -> int:
    return len(discussion_in(prompt_for(moment).user))


def voice_lines(prompt: Prompt) -> list[str]:
    return [
        text for text in VOICE.examples if re.search(f'^- "{re.escape(text)}"$', prompt.system, re.MULTILINE)
    ]


def thoughts_asked(prompt: Prompt) -> set[int]:
    branches = (prompt.schema or {})["anyOf"]
    return {b["properties"]["thought"]["maxLength"] for b in branches if "thought" in b["properties"]}


def test_a_prompt_is_as_deep_as_the_size_of_its_model_says() -> None:
    shallow = prompt_for(at_depth(SHALLOW))
    deep = prompt_for(at_depth(DEEP))

    assert (lines_discussed(at_depth(SHALLOW)), lines_discussed(at_depth(DEEP))) == (4, 12)
    assert (voice_lines(shallow), voice_lines(deep)) == (["Hush, moss."], [*VOICE.examples])
    assert (thoughts_asked(shallow), thoughts_asked(deep)) == ({90}, {300})


def test_a_window_in_the_manifest_comes_before_the_depth() -> None:
    given = Memory(window=6)

    assert [lines_discussed(at_depth(depth, memory=given)) for depth in (SHALLOW, DEEP)] == [6, 6]
    assert lines_discussed(at_depth(DEEP, memory=Memory(window=0))) == 0


def test_a_judge_sees_all_that_fits_at_every_depth() -> None:
    assert lines_discussed(at_depth(SHALLOW, role="judge")) == len(TALK)


def test_a_disturbance_is_shown_as_long_as_a_full_window_would_hold_it() -> None:
    events = [injected(1, "A drum beats."), *TALK[1:6]]

    shown = [
        "DISTURBANCES" in sections_in(prompt_for(at_depth(depth, events)).user) for depth in (SHALLOW, DEEP)
    ]

    assert shown == [False, True]


def test_what_is_kept_of_a_prompt_is_not_used_at_another_depth() -> None:
    # The same objects but the depth, as when a run goes on with a model of another size.
    moment = at_depth(SHALLOW)
    first = prompt_for(moment)

    second = prompt_for(replace(moment, depth=DEEP))
    third = prompt_for(moment)

    assert voice_lines(second) == [*VOICE.examples]
    assert thoughts_asked(second) == {300}
    assert (third.system, third.schema) == (first.system, first.schema)


def test_a_prompt_in_another_form_keeps_its_depth() -> None:
    moment = at_depth(SHALLOW)

    prose = in_form(prompt_for(moment), moment, "prose")

    assert prose.form == "prose"
    assert voice_lines(prose) == ["Hush, moss."]


@pytest.mark.parametrize("field", PromptDepth.__struct_fields__)
def test_every_size_has_a_depth_and_a_larger_model_never_gets_less(field: str) -> None:
    numbers = [getattr(DEPTHS[size], field) for size in PROFILES]

    assert numbers == sorted(numbers)
    assert numbers[0] > 0
    assert DEPTHS["strong"].thought_asked_chars_max < length_asked_max


def test_the_docs_tell_the_depth_of_every_size() -> None:
    text = (ROOT / "docs/reference/models-file.md").read_text(encoding="utf-8")

    rows = re.findall(r"^\| `(\w+)` \| .* \| (\d+) \| (\d+) \| (\d+) \|$", text, re.MULTILINE)

    assert {size: PromptDepth(*map(int, numbers)) for size, *numbers in rows} == DEPTHS


def test_a_creature_without_a_window_sees_as_many_lines_on_a_fast_model_as_ever() -> None:
    assert DEPTHS["fast"].window_lines_max == 8
