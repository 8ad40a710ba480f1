"""Masking: a judge's moment with labels for the contestants, and its reply with names for the labels.

Always holds: a masked event is cached, so that a line is the same object in the judge's next act.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final, TypeVar

import msgspec
from msgspec.structs import asdict, replace

from glasshouse.events import kinds
from glasshouse.events.event import Draft, Event, Json
from glasshouse.turns.moment.character import Character
from glasshouse.turns.moment.line_text import forget_readings
from glasshouse.turns.moment.masks import Masks, masks_cache_runs_max
from glasshouse.turns.moment.moment import Around, FarLine, Moment, Neighbour, Recent
from glasshouse.turns.moment.playbill import Competition, Playbill
from glasshouse.turns.moment.tools import ToolTalk

masked_cache_events_max: Final = 1_024
"""Kept so as not to be computed again: lines under one run's labels."""

Reply = TypeVar("Reply", bound=msgspec.Struct)

_TOLD_IN_SCHEMAS: Final = frozenset({"enum", "const", "description", "default"})


def masked(moment: Moment, masks: Masks) -> Moment:
    """A judge's moment with labels instead of the contestants' names."""
    handles = moment.handles
    handed = moment.handed
    return replace(
        moment,
        masks=None,
        handles={name: masks.label_of(handle) for name, handle in handles.items()},
        heard=Recent.of([_event(masks, event, handles.get(event.actor)) for event in moment.recent_events]),
        cause=_event(masks, moment.cause, handles.get(moment.cause.actor)),
        character=_character(masks, moment.character),
        playbill=_playbill(masks, moment.playbill),
        around=_around(masks, moment.around),
        known=masks.over(moment.known),
        handed=None if handed is None else replace(handed, asked=masks.over_talk(handed.asked)),
        tools=tuple([replace(offer, parameters=_schema(masks, offer.parameters)) for offer in moment.tools]),
        talk=tuple([_talk(masks, talk) for talk in moment.talk]),
        recalled=tuple([_far_line(masks, line) for line in moment.recalled]),
    )


def unmasked(reply: Reply, masks: Masks) -> Reply:
    """What a judge answered, with the contestants' names instead of labels."""
    answer = replace(reply, **masks.off(asdict(reply)))
    if isinstance(reply, Draft) and isinstance(answer, Draft) and reply.kind == kinds.JUDGE_VERDICT:
        winner = reply.payload.get("winner")
        if isinstance(winner, str):
            answer.payload["winner"] = masks.winner_behind(winner)
    return answer


def _event(masks: Masks, event: Event, handle: str | None) -> Event:
    """An event with labels. A contestant's has a payload of its own, since readings are kept by payload."""
    kept = masks.events_cache.get(id(event.payload))
    if kept is not None and kept[0] is event:
        return kept[1]
    payload = {name: masks.over(value) for name, value in event.payload.items()}
    is_same = payload == event.payload and (handle is None or masks.label_of(handle) == handle)
    covered = event if is_same else replace(event, payload=payload)
    if len(masks.events_cache) >= masked_cache_events_max:
        del masks.events_cache[next(iter(masks.events_cache))]
    masks.events_cache[id(event.payload)] = (event, covered)
    return covered


def _far_line(masks: Masks, line: FarLine) -> FarLine:
    known_as = None if line.known_as is None else masks.label_of(line.known_as)
    return FarLine(_event(masks, line.event, line.known_as), known_as)


def forget_masked(masks: Masks) -> None:
    """Let go what is kept of a run's lines with labels."""
    forget_readings([covered for _, covered in masks.events_cache.values()])
    masks.events_cache.clear()


@lru_cache(maxsize=masks_cache_runs_max)
def _character(masks: Masks, character: Character) -> Character:
    over = masks.over_directions
    voice = character.voice
    examples = tuple(map(over, voice.examples))
    never = tuple(map(over, voice.never))
    return replace(
        character,
        title="",
        persona=over(character.persona),
        wants=over(character.wants),
        cares_about=tuple(map(over, character.cares_about)),
        temper=over(character.temper),
        voice=replace(voice, examples=examples, never=never),
    )


def _playbill(masks: Masks, playbill: Playbill) -> Playbill:
    return replace(
        playbill,
        goal=masks.over_directions(playbill.goal),
        kinds={kind: _sorts(masks, fields) for kind, fields in playbill.kinds.items()},
        competition=Competition(playbill.competition.kind, contestants=(*masks.winners.values(),)),
    )


def _around(masks: Masks, around: Around) -> Around:
    label_of = masks.label_of
    over_names = masks.over_names
    neighbours = [
        Neighbour(label_of(neighbour.handle), neighbour.role, tuple(map(over_names, neighbour.channels)))
        for neighbour in around.neighbours
    ]
    return replace(
        around,
        listens=tuple(map(over_names, around.listens)),
        sends=tuple(map(over_names, around.sends)),
        neighbours=tuple(neighbours),
        wired_to=tuple(map(label_of, around.wired_to)),
        wired_from=tuple(map(label_of, around.wired_from)),
        children=tuple(map(label_of, around.children)),
    )


def _talk(masks: Masks, talk: ToolTalk) -> ToolTalk:
    over = masks.over_names if talk.answer.is_engine else masks.over_talk
    arguments = {name: _named(masks, value) for name, value in talk.arguments.items()}
    return ToolTalk(talk.tool, arguments, replace(talk.answer, text=over(talk.answer.text)))


def _named(masks: Masks, value: Any) -> Any:
    """What a tool is given or may be given, with labels: it may be the name of something as well as words."""
    return masks.over_names(value) if isinstance(value, str) else masks.over(value)


def _schema(masks: Masks, schema: Json) -> Json:
    """A schema with labels in its choices and descriptions; its own words and the names of arguments stay."""
    covered = dict(schema)
    for key, value in schema.items():
        if key in _TOLD_IN_SCHEMAS:
            is_choice = isinstance(value, list)
            covered[key] = [_named(masks, part) for part in value] if is_choice else _named(masks, value)
        elif key == "properties":
            covered[key] = {name: _schema(masks, part) for name, part in value.items()}
        elif key == "items":
            covered[key] = _schema(masks, value)
    return covered


def _sorts(masks: Masks, fields: Json) -> Json:
    """The fields of a kind with labels in the words they may be; the names of types stay."""
    return {name: sort if isinstance(sort, str) else masks.over(sort) for name, sort in fields.items()}
