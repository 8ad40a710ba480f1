"""Edits of a world before its start: what they change, and what is refused beside which field."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from glasshouse.errors import BadWorld
from glasshouse.manifests.editing import WorldEdits, edited_world, judges_of, world_and_problems
from glasshouse.manifests.loading import LoadedWorld, load_world
from tests.rules.manifests.sample_worlds import world_at


def lane(tmp_path: Path, **creatures: str) -> LoadedWorld:
    return load_world(world_at(tmp_path, creatures=creatures))


def edited(world: LoadedWorld, **edits: Any) -> LoadedWorld:
    return edited_world(world, WorldEdits.model_validate(edits))


def problems(world: LoadedWorld, **edits: Any) -> list[tuple[str, str]]:
    _, refused = world_and_problems(world, WorldEdits.model_validate(edits))
    assert all(problem.text for problem in refused)
    return [(problem.handle, problem.field) for problem in refused]


def test_a_world_without_an_edit_stays_itself(tmp_path: Path) -> None:
    world = lane(tmp_path)

    assert edited(world) is world
    assert edited(world, creatures={"wick": {"persona": "Burns."}}) is world
    assert edited(world, judge="owl") is world


def test_an_edited_world_knows_what_it_was_edited_from(tmp_path: Path) -> None:
    world = lane(tmp_path)

    once = edited(world, creatures={"wick": {"wants": "Oil.", "schedule": {"tick_every": 3}}})
    twice = edited(once, creatures={"wick": {"model_profile": "tiny"}})

    wick = twice.manifests["wick"]
    assert (wick.persona, wick.wants, wick.schedule.tick_every, wick.model_profile) == (
        "Burns.",
        "Oil.",
        3,
        "tiny",
    )
    assert len({world.digest, once.digest, twice.digest}) == 3
    assert once.edited_from == twice.edited_from == world.digest
    assert world.edited_from is None


def test_the_cards_of_an_edited_world_are_part_of_it(tmp_path: Path) -> None:
    world = edited(lane(tmp_path), creatures={"wick": {"wants": "Oil."}})

    assert world.scenario.deal["word"].source == ("candle", "ember")


def test_whoever_does_not_play_is_named_nowhere_any_more(tmp_path: Path) -> None:
    hearth = load_world("one-odd-acorn")
    handle = [*hearth.scenario.cast_by_handle][-1]

    world = edited(hearth, off=[handle])

    assert handle not in world.scenario.model_dump_json()
    assert handle not in world.manifests


def test_a_cast_that_cannot_play_is_refused_beside_the_cast(tmp_path: Path) -> None:
    world = lane(tmp_path)

    assert problems(world, off=["wick", "grey-moth", "owl"]) == [("", "cast")]
    assert problems(world, off=["wick"])[0] == ("", "cast"), "two teams are needed"
    assert problems(world, off=["nobody"]) == [("", "cast")]


def test_a_value_that_does_not_fit_is_refused_beside_its_field(tmp_path: Path) -> None:
    wrong = {"persona": "x" * 20_000, "schedule": {"tick_every": 0}, "model_profile": "huge"}

    places = problems(lane(tmp_path), creatures={"grey-moth": wrong})

    assert places == [("grey-moth", "persona"), ("grey-moth", "schedule"), ("grey-moth", "model_profile")]


def test_whoever_judges_changes_duties_with_the_judge_there_was() -> None:
    wood = load_world("thousand-token-wood")
    before = wood.manifests["critic"]

    world = edited(wood, judge="echo")

    assert judges_of(world) == ["echo"]
    echo = world.manifests["echo"]
    assert (echo.persona, echo.schedule, echo.may_emit) == (
        wood.manifests["echo"].persona, before.schedule, before.may_emit,
    )  # fmt: skip
    assert world.manifests["critic"].role == "worker"
    assert "judge.verdict" not in world.manifests["critic"].may_emit


def test_a_judge_that_does_not_play_hands_its_duties_over() -> None:
    wood = load_world("thousand-token-wood")

    world = edited(wood, off=["critic"], judge="echo")

    assert world.manifests["echo"].schedule == wood.manifests["critic"].schedule
    assert "critic" not in world.manifests


def test_a_contestant_cannot_judge_and_a_play_that_needs_a_verdict_has_a_judge(tmp_path: Path) -> None:
    world = lane(tmp_path)

    assert problems(world, judge="grey-moth") == [("", "judge")]
    assert problems(world, judge="") == [("", "judge")]
    assert problems(world, off=["owl"], judge="owl") == [("", "judge")]


def test_seats_that_share_a_creature_are_edited_apart(tmp_path: Path) -> None:
    scenario = (
        "name: pair\ngoal: Talk.\ncast: [newt, {use: newt, handle: other-newt}]\ngovernor: {max_turns: 4}\n"
    )
    folder = tmp_path / "pair"
    (folder / "creatures").mkdir(parents=True)
    (folder / "scenario.yaml").write_text(scenario)
    (folder / "creatures/newt.yaml").write_text("name: newt\npersona: A newt.\nschedule: {tick_every: 1}\n")

    world = edited(load_world(folder), creatures={"other-newt": {"persona": "Another newt."}})

    assert world.scenario.cast_by_handle == {"newt": "newt", "other-newt": "other-newt"}
    assert world.manifests["newt"].persona == "A newt."
    assert world.manifests["other-newt"].persona == "Another newt."


def test_a_creature_that_no_longer_ticks_hears_lines_instead() -> None:
    hedge = load_world("plum-tree-table")
    ticking = next(
        handle
        for handle, name in hedge.scenario.cast_by_handle.items()
        if hedge.manifests[name].schedule.tick_every and not hedge.manifests[name].subscribes_to
    )

    world = edited(hedge, creatures={ticking: {"schedule": {"tick_every": None}}})

    assert world.manifests[world.scenario.cast_by_handle[ticking]].subscribes_to == ("agent.spoke",)


def test_edits_that_do_not_hold_are_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(BadWorld, match="creature wick: schedule: this is too small"):
        edited(lane(tmp_path), creatures={"wick": {"schedule": {"tick_every": 0}}})
