"""Redaction: removes from an event what a role may not read.

Always holds: a spectator reads no thoughts and no private parts; the audience reads both; only a director reads sealed
parts and model calls.
"""

from __future__ import annotations

from typing import Literal

from msgspec.structs import replace

from glasshouse.events import kinds
from glasshouse.events.event import Event, Json
from glasshouse.events.payloads import SessionRestated, builtins_of, payload_of

Role = Literal["spectator", "audience", "director"]
ROLES: tuple[Role, ...] = ("spectator", "audience", "director")


def redacted(event: Event, role: Role) -> Event:
    """The event as this role may read it. Its ids, times and kind always stay."""
    if role == "director":
        return event
    if event.kind == kinds.SESSION_RESTATED:
        restated = payload_of(event, SessionRestated)
        event = replace(event, payload=builtins_of(_without_what_was_dealt(restated)))
    if event.kind == kinds.RUN_STARTED:
        event = replace(event, payload=_without_decks(event.payload))
    if role == "audience":
        return replace(event, sealed=None, model=None)
    payload = {} if event.kind == kinds.AGENT_THOUGHT else event.payload
    return replace(event, payload=payload, private=None, sealed=None, model=None)


def _without_decks(started: Json) -> Json:
    """Remove the cards that a scenario lists: they would reveal what may have been dealt."""
    scenario = started.get("scenario")
    deals = scenario.get("deal") if isinstance(scenario, dict) else None
    if not isinstance(scenario, dict) or not isinstance(deals, dict) or not deals:
        return started
    kept = {key: _without_cards(deal) for key, deal in deals.items()}
    return {**started, "scenario": {**scenario, "deal": kept}}


def _without_cards(deal: object) -> object:
    if not isinstance(deal, dict) or isinstance(deal.get("from"), str):
        return deal
    return {name: part for name, part in deal.items() if name != "from"}


def _without_what_was_dealt(restated: SessionRestated) -> SessionRestated:
    """Remove what was dealt in a restated past: it stays sealed."""
    carried = restated.carried
    tables = replace(carried.tables, dealt={})
    runs = {run_id: replace(run, truth={}) for run_id, run in carried.runs.items()}
    return replace(restated, carried=replace(carried, tables=tables, runs=runs))
