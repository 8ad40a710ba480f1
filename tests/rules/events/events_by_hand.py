"""Events for tests: one plain line by default, with any field changed."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from hypothesis import strategies as st
from msgspec.structs import replace

from glasshouse.events import kinds
from glasshouse.events.event import Event
from glasshouse.events.model_use import Call, ModelUse
from glasshouse.model_values import Tokens


def a_call(tokens: int = 120, usd: float | None = None, **fields: Any) -> Call:
    """An answered model call, with any field given."""
    asked: dict[str, Any] = {"model": "offline", "system": "d1", "user": "d2", "seed": 7, "completion": "{}"}
    counts = {"usage": Tokens(tokens, 9), "usd": usd, "milliseconds": 412.0}
    return Call(**{**asked, **counts, **fields})


def asked(*calls: Call) -> ModelUse:
    """The model's side of an act."""
    return ModelUse("fast", "s-0123456789abcdef.6", calls)


NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)

A_LINE = Event(
    id="s-0123456789abcdef.7",
    session_id="s-0123456789abcdef",
    graph_id="g-0123456789abcdef",
    seq=7,
    lamport=40,
    turn=3,
    actor="echo",
    kind=kinds.AGENT_SPOKE,
    payload={"text": "The moss is listening."},
    created_at=NOON,
    run_id="r-00000000000000aa",
    channel_id="c-fedcba9876543210",
    channel="stage",
    private={"thought": "Nobody asked the moss.", "mood": "wary"},
    sealed={"word": "fern"},
    caused_by="s-0123456789abcdef.5",
    model=asked(a_call()),
)


def an_event(**changes: object) -> Event:
    """The plain line with these fields changed."""
    return replace(A_LINE, **changes)


def json_values(*, max_leaves: int = 6) -> st.SearchStrategy[object]:
    """Any value that JSON can carry."""
    # A lone surrogate is no Unicode text and cannot be written as UTF-8.
    texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
    leaves = (
        st.none()
        | st.booleans()
        | st.integers(-(2**64), 2**64)
        | st.floats(allow_nan=False, allow_infinity=False)
        | texts
    )
    return st.recursive(
        leaves,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
        max_leaves=max_leaves,
    )


def model_uses() -> st.SearchStrategy[ModelUse]:
    """Any model's side of an act."""
    texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
    numbers = st.floats(0, 1e9)
    tokens = st.builds(Tokens, st.integers(0, 2**53), st.integers(0, 2**53))
    maybe = st.none() | texts
    calls = st.builds(
        Call, texts, texts, texts, st.integers(0, 2**53), texts, maybe, tokens, st.none() | numbers, numbers
    )
    return st.builds(ModelUse, texts, maybe, st.lists(calls, max_size=3).map(tuple))


def payloads() -> st.SearchStrategy[dict[str, object]]:
    """Any JSON object."""
    texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
    return st.dictionaries(texts, json_values(), max_size=3)
