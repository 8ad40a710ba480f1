"""Reads what is told when a run has ended (ADR 0133).

Always holds: it writes nothing and calls no model. It is told from the folds and a few events that are read by id, so the cost
does not grow with the ledger.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Final

from glasshouse.errors import Refused, UnknownName
from glasshouse.events import kinds, payloads
from glasshouse.events.event import Event, Json, event_id, session_and_seq, text_of
from glasshouse.events.payloads import payload_of, verdict_of
from glasshouse.events.recorded_fields import scenario_fields_of
from glasshouse.events.redaction import Role, redacted
from glasshouse.runtime.folded import Folded
from glasshouse.runtime.ledger.history import HistoryReader
from glasshouse.runtime.past.other_houses import OtherHouses
from glasshouse.turns.replies.sealed_words import says_word
from glasshouse.views import curtain as views
from glasshouse.views.page_state import EndNotes
from glasshouse.views.why import cited_in
from glasshouse.world.state.lineage import by_age
from glasshouse.world.state.values import GOES_ON

changes_read_max: Final = 64
"""How many merges and splits before the end are looked at for the first one after the opening."""


class CurtainReader:
    """Tells how runs ended."""

    def __init__(self, history: HistoryReader, other_houses: OtherHouses) -> None:
        self._history = history
        self._other_houses = other_houses

    async def curtain(self, run_id: str, role: Role, view: Json, notes: EndNotes) -> views.Curtain:
        """The end of a run, from the page's view for this role and what that view was told of the run."""
        run = view["runs"].get(run_id, {})
        if "ending" not in run:
            raise Refused(f"{run_id} has not ended.", "Wait for its end, or finish it.")
        verdict = await self._event_or_none(notes.verdict)
        cited = await self._events(cited_in(verdict)) if verdict is not None else []
        last = await self._event_or_none(notes.line)
        house = await self._house_of(notes)
        ending = "\n".join(filter(None, (run.get("why"), None if verdict is None else text_of(verdict))))
        owners = [name for name, creature in view["creatures"].items() if creature.get("run") == run_id]
        dealt = {name: house.tables.dealt[name] for name in owners if name in house.tables.dealt}
        words = None if verdict is None else verdict_of(verdict).text
        started = await self._event_or_none(notes.started)
        scenario = scenario_fields_of(
            None if started is None else payload_of(started, payloads.RunStarted).scenario
        )
        what_ifs = await self._what_ifs(view, notes, verdict or last, cited, scenario.disturbances)
        return views.Curtain(
            run_id=run_id,
            role=role,
            world=scenario.name,
            outcome=run["ending"]["text"],
            turns=run["spent"]["turns"],
            lines=run["ending"]["lines"],
            verdict=None if verdict is None else _said(view, redacted(verdict, role)),
            why=run.get("why") if run.get("why") != words else None,
            rests_on=tuple([_said(view, redacted(line, role)) for line in _in_order(cited)]),
            last_line=None if last is None else _said(view, redacted(last, role)),
            revealed=tuple(_revealed(view, dealt, ending)),
            last_words=tuple(_last_words(view, house, run_id, role)),
            creatures_count=len([name for name in owners if "line" in view["creatures"][name]]),
            has_sealed=bool(view["contest"]["sealed"]),
            what_ifs=tuple(what_ifs) if role == "director" else (),
        )

    async def _event_or_none(self, id_of_event: str) -> Event | None:
        """The event with this id, or None: an imported file may name events that it does not contain."""
        with suppress(UnknownName):
            return await self._history.event(id_of_event) if id_of_event else None
        return None

    async def _events(self, ids: Iterable[str]) -> list[Event]:
        read = [await self._event_or_none(id_of_event) for id_of_event in ids]
        return [event for event in read if event is not None]

    async def _house_of(self, notes: EndNotes) -> Folded:
        """The world in which the run was played; an empty one if its file does not tell enough."""
        session_id = notes.started.rpartition(".")[0]
        if not session_id or not self._other_houses.wrote(session_id):
            return self._history.ledger.folded
        with suppress(Refused):
            return await self._other_houses.around(session_id)
        return Folded()

    # Where it could have gone otherwise

    async def _what_ifs(
        self,
        view: Json,
        notes: EndNotes,
        end: Event | None,
        cited: Sequence[Event],
        disturbances: Sequence[str],
    ) -> list[views.TurningPoint]:
        """The branches that are ready to be made: one for each sort of turning point that there is."""
        points = [
            None if end is None else await self._before_the_first_change(view, end),
            _before_the_newest(view, cited),
            _disturbed_in_the_last_scene(notes, disturbances),
        ]
        return [point for point in points if point is not None]

    async def _before_the_first_change(self, view: Json, end: Event) -> views.TurningPoint | None:
        """Right before the first merge or split, after the opening, on the way to the end of the run."""
        change = await self._first_change(end)
        if change is None:
            return None
        what: views.Turn = (
            "apart" if payload_of(change, payloads.TopologyChanged).kind == "merge" else "together"
        )
        call = await self._event_or_none(change.caused_by or "")
        if call is not None and call.kind == kinds.TOOL_CALLED:
            return views.TurningPoint(what, call.id, drop=True, who=_handle(view, call.actor))
        # Whoever changed it from outside does not do so in a branch.
        before = await self._event_before(change)
        return None if before is None else views.TurningPoint(what, before.id)

    async def _first_change(self, end: Event) -> Event | None:
        sessions = self._history.ledger.world.sessions
        ancestry = {end.session_id: None}
        waiting = [end.session_id]
        while waiting:
            segment = sessions[waiting.pop()].segment
            # A branch shares the past of another run, and that run has its own curtain.
            parents = () if segment.origin in GOES_ON else segment.parents
            fresh = [parent.session_id for parent in parents if parent.session_id not in ancestry]
            ancestry |= dict.fromkeys(fresh)
            waiting += fresh
        segments = [sessions[name].segment for name in by_age(sessions, ancestry)]
        changed = [segment for segment in segments if segment.origin in ("merge", "split")]
        for segment in changed[:changes_read_max]:
            id_of_change = segment.at if segment.origin == "split" else event_id(segment.id, 1)
            change = await self._event_or_none(id_of_change or "")
            if change is not None and change.kind == kinds.TOPOLOGY_CHANGED and change.turn > 0:
                return change
        return None

    async def _event_before(self, change: Event) -> Event | None:
        """The last event before a change of graphs, in a graph that it changed."""
        segment = self._history.ledger.world.sessions[change.session_id].segment
        ends = [event_id(parent.session_id, parent.upto) for parent in segment.parents]
        name, seq = session_and_seq(change.id)
        ends += [event_id(name, earlier) for earlier in range(seq - 1, 0, -1)][:changes_read_max]
        before = [event for event in await self._events(ends) if event.change != change.change]
        return max(before, key=lambda event: event.position or 0, default=None)


def _disturbed_in_the_last_scene(notes: EndNotes, suggested: Sequence[str]) -> views.TurningPoint | None:
    """A visitor says in the last scene what its world suggests, and what nobody has said in the run."""
    words = next((text for text in suggested if text not in notes.visits), None)
    if words is None or not notes.scene:
        return None
    return views.TurningPoint("disturbed", notes.scene, disturb=words)


def _in_order(events: Iterable[Event]) -> list[Event]:
    return sorted(events, key=lambda event: event.position or 0)


def _before_the_newest(view: Json, cited: Iterable[Event]) -> views.TurningPoint | None:
    """Right before the newest of these lines that can be left out."""
    lines = [line for line in _in_order(cited) if views.can_be_left_out(line)]
    if not lines:
        return None
    return views.TurningPoint("unsaid", lines[-1].id, drop=True, who=_handle(view, lines[-1].actor))


def _handle(view: Json, creature: str) -> str:
    handle: str = view["creatures"].get(creature, {}).get("handle", creature)
    return handle


def _said(view: Json, event: Event) -> views.Said:
    who = _handle(view, event.actor)
    return views.Said(event.id, event.actor, who, event.kind, text_of(event), event.graph_id, event.channel)


def _revealed(view: Json, dealt: dict[str, Json], ending: str) -> list[views.Revealed]:
    """The facts that the words of the ending say."""
    facts = [(owner, fact, value) for owner, known in dealt.items() for fact, value in known.items()]
    return [
        views.Revealed(fact, owner, _handle(view, owner), value)
        for owner, fact, value in facts
        if isinstance(value, str) and value.strip() and says_word(ending, value)
    ][: views.facts_revealed_max]


def _last_words(view: Json, house: Folded, run_id: str, role: Role) -> list[views.LastWord]:
    """The last line of each creature of a run, with what it wants if the role may read that."""
    lines = [
        (creature["line"]["n"], name, creature["handle"], creature["line"]["text"])
        for name, creature in view["creatures"].items()
        if creature.get("run") == run_id and "line" in creature
    ]
    newest = sorted(lines, reverse=True)[: views.last_words_max]
    return [
        views.LastWord(name, who, n, text, None if role == "spectator" else _wants(house, name))
        for n, name, who, text in newest
    ]


def _wants(house: Folded, creature: str) -> str | None:
    known = house.world.ever(creature)
    facts = None if known is None else house.world.manifests.get(known.manifest_digest)
    wants = None if facts is None else facts.manifest.get("wants")
    return wants if isinstance(wants, str) and wants.strip() else None
