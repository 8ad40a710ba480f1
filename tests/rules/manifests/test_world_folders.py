"""Worlds are found by their names, and what cannot be read among them is told."""

from pathlib import Path

import pytest

from glasshouse.errors import BadWorld, Refused, UnknownName
from glasshouse.manifests.loading import load_world, problems_in, warnings_in
from glasshouse.manifests.world_folders import find_world, found_worlds
from tests.rules.manifests.sample_worlds import SCENARIO, world_at

TORN = "goal: Find the word.\ncast: [asker, keeper, judge\n"


@pytest.fixture
def worlds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """`./worlds` of somebody who has installed no world."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GLASSHOUSE_WORLDS_FOLDER", str(tmp_path / "installed"))
    (tmp_path / "worlds").mkdir()
    return tmp_path / "worlds"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (TORN, "worlds/duel.yaml:2:7: this '[' is not closed."),
        (f"\t{TORN}", "worlds/duel.yaml:1:1: a tab cannot indent YAML."),
        ("goal: Find the word.\nCast: [asker]\n", "worlds/duel.yaml:2:1: Cast: there is no such field."),
        ("goal: Find the word.\nopening: Go.\ncats: [asker]\n", "worlds/duel.yaml:3:1: cats: there is no"),
    ],
)
def test_a_mistake_in_a_file_does_not_hide_its_world(text: str, message: str, worlds: Path) -> None:
    world_at(worlds.parent / "installed", name="duel")
    (worlds / "duel.yaml").write_text(text)

    problems = problems_in(worlds)

    assert [str(problem)[: len(message)] for problem in problems] == [message]
    assert find_world("duel") == worlds / "duel.yaml"
    assert problems_in(find_world("duel")) == problems
    assert ("duel", "here") in [(world.name, world.where) for world in found_worlds()]
    with pytest.raises(BadWorld, match=message.partition(":")[0]):
        load_world("duel")


def test_a_file_that_cannot_be_read_is_told_whatever_it_was_to_be(worlds: Path) -> None:
    (worlds / "notes.yml").write_text("a: [\n")

    (problem,) = problems_in(worlds)

    assert (problem.path, problem.line) == ("worlds/notes.yml", 2)
    assert find_world("notes") == worlds / "notes.yml"
    assert "notes" not in [world.name for world in found_worlds()]


def test_files_that_are_no_worlds_are_no_problems(worlds: Path) -> None:
    world_at(worlds, name="lantern-lane")
    texts = {
        "models": "profiles: {}\n",
        "grid": "worlds: [lantern-lane]\nseeds: 2\n",
        "both": "a: 1\n---\na: 2\n",
        "empty": "",
        "owl": "name: owl\n",
        ".hidden": "a: [\n",
    }
    for stem, text in texts.items():
        (worlds / f"{stem}.yaml").write_text(text)

    assert problems_in(worlds) == []
    assert not {*texts} & {world.name for world in found_worlds()}


def test_a_creature_among_worlds_is_not_taken_for_the_world_of_its_name(worlds: Path) -> None:
    (worlds / "twenty-sprouts.yaml").write_text("name: twenty-sprouts\npersona: A bush.\n")
    (worlds / "owl.yaml").write_text("name: owl\n")

    assert find_world("twenty-sprouts").parent.name == "worlds"
    assert find_world("twenty-sprouts").is_dir()
    with pytest.raises(UnknownName, match=r"^worlds/owl.yaml is no scenario: it has no cast"):
        find_world("owl")


NAMELESS = SCENARIO.removeprefix("name: lantern-lane\n")


@pytest.mark.parametrize("name_line", ["", "name: my-cafe\n"])
def test_a_world_is_found_by_the_name_that_is_made_of_its_folder(name_line: str, worlds: Path) -> None:
    world_at(worlds.parent / "installed", name="my-cafe")
    folder = world_at(worlds, f"{name_line}{NAMELESS}", name="My Café")

    assert find_world("my-cafe") == find_world("My Café") == folder
    assert load_world("my-cafe").scenario.name == "my-cafe"
    assert [world.name for world in found_worlds() if world.where == "here"] == ["my-cafe"]


def test_a_world_is_found_by_the_name_that_is_made_of_its_file(worlds: Path) -> None:
    (worlds / "Mein Duell.yaml").write_text("cast: [asker]\n")
    (worlds / "Mein Duell.txt").write_text("cast: [asker]\n")

    assert find_world("mein-duell") == find_world("Mein Duell") == worlds / "Mein Duell.yaml"
    assert "mein-duell" in [world.name for world in found_worlds()]


def test_a_world_that_was_moved_is_found_by_the_name_in_its_scenario(worlds: Path) -> None:
    moved = world_at(worlds, name="attic")
    (moved / "scenario.yaml").write_text(SCENARIO)
    copied = world_at(worlds, "name: twenty-sprouts\n" + NAMELESS, name="my-sprouts")

    assert find_world("lantern-lane") == moved
    assert find_world("twenty-sprouts") != copied


def test_two_worlds_of_one_name_are_told_apart_by_their_paths(worlds: Path) -> None:
    for name in ("My Café", "my cafe", "attic", "cellar"):
        (world_at(worlds, name=name) / "scenario.yaml").write_text(SCENARIO)

    with pytest.raises(Refused, match=r"called 'my-cafe': worlds/My Café and worlds/my cafe\. Rename one"):
        find_world("my-cafe")
    with pytest.raises(Refused, match=r"'lantern-lane': worlds/My Café and worlds/attic and"):
        find_world("lantern-lane")
    assert find_world("my cafe") == worlds / "my cafe"
    assert {"My Café", "my cafe"} < {world.name for world in found_worlds()}
    world_at(worlds, name="my-cafe")
    assert find_world("my-cafe") == worlds / "my-cafe"
    assert {"My Café", "my cafe", "my-cafe"} < {world.name for world in found_worlds()}


def close(path: Path) -> None:
    """Put something at a path that nobody can look into, whoever runs the tests: a link to a name that is too long."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to("x" * 300)


def test_a_closed_folder_is_passed_over_unless_it_was_asked_for(worlds: Path) -> None:
    close(worlds / "inn")
    pub = world_at(worlds, name="pub")
    (pub / "scenario.yaml").write_text(SCENARIO.replace("lantern-lane", "pub"))

    (warning,) = [each for each in warnings_in(worlds) if each.path == "worlds/inn"]

    assert [world.name for world in found_worlds() if world.where == "here"] == ["pub"]
    assert find_world("pub") == pub
    assert find_world("twenty-sprouts").is_dir()
    assert problems_in(worlds) == []
    assert warning.text.startswith("this folder cannot be read (File name too long), and is passed over.")
    for name in ("inn", "worlds/inn", "worlds/inn/scenario.yaml"):
        with pytest.raises(Refused, match=r"^worlds/inn cannot be read \(.+\)\. Check its permissions\.$"):
            find_world(name)
    for name in ("nope", "x" * 300):
        with pytest.raises(UnknownName, match=r"^no world is called '(nope|x{99,})"):
            find_world(name)
    assert [str(problem) for problem in problems_in(worlds / "inn")] == [
        "worlds/inn: this folder cannot be read (File name too long). Check its permissions."
    ]


def test_closed_folders_of_worlds_are_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GLASSHOUSE_WORLDS_FOLDER", str(tmp_path / "data" / "worlds"))
    close(tmp_path / "data")
    close(tmp_path / "worlds")

    assert {world.where for world in found_worlds()} <= {"bundled", "package"}
    assert find_world("twenty-sprouts").is_dir()
    with pytest.raises(UnknownName, match=r"^worlds cannot be read \(.+\): no world is called 'pub'"):
        find_world("pub")


@pytest.mark.parametrize("checked", [".", "base", "base.yaml", "base.yml"])
def test_of_two_worlds_of_one_name_the_one_that_is_played_is_told(checked: str, worlds: Path) -> None:
    world_at(worlds, name="base")
    for ending in ("yaml", "yml"):
        (worlds / f"base.{ending}").write_text("cast: [asker]\n")
    (worlds / "other.yaml").write_text("cast: [asker]\n")

    warnings = [str(each) for each in warnings_in(worlds / checked) if "same name" in each.text]

    text = "worlds/base has the same name, and is the one that is played by it. Rename one of the two."
    assert warnings == [f"worlds/base.yaml: {text}", f"worlds/base.yml: {text}"]
    assert find_world("base") == worlds / "base"


def test_of_two_scenarios_in_one_folder_the_one_that_is_played_is_told(worlds: Path) -> None:
    base = world_at(worlds, name="base")
    (base / "scenario.yml").write_text(SCENARIO)

    for checked in (worlds, base, base / "scenario.yaml"):
        (warning,) = [each for each in warnings_in(checked) if "same name" in each.text]
        assert warning.path == "worlds/base/scenario.yml"
        assert warning.text.startswith("worlds/base/scenario.yaml has the same name")
