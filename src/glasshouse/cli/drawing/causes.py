"""A chain of causes on the screen, and who knew of an event.

Always holds: what is drawn was redacted for whoever asks before it came here. In a pipe every line and every thought
stays on one line.
"""

from __future__ import annotations

from typing import Final

import msgspec
from rich.padding import Padding
from rich.text import Text

from glasshouse.cli.drawing.payload_text import fields_in, gist, inline_chars_max, said_in
from glasshouse.cli.drawing.screen import Screen, one_line, print_json
from glasshouse.cli.drawing.tables import draw_table
from glasshouse.cli.drawing.voices import QUIET, Voices, number_chars
from glasshouse.cli.event_names import NamedEvent
from glasshouse.events import kinds
from glasshouse.events.codec import content_of
from glasshouse.events.event import Event, Json
from glasshouse.views.who_knew import Knower, WhoKnew
from glasshouse.views.why import Link, SeenLine, Why, is_cited

_BEGAN: Final = {
    "disturbance": "It began with what a visitor threw in.",
    "opening": "It began with the opening.",
    "turn": "It began with a turn: its time had come, and nobody asked.",
    "world": "It began with the world itself: a beat of its scenario, or its end.",
    "outside": "It began outside: nothing in the ledger caused it.",
    "further": "It goes back further: ask why of the last one.",
}
_SECTIONS: Final = {
    "discussion": "heard",
    "scene": "the scene",
    "remembered": "remembered",
    "disturbances": "thrown in",
    "answered": "answered",
}
_HOW: Final = {
    "said": "said it",
    "heard": "heard it",
    "present": "was there",
    "handed": "was handed it by a wire",
    "joined": "joined its channel later",
    "merged": "came to its channel by a merge",
    "reborn": "lives again in a branch",
}


_ELSEWHERE: Final = "Who lives elsewhere came in a file, and goes by the handle it had there then."
_MISSING: Final = {
    "model": "the file it came in leaves out the model's side: ask for one that was exported for a director",
    "prompt": "prompt not kept: which lines were in it cannot be told",
    "cause": "what caused it is not in this store",
    "cast": "the file it came in lacks part of what happened to its graph, so who was there cannot be told",
}


def print_why(why: Why, named: NamedEvent) -> None:
    """The chain for machines."""
    print_json(
        {
            "event_id": why.event_id,
            "number": named.number_of(why.event_id),
            "role": why.role,
            "began": why.began,
            "links": [_link_facts(link, named) for link in why.links],
        }
    )


def _link_facts(link: Link, named: NamedEvent) -> Json:
    return {
        "number": named.number_of(link.event.id),
        "event": content_of(link.event),
        "who": link.who,
        "came": link.came,
        "by": link.by,
        "lines": [_line_facts(line, named) for line in link.lines],
        "tools": [
            {"called": content_of(use.called), "returned": use.returned and content_of(use.returned)}
            for use in link.tools
        ],
        "cites": [event.id for event in link.cites],
        "prompts": [msgspec.to_builtins(asked) for asked in link.prompts],
        "missing": list(link.missing),
    }


def _line_facts(line: SeenLine, named: NamedEvent) -> Json:
    return {"number": named.number_of(line.event_id), **msgspec.to_builtins(line)}


def draw_why(why: Why, named: NamedEvent, lines_shown: int) -> None:
    """The chain for people, from the event back."""
    easel = _Easel(named, why)
    for place, link in enumerate(why.links):
        easel.draw_link(link, is_first=not place, lines_shown=lines_shown)
    easel.draw(Text(_BEGAN[why.began], style="bold"))


class _Easel:
    """Draws one chain."""

    def __init__(self, named: NamedEvent, why: Why) -> None:
        self._named = named
        self._screen = Screen()
        self._voices = Voices(dict.fromkeys(link.who for link in reversed(why.links)))

    def draw(self, text: Text, indent: int = 0) -> None:
        """A text, folded on a terminal, on one line in a pipe."""
        if self._screen.is_terminal:
            self._screen.draw(Padding(text, (0, 0, 0, indent)))
        else:
            self._screen.draw(" " * indent + text.plain)

    def draw_link(self, link: Link, *, is_first: bool, lines_shown: int) -> None:
        """One event, what was behind it, and how its cause came to it."""
        event = link.event
        arrow = "" if is_first else "↳ "
        place = "" if event.channel is None else f" on {one_line(event.channel)}"
        self.draw(
            Text.assemble(
                (f"{arrow}{self._named.name_of(event.id)}  ", "bold"),
                (one_line(link.who), f"bold {self._voices.colour_of(link.who)}"),
                (f"  {event.kind}{place}, turn {event.turn}", QUIET),
            )
        )
        if event.kind != kinds.TURN_STARTED:
            self._draw_payload(link)
        if link.thought or link.mood:
            mood = f"{one_line(link.mood)}: " if link.mood and link.thought else one_line(link.mood)
            self.draw(Text(f"({mood}{one_line(link.thought)})", style="dim italic"), 2)
        for asked in link.prompts:
            self._draw_text(f"asked {asked.model}, system", asked.system)
            self._draw_text(f"asked {asked.model}, user", asked.user)
        for use in link.tools:
            back = "nothing yet" if use.returned is None else self._gist(use.returned)
            self.draw(Text(f"used {self._gist(use.called)} and got {back}"), 2)
        for cited in link.cites:
            self.draw(Text(f"rests on {self._named.name_of(cited.id)}: {self._gist(cited)}"), 2)
        self._draw_lines(link, lines_shown)
        for what in link.missing:
            self.draw(Text(_MISSING[what], style=QUIET), 2)
        if link.came is not None:
            self.draw(Text(_how(link), style=QUIET), 2)

    def _draw_payload(self, link: Link) -> None:
        """What an event says, in words; a long field on a line of its own."""
        payload = {
            name: value for name, value in link.event.payload.items() if not _is_told_below(value, link)
        }
        fields = dict(fields_in(payload, self._named.name_of))
        long = {name: words for name, words in fields.items() if len(words) > inline_chars_max}
        inline = "; ".join(f"{name}: {words}" for name, words in fields.items() if name not in long)
        said = " — ".join(part for part in (said_in(payload)[1], inline) if part)
        if said or not long:
            self.draw(Text(said or "(nothing)"), 2)
        for name, words in long.items():
            self.draw(Text(f"{name}: {words}"), 2)

    def _gist(self, event: Event) -> str:
        return gist(event.payload, self._named.name_of)

    def _draw_text(self, what: str, text: str | None) -> None:
        if text is None:
            self.draw(Text(f"{what}: not kept any more", style=QUIET), 2)
            return
        self.draw(Text(f"{what}:", style=QUIET), 2)
        for line in text.splitlines():
            self.draw(Text(one_line(line), style=QUIET), 4)

    def _draw_lines(self, link: Link, lines_shown: int) -> None:
        if not link.lines:
            is_thought = link.event.model is not None or link.event.caused_by is not None
            if is_thought and not link.missing:
                self.draw(Text("no lines of a prompt are known", style=QUIET), 2)
            return
        by_age = sorted(link.lines, key=lambda line: self._named.number_of(line.event_id) or 0)
        shown = by_age[max(0, len(by_age) - lines_shown) :] if lines_shown else []
        more = len(by_age) - len(shown)
        count = f"{len(by_age)} line{'s'[: len(by_age) != 1]} in its prompt"
        self.draw(Text(count + (f", the last {len(shown)}:" if more else ":"), style=QUIET), 2)
        for line in shown:
            self._draw_line(line, is_answered=line.event_id == link.event.caused_by)

    def _draw_line(self, line: SeenLine, *, is_answered: bool) -> None:
        number = self._named.number_of(line.event_id)
        name = line.event_id if number is None else str(number)
        note = "answered" if is_answered else _SECTIONS[line.section]
        note = "" if note == "heard" else f"  [{note}]"
        self.draw(
            Text.assemble(
                (f"{name:>{number_chars}}  ", QUIET),
                (f"{one_line(line.who)}: ", self._voices.colour_of(line.who)),
                one_line(line.text),
                (note, QUIET),
            ),
            2,
        )


def _how(link: Link) -> str:
    told = {
        "turn": "because its turn came",
        "channel": f"because it heard this on {one_line(link.by)}",
        "graph": "because this was said to everybody in its graph",
        "wire": f"because this was handed to it by the wire {link.by}",
        "tool": f"because of the tool {one_line(link.by)}",
        "asked": "because of this",
    }
    return told[link.came or "asked"]


def _is_told_below(value: object, link: Link) -> bool:
    """Whether a field names events, all of which are drawn as what this one rests on."""
    cited = {event.id for event in link.cites}
    return is_cited(value) and cited.issuperset(value if isinstance(value, list) else [value])


def print_knowers(who: WhoKnew, named: NamedEvent) -> None:
    """Everybody who knew, for machines: one object for each."""
    for knower in who.knowers:
        facts = msgspec.to_builtins(knower)
        print_json({"event_id": who.event_id, "number": named.number_of(who.event_id), **facts})


def draw_knowers(who: WhoKnew, named: NamedEvent) -> None:
    """Everybody who knew, for people."""
    screen, event = Screen(), named.event
    heading = f"{named.name_of(event.id)}  {event.kind}, turn {event.turn}: "
    told = heading + (gist(event.payload, named.name_of) or "(nothing)")
    screen.draw(Text(told, style="bold") if screen.is_terminal else told)
    if not who.knowers:
        screen.draw("Nobody could see it.")
        return
    is_elsewhere = any(knower.is_elsewhere for knower in who.knowers)
    headings = ("creature", "how", "since event", "until", *["lives"][:is_elsewhere])
    rows = [_knower_row(knower, named)[: len(headings)] for knower in who.knowers]
    draw_table(screen, headings, rows, loose=("creature", "how", "until"))
    if is_elsewhere:
        screen.draw(Text(_ELSEWHERE, style=QUIET))
    if who.count > len(who.knowers):
        screen.draw(Text(f"and {who.count - len(who.knowers):,} more", style=QUIET))


def _knower_row(knower: Knower, named: NamedEvent) -> tuple[str, ...]:
    until = "the file ends" if knower.is_elsewhere else "now"
    return (
        knower.handle,
        _HOW[knower.how] + ("" if knower.with_content else ", without the words"),
        named.name_of(knower.since),
        until if knower.until is None else f"its end, {named.name_of(knower.until)}",
        "elsewhere" if knower.is_elsewhere else "here",
    )
