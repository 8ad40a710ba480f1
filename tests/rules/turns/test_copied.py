"""Lines that consist of their prompt, of the scene or of earlier lines."""

import json
from typing import Any

import pytest

from glasshouse import Draft, kinds
from glasshouse.contests.copied_text import closing_texts, strings_in
from glasshouse.events.event import CONDUCTOR
from glasshouse.model_values import Form
from glasshouse.turns.moment.character import Character, Voice
from glasshouse.turns.moment.line_text import content_words
from glasshouse.turns.moment.moment import Moment
from glasshouse.turns.moment.playbill import Playbill
from glasshouse.turns.moment.prompt import HOW_TO_ANSWER
from glasshouse.turns.moment.tools import ToolAnswer, ToolTalk
from glasshouse.turns.prompts.context import prompt_for
from glasshouse.turns.prompts.instructions import prompt_texts
from glasshouse.turns.replies.copied import Copied, copied_from, is_copy, own_words, words_of
from glasshouse.turns.replies.repetition import (
    events_searched_max,
    line_repeated,
    own_lines_compared_max,
    table_lines_compared_max,
)
from tests.made_up_words import word_for
from tests.rules.turns.moments_by_hand import SESSION, a_moment, a_tick, said

VOICE = "I hang nobody on a smell."
HEARD = "Whoever took the bell had a key to the garden gate, and wore gloves."
ECHO = "Whoever took the bell had a key to the garden gate, I say."
SCENE = "Five in the morning, in November, in the walled garden behind the almshouse."
JUDGE = Character(name="echo", voice=Voice(examples=("Sit down, all of you.", VOICE)))
MEETINGS = Playbill(kinds={"case.met": {"text": "string", "cites": "events", "side": ["for", "against"]}})


def spoken(text: str, kind: str = kinds.AGENT_SPOKE, **fields: Any) -> Draft:
    return Draft(kind=kind, payload={"text": text, **fields})


def heard(*texts: str, before: int = 0, **changes: Any) -> Moment:
    """echo's moment after moth said these lines, and then other ones."""
    lines = [said(number, "moth-id", text) for number, text in enumerate(texts, 1)]
    return a_moment([*lines, *others(len(texts) + 1, before)], cause=a_tick(9_999), **changes)


def others(first: int, count: int, actor: str = "fern-id") -> list[Any]:
    return [
        said(number, actor, " ".join([word_for(number * 31 + n * 797) for n in range(6)]))
        for number in range(first, first + count)
    ]


def test_a_line_is_a_copy_if_half_of_its_words_stand_in_runs_of_one_text() -> None:
    assert is_copy("Well, I hang nobody on a smell.", [VOICE])
    assert is_copy("Nobody on a Smell that I know today.", [VOICE])
    assert not is_copy("Nobody on a smell that I know of today.", [VOICE])
    assert not is_copy("Nobody hangs on a smell of mine today.", [VOICE])


def test_a_line_of_four_words_is_no_copy() -> None:
    assert is_copy("I hang nobody on a", [VOICE])
    assert not is_copy("hang nobody on a", [VOICE])


def test_two_texts_that_have_a_half_together_make_no_copy() -> None:
    first = "The lantern by the gate was out."
    second = "Nobody trimmed the wick since Tuesday."
    line = "The lantern by the gate told me, over tea and cake: trimmed the wick since."

    assert not is_copy(line, [first, second])
    assert is_copy(line, [f"{first} {second}"])


def test_runs_of_words_that_say_little_make_no_copy() -> None:
    assert not is_copy("Somebody falls, and the boot too.", ["And the boot beside it, for luck."])
    assert is_copy("I do not know. I know where to.", ["I do not know. I know who knows."])


@pytest.mark.parametrize("word", ["don't", "don\u2019t", "DON'T"])
def test_an_apostrophe_belongs_to_its_word_however_it_is_written(word: str) -> None:
    assert words_of(f"I {word} know, \u00fcber_all.") == ("i", "dont", "know", "\u00fcber", "all")
    assert words_of(f"I {word} know, under_all.") == ("i", "dont", "know", "under", "all")


def test_a_voice_line_is_copied_also_in_other_signs_and_with_a_word_before_it() -> None:
    moment = a_moment(character=JUDGE)

    assert copied_from(spoken("Madam: I hang nobody on a SMELL!"), moment) == Copied("voice")
    assert copied_from(spoken("A smell is not a rope, and I have seen both."), moment) is None


@pytest.mark.parametrize("form", ["schema", "prose"])
def test_instructions_are_copied(form: Form) -> None:
    moment = a_moment(character=JUDGE, form=form)
    line = "Everything between quotation marks in the next message was said by others."

    assert copied_from(spoken(line), moment) == Copied("prompt")
    assert copied_from(spoken("These are the words that you speak, to the others."), moment) == Copied(
        "prompt"
    )


@pytest.mark.parametrize("form", ["schema", "json", "prose"])
def test_every_sentence_of_the_forms_and_the_closing_is_among_the_instructions(form: Form) -> None:
    character = Character(name="echo", temper="shy, literal", voice=JUDGE.voice)
    moment = a_moment([said(1, "moth-id", HEARD)], character=character, playbill=MEETINGS, form=form)
    prompt = prompt_for(moment)
    instructions = {words_of(text) for text in prompt_texts(moment)}

    how = prompt.system.partition(f"{HOW_TO_ANSWER}\n")[2].splitlines()
    texts = [*closing_texts(prompt.user)]
    for line in how:
        texts += [text for _, text in strings_in(json.loads(line))] if line.startswith("{") else [line]
    if form == "prose":
        texts = [text.partition(": ")[2] if text.partition(":")[0].isupper() else text for text in texts]
    sentences = [
        words_of(text.replace("line [1]", "this")) for text in texts if text not in character.voice.examples
    ]

    assert {words for words in sentences if len(words) >= 5 and "numbers" not in words} <= instructions


def test_the_scene_is_copied_however_long_ago_it_was_set() -> None:
    scene = said(1, CONDUCTOR, SCENE, kinds.WORLD_OBSERVED)
    moment = a_moment([scene, *others(2, events_searched_max + 8)], cause=a_tick(9_999))

    copied = copied_from(spoken("It is five in the morning in November, in the walled garden."), moment)

    assert copied == Copied("scene", scene.id)


def test_the_opening_is_copied_also_after_a_beat_has_set_another_scene() -> None:
    opening = said(1, CONDUCTOR, SCENE, kinds.WORLD_OBSERVED)
    beat = said(2, CONDUCTOR, "Rain comes over the wall.", kinds.WORLD_OBSERVED)
    moment = a_moment([opening, beat, *others(3, events_searched_max + 8)], cause=a_tick(9_999))

    copied = copied_from(spoken("It is five in the morning in November, in the walled garden."), moment)

    assert copied == Copied("scene", opening.id)


def test_what_a_narrator_said_itself_is_no_scene_to_it() -> None:
    own = said(1, "echo-id", SCENE, kinds.WORLD_OBSERVED)
    line = "Five in the morning, in November, in the walled garden, still."

    assert copied_from(spoken(line), a_moment([own])) == Copied("heard", own.id)


@pytest.mark.parametrize("since", [table_lines_compared_max - 1, table_lines_compared_max])
def test_a_cut_quote_of_one_of_the_last_twelve_lines_is_a_copy(since: int) -> None:
    moment = heard(HEARD, before=since)

    assert line_repeated(spoken(ECHO), moment) is None
    is_compared = since < table_lines_compared_max
    assert copied_from(spoken(ECHO), moment) == (Copied("heard", f"{SESSION}.1") if is_compared else None)


@pytest.mark.parametrize("since", [own_lines_compared_max - 1, own_lines_compared_max])
def test_ones_own_last_six_lines_are_compared_beyond_the_table(since: int) -> None:
    mine = [said(1, "echo-id", HEARD), *others(2, since, "echo-id"), *others(40, table_lines_compared_max)]
    moment = a_moment(mine, cause=a_tick(9_999))

    assert (copied_from(spoken(ECHO), moment) is not None) == (since < own_lines_compared_max)


def test_a_creature_that_may_repeat_may_recite_and_echo() -> None:
    parrot = Character(name="echo", voice=Voice(examples=(VOICE,), may_repeat=True))

    assert copied_from(spoken(VOICE), a_moment(character=parrot)) is None
    assert copied_from(spoken(ECHO), heard(HEARD, character=parrot)) is None


QUOTING = f'You said "{HEARD}" and I do not believe one word.'


@pytest.mark.parametrize(
    ("line", "cites", "is_copied"),
    [
        (QUOTING, [f"{SESSION}.1"], False),
        (QUOTING, [], True),
        (f'You said "{HEARD}" once.', [f"{SESSION}.1"], True),
        (QUOTING.replace('"', ""), [f"{SESSION}.1"], True),
    ],
    ids=["cites", "cites nothing", "four words of its own", "without quotation marks"],
)
def test_a_line_that_cites_may_quote_if_five_words_of_its_own_are_left(
    line: str, cites: list[str], is_copied: bool
) -> None:
    draft = spoken(line, "case.met", cites=cites, side="for")

    assert (copied_from(draft, heard(HEARD, playbill=MEETINGS)) is not None) == is_copied


@pytest.mark.parametrize("marks", ['""', "\u201c\u201d", "\u201e\u201c", "\u00ab\u00bb"])
def test_quotation_marks_of_other_languages_quote_too(marks: str) -> None:
    assert "bell" not in own_words(f"You said {marks[0]}{HEARD}{marks[1]} and I do not believe it.")


def test_what_a_tool_answered_in_this_act_may_be_read_out() -> None:
    answer = ToolTalk("search", {}, ToolAnswer(is_ok=True, text=f"Found: {HEARD}"))
    other = ToolTalk("search", {}, ToolAnswer(is_ok=True, text="Nothing was found."))

    assert copied_from(spoken(ECHO), heard(HEARD, talk=(answer,))) is None
    assert copied_from(spoken(ECHO), heard(HEARD, talk=(other,))) is not None


SPEECH = (
    "Whoever took the bell had a key to the garden gate, and wore gloves, and came back before anybody woke."
)
SHORT = "I am for it, as I have always been."


@pytest.mark.parametrize(
    ("text", "side", "is_seen"),
    [(SPEECH, "for", True), (SPEECH, "against", False), (SHORT, "for", False), (SHORT, "against", False)],
    ids=["a speech", "a speech for another side", "a few words", "a few words for another side"],
)
def test_a_vote_frees_a_line_of_few_words_or_another_vote(text: str, side: str, is_seen: bool) -> None:
    before = said(1, "echo-id", text, "case.met", cites=[], side="for")
    moment = a_moment([before], playbill=MEETINGS)
    draft = spoken(text, "case.met", cites=[], side=side)

    assert (line_repeated(draft, moment) is not None) == is_seen
    assert (copied_from(draft, moment) is not None) == is_seen


def test_a_vote_frees_no_speech_of_somebody_who_did_not_vote() -> None:
    draft = spoken(SPEECH, "case.met", cites=[], side="for")

    assert line_repeated(draft, heard(SPEECH, playbill=MEETINGS)) == f"{SESSION}.1"


def test_a_vote_frees_no_recited_voice() -> None:
    draft = spoken(VOICE, "case.met", cites=[], side="for")

    assert copied_from(draft, a_moment(character=JUDGE, playbill=MEETINGS)) == Copied("voice")


@pytest.mark.parametrize("seed", range(30))
def test_a_moment_and_a_pair_of_texts_are_judged_by_the_same_rule(seed: int) -> None:
    words = [word_for(seed * 101 + number * 797) for number in range(12)]
    little = ["it", "is", "not", "with", "what", "they"]
    text = " ".join([*words[:6], *little, *words[6:]])
    for start in range(8):
        for count in range(1, 10):
            line = " ".join([*text.split()[start : start + count], *words[:3], *little[:2], "so", "far"])
            is_found = copied_from(spoken(line), heard(text)) is not None

            assert is_found == is_copy(line, [text]), (line, text, content_words(line))
