"""Moments for tests: a table of creatures, what was said at it, and what one of them is asked."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from glasshouse.events import kinds
from glasshouse.events.event import VISITOR, Event
from glasshouse.events.shown import Shown
from glasshouse.turns.moment.character import Character
from glasshouse.turns.moment.moment import NOTHING_SHOWN, Around, Moment, Neighbour, Recent
from glasshouse.turns.moment.playbill import Playbill
from glasshouse.turns.moment.prompt import Completion, Prompt
from glasshouse.turns.prompts.lines import event_ids_by_ref, numbered_lines, older_cause
from tests.rules.events.events_by_hand import an_event

SESSION = "s-00112233445566aa"
HANDLES = {"echo-id": "echo", "moth-id": "moth", "fern-id": "fern"}


class Line(NamedTuple):
    """One heard event as its reader sees it: the ref, the event, the whole physical line."""

    ref: str
    event_id: str
    text: str


def lines_of(moment: Moment) -> tuple[Line, ...]:
    """Every line the creature has in sight, oldest first; the cause is among them if it is a line."""
    lines = numbered_lines(moment)
    older = older_cause(moment, lines)
    texts = [*([] if older is None else [older]), *map(lines.text, lines.indexes)]
    ids = event_ids_by_ref(moment)
    return tuple([Line(ref, ids[ref], text) for ref, text in zip(ids, texts, strict=True)])


def said(seq: int, actor: str, text: str | None, kind: str = kinds.AGENT_SPOKE, **payload: Any) -> Event:
    """An event of the table's session, its payload given by name; nothing private, nothing sealed."""
    return an_event(
        id=f"{SESSION}.{seq}",
        session_id=SESSION,
        seq=seq,
        lamport=seq,
        turn=seq,
        actor=actor,
        kind=kind,
        payload=payload if text is None else {"text": text, **payload},
        private=None,
        sealed=None,
        model=None,
        caused_by=None,
    )


def injected(seq: int, text: str) -> Event:
    """What the visitor said."""
    return said(seq, VISITOR, text, kinds.USER_INJECTED)


def a_tick(seq: int) -> Event:
    """The cause of an act that nobody asked for."""
    return said(seq, "conductor", None, kinds.TURN_STARTED)


async def never_asked(_prompt: Prompt, _shown: Shown = NOTHING_SHOWN, /) -> Completion:
    """A model that stays silent: these rules ask nobody."""
    raise AssertionError("a pure rule asked a model")


def never_spending(_model: str, /, **_counts: Any) -> Any:
    """No call of an agent's own either."""
    raise AssertionError("a pure rule counted a call")


AROUND_ECHO = Around(
    listens=("stage",),
    sends=("stage",),
    neighbours=(Neighbour("moth", "worker", ("stage",)), Neighbour("fern", "judge", ("stage",))),
    neighbours_count=2,
)


def a_moment(
    events: Iterable[Event] = (),
    *,
    cause: Event | None = None,
    character: Character | None = None,
    playbill: Playbill | None = None,
    **changes: Any,
) -> Moment:
    """echo's moment: the last event is the cause, if that is none of its own and none is given."""
    recent = tuple(events)
    if cause is None:
        cause = recent[-1] if recent and recent[-1].actor != "echo-id" else a_tick(10_000)
    given: dict[str, Any] = {
        "run_id": "r-1",
        "turn": 3,
        "creature_id": "echo-id",
        "handle": "echo",
        "handles": HANDLES,
        "around": AROUND_ECHO,
        "lines_before": 0,
        "ask": never_asked,
        "spending": never_spending,
        **changes,
    }
    return Moment(
        cause=cause,
        character=character or Character(name="echo"),
        playbill=playbill or Playbill(),
        heard=Recent.of(recent),
        **given,
    )
