"""Replies: found, cleaned, checked, looked up; and a sentence to mend what cannot be taken."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glasshouse.events.event import Draft, payload_bytes_max
from glasshouse.events.shown import Shown
from glasshouse.turns.moment.character import Character, Voice
from glasshouse.turns.moment.line_text import ELLIPSIS
from glasshouse.turns.moment.moment import Moment
from glasshouse.turns.moment.playbill import Competition, Playbill
from glasshouse.turns.moment.tools import ToolCall
from glasshouse.turns.prompts.context import prompt_for
from glasshouse.turns.replies.reply import (
    Passed,
    Problem,
    draft_from,
    reason_chars_max,
    reply_chars_max,
    thought_chars_max,
    words_said_over_asked_max,
)
from tests.rules.turns.moments_by_hand import a_moment, a_tick, injected, lines_of, said

SPEAKER = Character(name="echo", voice=Voice(say_words_max=10))
SLEUTH = Character(
    name="echo", may_emit=("agent.spoke", "idea.formed", "judge.verdict", "agent.passed", "turn.started")
)
CASE = Playbill(
    kinds={
        "idea.formed": {
            "suspect": "creature",
            "sure": "number",
            "final": "boolean",
            "mood_of_all": ["Calm", "not well"],
            "words": "strings",
            "against": "event",
            "cites": "events",
        }
    },
    competition=Competition(kind="judged", contestants=("moth", "fern")),
)
TALK = (said(1, "moth-id", "Mud on the sill."), injected(2, "Look!"), said(3, "fern-id", "Mud on the sill."))


def spoke(raw: str, character: Character = SPEAKER) -> Draft | Passed | ToolCall | Problem:
    return draft_from(raw, a_moment(TALK, character=character))


def text_of(text: str) -> str:
    draft = spoke(json.dumps({"kind": "agent.spoke", "thought": "t", "text": text}))
    assert isinstance(draft, Draft), draft
    said_text = draft.payload["text"]
    assert isinstance(said_text, str)
    return said_text


def a_case() -> Moment:
    return a_moment(TALK, character=SLEUTH, playbill=CASE)


def an_idea(**changes: Any) -> dict[str, Any]:
    whole = {
        "kind": "idea.formed",
        "suspect": "moth",
        "sure": 0.5,
        "final": False,
        "mood_of_all": "Calm",
        "words": ["mud"],
        "against": lines_of(a_case())[0].ref,
        "cites": [line.ref for line in lines_of(a_case())],
    }
    return {name: value for name, value in {**whole, **changes}.items() if value is not ...}


def concluded(**changes: Any) -> Draft | Passed | ToolCall | Problem:
    return draft_from(json.dumps(an_idea(**changes)), a_case())


def test_a_plain_reply_is_a_draft_and_what_is_private_stays_private() -> None:
    draft = spoke('{"kind":"agent.spoke","thought":"So\\nquiet.","mood":"calm","text":"Hush."}')

    assert draft == Draft(
        kind="agent.spoke", payload={"text": "Hush."}, private={"thought": "So quiet.", "mood": "calm"}
    )


@pytest.mark.parametrize(
    "raw",
    [
        '```json\n{"kind":"agent.spoke","thought":"","text":"Hush."}\n```',
        'Sure! Here it is {as asked}: {"kind":"agent.spoke","text":"Hush."} Hope it helps.',
        '{"kind":"agent.spoke","text":"Hush.",}',
        '{"kind":"agent.spoke","text":"Hush.","list":[1,2,],}',
        '{"text":"Hush."}',
        '[{"kind":"agent.spoke","text":"Hush."}]',
        '{"note":"first"} {"kind":"agent.spoke","text":"Hush."}',
        '<think>{"kind":"agent.spoke","text":"No!"}</think>{"kind":"agent.spoke","text":"Hush."}',
        '{"kind":" Agent.Spoke ","text":"Hush.","extra":{"deep":[1]}}',
        '{"kind":"agent.spoke","text":"\n Hush.\n"}',
    ],
)
def test_an_object_is_found_however_it_is_wrapped(raw: str) -> None:
    draft = spoke(raw)

    assert isinstance(draft, Draft)
    assert (draft.kind, draft.payload) == ("agent.spoke", {"text": "Hush."})


def test_a_reply_that_only_thinks_says_nothing() -> None:
    assert isinstance(spoke('<think>I could say {"kind":"agent.spoke","text":"No!"} but'), Problem)


def test_a_comma_inside_a_text_is_left_alone() -> None:
    draft = spoke('{"kind":"agent.spoke","text":"one,} two,] three",}')

    assert isinstance(draft, Draft)
    assert draft.payload == {"text": "one,} two,] three"}


@pytest.mark.parametrize(
    ("raw", "advice"),
    [
        ("", "no JSON object"),
        ("Hush, little moth.", "no JSON object"),
        ('{"kind":"agent.spoke","text":"Hush', "broken or cut off"),
        ('{"kind":"agent.spoke","text":NaN}', "broken or cut off"),
        ("{" * 5_000 + "[" * 5_000, "broken or cut off"),
        ('{"kind":"agent.spoke"}', 'no "text"'),
        ('{"kind":"agent.spoke","text":7}', '"text" must be text'),
        ('{"kind":"agent.spoke","text":" \\n "}', '"text" is empty'),
        ('{"kind":"agent.spoke","text":"..."}', '"text" is empty'),
        ('{"kind":"agent.spoke","text":"moth: I did it."}', "speaks for somebody else"),
        ('{"kind":"judge.verdict","text":"x"}', 'one of "agent.spoke", "agent.passed"'),
        ('{"kind":["agent.spoke"],"text":"x"}', 'one of "agent.spoke", "agent.passed"'),
    ],
)
def test_a_reply_that_does_not_count_says_what_to_do(raw: str, advice: str) -> None:
    problem = spoke(raw)

    assert isinstance(problem, Problem)
    assert advice in problem.text


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("  Hush,\n\n little\tmoth. ", "Hush, little moth."),
        ("echo: Hush.", "Hush."),
        ("Echo: Hush.", "Hush."),
        ("**echo:** Hush.", "Hush."),
        ("echo (softly): Hush.", "Hush."),
        ('[12] echo (cast, agent.spoke): "Hush."', "Hush."),
        ("assistant: echo: Hush.", "Hush."),
        ('"Hush."', "Hush."),
        ("\u201cHush.\u201d", "Hush."),
        ('"Hush," she said. "Now."', '"Hush," she said. "Now."'),
        ("```\nHush.\n```", "Hush."),
        ("<|im_start|>assistant\nHush.<|im_end|>", "Hush."),
        ("Hush.\nmoth: No!\necho: Yes!", "Hush."),
        ("Hush.\nFern: No!", "Hush."),
        ("Hush.\nvisitor: Do as I say", "Hush."),
        ("Hush.\n<|im_start|>user\nAnd now?", "Hush. And now?"),
        ("Hush.\nuser: and now?", "Hush."),
        ("Listen: the moss.", "Listen: the moss."),
        ("Ask moth: who else?", "Ask moth: who else?"),
        ("Hu\u202esh\x00\ud800.", "Hu sh ."),
        ("🌧", "🌧"),
    ],
)
def test_what_is_said_is_clean_and_ones_own(written: str, kept: str) -> None:
    assert text_of(written) == kept


def test_a_line_that_is_too_long_ends_after_a_sentence_or_with_an_ellipsis() -> None:
    sentences = [f"{word} two {word} four five six." for word in ("one", "ten", "red", "dry", "new")]
    assert text_of(" ".join(sentences)) == " ".join(sentences[:3])
    mud = [f"mud{number}" for number in range(50)]
    assert text_of(" ".join(mud)) == " ".join(mud[:20]) + ELLIPSIS
    assert len(text_of("m" * 9_000)) <= 20 * 24


def test_passing_is_always_allowed_and_its_reason_is_bounded() -> None:
    passed = spoke(json.dumps({"kind": "agent.passed", "thought": "t" * 9_000, "reason": "r" * 999}))

    assert isinstance(passed, Passed)
    assert len(passed.reason) == reason_chars_max
    assert passed.private is not None
    assert len(passed.private["thought"]) == thought_chars_max
    assert spoke('{"kind":"agent.passed"}') == Passed()


def test_fields_are_taken_in_their_order_with_refs_as_events_and_unknown_ones_dropped() -> None:
    draft = concluded(other="x", sealed={"word": 1}, channel="den")

    assert isinstance(draft, Draft)
    assert list(draft.payload) == list(CASE.kinds["idea.formed"])
    assert draft.payload["against"] == TALK[0].id
    assert draft.payload["cites"] == [event.id for event in TALK]
    assert (draft.channel, draft.sealed) == (None, None)


@pytest.mark.parametrize(
    ("field", "given", "taken"),
    [
        ("suspect", " @MOTH. ", "moth"),
        ("mood_of_all", "calm", "Calm"),
        ("mood_of_all", '"Not Well"', "not well"),
        ("sure", 3, 3),
        ("sure", "-2.5", -2.5),
        ("final", "true", True),
        ("words", "mud", ["mud"]),
        ("words", [], []),
        ("cites", [], []),
    ],
)
def test_a_value_is_taken_where_it_can_mean_only_one_thing(field: str, given: Any, taken: Any) -> None:
    draft = concluded(**{field: given})

    assert isinstance(draft, Draft)
    assert draft.payload[field] == taken
    assert type(draft.payload[field]) is type(taken)


@pytest.mark.parametrize(
    ("field", "given"),
    [
        ("suspect", "mot"),
        ("suspect", "echo"),
        ("suspect", ["moth"]),
        ("mood_of_all", "calmish"),
        ("sure", "much"),
        ("sure", True),
        ("sure", 10**30),
        ("final", "perhaps"),
        ("final", 1),
        ("words", {"a": 1}),
        ("words", ["mud", ""]),
        ("words", ["mud"] * 17),
        ("against", "#77"),
        ("against", TALK[0].id),
        ("against", None),
        ("cites", ["#77"]),
        ("cites", [["#77"]]),
        ("cites", 3.5),
        ("words", ...),
    ],
)
def test_a_value_that_is_not_what_the_field_holds_is_a_problem_that_names_the_field(
    field: str, given: Any
) -> None:
    problem = concluded(**{field: given})

    assert isinstance(problem, Problem)
    assert f'"{field}"' in problem.text
    assert "\n" not in problem.text


def test_a_ref_may_be_written_with_or_without_its_marks() -> None:
    twice = a_moment([TALK[0], said(9, "moth-id", "Mud on the sill.")], character=SLEUTH, playbill=CASE)

    reply = json.dumps(an_idea(against="[2]", cites=[1, " #2 ", "01"]))
    draft = draft_from(reply, twice)

    assert isinstance(draft, Draft)
    assert draft.payload["against"] == f"{TALK[0].session_id}.9"
    assert draft.payload["cites"] == [TALK[0].id, f"{TALK[0].session_id}.9"]


def test_only_lines_that_the_prompt_showed_can_be_cited() -> None:
    case = a_case()
    first, *others = [line.event_id for line in lines_of(case)]

    unseen = draft_from(json.dumps(an_idea(against="1", cites=[])), case, Shown(discussion=tuple(others)))
    seen = draft_from(json.dumps(an_idea(against="1", cites=[])), case, Shown(answered=(first,)))

    assert isinstance(unseen, Problem)
    assert '"against" names no line before you: "1". Use the number before a line, such as ' in unseen.text
    assert isinstance(seen, Draft)


@pytest.mark.parametrize(
    ("winner", "taken"), [("Moth", "moth"), ("nobody", "nobody"), ("echo", None), ("", None)]
)
def test_a_verdict_names_a_contestant_or_nobody(winner: str, taken: str | None) -> None:
    reply = {"kind": "judge.verdict", "winner": winner, "text": "So be it.", "cites": ["1"]}

    result = draft_from(json.dumps(reply), a_case())

    assert (result.payload["winner"] if isinstance(result, Draft) else None) == taken


PIECES = st.sampled_from(
    ['{"kind":', '"agent.spoke"', '"idea.formed"', ',"text":"', '"cites":["#1"]', "}", "[", "]", ",", '"', "\\", "\n",
     "THINK:", "SAY:", "KIND: idea.formed", "\nCITES: 1, 2", "\nSUSPECT: moth", "moth: ", "echo: ", "<think>", "```", "1e999", "{", "\\ud800", "*" * 50, " " * 50, "_" * 50]
)  # fmt: skip
RAW = st.lists(PIECES | st.text(max_size=8), max_size=40).map("".join) | st.text()
REPLIES = st.fixed_dictionaries(
    {"kind": st.sampled_from(["agent.spoke", "idea.formed", "judge.verdict", "agent.passed"])},
    optional={
        name: st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False)
        | st.text()
        | st.lists(st.text())
        for name in ("text", "thought", "mood", "winner", *CASE.kinds["idea.formed"])
    },
).map(json.dumps)


@given(RAW | REPLIES, st.sampled_from(["schema", "json", "prose"]))
def test_whatever_a_model_writes_is_a_draft_within_bounds_or_passing_or_a_problem(
    raw: str, form: Any
) -> None:
    character = Character(name="echo", may_emit=SLEUTH.may_emit, voice=Voice(say_words_max=3))
    moment = a_moment(TALK, cause=a_tick(99), character=character, playbill=CASE, form=form)

    result = draft_from(raw, moment)

    match result:
        case Draft(kind=kind, payload=payload, private=private):
            assert kind in {"agent.spoke", "idea.formed", "judge.verdict"}
            assert set(private or {}) <= {"thought", "mood"}
            text = payload.get("text", "word")
            assert text.strip() == text != ""
            assert len(text.split()) <= 3 * words_said_over_asked_max
            assert len(json.dumps(payload, ensure_ascii=False).encode()) < payload_bytes_max
        case Passed(reason=reason):
            assert len(reason) <= reason_chars_max
        case Problem(text=problem):
            assert problem.endswith(".")
            assert len(problem.splitlines()) == 1
        case ToolCall():
            raise AssertionError("no tool was offered")


def test_what_lies_beyond_the_bound_of_a_reply_is_not_read_and_what_is_read_fits_an_event() -> None:
    talkative = Character(name="echo", voice=Voice(say_words_max=1_000_000))
    reply = '{"kind":"agent.spoke","text":"🌧' + "🌧" * 12_000 + '"}'

    draft = spoke(reply, talkative)

    assert isinstance(draft, Draft)
    assert 40_000 < len(json.dumps(draft.payload, ensure_ascii=False).encode()) < payload_bytes_max
    assert isinstance(spoke(" " * reply_chars_max + reply, talkative), Problem)


@pytest.mark.parametrize(
    "filling", ["*", "_", " ", "{", '"', "\\", '\\"', ",", "moth ", "echo:", "a\n", "[1] ", "🌧", "("]
)
def test_no_reply_is_too_long_to_be_read(filling: str) -> None:
    for raw in (filling * 50_000, '{"kind":"agent.spoke","text":' + json.dumps(filling * 2_500) + "}"):
        assert isinstance(spoke(raw), Draft | Problem)


@pytest.mark.parametrize(
    ("field", "given"),
    [
        ("text", "<the words that you speak, to the others>"),
        ("text", "The words that you speak, to the others."),
        ("text", "< THE WORDS THAT YOU SPEAK, TO THE OTHERS >"),
        ("title", "the title"),
        ("title", "[the title]"),
        ("words", ["Mud", "<the words>"]),
        ("text", "<the title>"),
        ("title", "<one word>"),
        ("text", "<the title><the words>."),
        ("text", "<what I find, in words that nobody has used yet"),
    ],
)
def test_what_stood_in_the_form_is_no_answer(field: str, given: object) -> None:
    playbill = Playbill(kinds={"idea.formed": {"text": "string", "title": "string", "words": "strings"}})
    character = Character(name="echo", may_emit=("idea.formed",))
    reply = {"kind": "idea.formed", "text": "Mud.", "title": "The mud", "words": ["mud"], field: given}

    result = draft_from(json.dumps(reply), a_moment(TALK, character=character, playbill=playbill))

    assert isinstance(result, Problem)
    assert f'"{field}" still holds what stood in the form' in result.text


def test_every_placeholder_of_a_form_is_refused_or_left_out_as_it_stands_there() -> None:
    moment = a_moment(TALK, character=SPEAKER)
    forms = prompt_for(moment).system.partition("<...>:\n")[2].splitlines()

    spoken, passed = (draft_from(form, moment) for form in forms[:2])

    assert isinstance(spoken, Problem)
    assert isinstance(passed, Passed)
    assert passed.reason == ""


def test_a_line_with_brackets_in_it_is_an_answer() -> None:
    assert text_of("<sigh> The mud again.") == "<sigh> The mud again."


def test_a_thought_or_a_mood_that_stood_in_the_form_is_left_out() -> None:
    reply = {
        "kind": "agent.spoke",
        "thought": "<what you feel and want now>",
        "text": "Mud!",
        "mood": "one word",
    }

    draft = draft_from(json.dumps(reply), a_moment(TALK))

    assert isinstance(draft, Draft)
    assert draft.private is None


def test_five_words_said_three_times_are_a_loop_and_twice_are_not() -> None:
    twice = "it was the mud again, it was the mud again."

    assert text_of(twice) == twice
    looped = spoke(json.dumps({"kind": "agent.spoke", "text": f"{twice} And it was the mud again,"}))
    assert isinstance(looped, Problem)
    assert '"text" goes round in circles: "it was the mud again"' in looped.text


def test_a_field_for_at_least_one_citation_takes_no_empty_list() -> None:
    playbill = Playbill(kinds={"idea.formed": {"text": "string", "cites": "some_events"}})
    case = a_moment(TALK, character=Character(name="echo", may_emit=("idea.formed",)), playbill=playbill)
    replies = [{"kind": "idea.formed", "text": "Mud.", "cites": cites} for cites in ([], ["1"])]

    empty, cited = (draft_from(json.dumps(reply), case) for reply in replies)

    assert isinstance(empty, Problem)
    assert '"cites" is empty: give the number of at least one line' in empty.text
    assert isinstance(cited, Draft)
    assert cited.payload["cites"] == [TALK[0].id]


def test_a_last_verdict_may_cite_nothing_valid() -> None:
    reply = {"kind": "judge.verdict", "winner": "moth", "text": "So be it.", "cites": ["99"]}

    draft = draft_from(json.dumps(reply), a_case(), is_last=True)

    assert isinstance(draft, Draft)
    assert draft.payload["cites"] == []
