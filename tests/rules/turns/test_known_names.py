"""Known names: the names that a moment holds are those that its creature's own past gives, whatever others share."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glasshouse.events.event import RESERVED_ACTORS
from glasshouse.turns.heard import recent_lines, surroundings
from glasshouse.turns.heard.recent_lines import RecentLines, by_rule, places_of
from glasshouse.turns.heard.surroundings import handles_of, members_looked_at_max, name_for, surroundings_of
from glasshouse.world.decisions.intents import LeaveChannel
from glasshouse.world.hearing.hearing import visible_to
from glasshouse.world.state.state import CreatureState
from tests.rules.turns.houses_by_hand import House, member, opening, random_step
from tests.rules.turns.prompts_by_hand import moment_in

steps = 60


def known_by_hand(house: House, creature: CreatureState, cause_actor: str) -> dict[str, str]:
    """The plain computation: everybody around, and everybody whose lines the creature may see, by name."""
    world, said, me = house.world, house.tables.said, creature.id
    names = {me, cause_actor, *RESERVED_ACTORS}
    for channel_id in surroundings_of(world, creature).channels_of_others:
        names |= {*[*world.topology.members_of[channel_id]][: surroundings.members_looked_at_max]}

    def seen_in(table: RecentLines) -> set[str]:
        newest = table.lines[-recent_lines.heard_lines_max :]
        return {event.actor for event in newest if visible_to(creature, event)}

    own = said.get(by_rule(me)) if creature.is_root else None
    if own is not None:
        names |= own.speakers.keys()
    if own is None or me in house.tables.with_a_past:
        for channel_id in creature.ears.keys() & said.keys():
            ear, table = creature.ears[channel_id], said[channel_id]
            names |= table.speakers.keys() if ear.is_full and ear.is_open else seen_in(table)
    for graph_id in {stay.graph_id for stay in creature.stays} & said.keys():
        names |= seen_in(said[graph_id])
    return {name: name_for(world, creature, name) for name in names}


def known_now(house: House, creature: CreatureState, cause_actor: str) -> dict[str, str]:
    """The names as an act gets them, with all that is shared."""
    places = places_of(house.tables, house.world, creature)
    return dict(handles_of(house.world, house.tables, creature, places, cause_actor))


@given(st.integers(0, 10**9))
def test_names_are_those_of_the_plain_computation_after_every_change(seed: int) -> None:
    with pytest.MonkeyPatch.context() as small:
        small.setattr(recent_lines, "heard_lines_max", 4)
        small.setattr(recent_lines, "table_lines_max", 8)
        small.setattr(surroundings, "members_looked_at_max", 3)
        dice, house = random.Random(seed), House()
        house.do(opening("r-1", member("heron", is_root=True), member("ada"), member("bo")))
        for _ in range(steps):
            random_step(house, dice)
            everybody = [*house.world.creatures]
            for name in dice.sample(everybody, len(everybody)):
                cause_actor = dice.choice([*everybody, *sorted(RESERVED_ACTORS)])
                creature = house.creature(name)
                known = known_now(house, creature, cause_actor)
                assert known == known_by_hand(house, creature, cause_actor)
                if dice.random() < 0.1:
                    house.world.shape_cache.clear()
                    assert [*known_now(house, creature, cause_actor)] == [*known]


def test_one_who_no_longer_listens_does_not_get_the_names_of_those_who_do() -> None:
    house, names = House(), [f"worker{number}" for number in range(members_looked_at_max + 1)]
    house.do(opening("r-1", *map(member, names)))
    house.say(names[0], "Who is there?", channel="stage")
    house.do(LeaveChannel(names[1], "stage", ("listen",)))
    house.say(names[-1], "I am.", channel="stage")
    listens, left = (moment_in(house, name).handles for name in names[:2])

    assert names[-1] in listens
    assert names[-1] not in left
