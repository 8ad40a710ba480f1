"""Titles and openings that deceive: refused with file, line, field and what to do."""

from pathlib import Path

import pytest

from glasshouse.errors import BadWorld
from glasshouse.manifests.loading import LoadedWorld, load_creature, load_world, problems_in
from glasshouse.manifests.manifest import Manifest
from glasshouse.manifests.scenario import Scenario
from glasshouse.manifests.titles import fault_of_title, folded
from tests.rules.manifests.sample_worlds import CREATURES, SCENARIO, changed, problem_texts, world_at

REORDERED = [chr(code) for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))]
OVERRIDE = (
    "there is a RIGHT-TO-LEFT OVERRIDE (U+202E), which shows letters in another order than they are written."
    " Delete it."
)
IN_SCENARIO = {
    "a title that is reordered": (
        changed("title: Lantern Lane", "title: Lantern \u202eenaL"),
        f"scenario.yaml:2:8: title: {OVERRIDE}",
    ),
    "a title of the engine": (
        changed("title: Lantern Lane", "title: VISITOR"),
        "scenario.yaml:2:8: title: 'VISITOR' is what the engine calls 'visitor'. Choose another title.",
    ),
    "an opening that is reordered": (
        changed("At dusk", "At \u202edusk"),
        f"scenario.yaml:7:10: opening: {OVERRIDE}",
    ),
    "a title of a beat that is reordered": (
        changed("{turn: 8,", "{turn: 8, title: 'The \u202ewind',"),
        f"scenario.yaml:35:22: beats.title: {OVERRIDE}",
    ),
}
IN_CREATURES = {
    "a title that is reordered": ("The \u202eMoth", f"title: {OVERRIDE}"),
    "a title of the engine": (
        "\uff23onductor",
        "title: '\uff23onductor' is what the engine calls 'conductor'. Choose another title.",
    ),
    "a Cyrillic letter among Latin ones": (
        "The M\u043eth",
        (
            "title: 'M\u043eth' mixes Latin with Cyrillic letters: Cyrillic is \u043e (U+043E)."
            " Type the whole word in one alphabet."
        ),
    ),
    "a Greek letter among Latin ones": (
        "M\u03bfth",
        (
            "title: 'M\u03bfth' mixes Latin with Greek letters: Greek is \u03bf (U+03BF)."
            " Type the whole word in one alphabet."
        ),
    ),
    "the handle of another": (
        "Wick",
        "title: 'Wick' looks like the title of 'wick'. Give one of them another title.",
    ),
}


@pytest.mark.parametrize("case", IN_SCENARIO)
def test_a_scenario_that_deceives_is_refused_at_its_line(tmp_path: Path, case: str) -> None:
    scenario, expected = IN_SCENARIO[case]
    world = world_at(tmp_path, scenario)

    assert problem_texts(world) == [expected]
    with pytest.raises(BadWorld):
        load_world(world)


@pytest.mark.parametrize("case", IN_CREATURES)
def test_a_title_that_deceives_is_refused_at_its_line(tmp_path: Path, case: str) -> None:
    title, expected = IN_CREATURES[case]
    world = world_at(tmp_path, creatures={"moth": f"{CREATURES['moth']}title: {title}\n"})

    assert problem_texts(world) == [f"creatures/moth.yaml:4:8: {expected}"]


def test_of_two_titles_that_look_alike_the_later_one_in_the_cast_is_named(tmp_path: Path) -> None:
    creatures = {
        "moth": f"{CREATURES['moth']}title: The Old Owl\n",
        "owl": f'{CREATURES["owl"]}title: "the OLD\u200b \uff4fwl"\n',
    }

    assert problem_texts(world_at(tmp_path, creatures=creatures)) == [
        (
            "creatures/owl.yaml:5:8: title: 'the OLD\\u200b \uff4fwl' looks like the title of 'moth'."
            " Give one of them another title."
        )
    ]


def test_a_creature_is_checked_by_itself(tmp_path: Path) -> None:
    file = (
        world_at(tmp_path, creatures={"moth": f"{CREATURES['moth']}title: Terrarium\n"})
        / "creatures/moth.yaml"
    )

    (problem,) = problems_in(file)
    assert (problem.line, problem.field) == (4, "title")
    with pytest.raises(BadWorld):
        load_creature(file)


def test_worlds_built_in_python_are_checked_too() -> None:
    scenario = Scenario.model_validate({"name": "lane", "cast": ["moth"]})

    with pytest.raises(BadWorld, match="U\\+202E"):
        LoadedWorld.of(scenario, [Manifest(name="moth", title="\u202emoth", schedule={"tick_every": 1})])


@pytest.mark.parametrize("mark", REORDERED, ids=ascii)
def test_every_override_embedding_and_isolate_is_refused(mark: str) -> None:
    assert fault_of_title(f"The {mark}Moth") is not None


@pytest.mark.parametrize(
    "title",
    [
        "The Devil's Advocate",
        "Tante Käthe",
        "Мотылёк",
        "Wick und Мотылёк",
        "Ὀδυσσεύς",
        "ירח\u200f!",
        "蛾 Moth",
        "Moth №2",
        "The Conductor",
    ],
)
def test_an_honest_title_is_taken(title: str) -> None:
    assert fault_of_title(title) is None


def test_two_creatures_of_one_file_may_share_its_title(tmp_path: Path) -> None:
    scenario = SCENARIO.replace("  - wick\n", "  - wick\n  - {use: moth, handle: white-moth}\n")
    world = world_at(tmp_path, scenario, {"moth": f"{CREATURES['moth']}title: A Moth\n"})

    assert problem_texts(world) == []


def test_titles_are_compared_without_case_width_and_what_is_not_shown() -> None:
    assert folded(" \uff34he  O\u200dLD Stra\u00dfe") == folded("the old STRASSE")
