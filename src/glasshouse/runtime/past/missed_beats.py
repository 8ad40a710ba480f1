"""Missed beats: what an edited world shows in turns that a resumed run had played before the edit.

Always holds: it is read from the events of the run alone, so the answer is the same whenever it is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence

from glasshouse.events import kinds
from glasshouse.events.event import Event
from glasshouse.events.payloads import CreatureStarted, RunStarted, SessionRestated, payload_of
from glasshouse.turns.moment.playbill import Beat, playbill_of


def missed_beats(events: Sequence[Event], run_id: str) -> list[Beat]:
    """The beats that the world of a run did not have when its past was played, and whose turn was over by then in each
    graph that they are for. `events` are those of the run, with its past."""
    starts = [
        (event.run_id, payload_of(event, RunStarted)) for event in events if event.kind == kinds.RUN_STARTED
    ]
    by_run = dict(reversed(starts))
    now = by_run.get(run_id)
    then = None if now is None or now.branch_of is None else by_run.get(now.branch_of.run_id)
    if now is None or now.branch_of is None or then is None:
        return []
    known = playbill_of(then.scenario).beats
    added = [beat for beat in playbill_of(now.scenario).beats if beat not in known]
    turns = _turns_then(events, run_id, now.branch_of.run_id) if added else {}
    handles = {entry.creature: entry.handle for entry in now.cast}
    members: dict[str, set[str]] = {}
    for event in events:
        if event.kind == kinds.CREATURE_STARTED and event.session_id in turns:
            handle = handles.get(payload_of(event, CreatureStarted).creature)
            members.setdefault(event.session_id, set()).add(handle or "")
    return [
        beat
        for beat in added
        if all(
            beat.turn <= played
            for session_id, played in turns.items()
            if beat.at is None or beat.at in members.get(session_id, ())
        )
    ]


def _turns_then(events: Sequence[Event], run_id: str, old_run_id: str) -> dict[str, int]:
    """Session -> how many turns the run had played along it, for the sessions that it was resumed in."""
    restated = [
        payload_of(event, SessionRestated) for event in events if event.kind == kinds.SESSION_RESTATED
    ]
    return {
        part.session: part.carried.clocks.turns.get(old_run_id, 0)
        for part in restated
        if part.runs.get(old_run_id) == run_id
    }
