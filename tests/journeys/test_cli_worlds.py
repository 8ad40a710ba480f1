"""`worlds`, `check` and `new` as somebody meets them who writes a world."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from glasshouse import MemoryStore, Terrarium
from glasshouse.manifests.world_folders import BUNDLED
from tests.journeys.commanding import environment, objects, run

help_modules_max = 250
worlds_modules_max = 500
LISTS_ITS_MODULES = """
import sys
from glasshouse.cli import main
try:
    main()
finally:
    print(*sys.modules, file=sys.stderr)
"""


def test_worlds_are_listed_with_their_cast(tmp_path: Path) -> None:
    result = run("worlds", cwd=tmp_path)

    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.splitlines()[0].split() == ["world", "title", "where", "cast"]
    rows = [line.split() for line in result.stdout.splitlines()]
    assert ["twenty-sprouts", "Twenty", "Sprouts", "bundled", "3"] in rows


def test_a_world_here_hides_the_bundled_one_of_its_name(tmp_path: Path) -> None:
    made = run("new", "world", "twenty-sprouts", cwd=tmp_path)

    worlds = {world["world"]: world for world in objects("worlds", cwd=tmp_path)}

    assert (
        "a world called 'twenty-sprouts' comes with Glasshouse. In ./worlds, the new one hides it."
        in made.stderr
    )
    assert list(worlds["twenty-sprouts"]) == ["world", "title", "where", "cast", "path", "version", "from"]
    assert (worlds["twenty-sprouts"]["where"], worlds["twenty-sprouts"]["cast"]) == ("here", 2)
    assert worlds["mystery-roots"]["where"] == "bundled"


def modules_loaded_for(words: str) -> set[str]:
    """What a command has imported when it has done its work: what its quickness hangs on, on any machine."""
    result = subprocess.run(
        [sys.executable, "-c", LISTS_ITS_MODULES, words],
        env=environment(),
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    return set(result.stderr.split())


@pytest.mark.parametrize(
    ("words", "most", "left_out"),
    [
        ("--help", help_modules_max, {"asyncio", "msgspec", "pydantic", "rich", "sqlite3", "yaml"}),
        ("worlds", worlds_modules_max, {"asyncio", "msgspec", "sqlite3", "glasshouse.runtime"}),
    ],
)
def test_what_people_type_first_is_quick_for_it_imports_little(
    words: str, most: int, left_out: set[str]
) -> None:
    loaded = modules_loaded_for(words)

    assert "glasshouse.cli.app" in loaded
    assert loaded & left_out == set()
    assert len(loaded) <= most


def test_the_bundled_worlds_are_sound() -> None:
    result = run("check", "mystery-roots")

    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.endswith("mystery-roots: sound.\n")


def test_check_finds_everything_at_once(tmp_path: Path) -> None:
    run("new", "world", "mine", cwd=tmp_path)
    scenario = tmp_path / "worlds/mine/scenario.yaml"
    text = scenario.read_text(encoding="utf-8")
    scenario.write_text(text.replace("wanderer]", "wandrer]") + "titel: x\n", encoding="utf-8")

    result = run("check", "worlds/mine", cwd=tmp_path)

    assert result.returncode == 1
    lines = result.stdout.splitlines()
    assert [line.split(":")[0] for line in lines] == ["worlds/mine/scenario.yaml"] * 2
    assert "Did you mean 'wanderer'?" in lines[0]
    assert "Did you mean 'title'?" in lines[1]
    assert result.stderr == "glasshouse: worlds/mine: 2 problems.\n"


def test_check_tells_machines_where_each_problem_is(tmp_path: Path) -> None:
    run("new", "creature", "ada", cwd=tmp_path)
    (tmp_path / "ada.yaml").write_text("name: ada\nwnts: bread\n", encoding="utf-8")

    result = run("check", "ada.yaml", "--json", cwd=tmp_path)

    problem, summary = map(json.loads, result.stdout.splitlines())
    assert (result.returncode, result.stderr) == (1, "")
    assert list(problem) == ["file", "line", "column", "field", "problem"]
    assert (problem["file"], problem["line"], problem["field"]) == ("ada.yaml", 2, "wnts")
    assert summary == {"path": "ada.yaml", "is_sound": False, "problems": 1}


def test_check_warns_of_a_limit_that_cannot_hold_one_round_of_the_cast(tmp_path: Path) -> None:
    shutil.copytree(BUNDLED / "thousand-token-wood", tmp_path / "wood")
    scenario = tmp_path / "wood" / "scenario.yaml"
    text = scenario.read_text().replace("name: thousand-token-wood", "name: wood")
    scenario.write_text(text.replace("max_calls_per_turn: 16, max_total_calls: 160", "max_total_calls: 3"))

    result = run("check", "wood", cwd=tmp_path)
    facts = objects("check", "wood", cwd=tmp_path)

    assert result.returncode == 0
    assert "wood: sound." in result.stdout
    assert "warning: wood/scenario.yaml:" in result.stdout
    assert (
        "governor.max_total_calls: one round of the cast takes 4 calls, but only 3 are allowed."
        in result.stdout
    )
    assert [list(fact)[-1] for fact in facts] == ["warning", "warnings"]
    assert facts[-1]["is_sound"]


def test_a_world_that_is_not_there_is_no_failed_check(tmp_path: Path) -> None:
    tried = run("check", "mystery-rots", cwd=tmp_path)

    assert (tried.returncode, tried.stdout) == (3, "")
    assert "Did you mean 'mystery-roots'?" in tried.stderr


async def test_a_new_world_is_sound_and_plays_to_its_end_at_once(tmp_path: Path) -> None:
    made = run("new", "world", "my-world", cwd=tmp_path)
    checked = run("check", "my-world", cwd=tmp_path)

    async with Terrarium(MemoryStore()) as t:
        begun = await t.open_world(tmp_path / "worlds/my-world")
        await t.run(begun.id)
        ended = t.run_of(begun.id)

    assert (made.returncode, checked.returncode) == (0, 0)
    assert ended.reason == "ended"


@pytest.mark.parametrize("rng_seed", range(4))
def test_a_new_world_brings_a_script_that_tells_a_story_to_its_end(tmp_path: Path, rng_seed: int) -> None:
    run("new", "world", "my-world", cwd=tmp_path)

    checked = run("check", "my-world", cwd=tmp_path)
    played = run("play", "my-world", "--rng-seed", str(rng_seed), cwd=tmp_path)

    lines = [line for line in played.stdout.splitlines() if line.startswith(("gardener: ", "wanderer: "))]
    assert checked.stdout == "worlds/my-world: sound.\n"
    assert len(lines) == 12
    assert played.stderr == ""


def test_a_world_without_a_script_says_once_what_to_expect_of_a_play_without_a_model(tmp_path: Path) -> None:
    run("new", "world", "mine", cwd=tmp_path)
    (tmp_path / "worlds/mine/script.txt").unlink()

    played = run("play", "mine", "--turns", "2", cwd=tmp_path)
    continued = run("play", "--continue", "last", cwd=tmp_path)

    assert played.stderr.count("No model plays, and this world has no script") == 1
    assert len(played.stderr.splitlines()) == 1
    assert continued.stderr == ""


async def test_a_new_creature_plays_once_it_is_listed(tmp_path: Path) -> None:
    run("new", "world", "my-world", "--in", str(tmp_path))
    folder = tmp_path / "my-world"
    made = run("new", "creature", "ada", "--in", str(folder))
    scenario = folder / "scenario.yaml"
    text = scenario.read_text(encoding="utf-8")
    scenario.write_text(text.replace("wanderer]", "wanderer, ada]"), encoding="utf-8")

    async with Terrarium(MemoryStore()) as t:
        begun = await t.open_world(folder)
        await t.run(begun.id)
        spoke = {event.actor for event in await t.run_events(begun.id) if event.kind == "agent.spoke"}

    assert made.returncode == 0
    assert any(actor.startswith("ada") for actor in spoke)


@pytest.mark.parametrize("name", ["1", "no", "null-and-void", "a_b"])
def test_names_that_yaml_would_misread_make_sound_worlds(tmp_path: Path, name: str) -> None:
    made = run("new", "world", name, cwd=tmp_path)

    checked = run("check", f"worlds/{name}", cwd=tmp_path)

    assert (made.returncode, checked.returncode, checked.stdout) == (0, 0, f"worlds/{name}: sound.\n")


def test_nothing_is_written_over(tmp_path: Path) -> None:
    run("new", "world", "mine", cwd=tmp_path)
    run("new", "creature", "ada", "--in", "worlds/mine", cwd=tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.yaml")}

    tried = [
        run("new", "world", "mine", cwd=tmp_path),
        run("new", "creature", "ada", "--in", "worlds/mine", cwd=tmp_path),
    ]

    assert [result.returncode for result in tried] == [3, 3]
    assert all("nothing is written over" in result.stderr for result in tried)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.yaml")} == before


@pytest.mark.parametrize("name", ["Big", "../out", "a b", "conductor", ""])
def test_a_name_that_nobody_could_have_is_refused(tmp_path: Path, name: str) -> None:
    tried = [run("new", "world", name, cwd=tmp_path), run("new", "creature", name, cwd=tmp_path)]

    assert [result.returncode for result in tried] == [3, 3]
    assert list(tmp_path.iterdir()) == []


def test_new_tells_machines_what_it_wrote(tmp_path: Path) -> None:
    (answer,) = objects("new", "world", "mine", cwd=tmp_path)

    assert list(answer) == ["new", "name", "path", "files"]
    assert all((tmp_path / file).is_file() for file in answer["files"])


def test_a_closed_folder_is_named_and_all_others_are_listed(tmp_path: Path) -> None:
    (tmp_path / "worlds").mkdir()
    # A link to a name that is too long: nobody can look into it, not even root.
    (tmp_path / "worlds" / "inn").symlink_to("x" * 300)

    listed = run("worlds", cwd=tmp_path)
    checked = run("check", "worlds/inn/scenario.yaml", cwd=tmp_path)

    assert listed.returncode == 0
    assert "twenty-sprouts" in listed.stdout
    assert listed.stderr == (
        "glasshouse: worlds/inn cannot be read (File name too long), and is passed over. Check its permissions.\n"
    )
    assert checked.returncode == 3
    assert "worlds/inn cannot be read (File name too long)." in checked.stderr
