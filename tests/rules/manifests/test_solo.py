"""The worlds that a tournament against solo makes from a world: checked like any other, and fair."""

import pytest

from glasshouse.events import kinds
from glasshouse.manifests.loading import load_world
from glasshouse.manifests.opening import opening_of
from glasshouse.manifests.solo import SOLO, TROUPE, players_of, reading_world, solo_world
from glasshouse.manifests.world_folders import bundled_worlds

WORLDS = [world.name for world in bundled_worlds()]


@pytest.mark.parametrize("name", WORLDS)
def test_one_alone_has_every_part_of_the_world(name: str) -> None:
    world = load_world(name)

    turns = world.scenario.governor.max_turns
    alone = solo_world(world, acts=3 * turns, turns=turns)

    (solo,) = alone.manifests.values()
    parts = {
        kind
        for player in players_of(world).values()
        for kind in player.may_emit
        if kind in world.scenario.kinds
    }
    assert parts <= {*solo.may_emit}
    assert kinds.JUDGE_VERDICT not in solo.may_emit
    assert alone.scenario.goal == world.scenario.goal
    assert [beat.text for beat in alone.scenario.beats] == [beat.text for beat in world.scenario.beats]
    assert [beat.turn for beat in alone.scenario.beats] == [beat.turn * 3 for beat in world.scenario.beats]


@pytest.mark.parametrize("name", WORLDS)
def test_one_alone_is_dealt_the_same_cards(name: str) -> None:
    world = load_world(name)
    alone = solo_world(world, acts=10, turns=5)

    for rng_seed in range(5):
        theirs, mine = (
            opening_of(played, run_id="r", seed=None, rng_seed=rng_seed) for played in (world, alone)
        )
        dealt = {key for troupe in theirs.troupes for member in troupe.members for key in member.dealt or {}}
        (solo,) = mine.troupes[0].members
        assert {*(solo.dealt or {})} == dealt
        for troupe in theirs.troupes:
            for member in troupe.members:
                for key, card in (member.dealt or {}).items():
                    held = (solo.dealt or {})[key]
                    assert card == held or card in held


@pytest.mark.parametrize("name", WORLDS)
def test_a_reading_is_judged_by_somebody_who_knows_no_name(name: str) -> None:
    world = load_world(name)

    reading = reading_world(world, (SOLO, TROUPE), [kinds.AGENT_SPOKE, *world.scenario.kinds])

    assert reading.scenario.competition.contestants == (SOLO, TROUPE)
    judges = [manifest for manifest in reading.manifests.values() if manifest.role == "judge"]
    assert len(judges) == 1
    assert not any(handle in judges[0].persona for handle in players_of(world))
