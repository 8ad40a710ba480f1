"""What somebody meets who writes something wrong: words that say what is wrong and what to do, and the right exit."""

import errno
import json
import os
from pathlib import Path

import pytest

from glasshouse.cli.command_line import world_to_try
from glasshouse.cli.file_errors import in_words, writing
from glasshouse.errors import Refused
from tests.journeys.commanding import run


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A folder with a store in which nothing was played."""
    run("play", "thousand-token-wood", "--run-id", "no id", cwd=tmp_path)
    assert (tmp_path / "show.glasshouse").exists()
    return tmp_path


@pytest.mark.parametrize(
    "words", [("show", "last"), ("resume",), ("branch", "last"), ("lineage",), ("tree",), ("digest", "last")]
)
def test_the_last_run_of_a_store_without_any_is_answered_with_what_to_do(
    store: Path, words: tuple[str, ...]
) -> None:
    result = run(*words, cwd=store)

    assert result.returncode == 3
    assert result.stderr.startswith("glasshouse: Nothing was played in this store yet. Play a world first: ")
    assert f"glasshouse play {world_to_try()}\nHelp: " in result.stderr


def test_below_a_refusal_stands_where_the_docs_explain_it(store: Path) -> None:
    result = run("show", "r-nobody", cwd=store)

    lines = result.stderr.splitlines()
    assert lines[0].startswith("glasshouse: ")
    assert lines[-1] == "Help: docs/how-to/troubleshooting.md#unknownname"


def test_with_json_a_refusal_is_also_one_object(store: Path) -> None:
    result = run("show", "r-nobody", "--json", cwd=store)

    refusal = json.loads(result.stderr.splitlines()[-1])
    assert result.stdout == ""
    assert result.stderr.startswith(f"glasshouse: {refusal['message']}")
    assert (refusal["error"], refusal["help"]) == (
        "UnknownName",
        "docs/how-to/troubleshooting.md#unknownname",
    )


def test_without_a_store_everybody_says_the_same(tmp_path: Path) -> None:
    results = [run(*words, cwd=tmp_path) for words in (("resume",), ("branch", "last"), ("show", "last"))]

    assert [result.returncode for result in results] == [3, 3, 3]
    assert all("There is no store at " in row.stderr for row in results)
    assert list(tmp_path.iterdir()) == []


def test_a_path_that_is_no_world_is_told_from_a_name_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("not a world")
    (tmp_path / "empty").mkdir()

    file, folder, nowhere, name = (
        run("play", what, cwd=tmp_path) for what in ("notes.txt", "./empty", "./nowhere", "nowhere")
    )

    assert {result.returncode for result in (file, folder, nowhere, name)} == {3}
    assert "notes.txt is no world file. A world is a folder with a scenario.yaml" in file.stderr
    assert "there is no scenario.yaml in ./empty" in folder.stderr
    assert "There is no file or folder ./nowhere. Check the path." in nowhere.stderr
    assert name.stderr.startswith("glasshouse: no world is called 'nowhere'. There are ")


def test_a_store_in_a_folder_that_is_not_there_is_answered_with_what_to_make(tmp_path: Path) -> None:
    result = run("play", "thousand-token-wood", "--store", "gone/x.glasshouse", cwd=tmp_path)

    assert result.returncode == 3
    assert "Make the folder first" in result.stderr


def test_dropping_what_nobody_said_is_refused_as_such(tmp_path: Path) -> None:
    run("play", "thousand-token-wood", "--turns", "1", cwd=tmp_path)

    result = run("branch", "last", "--at", "5", "--drop", cwd=tmp_path)

    assert result.returncode == 3
    assert "which nobody said. Choose a line of a creature or the visitor." in result.stderr


def test_a_file_that_is_none_of_ours_is_refused_in_whole_sentences(tmp_path: Path) -> None:
    (tmp_path / "empty.glass").write_text("")

    result = run("import", "empty.glass", cwd=tmp_path)

    assert result.returncode == 3
    assert ". The line does not belong to a Glasshouse file; export it again.\n" in result.stderr


def test_a_file_that_cannot_be_written_is_named_as_it_was_given(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()

    gone = run("worlds", "pack", "one-odd-acorn", "--to", "gone/x.zip", cwd=tmp_path)
    folder = run("worlds", "pack", "one-odd-acorn", "--to", "there", cwd=tmp_path)

    assert (gone.returncode, folder.returncode) == (3, 3)
    assert gone.stderr.startswith("glasshouse: gone/x.zip cannot be written: there is no folder gone.")
    assert folder.stderr.startswith("glasshouse: there is a folder. Name a file in it.")
    assert [*tmp_path.iterdir()] == [tmp_path / "there"]


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.EROFS, "ada.yaml cannot be written: this disk can only be read. Choose another path."),
        (errno.EACCES, "ada.yaml cannot be written: this user may not do that here. Choose another path."),
        (errno.ENOSPC, "ada.yaml cannot be written: the disk is full. Make room, then try again."),
    ],
)
def test_why_a_file_cannot_be_written_is_said_of_the_path_that_was_given(number: int, words: str) -> None:
    with pytest.raises(Refused) as refused, writing(Path("ada.yaml")):
        raise OSError(number, os.strerror(number), "/elsewhere/.packing-12")

    assert str(refused.value) == words


def test_an_error_of_the_system_says_what_to_do() -> None:
    missing = OSError(errno.ENOENT, os.strerror(errno.ENOENT), "gone/x")
    other = OSError(errno.EIO, os.strerror(errno.EIO), "x")

    assert in_words(missing) == "gone/x: there is no such file or folder. Choose another path."
    assert in_words(other) == ("x: Input/output error. Make room or choose another path, then try again.")


def test_nothing_in_a_pipe_is_no_file_to_import(tmp_path: Path) -> None:
    refused = run("import", "-", cwd=tmp_path)

    assert refused.returncode == 3
    assert refused.stderr.startswith("glasshouse: Standard input is empty: there is nothing to import.")


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("play inn --rng-seed x", "'--rng-seed': 'x' is no whole number."),
        ("play inn --turns 0", "'--turns': '0' is too small: the least is 1."),
        ("play inn --max-usd x", "'--max-total-usd' / '--max-usd': 'x' is no number."),
        ("search acorn --lines x", "'--lines': 'x' is no whole number."),
        ("new world inn --contest foo", "'--contest': 'foo' is not one of 'none', 'judged', 'versus'."),
        ("leaderboard --by foo", "'--by': 'foo' is not one of 'creature', 'team', 'model'."),
    ],
)
def test_a_wrong_value_of_an_option_is_told_in_plain_words(tmp_path: Path, command: str, words: str) -> None:
    result = run(*command.split(), cwd=tmp_path)

    assert result.returncode == 2
    assert result.stderr.rstrip().endswith(f"Error: Invalid value for {words}")


@pytest.mark.parametrize("command", ["check", "play"])
@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("gone.yaml", "There is no file gone.yaml. Check the path."),
        ("worlds/gone.yml", "There is no file worlds/gone.yml. Check the path."),
        ("worlds/gone", "There is no file or folder worlds/gone. Check the path."),
        ("gone", "no world is called 'gone'. There are "),
    ],
)
def test_a_path_at_which_nothing_is_is_no_name_of_a_world(
    tmp_path: Path, command: str, path: str, words: str
) -> None:
    result = run(command, path, cwd=tmp_path)

    assert result.returncode == 3
    assert result.stderr.startswith(f"glasshouse: {words}")


def test_a_world_file_that_is_found_by_its_ending_is_still_found(tmp_path: Path) -> None:
    (tmp_path / "worlds").mkdir()
    (tmp_path / "worlds" / "pond.yaml").write_text("opening: Fog.\ncast: [frog]\ngovernor: {max_turns: 2}\n")
    (tmp_path / "worlds" / "frog.yaml").write_text("name: frog\nschedule: {tick_every: 1}\n")

    result = run("play", "pond.yaml", "--turns", "1", cwd=tmp_path)

    assert result.returncode == 0, result.stderr


def test_a_packed_world_is_installed_before_it_is_played(tmp_path: Path) -> None:
    run("worlds", "pack", "one-odd-acorn", "--to", "acorn.world.zip", cwd=tmp_path)

    result = run("play", "acorn.world.zip", cwd=tmp_path)

    assert result.stderr.startswith("glasshouse: acorn.world.zip is a packed world. Install it: ")
    assert "worlds add acorn.world.zip\n" in result.stderr
