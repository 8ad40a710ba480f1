"""Why something was said: the chain of causes, and the lines that each model call was shown.

Always holds: it writes nothing and calls no model. Events are read by id, so the cost does not grow with the ledger.
The lines come from what was recorded with each call, not from the text of its prompt (ADR 0044).
"""

from __future__ import annotations

from collections.abc import Container
from contextlib import suppress
from typing import Final

from glasshouse.errors import Refused, UnknownName
from glasshouse.events import kinds
from glasshouse.events.event import Event, session_and_seq, text_of
from glasshouse.events.redaction import Role, check_role, redacted
from glasshouse.events.shown import Section, Shown
from glasshouse.runtime.folded import Folded
from glasshouse.runtime.ledger.history import HistoryReader, spans_of_events
from glasshouse.runtime.past.other_houses import OtherHouses
from glasshouse.turns.heard.renaming import NamesNow
from glasshouse.turns.moment.line_text import cut, line_chars_max, speaker_of
from glasshouse.views import why as views

prompt_texts_max: Final = 8
"""How many calls of one act are returned with their prompt texts."""
shown_lines_max: Final = 256
"""How many lines of a prompt are returned. A judge's prompt has the most."""
gap_events_max: Final = 8
"""Lines of one session whose seqs differ by at most this are read together."""

_SECTIONS: Final[tuple[Section, ...]] = ("scene", "discussion", "remembered", "disturbances", "answered")
"""A line that is in several sections of a prompt is listed in the first of these."""


class WhyReader:
    """Answers why an event was written."""

    def __init__(self, history: HistoryReader, other_houses: OtherHouses) -> None:
        self._history = history
        self._other_houses = other_houses

    async def why(self, id_of_event: str, role: Role) -> views.Why:
        """The chain of causes from an event back to its beginning. A verdict on it goes on to the lines that it cites."""
        check_role(role)
        first = await self._history.event(id_of_event)
        events: dict[str, Event] = {}
        links: dict[str, views.Link] = {}
        to_follow = [(first, "")]
        began_with = first
        while to_follow:
            start, cited_by = to_follow.pop(0)
            event: Event | None = start
            oldest = start
            # One link is kept for each cited line that is still to come.
            while (
                event is not None and event.id not in links and len(links) + len(to_follow) < views.links_max
            ):
                cause = await self._event_or_none(event.caused_by)
                links[event.id] = await self._link(event, cause, events, role, cited_by)
                cited_by = ""
                oldest = event
                cited = await self._cited_by_verdict(event, links)
                to_follow += [(line, event.id) for line in cited[: views.links_max - len(links) - 1]]
                # That a verdict was due is told by its link: what it rests on comes next.
                event = None if cited and _is_turn(cause) else cause
            is_joined = event is not None and event.id in links  # How that began is told already.
            began_with = began_with if is_joined else oldest
        return views.Why(id_of_event, role, tuple(links.values()), views.beginning(began_with))

    async def _cited_by_verdict(self, event: Event, listed: Container[str]) -> list[Event]:
        """The lines that a verdict cites and that are not listed, the newest first; none of any other event."""
        if event.kind != kinds.JUDGE_VERDICT:
            return []
        read = [await self._event_or_none(cited) for cited in views.cited_in(event)]
        cited = [line for line in read if line is not None and line.id not in listed]
        return sorted(cited, key=lambda line: line.position or 0)[: -views.cited_chains_max - 1 : -1]

    async def _event_or_none(self, id_of_event: str | None) -> Event | None:
        """The event with this id, or None: an imported file may name events that it does not contain."""
        with suppress(UnknownName):
            return None if id_of_event is None else await self._history.event(id_of_event)
        return None

    async def _house_of(self, session_id: str) -> Folded | None:
        """The world in which a session was written, or None if it was imported and its file does not tell enough."""
        if not self._other_houses.wrote(session_id):
            return self._history.ledger.folded
        with suppress(Refused):
            return await self._other_houses.around(session_id)
        return None

    async def _link(
        self, event: Event, cause: Event | None, events: dict[str, Event], role: Role, cited_by: str
    ) -> views.Link:
        """One event as the role may read it. Lines and tools are redacted like the event, so nothing else decides what
        is shown."""
        seen = redacted(event, role)
        house = await self._house_of(event.session_id)
        folded = house or Folded()
        heard = None if cause is None else _as_heard(folded, event, cause)
        came, by = (None, "") if heard is None else views.arrival(folded.world, event, heard)
        cited = [await self._event_or_none(cited_event) for cited_event in views.cited_in(seen)]
        shown = await self._history.store.shown(event.position or 0) if event.calls else ()
        calls = [call for call in seen.calls if call.has_texts]
        text = self._history.store.prompt
        prompts = [
            views.Asked(call.model, await text(call.system), await text(call.user))
            for call in calls[-prompt_texts_max:]
        ]
        is_without_texts = any(not call.has_texts for call in event.calls)
        is_missing: dict[views.Missing, bool] = {
            "model": is_without_texts,
            "prompt": shown is None and not is_without_texts,
            "cause": event.caused_by is not None and cause is None,
            "cast": house is None,
        }
        return views.Link(
            event=seen,
            who=_name_of(folded, event.actor),
            came=came,
            by=by,
            cited_by=cited_by,
            lines=await self._lines(shown[-1], events, role) if shown else (),
            tools=tuple(await self._tools(event, role)),
            cites=tuple([redacted(cited_event, role) for cited_event in cited if cited_event is not None]),
            prompts=tuple(prompts),
            missing=tuple([part for part in is_missing if is_missing[part]]),
        )

    async def _lines(self, shown: Shown, events: dict[str, Event], role: Role) -> tuple[views.SeenLine, ...]:
        """The lines that a call was shown. `events` caches the events that were already read for this answer."""
        sections: dict[str, Section] = {}
        for section in _SECTIONS:
            for line_id in getattr(shown, section):
                sections.setdefault(line_id, section)
        ids = list(sections)[-shown_lines_max:]
        unread = sorted([line_id for line_id in ids if line_id not in events], key=session_and_seq)
        if spans := spans_of_events(self._history.ledger.world, unread, gap_events_max):
            await self._history.ledger.writer.wait_for_durability()
            events |= {event.id: event for event in await self._history.store.read(spans)}
        lines = [redacted(events[line_id], role) for line_id in ids if line_id in events]
        houses = {name: await self._house_of(name) for name in {line.session_id for line in lines}}
        return tuple([_line(sections[line.id], line, houses[line.session_id] or Folded()) for line in lines])

    async def _tools(self, event: Event, role: Role) -> list[views.ToolUse]:
        """The tools that an act used before it ended in this event."""
        read = [await self._event_or_none(id_of_event) for id_of_event in event.tools]
        events = [redacted(earlier, role) for earlier in read if earlier is not None]
        answers = {answer.caused_by: answer for answer in events if answer.kind == kinds.TOOL_RETURNED}
        called = [call for call in events if call.kind == kinds.TOOL_CALLED]
        return [views.ToolUse(call, answers.get(call.id)) for call in called]


def _is_turn(cause: Event | None) -> bool:
    return cause is not None and cause.kind == kinds.TURN_STARTED


def _line(section: Section, event: Event, house: Folded) -> views.SeenLine:
    words = cut(text_of(event), line_chars_max)
    return views.SeenLine(section, event.id, _name_of(house, event.actor), event.kind, words)


def _as_heard(house: Folded, event: Event, cause: Event) -> Event:
    """A cause with the names that the creature that answered it knew."""
    creature = house.world.ever(event.actor)
    names = NamesNow(house.world.sessions, house.tables.renamed)
    return cause if creature is None else names.heard_by(creature, cause)


def _name_of(house: Folded, actor: str) -> str:
    """The displayed name of an actor: its handle now, or its last handle if it was removed."""
    creature = house.world.ever(actor)
    return speaker_of(actor, actor if creature is None else creature.handle)[0]
