"""What each role may read of an event.

A spectator reads no thoughts; the audience does; only a director reads what is sealed and the model's side.
"""

from __future__ import annotations

from typing import Literal

from msgspec.structs import replace

from glasshouse.events import kinds
from glasshouse.events.event import Event, Json

Role = Literal["spectator", "audience", "director"]
ROLES: tuple[Role, ...] = ("spectator", "audience", "director")


def redacted(event: Event, role: Role) -> Event:
    """The event as this role may read it. Its id, place and kind always stay."""
    if role == "director":
        return event
    if event.kind == kinds.SESSION_RESTATED:
        event = replace(event, payload=_without_what_was_dealt(event.payload))
    if event.kind == kinds.RUN_STARTED:
        event = replace(event, payload=_without_decks(event.payload))
    if role == "audience":
        return replace(event, sealed=None, model=None)
    payload = {} if event.kind == kinds.AGENT_THOUGHT else event.payload
    return replace(event, payload=payload, private=None, sealed=None, model=None)


def _without_decks(started: Json) -> Json:
    """What is dealt is drawn from a deck: where a scenario lists the cards itself, they are as sealed as the one drawn."""
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


def _without_what_was_dealt(restated: Json) -> Json:
    """A past that lives again carries what was dealt in it: sealed there, and sealed here."""
    carried = restated.get("carried") or {}
    tables = {name: part for name, part in carried.get("tables", {}).items() if name != "dealt"}
    runs = {
        run_id: {name: part for name, part in spent.items() if name != "truth"}
        for run_id, spent in carried.get("runs", {}).items()
    }
    return {**restated, "carried": {**carried, "tables": tables, "runs": runs}}
