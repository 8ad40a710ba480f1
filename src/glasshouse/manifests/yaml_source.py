"""YAML text as plain data that remembers where each field stands.

Always holds: only text, numbers, true, false, null, lists and mappings come out, whatever goes in. A plain word is
text unless it is written as YAML 1.2 writes a number, true, false or null, so `yes`, `no`, `on` and dates stay words.
Nothing grows without bound: not the file, not its depth, not what its aliases stand for. Nothing here raises for
what a file says; it is returned as problems.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import yaml
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    NodeEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from glasshouse.manifests.problem import NOWHERE, At, Complaint, Place, Problem, field_named, shown
from glasshouse.manifests.yaml_errors import words_for

yaml_bytes_max = 1_048_576
yaml_nodes_max = 50_000
yaml_levels_max = 24
yaml_digits_max = 15

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_UNPRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_TRUTH = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_WHOLE = re.compile(r"[-+]?[0-9]+")
_NUMBER = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NO_NUMBER = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")

_TOP = Place(1, 1)

Scalar: TypeAlias = str | int | float | bool | None


@dataclass(frozen=True)
class Node:
    """A value and where it stands. Exactly one of `fields` and `items` is there, or neither for a scalar."""

    place: Place
    scalar: Scalar = None
    fields: dict[str, Node] | None = None
    items: tuple[Node, ...] | None = None
    keys: dict[str, Place] = field(default_factory=dict)
    size: int = 1
    levels: int = 0

    @property
    def data(self) -> Any:
        """The plain value."""
        if self.fields is not None:
            return {name: node.data for name, node in self.fields.items()}
        if self.items is not None:
            return [node.data for node in self.items]
        return self.scalar

    def child(self, part: str | int) -> Node | None:
        """What stands under a key or at a list place, if anything."""
        if self.fields is not None and isinstance(part, str):
            return self.fields.get(part)
        if self.items is not None and isinstance(part, int) and 0 <= part < len(self.items):
            return self.items[part]
        return None

    def place_of(self, at: At, *, of_key: bool = False) -> Place:
        """Where a field stands, or the nearest thing round it that is there."""
        if not at:
            return self.place
        child = self.child(at[0])
        if len(at) == 1 and of_key and isinstance(at[0], str) and at[0] in self.keys:
            return self.keys[at[0]]
        return self.place if child is None else child.place_of(at[1:], of_key=of_key)

    def without(self, at: At) -> Node:
        """The same without the field at this place."""
        child = self.child(at[0]) if at else None
        if child is None:
            return self
        rest = child.without(at[1:]) if len(at) > 1 else None
        if self.fields is not None:
            kept = {name: rest if name == at[0] else node for name, node in self.fields.items()}
            fields = {name: node for name, node in kept.items() if node is not None}
            return Node(self.place, fields=fields, keys=self.keys)
        listed = [rest if n == at[0] else node for n, node in enumerate(self.items or ())]
        return Node(self.place, items=tuple(node for node in listed if node is not None))


@dataclass(frozen=True)
class Source:
    """One file's text, read: its tree if it could be read at all, and what is wrong with it."""

    path: str
    root: Node | None
    problems: tuple[Problem, ...] = ()

    @classmethod
    def unreadable(cls, path: str, text: str) -> Source:
        """What stands for a file that could not be read at all."""
        return cls(path, None, (Problem(path, *_TOP, "", text),))

    def problem(self, complaint: Complaint) -> Problem:
        """A complaint about this file with its line and column."""
        root = self.root or Node(_TOP)
        place = root.place_of(complaint.at, of_key=complaint.at_key)
        return Problem(self.path, *place, complaint.field, complaint.text)

    @property
    def data(self) -> Any:
        """The plain data of the whole file."""
        return None if self.root is None else self.root.data


def source_of(text: str | bytes, path: str) -> Source:
    """YAML text as data with places. `path` is how its problems name the file."""
    try:
        decoded = _decoded(text)
        _check_characters(decoded)
        reader = _Reader(decoded, path)
        return Source(path, reader.document(), tuple(reader.problems))
    except _Unreadable as fault:
        return Source(path, None, (Problem(path, *fault.place, "", fault.text),))


class _Unreadable(Exception):
    def __init__(self, text: str, place: Place = _TOP) -> None:
        super().__init__(text)
        self.text = text
        self.place = place


def _decoded(text: str | bytes) -> str:
    given = text.encode("utf-8", "replace") if isinstance(text, str) else text
    if len(given) > yaml_bytes_max:
        raise _Unreadable(f"the file has more than {yaml_bytes_max:,} bytes, and no more are read. Cut it.")
    if isinstance(text, str):
        return text
    try:
        return text.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        before = text[: fault.start].decode("utf-8", "replace")
        raise _Unreadable("this is no UTF-8. Save the file as UTF-8.", _end_of(before)) from fault


def _check_characters(text: str) -> None:
    match = _UNPRINTABLE.search(text)
    if match:
        words = f"the character {match[0]!r} cannot stand in YAML. Take it out."
        raise _Unreadable(words, _end_of(text[: match.start()]))


def _end_of(text: str) -> Place:
    return Place(text.count("\n") + 1, len(text) - (text.rfind("\n") + 1) + 1)


class _Reader:
    """Turns the parser's events into nodes; one use."""

    def __init__(self, text: str, path: str) -> None:
        self.path = path
        self.problems: list[Problem] = []
        self.lines = text.split("\n")
        self._events = self._parsed(text)
        self._anchored: dict[str, Node] = {}
        self._nodes = 0

    def document(self) -> Node:
        """The one document of the file."""
        root = None
        for event in self._events:
            if isinstance(event, DocumentStartEvent) and root is not None:
                raise _Unreadable("a second document begins here. One file holds one.", _place(event))
            if isinstance(event, NodeEvent):
                root = self._node(event, ())
        if root is None:
            raise _Unreadable("the file is empty. Write its fields, such as 'name: ...'.")
        return root

    def _parsed(self, text: str) -> Iterator[Event]:
        try:
            yield from yaml.parse(text, Loader=_LOADER)
        except yaml.MarkedYAMLError as fault:
            words, mark = words_for(fault, self.lines)
            place = Place(mark.line + 1, mark.column + 1) if mark else Place(1, 1)
            raise _Unreadable(words, self._within(place)) from fault
        except (yaml.YAMLError, ValueError, OverflowError) as fault:
            raise _Unreadable("this cannot be read as YAML. Look for a stray character.") from fault

    def _within(self, place: Place) -> Place:
        """The parser puts the end of a text on a line after the last: the last line's end is meant."""
        if place.line <= len(self.lines):
            return place
        return Place(len(self.lines), len(self.lines[-1]) + 1)

    def _node(self, event: Any, at: At) -> Node:
        if isinstance(event, AliasEvent):
            aliased = self._aliased(event)
            self._count(aliased.size, len(at) + aliased.levels, _place(event))
            return aliased
        self._count(1, len(at), _place(event))
        if event.tag is not None:
            self._complain(at, _place(event), f"the tag {event.tag} is not used here. Take it off.")
        if isinstance(event, MappingStartEvent):
            node = self._mapping(event, at)
        elif isinstance(event, SequenceStartEvent):
            node = self._sequence(event, at)
        else:
            node = Node(_place(event), scalar=self._scalar(event, at))
        if event.anchor is not None:
            self._anchored[event.anchor] = node
        return node

    def _aliased(self, event: Any) -> Node:
        node = self._anchored.get(event.anchor)
        if node is None:
            raise _Unreadable(
                f"nothing above is marked &{event.anchor}, so *{event.anchor} stands for nothing."
                " Mark it before it is used, and not round itself.",
                _place(event),
            )
        return node

    def _count(self, values: int, levels: int, place: Place) -> None:
        self._nodes += values
        if self._nodes > yaml_nodes_max:
            words = f"the file stands for more than {yaml_nodes_max:,} values, aliases counted. Cut it."
            raise _Unreadable(words, place)
        if levels > yaml_levels_max:
            raise _Unreadable(f"this is nested deeper than {yaml_levels_max} levels. Make it flatter.", place)

    def _mapping(self, event: Event, at: At) -> Node:
        fields: dict[str, Node] = {}
        keys: dict[str, Place] = {}
        while not isinstance(key := next(self._events), MappingEndEvent):
            if not isinstance(key, ScalarEvent):
                raise _Unreadable("a key is one word, not a list, a mapping or an alias.", _place(key))
            name = self._text(key, at)
            value = self._node(next(self._events), (*at, name))
            if name == "<<":
                self._complain(at, _place(key), "'<<' is not used here. Write the fields out.")
            elif name in fields:
                words = f"this key is there twice: first in line {keys[name].line}. Keep one."
                self._complain((*at, name), _place(key), words)
            else:
                fields[name], keys[name] = value, _place(key)
        size, levels = _extent(fields.values())
        return Node(_place(event), fields=fields, keys=keys, size=size, levels=levels)

    def _sequence(self, event: Event, at: At) -> Node:
        items: list[Node] = []
        while not isinstance(item := next(self._events), SequenceEndEvent):
            items.append(self._node(item, (*at, len(items))))
        size, levels = _extent(items)
        return Node(_place(event), items=tuple(items), size=size, levels=levels)

    def _scalar(self, event: Any, at: At) -> Scalar:
        text = self._text(event, at)
        if not event.implicit[0] or event.style in {"'", '"', "|", ">"}:
            return text
        if text in _NULL:
            return None
        if text in _TRUTH:
            return _TRUTH[text]
        if _WHOLE.fullmatch(text) and len(text) <= yaml_digits_max:
            return int(text)
        if _NO_NUMBER.fullmatch(text):
            return self._no_number(text, event, at)
        if _NUMBER.fullmatch(text):
            number = float(text)
            whole_too_large = _WHOLE.fullmatch(text) or not math.isfinite(number)
            return self._no_number(text, event, at) if whole_too_large else number
        return text

    def _no_number(self, text: str, event: Event, at: At) -> Scalar:
        words = f"{shown(text)} is no number that can be kept. Put it in quotes if it is text."
        self._complain(at, _place(event), words)
        return text

    def _text(self, event: Any, at: At) -> str:
        text: str = event.value
        if text.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in text):
            return text
        self._complain(at, _place(event), "this escape stands for no character. Write the character itself.")
        return text.encode("utf-8", "replace").decode()

    def _complain(self, at: At, place: Place, text: str) -> None:
        self.problems.append(Problem(self.path, *place, field_named(at), text))


def _extent(children: Collection[Node]) -> tuple[int, int]:
    levels = max((node.levels for node in children), default=0)
    return 1 + sum(node.size for node in children), 1 + levels


def _place(event: Event) -> Place:
    mark = event.start_mark
    return Place(mark.line + 1, mark.column + 1) if mark else NOWHERE
