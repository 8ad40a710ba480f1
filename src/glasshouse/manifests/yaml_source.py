"""YAML text as plain data that remembers where each field stands.

Always holds: only text, numbers, true, false, null, lists and mappings come out, whatever goes in. A plain word is
text unless it is written as YAML 1.2 writes a number, true, false or null, so `yes`, `no`, `on` and dates stay words.
Nothing grows without bound: not the file, not its depth, not what its aliases stand for. Nothing here raises for
what a file says; it is returned as problems.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from glasshouse.manifests.problem import At, Complaint, Position, Problem, field_named, shown
from glasshouse.manifests.yaml_errors import words_for

yaml_bytes_max = 1_048_576
"""A larger file is not read."""
yaml_nodes_max = 50_000
"""A file with more values, aliases expanded, is not read."""
yaml_levels_max = 24
"""A file nested deeper is not read."""
yaml_digits_max = 15
"""A longer whole number is refused."""

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_UNPRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_CONSTANTS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_WHOLE = re.compile(r"[-+]?[0-9]+")
_NUMBER = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NO_NUMBER = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")

_TOP = Position(1, 1)

Scalar: TypeAlias = str | int | float | bool | None


@dataclass(frozen=True)
class Node:
    """A value and where it stands: a mapping, a list or a scalar."""

    position: Position
    scalar: Scalar = None
    sort: type[dict[str, Any]] | type[list[Any]] | None = None
    """What its children make: a mapping or a list. A scalar has none."""
    children: dict[str | int, Node] = field(default_factory=dict)
    """The values by key or list index."""
    keys: dict[str | int, Position] = field(default_factory=dict)
    """Where each key of a mapping stands."""

    @property
    def data(self) -> Any:
        """The plain value."""
        if self.sort is dict:
            return {name: node.data for name, node in self.children.items()}
        return self.scalar if self.sort is None else [node.data for node in self.children.values()]

    @property
    def extent(self) -> tuple[int, int]:
        """How many values it stands for, and how many levels of them are nested in it."""
        extents = [node.extent for node in self.children.values()]
        return 1 + sum(size for size, _ in extents), max([1 + levels for _, levels in extents], default=0)

    def position_of(self, at: At, *, of_key: bool = False) -> Position:
        """Where a field stands, or the nearest thing round it that is there."""
        if of_key and len(at) == 1 and at[0] in self.keys:
            return self.keys[at[0]]
        child = self.children.get(at[0]) if at else None
        return self.position if child is None else child.position_of(at[1:], of_key=of_key)

    def without(self, at: At) -> Node:
        """The same without the field at this position."""
        if at[0] not in self.children:
            return self
        children = dict(self.children)
        if len(at) > 1:
            children[at[0]] = children[at[0]].without(at[1:])
        else:
            del children[at[0]]
        return replace(self, children=children if self.sort is dict else dict(enumerate(children.values())))


@dataclass(frozen=True)
class Source:
    """One file's text, read: its tree if it could be read at all, and what is wrong with it."""

    path: str
    root: Node | None
    problems: tuple[Problem, ...] = ()

    @classmethod
    def unreadable(cls, path: str, text: str, position: Position = _TOP) -> Source:
        """What stands for a file that could not be read at all."""
        return cls(path, None, (Problem(path, *position, "", text),))

    def problem(self, complaint: Complaint) -> Problem:
        """A complaint about this file with its line and column, which are zero if there is no text."""
        position = (
            self.root.position_of(complaint.at, of_key=complaint.at_key) if self.root else Position(0, 0)
        )
        return Problem(self.path, *position, field_named(complaint.at), complaint.text)

    @property
    def data(self) -> Any:
        """The plain data of the whole file."""
        return None if self.root is None else self.root.data


def source_of(text: str | bytes, path: str) -> Source:
    """YAML text as data with positions. `path` is how its problems name the file."""
    try:
        reader = _Reader(_decoded(text.encode("utf-8", "replace") if isinstance(text, str) else text), path)
        return Source(path, reader.document(), tuple(reader.problems))
    except _Unreadable as fault:
        return Source.unreadable(path, *fault.args)


def node_of(value: Any) -> Node:
    """Plain data that a program wrote, as if it were read from a file. It has no lines."""
    nowhere = Position(0, 0)
    if isinstance(value, dict):
        return Node(nowhere, sort=dict, children={name: node_of(each) for name, each in value.items()})
    if isinstance(value, list | tuple | range):
        return Node(nowhere, sort=list, children={number: node_of(each) for number, each in enumerate(value)})
    return Node(nowhere, value)


def source_at(path: Path) -> Source:
    """A YAML file as data with positions; that it cannot be opened is a problem like any other."""
    try:
        with path.open("rb") as file:
            content = file.read(yaml_bytes_max + 1)
    except OSError as fault:
        text = f"the file cannot be read ({fault.strerror}). Check its permissions."
        return Source.unreadable(shown_path(path), text)
    return source_of(content, shown_path(path))


def is_yaml(path: Path) -> bool:
    """Whether a file is YAML at all, also such as no file of a world may be: empty, huge or of several documents."""
    try:
        with path.open("rb") as file:
            content = file.read(yaml_bytes_max + 1)
        if len(content) <= yaml_bytes_max:
            for _ in yaml.parse(content, Loader=_LOADER):
                pass
    except (OSError, yaml.YAMLError, ValueError, OverflowError):
        return False
    return True


def shown_path(path: Path) -> str:
    """A path as messages show it: relative to the current folder if it is inside."""
    absolute = path.absolute()
    here = Path.cwd()
    return str(absolute.relative_to(here)) if absolute.is_relative_to(here) else str(absolute)


class _Unreadable(Exception):
    """Why a file cannot be read: a sentence, and the position if it is not the top."""


def _decoded(given: bytes) -> str:
    if len(given) > yaml_bytes_max:
        raise _Unreadable(f"the file has more than {yaml_bytes_max:,} bytes, and no more are read. Cut it.")
    try:
        text = given.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        before = given[: fault.start].decode("utf-8", "replace")
        raise _Unreadable("this is no UTF-8. Save the file as UTF-8.", _end_of(before)) from fault
    if match := _UNPRINTABLE.search(text):
        words = f"the character {match[0]!r} cannot stand in YAML. Take it out."
        raise _Unreadable(words, _end_of(text[: match.start()]))
    return text


def _end_of(text: str) -> Position:
    return Position(text.count("\n") + 1, len(text) - (text.rfind("\n") + 1) + 1)


class _Reader:
    """Turns the parser's events into nodes; one use."""

    def __init__(self, text: str, path: str) -> None:
        self.path = path
        self.problems = list[Problem]()
        self._lines = text.split("\n")
        self._events = self._parsed(text)
        self._anchored = dict[str, Node]()
        self._nodes = 0

    def document(self) -> Node:
        """The one document of the file."""
        root = None
        for event in self._events:
            if isinstance(event, yaml.DocumentStartEvent) and root is not None:
                raise _Unreadable("a second document begins here. One file holds one.", _position(event))
            if isinstance(event, yaml.NodeEvent):
                root = self._node(event, ())
        if root is None:
            raise _Unreadable("the file is empty. Write its fields, such as 'name: ...'.")
        return root

    def _parsed(self, text: str) -> Iterator[yaml.Event]:
        try:
            yield from yaml.parse(text, Loader=_LOADER)
        except yaml.MarkedYAMLError as fault:
            words, mark = words_for(fault, self._lines)
            position = Position(mark.line + 1, mark.column + 1) if mark else _TOP
            # The parser puts the end of a text on a line after the last: the last line's end is meant.
            last = Position(len(self._lines), len(self._lines[-1]) + 1)
            raise _Unreadable(words, position if position.line <= last.line else last) from fault
        except (yaml.YAMLError, ValueError, OverflowError) as fault:
            raise _Unreadable("this cannot be read as YAML. Look for a stray character.") from fault

    def _node(self, event: Any, at: At) -> Node:
        aliased = self._aliased(event) if isinstance(event, yaml.AliasEvent) else None
        values, levels = (1, 0) if aliased is None else aliased.extent
        self._nodes += values
        if self._nodes > yaml_nodes_max:
            words = f"the file stands for more than {yaml_nodes_max:,} values, aliases counted. Cut it."
            raise _Unreadable(words, _position(event))
        if len(at) + levels > yaml_levels_max:
            words = f"this is nested deeper than {yaml_levels_max} levels. Make it flatter."
            raise _Unreadable(words, _position(event))
        if aliased is not None:
            return aliased
        if event.tag is not None:
            self._complain(at, event, f"the tag {event.tag} is not used here. Take it off.")
        if isinstance(event, yaml.MappingStartEvent):
            node = self._mapping(event, at)
        elif isinstance(event, yaml.SequenceStartEvent):
            node = self._sequence(event, at)
        else:
            node = Node(_position(event), scalar=self._scalar(event, at))
        if event.anchor is not None:
            self._anchored[event.anchor] = node
        return node

    def _aliased(self, event: yaml.AliasEvent) -> Node:
        if event.anchor in self._anchored:
            return self._anchored[event.anchor]
        words = f"nothing above is marked &{event.anchor}, so *{event.anchor} stands for nothing."
        raise _Unreadable(f"{words} Mark it before it is used, and not round itself.", _position(event))

    def _mapping(self, event: yaml.Event, at: At) -> Node:
        node = Node(_position(event), sort=dict)
        while not isinstance(key := next(self._events), yaml.MappingEndEvent):
            if not isinstance(key, yaml.ScalarEvent):
                raise _Unreadable("a key is one word, not a list, a mapping or an alias.", _position(key))
            name = self._text(key, at)
            value = self._node(next(self._events), (*at, name))
            if name == "<<":
                self._complain(at, key, "'<<' is not used here. Write the fields out.")
            elif name in node.keys:
                words = f"this key is there twice: first in line {node.keys[name].line}. Keep one."
                self._complain((*at, name), key, words)
            else:
                node.children[name] = value
                node.keys[name] = _position(key)
        return node

    def _sequence(self, event: yaml.Event, at: At) -> Node:
        node = Node(_position(event), sort=list)
        while not isinstance(item := next(self._events), yaml.SequenceEndEvent):
            index = len(node.children)
            node.children[index] = self._node(item, (*at, index))
        return node

    def _scalar(self, event: Any, at: At) -> Scalar:
        text = self._text(event, at)
        if not event.implicit[0] or event.style in {"'", '"', "|", ">"}:
            return text
        if text in _CONSTANTS:
            return _CONSTANTS[text]
        is_whole = _WHOLE.fullmatch(text)
        is_number = _NUMBER.fullmatch(text)
        if is_whole and len(text) <= yaml_digits_max:
            return int(text)
        if is_number and not is_whole and math.isfinite(float(text)):
            return float(text)
        if is_number or _NO_NUMBER.fullmatch(text):
            words = f"{shown(text)} is no number that can be kept. Put it in quotes if it is text."
            self._complain(at, event, words)
        return text

    def _text(self, event: Any, at: At) -> str:
        text: str = event.value
        if text.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in text):
            return text
        self._complain(at, event, "this escape stands for no character. Write the character itself.")
        return text.encode("utf-8", "replace").decode()

    def _complain(self, at: At, event: yaml.Event, text: str) -> None:
        self.problems.append(Problem(self.path, *_position(event), field_named(at), text))


def _position(event: Any) -> Position:
    return Position(event.start_mark.line + 1, event.start_mark.column + 1)
