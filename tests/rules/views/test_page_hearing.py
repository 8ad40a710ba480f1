"""The page's own rule of who hears a line is the rule of the engine."""

import random

from hypothesis import given
from hypothesis import strategies as st

from glasshouse.events import kinds
from glasshouse.views.page_fold import PageFold
from glasshouse.views.page_runs import hearers_among
from glasshouse.world.hearing.hearing import visible_to
from tests.rules.turns.houses_by_hand import House, member, opening, random_step

steps_in_a_story = 60


@given(st.integers(0, 10**9))
def test_those_who_hear_a_line_on_the_page_are_those_who_may_see_it(seed: int) -> None:
    dice, house, fold = random.Random(seed), House(), PageFold("director")
    house.do(opening("r-1", member("ada"), member("bo"), member("heron", on=(), is_root=True)))
    for event in house.ledger:
        fold.fold(event)

    for _ in range(steps_in_a_story):
        before = len(house.ledger)
        random_step(house, dice)
        for event in house.ledger[before:]:
            fold.fold(event)
            if event.kind not in kinds.NO_LINES | kinds.INNER:
                creatures = house.world.creatures
                hearers = {*hearers_among(fold.page, event, creatures), event.actor} & creatures.keys()
                assert hearers == {name for name, c in creatures.items() if visible_to(c, event)}
