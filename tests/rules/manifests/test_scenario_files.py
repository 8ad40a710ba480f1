"""A scenario in a file of its own, beside its creatures: found, checked and named as it stands."""

from pathlib import Path
from shutil import copy

import pytest

from glasshouse.errors import BadWorld, UnknownName
from glasshouse.manifests.loading import load_world, problems_in, warnings_in
from glasshouse.manifests.scenario import Scenario
from glasshouse.manifests.world_folders import BUNDLED, find_world, found_worlds
from glasshouse.world.state.ids import name_made_of
from tests.rules.manifests.sample_worlds import SCENARIO, world_at

MYSTERY = """\
cast: [clue-gatherer, hypothesis-former, devils-advocate, mystery-judge]
competition: {kind: judged}
"""
SPROUTS = """\
cast: [sprout-guesser, secret-keeper, sprout-judge]
competition:
  kind: versus
  teams: {guesser: [sprout-guesser], keeper: [secret-keeper]}
"""


def file_beside(folder: Path, name: str, text: str, creatures_of: str, inside: str = "creatures") -> Path:
    """A scenario's file, beside copies of the creatures of a bundled world."""
    (folder / inside).mkdir(parents=True, exist_ok=True)
    for creature in (BUNDLED / creatures_of / "creatures").glob("*.yaml"):
        copy(creature, folder / inside)
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


@pytest.mark.parametrize("inside", ["creatures", "."])
@pytest.mark.parametrize(
    ("name", "text", "bundled"),
    [("mystery-roots.yaml", MYSTERY, "mystery-roots"), ("sprouts.yml", SPROUTS, "twenty-sprouts")],
)
def test_a_file_with_a_cast_is_a_world_beside_its_creatures(
    name: str, text: str, bundled: str, inside: str, tmp_path: Path
) -> None:
    file = file_beside(tmp_path, name, text, bundled, inside)

    world = load_world(file)

    assert world.path == file
    assert world.scenario.name == file.stem
    assert list(world.manifests) == list(world.scenario.cast_by_handle)
    assert problems_in(file) == []


def test_two_scenarios_share_their_creatures_and_other_files_are_left_alone(tmp_path: Path) -> None:
    first = file_beside(tmp_path, "one.yaml", MYSTERY, "mystery-roots", ".")
    second = file_beside(tmp_path, "two.yaml", "cast: [clue-gatherer]\n", "mystery-roots", ".")
    (tmp_path / "models.yaml").write_text("profiles: [\n")
    (tmp_path / "creatures").mkdir()
    (tmp_path / "creatures" / "torn.yaml").write_text("name: [\n")

    assert list(load_world(second).manifests) == ["clue-gatherer"]
    assert load_world(first).digest != load_world(second).digest
    assert problems_in(first) == []


def test_a_name_that_is_left_out_is_the_folders_or_the_files_and_advised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    nameless = SCENARIO.removeprefix("name: lantern-lane\n")
    folder = world_at(tmp_path, nameless, name="Lantern Lane!")
    file = file_beside(tmp_path, "Zwölf Rätsel.yaml", "cast: [clue-gatherer]\n", "mystery-roots")

    assert load_world(folder).scenario.name == "lantern-lane"
    assert load_world(folder).digest == load_world(world_at(tmp_path, name="lantern-lane")).digest
    assert load_world(file).scenario.name == "zwolf-ratsel"
    assert [*problems_in(folder), *problems_in(file)] == []
    assert str(warnings_in(folder)[0]) == (
        "Lantern Lane!/scenario.yaml:1:1: name: there is none, so the world is called 'lantern-lane', like its folder."
        " Write name: lantern-lane. The name is in the digest, which another folder would change."
    )
    assert str(warnings_in(file)[-1]).startswith(
        "Zwölf Rätsel.yaml:1:1: name: there is none, so the world is called 'zwolf-ratsel', like its file."
    )
    assert "name" not in [problem.field for problem in warnings_in(world_at(tmp_path, name="named"))]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("mystery-roots", "mystery-roots"),
        ("Mystery Roots (2)", "mystery-roots-2"),
        ("_draft", "draft"),
        ("visitor", "visitor-world"),
        ("世界", "world"),
        ("", "world"),
        ("x" * 70, "x" * 64),
    ],
)
def test_any_text_makes_a_valid_name(text: str, name: str) -> None:
    assert name_made_of(text, "world") == name
    assert Scenario.model_validate({"name": name, "cast": ["ada"]}).name == name


def test_a_file_whose_name_differs_from_its_scenarios_is_told(tmp_path: Path) -> None:
    file = file_beside(tmp_path, "one.yaml", f"name: two\n{MYSTERY}", "mystery-roots")

    (problem,) = problems_in(file)

    assert str(problem).endswith(
        "one.yaml:1:7: name: the file is called one.yaml, so the name must be 'one'. Change one of the two."
    )
    assert load_world(file).scenario.name == "two"


def test_problems_keep_file_line_and_field(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    file = file_beside(
        tmp_path, "one.yaml", MYSTERY.replace("clue-gatherer", "clue-gathrer, newt"), "mystery-roots", "."
    )
    (tmp_path / "models.yaml").write_text("profiles: {}\n")
    (tmp_path / "newt.yaml").write_text("persona: A newt.\nrol: judge\n")

    with pytest.raises(BadWorld) as refusal:
        load_world(file)

    assert str(refusal.value).splitlines() == [
        "newt.yaml:1:1: name: this field is missing. Write it.",
        "newt.yaml:2:1: rol: there is no such field. Did you mean 'role'?",
        "one.yaml:1:8: cast: no creature is called 'clue-gathrer'. Did you mean 'clue-gatherer'?",
    ]
    file.write_text("cast: [newt\n")
    with pytest.raises(BadWorld, match=r"^one.yaml:\d+:\d+: "):
        load_world(file)


def test_a_creature_that_is_there_twice_is_told(tmp_path: Path) -> None:
    file = file_beside(tmp_path, "one.yaml", "cast: [clue-gatherer]\n", "mystery-roots")
    copy(tmp_path / "creatures" / "clue-gatherer.yaml", tmp_path)

    assert [problem.text for problem in problems_in(file)] == [
        "there is creatures/clue-gatherer.yaml too. Keep one of the two."
    ]


def test_files_among_worlds_here_are_found_and_listed_by_name(tmp_path: Path) -> None:
    file = file_beside(tmp_path / "worlds", "my-roots.yaml", f"title: Mine\n{MYSTERY}", "mystery-roots")
    (tmp_path / "worlds" / "newt.yaml").write_text("name: newt\n")

    assert find_world("my-roots", tmp_path) == file
    assert ("my-roots", "Mine", str(file), "here") in [world[:4] for world in found_worlds(tmp_path)]
    assert "newt" not in [world.name for world in found_worlds(tmp_path)]
    assert problems_in(tmp_path / "worlds") == []
    with pytest.raises(UnknownName, match=r"worlds/newt.yaml is no scenario: it has no cast"):
        find_world("worlds/newt.yaml", tmp_path)


def test_kinds_that_creatures_write_need_not_be_declared(tmp_path: Path) -> None:
    file = file_beside(tmp_path, "one.yaml", f"name: one\n{MYSTERY}", "mystery-roots")

    world = load_world(file)

    own = ["clue.found", "hypothesis.formed", "objection.raised"]
    assert world.scenario.kinds == {kind: {"text": "string"} for kind in own}
    assert [problem.field for problem in warnings_in(file)] == ["kinds"] * 3
    assert warnings_in(file)[0].text == (
        "clue-gatherer may write 'clue.found', which is not declared, so it has one field, text."
        " Write kinds: {clue.found: {text: string}}."
    )


@pytest.mark.parametrize(
    ("field", "kind", "meant"),
    [
        ("may_emit", "agent.spok", "agent.spoke"),
        ("may_emit", "agnet.spoke", "agent.spoke"),
        ("subscribes_to", "clue.fond", "clue.found"),
    ],
)
def test_a_misspelt_kind_is_still_told(field: str, kind: str, meant: str, tmp_path: Path) -> None:
    file = file_beside(tmp_path, "one.yaml", "name: one\ncast: [clue-gatherer, newt]\n", "mystery-roots")
    (tmp_path / "creatures" / "newt.yaml").write_text(f"name: newt\n{field}: [{kind}]\n")

    (problem,) = problems_in(file)

    assert f"newt.yaml:2:{len(field) + 4}: {field}: no kind is called '{kind}'." in str(problem)
    assert f"Did you mean '{meant}'?" in str(problem)
