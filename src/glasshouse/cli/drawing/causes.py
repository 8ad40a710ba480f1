"""A chain of causes on the screen, and who knew of an event.

Always holds: everything drawn here was redacted for the role that the user chose. In a pipe, every line and every
thought is on one line.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec import to_builtins
from rich.padding import Padding
from rich.text import Text

from glasshouse.cli.drawing.screen import (
    NameOf,
    Screen,
    counted,
    draw_table,
    facts_of,
    one_line,
    print_json,
    value_in_words,
)
from glasshouse.cli.drawing.voices import QUIET, Voices, mind_of, number_chars, tool_in_words
from glasshouse.cli.store_reader import NamedEvent
from glasshouse.events import kinds
from glasshouse.events.codec import content_of
from glasshouse.events.event import Json
from glasshouse.events.payloads import ToolCalled, ToolReturned, outcome_of, payload_of
from glasshouse.events.redaction import Role, redacted
from glasshouse.views.who_knew import WhoKnew
from glasshouse.views.why import Link, ToolUse, Why, is_cited

inline_chars_max: Final = 200
"""A longer value is drawn on its own line."""

SAID_IN: Final = ("text", "reason")
"""The fields that are shown without their name. The first one present is drawn first."""

_BEGAN: Final = {
    "disturbance": "It began with a visitor's line.",
    "opening": "It began with the opening.",
    "turn": "It began with a turn of its own: nobody asked.",
    "world": "It began with the world itself: a beat of its scenario, or its end.",
    "outside": "It began outside: nothing in the ledger caused it.",
    "further": "It goes back further: ask `why` about the last event.",
}
_CAME: Final = {
    "turn": "because its turn came",
    "channel": "because it heard this on {}",
    "graph": "because this was said to everybody in its graph",
    "wire": "because this was handed to it by the wire {}",
    "tool": "because of the tool {}",
    "asked": "because of this",
}
_SECTIONS: Final = {
    "scene": "the scene",
    "remembered": "remembered",
    "disturbances": "from a visitor",
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


_ELSEWHERE: Final = "Creatures that live elsewhere came in a file, with the handle they had there."
_MISSING: Final = {
    "model": "the file it came in leaves out the model's side: ask for one that was exported for a director",
    "prompt": "prompt not kept: which lines were in it is unknown",
    "cause": "what caused it is not in this store",
    "cast": "the file it came in lacks part of what happened to its graph, so who was there is unknown",
}


def print_why(why: Why, named: NamedEvent) -> None:
    """Print the chain for machines."""
    about = {"event_id": why.event_id, "number": named.number_of(why.event_id)}
    links = [_link_facts(link, named) for link in why.links]
    print_json({**about, "role": why.role, "began": why.began, "links": links})


def _link_facts(link: Link, named: NamedEvent) -> Json:
    about = {"number": named.number_of(link.event.id), "event": content_of(link.event)}
    lines = [{"number": named.number_of(line.event_id), **to_builtins(line)} for line in link.lines]
    events = [(content_of(use.called), use.returned and content_of(use.returned)) for use in link.tools]
    tools = [{"called": called, "returned": returned} for called, returned in events]
    behind = {"lines": lines, "tools": tools, "cites": [event.id for event in link.cites]}
    asked = {"prompts": to_builtins(link.prompts), "missing": link.missing}
    return {**about, **facts_of(link, "who", "came", "by", "cited_by"), **behind, **asked}


def draw_why(why: Why, named: NamedEvent, lines_shown: int) -> None:
    """Draw the chain for people, from the event back to its first cause."""
    chain = _Chain(named, why)
    for index, link in enumerate(why.links):
        chain.draw_link(link, is_first=not index, lines_shown=lines_shown)
    chain.draw(_BEGAN[why.began], "bold")


class _Chain:
    """Draws one chain."""

    def __init__(self, named: NamedEvent, why: Why) -> None:
        self._named = named
        self._screen = Screen()
        self._voices = Voices(dict.fromkeys(link.who for link in reversed(why.links)))

    def draw(self, text: str | Text, style: str = "", indent: int = 0) -> None:
        """A text, folded on a terminal, on one line in a pipe."""
        drawn = Text(text, style) if isinstance(text, str) else text
        is_folded = self._screen.is_terminal
        self._screen.draw(Padding(drawn, (0, 0, 0, indent)) if is_folded else " " * indent + drawn.plain)

    def draw_link(self, link: Link, *, is_first: bool, lines_shown: int) -> None:
        """One event, what was behind it, and how its cause came to it."""
        event = link.event
        name_of = self._named.name_of
        channel = "" if event.channel is None else f" on {one_line(event.channel)}"
        number = (f"{'' if is_first else '↳ '}{name_of(event.id)}  ", "bold")
        who = (one_line(link.who), f"bold {self._voices.colour_of(link.who)}")
        note = f", cited by {name_of(link.cited_by)}" if link.cited_by else ""
        self.draw(Text.assemble(number, who, (f"  {event.kind}{channel}, turn {event.turn}{note}", QUIET)))
        if event.kind != kinds.TURN_STARTED:
            self._draw_payload(link)
        if mind := mind_of(link.mood, link.thought):
            self.draw(mind, "dim italic", 2)
        for asked in link.prompts:
            for part, text in (("system", asked.system), ("user", asked.user)):
                title = f"asked {asked.model}, {part}:"
                self.draw(title if text is not None else f"{title} not kept any more", QUIET, 2)
                for line in (text or "").splitlines():
                    self.draw(one_line(line), QUIET, 4)
        for use in link.tools:
            self._draw_tool(use)
        for cited in link.cites:
            self.draw(f"rests on {name_of(cited.id)}: {gist(cited.payload, name_of)}", indent=2)
        self._draw_lines(link, lines_shown)
        for what in link.missing:
            self.draw(_MISSING[what], QUIET, 2)
        if link.came is not None:
            self.draw(_CAME[link.came].format(one_line(link.by)), QUIET, 2)

    def _draw_tool(self, use: ToolUse) -> None:
        """What was asked of a tool, and what it answered."""
        called = payload_of(use.called, ToolCalled)
        outcome = "has not answered"
        answer = ""
        if use.returned is not None:
            returned = payload_of(use.returned, ToolReturned)
            outcome = outcome_of(returned)
            answer = returned.text
        style = "red" if outcome in ("failed", "refused") else ""
        self.draw(tool_in_words(called.tool, called.arguments, outcome, answer), style, 2)

    def _draw_payload(self, link: Link) -> None:
        """What an event says, in words; a long field on a line of its own. Events that are drawn below are left out."""
        cited = {event.id for event in link.cites}
        payload = dict(link.event.payload)
        for name, value in link.event.payload.items():
            if is_cited(value) and cited.issuperset(value if isinstance(value, list) else [value]):
                del payload[name]
        said, fields = words_of(payload, self._named.name_of)
        long = [f"{name}: {words}" for name, words in fields.items() if len(words) > inline_chars_max]
        short = {name: words for name, words in fields.items() if len(words) <= inline_chars_max}
        if said or short or not long:
            long.insert(0, _joined(said, short) or "(nothing)")
        for text in long:
            self.draw(text, indent=2)

    def _draw_lines(self, link: Link, lines_shown: int) -> None:
        number_of = self._named.number_of
        if not link.lines:
            is_thought = link.event.model is not None or link.event.caused_by is not None
            if is_thought and not link.missing:
                self.draw("no lines of a prompt are known", QUIET, 2)
            return
        by_age = sorted(link.lines, key=lambda line: number_of(line.event_id) or 0)
        shown = by_age[max(0, len(by_age) - lines_shown) :]
        count = f"{counted(len(by_age), 'line')} in its prompt"
        self.draw(count + (f", the last {len(shown)}:" if len(shown) < len(by_age) else ":"), QUIET, 2)
        for line in shown:
            section = "answered" if line.event_id == link.event.caused_by else line.section
            number = (f"{self._named.name_of(line.event_id):>{number_chars}}  ", QUIET)
            who = (f"{one_line(line.who)}: ", self._voices.colour_of(line.who))
            note = ("" if section == "discussion" else f"  [{_SECTIONS[section]}]", QUIET)
            self.draw(Text.assemble(number, who, one_line(line.text), note), indent=2)


def print_knowers(who: WhoKnew, named: NamedEvent) -> None:
    """Print all creatures that knew, for machines: one object for each."""
    about = {"event_id": who.event_id, "number": named.number_of(who.event_id)}
    print_json(*[{**about, **to_builtins(knower)} for knower in who.knowers])


def draw_knowers(who: WhoKnew, named: NamedEvent, role: Role) -> None:
    """Draw all creatures that knew, for people."""
    screen = Screen()
    event = redacted(named.event, role)
    said = gist(event.payload, named.name_of) or "(nothing)"
    heading = f"{named.name_of(event.id)}  {event.kind}, turn {event.turn}: {said}"
    screen.draw(Text(heading, style="bold") if screen.is_terminal else heading)
    if not who.knowers:
        screen.draw("Nobody could see it.")
        return
    rows = []
    for knower in who.knowers:
        how = _HOW[knower.how] + ("" if knower.with_content else ", without the words")
        lives, until = ("elsewhere", "the file ends") if knower.is_elsewhere else ("here", "now")
        if knower.until is not None:
            until = f"its end, {named.name_of(knower.until)}"
        rows.append((knower.handle, how, named.name_of(knower.since), until, lives))
    headings = ["creature", "how", "since event", "until", "lives"]
    is_elsewhere = any(knower.is_elsewhere for knower in who.knowers)
    if not is_elsewhere:
        headings.remove("lives")
    draw_table(screen, headings, rows, loose=("creature", "how", "until"))
    if is_elsewhere:
        screen.draw(Text(_ELSEWHERE, QUIET))
    if who.count > len(who.knowers):
        screen.draw(Text(f"and {who.count - len(who.knowers):,} more", QUIET))


def words_of(payload: Mapping[str, Any], name_of: NameOf = str) -> tuple[str, dict[str, str]]:
    """What was said, and the words of every other field."""
    texts = [field for field in SAID_IN if isinstance(payload.get(field), str) and payload[field].strip()]
    others = {field: value for field, value in payload.items() if field not in texts[:1]}
    fields = {one_line(field): value_in_words(value, name_of) for field, value in others.items()}
    return one_line(payload[texts[0]]) if texts else "", fields


def gist(payload: Mapping[str, Any], name_of: NameOf = str) -> str:
    """A whole payload on one line: what was said, then the other fields. Of long ones, how long they are."""
    said, fields = words_of(payload, name_of)
    for field, words in fields.items():
        fields[field] = words if len(words) <= inline_chars_max else f"{len(words):,} characters"
    return _joined(said, fields)


def _joined(said: str, fields: Mapping[str, str]) -> str:
    named = "; ".join(f"{field}: {words}" for field, words in fields.items())
    return " — ".join(part for part in (said, named) if part)
