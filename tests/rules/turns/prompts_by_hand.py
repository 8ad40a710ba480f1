"""Prompts for pure tests: what a creature of a house would be asked if its act began now."""

from __future__ import annotations

from glasshouse.events.event import Event
from glasshouse.turns.heard.recent_lines import places_of
from glasshouse.turns.heard.surroundings import cause_as_seen, handles_of, surroundings_of
from glasshouse.turns.moment.character import character_of
from glasshouse.turns.moment.moment import Moment
from glasshouse.turns.moment.playbill import Playbill
from glasshouse.turns.prompts.context import prompt_for
from tests.rules.turns.houses_by_hand import House
from tests.rules.turns.moments_by_hand import a_tick, never_asked, never_spending

PLAYBILL = Playbill(goal="Talk.", kinds={"finger.pointed": {"at": "creature", "text": "string"}})


def moment_in(house: House, name: str, cause: Event | None = None) -> Moment:
    """The moment of a creature that answers this cause, or whose own time has come."""
    creature = house.creature(name)
    places = places_of(house.tables, house.world, creature)
    heard, before = house.heard_by(creature)
    answered = cause or a_tick(1)
    handed = house.agenda.handed_to(name, answered.id)
    return Moment(
        run_id=creature.run_id,
        turn=1,
        cause=cause_as_seen(creature, answered, handed),
        creature_id=name,
        handle=creature.handle,
        character=character_of(house.world.facts_of(creature).manifest),
        playbill=PLAYBILL,
        heard=heard,
        lines_before=before,
        handles=handles_of(house.world, house.tables, creature, places, answered.actor),
        around=surroundings_of(house.world, creature).around,
        ask=never_asked,
        spending=never_spending,
        handed=handed,
    )


def prompt_in(house: House, name: str, cause: Event | None = None) -> str:
    """Every byte that the model behind a creature would be shown."""
    prompt = prompt_for(moment_in(house, name, cause))
    return f"{prompt.system}\n\n{prompt.user}"
