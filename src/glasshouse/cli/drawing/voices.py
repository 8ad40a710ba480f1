"""Voices: the lines of a transcript as people read them, each voice in a colour of its own.

    seedkeeper    I keep the seed warm until somebody
                  asks for it.
                  (I hope nobody asks.)

Always holds: a creature keeps its first colour. The colours are readable on light and dark backgrounds. In a pipe, each
line of the transcript is one line, however long it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Final

import msgspec
from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Column, Table
from rich.text import Text

from glasshouse.cli.drawing.screen import Screen, as_json, longest_word, one_line, shortened, value_in_words
from glasshouse.events import kinds
from glasshouse.events.redaction import TOOL_FAILED
from glasshouse.views.transcript import TranscriptLine

COLOURS: Final = [f"color({number})" for number in (33, 161, 28, 166, 127, 30, 99, 130)]
"""Each colour is readable on white and on black."""

VISITOR: Final = "bold reverse"
WORLD: Final = "italic"
QUIET: Final = "dim"
FAILED: Final = "red"
MARGIN: Final = 2
number_chars: Final = 4
_EVENT_ID: Final = re.compile(r"s-[0-9a-f]{16}\.([0-9]+)")
"""The id of a line, which people read by its last number."""

who_chars_max: Final = 18
"""The column of speakers has at most this width; a longer name moves its line to the right."""
who_chars_min: Final = 8
"""The column of speakers has at least this width."""
said_chars_min: Final = 24
"""With fewer characters left beside the names, or with a word that needs more, the text is drawn below them."""
brief_chars_min: Final = 16
"""The arguments and the answer of a tool are not shortened to less."""
mark_chars_max: Final = 20
"""A longer value that a line carries besides its words is not shown, unless minds are shown."""
piped_chars_max: Final = 120
"""In a pipe, the use of a tool is told in about this many characters, unless minds are shown."""


class Voices:
    """Draws the lines of one show, and remembers which voice has which colour."""

    def __init__(
        self, cast: Iterable[str] = (), *, has_minds: bool = False, numbers: Mapping[str, int] | None = None
    ) -> None:
        """With `numbers`, by event id, each line has its number in front."""
        self._colours: dict[str, str] = {}
        self._who_chars = who_chars_min
        self._has_minds = has_minds
        self._numbers = numbers
        self._channels: dict[str, set[str]] = {}
        """Who has spoken on which channels."""
        for handle in cast:
            self.colour_of(handle)

    def colour_of(self, who: str) -> str:
        """The colour of a creature; a new one gets the next."""
        if who not in self._colours:
            self._colours[who] = COLOURS[len(self._colours) % len(COLOURS)]
            self._who_chars = max(self._who_chars, min(cell_len(who), who_chars_max))
        return self._colours[who]

    def show(self, screen: Screen, line: TranscriptLine) -> None:
        """Draw one line: laid out and coloured on a terminal, on one line in a pipe."""
        if line.channel is not None:
            self._channels.setdefault(line.who, set()).add(line.channel)
        number = "" if self._numbers is None else f"{self._numbers.get(line.id, ''):>{number_chars}}"
        if not screen.is_terminal:
            screen.draw(f"{number}  {self.plain(line)}" if number else self.plain(line))
        elif not number:
            screen.draw(self.drawn(line, screen.width))
        else:
            grid = Table.grid(Column(width=number_chars, no_wrap=True), Column(ratio=1), padding=(0, 1, 0, 0))
            grid.add_row(Text(number, QUIET), self.drawn(line, screen.width - number_chars - 1))
            screen.draw(grid)

    def drawn(self, line: TranscriptLine, columns: int = 80) -> RenderableType:
        """A line for a terminal: who on the left, what was said on the right, or below where there is little room."""
        if line.voice == "world":
            return self._scene(line)
        if line.voice == "ending":
            return Group(Text(), Text(one_line(line.text), style="bold"))
        if line.voice == "change":
            return Padding(Text(f"({one_line(line.text)})", style=QUIET), (0, 0, 0, MARGIN))
        who = Text(one_line(line.who), style=self._style(line))
        style = QUIET if line.voice in ("silence", "tool") else ""
        if line.kind == kinds.AGENT_FAILED or (line.used is not None and line.used.outcome != "answered"):
            style = FAILED
        room = columns - MARGIN - self._width_of(line.who) - 2
        said = self._said(line, room)
        thought = self._thought(line)
        if (
            room < max(said_chars_min, longest_word(f"{said} {thought}"))
            or cell_len(who.plain) > who_chars_max
        ):
            said = "\n".join(part for part in (self._said(line, columns - MARGIN), thought) if part)
            return Group(who, Padding(Text(said, style=style, overflow="fold"), (0, 0, 0, MARGIN)))
        names = Column(width=MARGIN + self._width_of(line.who), no_wrap=True)
        grid = Table.grid(names, Column(ratio=1), padding=(0, 2, 0, 0))
        grid.add_row(Text.assemble(" " * MARGIN, who), Text(said, style=style))
        if thought:
            grid.add_row("", Text(thought, style="dim italic"))
        return grid

    def plain(self, line: TranscriptLine) -> str:
        """A line for a pipe."""
        if line.voice == "ending":
            return one_line(line.text)
        if line.voice == "change":
            return f"({one_line(line.text)})"
        who = one_line(line.who)
        thought = self._thought(line)
        if line.voice == "tool":
            return f"({who} {self._said(line)})"
        if line.voice == "silence":
            return f"({who}: {one_line(line.text) or 'says nothing'})"
        return f"{who}: {self._said(line)}{' ' if thought else ''}{thought}".rstrip()

    def _width_of(self, who: str) -> int:
        self._who_chars = max(self._who_chars, min(cell_len(one_line(who)), who_chars_max))
        return self._who_chars

    def _style(self, line: TranscriptLine) -> str:
        if line.voice in ("visitor", "silence", "tool"):
            return VISITOR if line.voice == "visitor" else QUIET
        return f"bold{' underline' if line.voice == 'judge' else ''} {self.colour_of(line.who)}"

    def _scene(self, line: TranscriptLine) -> RenderableType:
        title = line.fields.get("title")
        text = Padding(Text(one_line(line.text), style=WORLD), (0, 0, 0, MARGIN))
        if not isinstance(title, str) or not title:
            return Group(Text(), text, Text())
        rule = Rule(Text(f" {one_line(title)} ", style="bold"), style=QUIET, align="left")
        return Group(Text(), rule, text, Text())

    def _said(self, line: TranscriptLine, columns: int = piped_chars_max) -> str:
        """The words, and in brackets what a kind carries besides them: a mark, or everything where minds are shown. The use
        of a tool is told on one line."""
        if line.used is not None and line.used.deed:
            return one_line(line.used.deed)
        if line.used is not None:
            use = (line.used.tool, line.used.arguments, line.used.outcome, line.text)
            return tool_in_words(*use) if self._has_minds else tool_in_brief(*use, columns)
        if line.voice == "silence":
            return f"({one_line(line.text) or 'says nothing'})"
        fields = {name: value for name, value in line.fields.items() if name != "title"}
        if line.voice == "world" and line.fields.get("title"):
            return f"[{one_line(str(line.fields['title']))}] {one_line(line.text)}"
        text = one_line(line.text)
        whole = [f"[{one_line(_field(*field))}]" for field in fields.items()]
        tags = whole if self._has_minds or not text else [field_mark(fields.values())]
        return " ".join(part for part in (self._addressee(line), text, *tags) if part)

    def _addressee(self, line: TranscriptLine) -> str:
        """To whom a creature speaks, if it has spoken on several channels."""
        is_one_of_several = len(self._channels.get(line.who, ())) > 1
        return f"(to {one_line(line.channel)})" if line.channel is not None and is_one_of_several else ""

    def _thought(self, line: TranscriptLine) -> str:
        return mind_of(line.mood, line.thought) if self._has_minds else ""


def mind_of(mood: str, thought: str) -> str:
    """A mood and a thought in brackets; empty if there is neither."""
    parts = [one_line(part) for part in (mood, thought) if part]
    return f"({': '.join(parts)})" if parts else ""


def tool_in_words(tool: str, arguments: Mapping[str, object], outcome: str, answer: str) -> str:
    """The use of a tool in a sentence: `asked calculator 3*4, which answered 12`."""
    values = list(arguments.values())
    asked = f" {value_in_words(values[0] if len(values) == 1 else arguments)}" if values else ""
    said = f"asked {one_line(tool)}{asked}, which {outcome}"
    answer = _answer_in_words(answer)
    return f"{said}{'' if outcome == 'answered' else ':'} {answer}" if answer else said


def tool_in_brief(
    tool: str, arguments: Mapping[str, object], outcome: str, answer: str, chars_max: int
) -> str:
    """The use of a tool on one line: `asked calculator 3*4 → 12`. Of what is long, the beginning."""
    asked = value_in_words(list(arguments.values())) if arguments else ""
    parts = ("" if outcome == "answered" else outcome, _answer_in_words(answer))
    answer = ": ".join(part for part in parts if part)
    room = chars_max - cell_len(f"asked {tool}  → ")
    asked = shortened(asked, max(brief_chars_min, room - cell_len(answer), room // 2))
    answer = shortened(answer, max(brief_chars_min, room - cell_len(asked)))
    return f"asked {one_line(tool)}{' ' if asked else ''}{asked} → {answer}"


def _answer_in_words(answer: str) -> str:
    """An answer on one line: JSON in words, and nothing in place of a failure whose words the role may not read."""
    if answer == TOOL_FAILED:
        return ""
    with suppress(msgspec.DecodeError):
        if answer.startswith(("{", "[")):
            return value_in_words(msgspec.json.decode(answer))
    return one_line(answer)


def field_mark(values: Iterable[object]) -> str:
    """A mark for what a line carries besides its words: short values as they are, such as a `yes`, and `+` for all else, such
    as the lines that it rests on. Empty if there is nothing."""
    texts = [value if isinstance(value, str) else as_json(value) for value in values]
    short = [one_line(text) for text in texts if _is_short(text)]
    marks = [*short, *(["+"] if len(short) < len(texts) else [])]
    return f"[{', '.join(marks)}]" if marks else ""


def _is_short(text: str) -> bool:
    is_word = 0 < len(text) <= mark_chars_max and len(text.split()) == 1
    return is_word and text[0] not in "[{" and not _EVENT_ID.search(text)


def _field(name: str, value: object) -> str:
    parts = value if isinstance(value, list) else [value]
    words = [_EVENT_ID.sub(r"#\1", part) if isinstance(part, str) else as_json(part) for part in parts]
    return f"{name}: {', '.join(words)}"
