"""The card of a world: what the world says, and what is told from its data."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from glasshouse.manifests.card import Card, card_of
from glasshouse.manifests.loading import LoadedWorld, load_world
from glasshouse.manifests.scenario import CardPlan
from glasshouse.manifests.world_folders import bundled_worlds
from tests.rules.manifests.sample_worlds import SCENARIO, world_at


def without_card(world: LoadedWorld) -> LoadedWorld:
    return replace(world, scenario=world.scenario.model_copy(update={"card": CardPlan()}))


def test_a_card_says_what_its_world_says(tmp_path: Path) -> None:
    written = "card: {about: Who lit it?, shows: A word that is dealt, minutes: 4}\n"
    world = load_world(world_at(tmp_path, SCENARIO + written))

    assert card_of(world) == Card("teams", "Who lit it?", "A word that is dealt", 4)


def test_a_card_is_no_part_of_a_run(tmp_path: Path) -> None:
    world = load_world(world_at(tmp_path, SCENARIO + "card: {about: Who lit it?}\n"))

    assert world.digest == without_card(world).digest
    assert "card" not in world.scenario.as_json()


def test_what_a_world_leaves_out_is_told_from_its_data(tmp_path: Path) -> None:
    card = card_of(load_world(world_at(tmp_path)))

    assert card == Card("teams", "Find out who lit the lantern.", "Two sides and a ruling", 6)


@pytest.mark.parametrize("name", [world.name for world in bundled_worlds()])
def test_the_length_that_is_told_from_data_is_about_right(name: str) -> None:
    world = load_world(name)
    minutes = card_of(world).minutes

    assert minutes / 2.3 <= card_of(without_card(world)).minutes <= minutes * 2.3


def test_the_kinds_of_worlds_are_told_apart() -> None:
    kinds = {world.name: card_of(load_world(world.name)).kind for world in bundled_worlds()}

    assert set(kinds.values()) == {"several graphs", "teams", "contest", "growing cast", "story"}
