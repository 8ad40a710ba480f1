"""While a reply is being written, only decoded characters of its public text are shown."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glasshouse import kinds
from glasshouse.turns.moment.line_text import one_line
from glasshouse.turns.replies.public_text import public_text_in

texts = st.text(st.characters(codec="utf-8"), max_size=60)


def shown_at_each_character(raw: str, kind: str = kinds.AGENT_SPOKE) -> list[str]:
    return [public_text_in(raw[:end], kind) for end in range(len(raw) + 1)]


@given(texts, texts, texts, st.booleans(), st.booleans())
def test_what_is_shown_grows_to_the_text_and_is_never_anything_else(
    text: str, thought: str, mood: str, is_wrapped: bool, is_ascii: bool
) -> None:
    reply = {"kind": kinds.AGENT_SPOKE, "thought": thought, "text": text, "mood": mood}
    raw = json.dumps({"reply": reply} if is_wrapped else reply, ensure_ascii=is_ascii)

    for shown in shown_at_each_character(raw):
        assert one_line(text).startswith(shown)

    assert public_text_in(raw, kinds.AGENT_SPOKE) == one_line(text)


@given(texts, texts)
def test_nothing_is_shown_of_a_thought_a_tool_call_or_a_pass(text: str, thought: str) -> None:
    for kind in (kinds.AGENT_THOUGHT, kinds.AGENT_REFLECTED, kinds.TOOL_CALLED, kinds.AGENT_PASSED):
        raw = json.dumps({"kind": kind, "thought": thought, "text": text})

        assert set(shown_at_each_character(raw)) == {""}


def test_a_thought_that_looks_like_a_text_is_not_shown() -> None:
    thought = 'I might say {"text": "the vault is empty"} or "text": "run"'
    raw = json.dumps({"kind": "agent.spoke", "thought": thought, "text": "Good evening."})

    assert {shown[:4] for shown in shown_at_each_character(raw)} <= {"", "G", "Go", "Goo", "Good"}


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("KIND: agent.spoke\nTHINK: secret\nSAY: Good evening.", "Good evening."),
        ("THINK: secret\n**SAY:** Good evening.\nMOOD: calm", "Good evening."),
        ("KIND: agent.thought\nSAY: secret", ""),
        ("THINK: secret", ""),
        ("TOOL: lamp\nARGUMENTS:\nSAY: secret", ""),
        ('{"kind": "lamp", "thought": "", "arguments": {"text": "secret', ""),
        ("<think>SAY: secret", ""),
        ("<think>SAY: secret</think>\nSAY: Good evening.", "Good evening."),
        ('```json\n{"kind": "agent.spoke", "text": "Good', "Good"),
        ('{"thought": "secret", "kind": "agent.spoke", "text": "Good', ""),
        ('{"text": "before its kind', ""),
        ('{"kind": "agent.spoke", "text": "one\\u00e4 \\ud83d', "oneä"),
        ('{"kind": "agent.spoke", "text": "\\u001b[2Jone', "[2Jone"),
    ],
)
def test_replies_of_every_form_show_their_public_text_alone(raw: str, shown: str) -> None:
    assert public_text_in(raw, kinds.AGENT_SPOKE) == shown


def test_a_reply_in_prose_without_a_kind_is_of_the_kind_that_its_creature_writes() -> None:
    assert public_text_in("SAY: secret", kinds.AGENT_THOUGHT) == ""
