"""`branch` as somebody meets it who wants to know what would have been, and compares it with what was."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.journeys.commanding import ESCAPE, objects, on_a_terminal, pasted, run

WOOD, SPROUTS = "thousand-token-wood", "twenty-sprouts"
PARENT = "r-00aa11bb22cc33d0"
HEN = "A hen walks in."
GUEST = """\
name: guest
role: worker
persona: A guest who asks one question and listens to the answer.
temper: curious
schedule: {tick_every: 2}
"""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A store with one run that is over."""
    path = str(tmp_path_factory.mktemp("branching") / "played.glasshouse")
    assert run("play", WOOD, "--run-id", PARENT, "--store", path).returncode == 0
    return path


def numbers_of_lines(store: str, name: str) -> dict[int, str]:
    """The lines of a run by the numbers that `show --numbers` prints."""
    result = run("show", name, "--numbers", "--lines", "200", "--store", store)
    numbered = re.findall(r"^ *(\d+)  (.*)$", result.stdout, re.MULTILINE)
    return {int(number): line for number, line in numbered}


@pytest.fixture(scope="module")
def middle(store: str) -> str:
    """The number of the actor's line in turn 5, with which that turn ends."""
    lines = numbers_of_lines(store, PARENT)
    return str([number for number, line in lines.items() if line.startswith("pocket-actor:")][4])


@pytest.fixture(scope="module")
def events_count(store: str) -> int:
    """How many events the run has: the last line, and its end."""
    return max(numbers_of_lines(store, PARENT)) + 1


def digest_of(store: str, name: str) -> Any:
    return objects("digest", name, "--store", store)[0]["digest"]


def run_id_in(text: str) -> str:
    """The run that a command says first it has made."""
    return text.partition(":")[0]


def test_a_branch_in_which_nothing_is_otherwise_is_its_parent_again_from_the_record(
    store: str, middle: str
) -> None:
    result = run("branch", PARENT, "--at", middle, "--store", store)

    branch = run_id_in(result.stdout)
    assert (result.returncode, result.stderr) == (0, "")
    assert f"a branch of {PARENT}, from event {middle} (turn 5, pocket-actor, “" in result.stdout
    assert "Nothing is changed.\n" in result.stdout
    assert re.search(r"[1-9]\d* calls were answered from the record\.", result.stdout)
    assert digest_of(store, branch) == digest_of(store, PARENT)
    assert run("compare", PARENT, branch, "--store", store).stdout.startswith("One story: ")


def test_a_disturbed_branch_goes_its_own_way_and_leaves_its_parent_alone(store: str, middle: str) -> None:
    before = digest_of(store, PARENT)

    result = run("branch", PARENT, "--at", middle, "--disturb", HEN, "--store", store)

    branch = run_id_in(result.stdout)
    head, _, rest = result.stdout.partition("\n\n")
    (facts,) = objects("compare", PARENT, branch, "--store", store)
    assert head.endswith(f"Changed: the visitor says “{HEN}”")
    assert rest.startswith(f"visitor: {HEN}\n")
    assert "No calls were answered from the record." in rest
    assert digest_of(store, PARENT) == before != digest_of(store, branch)
    assert not facts["is_same"]
    assert facts["shared_events"] == int(middle)
    assert facts["second"]["only_here"][0]["text"] == HEN
    assert facts["second"]["cost"]["calls"] > facts["second"]["cost_apart"]["calls"] > 0


def test_what_it_ends_with_can_be_pasted(store: str, middle: str, tmp_path: Path) -> None:
    result = run("branch", PARENT, "--at", middle, "--disturb", HEN, "--turns", "2", "--store", store)

    commands = [line.strip() for line in result.stdout.splitlines() if line.startswith("  ")]
    done = [pasted(command, tmp_path) for command in commands]
    assert [command.split()[3] for command in commands] == [
        "play",
        "show",
        "compare",
        "why",
        "lineage",
        "branch",
    ]
    assert [(result.returncode, result.stderr) for result in done] == [(0, "")] * len(done)


def test_the_shared_past_is_shown_once_and_the_cast_is_not_doubled(store: str, middle: str) -> None:
    branch = run_id_in(run("branch", PARENT, "--at", middle, "--disturb", HEN, "--store", store).stdout)

    lines = list(numbers_of_lines(store, branch).values())
    past = [line for number, line in numbers_of_lines(store, PARENT).items() if number <= int(middle)]
    (stage,) = objects("show", branch, "--store", store)
    (then,) = objects("show", branch, "--at", "20", "--store", store)
    *recited, ending = objects("replay", branch, "--store", store)
    assert ending["voice"] == "ending"
    assert lines[: len(past) + 1] == [*past, f"visitor: {HEN}"]
    assert [creature["handle"] for creature in stage["stage"]["cast"].values()] == [
        "seedkeeper",
        "pocket-actor",
        "echo",
        "critic",
    ]
    said = [
        line.partition(":")[0] for number, line in numbers_of_lines(store, PARENT).items() if number <= 20
    ]
    assert [note["handle"] for note in then["stage"]["agent_notes"]] == [
        who for who in said if who != "world"
    ]
    assert len([line for line in recited if line["voice"] != "silence"]) == len(lines)
    assert {line["who"] for line in recited} == {
        "world",
        "visitor",
        *(line.partition(":")[0] for line in past),
    } | {"critic"}


def test_a_branch_of_a_branch_and_its_session_show_the_whole_story_too(store: str, middle: str) -> None:
    first = run_id_in(run("branch", PARENT, "--at", middle, "--disturb", HEN, "--store", store).stdout)
    own = [number for number, line in numbers_of_lines(store, first).items() if "hen" in line][-1]

    second = objects("branch", first, "--at", str(own), "--turns", "1", "--store", store)[0]["branched"]

    lines = list(numbers_of_lines(store, second["run_id"]).values())
    of_session = list(numbers_of_lines(store, second["session_id"]).values())
    assert second["branch_of"] == first
    assert lines == of_session
    assert lines[0].startswith("world: Dusk in Thousand Token Wood")
    assert lines.count(f"visitor: {HEN}") == 1


def test_a_line_is_dropped_or_replaced(store: str, events_count: int) -> None:
    number, line = next(
        (number, line) for number, line in numbers_of_lines(store, PARENT).items() if line.startswith("echo:")
    )

    dropped = run("branch", PARENT, "--at", str(number), "--drop", "--turns", "1", "--store", store)
    replaced = run(
        "branch", PARENT, "--at", str(number), "--replace", "No.", "--turns", "1", "--store", store
    )
    last = run("branch", PARENT, "--drop", "--no-play", "--store", store)

    assert f"right before event {number} (turn " in dropped.stdout
    assert "Changed: the line was never said.\n" in dropped.stdout
    assert line not in numbers_of_lines(store, run_id_in(dropped.stdout)).values()
    assert "Changed: the line was “No.”\n\necho: No.\n" in replaced.stdout
    assert f"right before event {events_count - 1} (turn 16, critic" in last.stdout


def test_the_cast_its_edges_and_its_limits_can_be_otherwise(store: str, middle: str, tmp_path: Path) -> None:
    (tmp_path / "guest.yaml").write_text(GUEST)
    words = ["--add", str(tmp_path / "guest.yaml"), "--remove", "echo", "--persona", "critic=A bored owl."]
    words += ["--profile", "seedkeeper=strong", "--connect", "seedkeeper:critic:aside", "--max-turns", "7"]

    events = objects("branch", PARENT, "--at", middle, *words, "--store", store)

    (branched, *_, played) = events
    change = branched["branched"]["change"]
    (shape,) = objects("tree", branched["branched"]["run_id"], "--store", store)
    runs = objects("runs", "--store", store)
    assert change["remove"] == ["echo"]
    assert change["limits"]["max_turns"] == 7
    assert change["limits"]["max_total_calls"] == 160
    assert "guest" in str(shape)
    assert "echo" not in str(shape)
    assert "aside" in str(shape)
    assert played["played"]["turns"] == 7
    assert played["played"]["branch_of"] == PARENT
    assert (runs[-1]["branch_of"], runs[-1]["how"]) == (PARENT, "branch")


def test_what_was_dealt_stays_sealed_in_a_branch(tmp_path: Path) -> None:
    store = str(tmp_path / "sprouts.glasshouse")
    run("play", SPROUTS, "--turns", "3", "--store", store)
    sealed = [
        event.get("sealed")
        for event in objects("show", "last", "--ledger", "--as", "director", "--store", store)
    ]
    (word,) = [deal["facts"]["word"] for deal in sealed if deal]

    events = objects("branch", "last", "--turns", "1", "--store", store)

    restated = [event for event in events if event.get("kind") == "session.restated"]
    public = run("show", "last", "--ledger", "--as", "audience", "--store", store).stdout
    assert len(restated) == 1
    assert "dealt" not in restated[0]["payload"]["carried"]["tables"]
    assert f'"word": "{word}"' not in public


def test_where_nothing_is_left_to_play_it_says_what_to_do(store: str, events_count: int) -> None:
    result = run("branch", PARENT, "--store", store)

    assert f"a branch of {PARENT}, from the end (event {events_count}) on." in result.stdout
    assert "Nothing was left to play: branch from an earlier event, or with other limits." in result.stdout
    assert digest_of(store, run_id_in(result.stdout)) == digest_of(store, PARENT)


def test_runs_say_what_they_grew_from(store: str) -> None:
    run("branch", PARENT, "--no-play", "--store", store)

    result = run("runs", "--store", store)

    assert "grown from" in result.stdout
    assert "r-00aa11 (branch)" in result.stdout


def test_on_a_terminal_the_header_says_how_far_it_was(store: str, middle: str) -> None:
    code, shown = on_a_terminal(
        "branch", PARENT, "--at", middle, "--disturb", HEN, "--turns", "1", "--pace", "fast", "--store", store
    )

    assert code == 0
    assert ESCAPE in shown
    assert "a branch of" in shown
    assert " · turn 5" in shown


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--at", "9999"], "Give a number from 1 to {events_count}."),
        (["--at", "{middle}", "--drop", "--replace", "No."], "A line is dropped or replaced, not both."),
        (["--at", "{turn_started}", "--drop"], "which nobody said."),
        (["--profile", "echo"], "Write --profile HANDLE=PROFILE."),
        (["--connect", "echo"], "Write --connect A:B or A:B:CHANNEL."),
        (["--connect", "echo:"], "Write --connect A:B or A:B:CHANNEL."),
        (["--remove", "nobody"], "no creature is called 'nobody'."),
        (["--add", "nothing.yaml"], "There is no file nothing.yaml."),
        (["--disturb", " "], "The visitor says nothing."),
        (["--at", "{middle}", "--replace", ""], "The line is replaced by nothing."),
        (["--at", "{middle}", "--replace", " "], "The line is replaced by nothing."),
    ],
)
def test_what_cannot_be_done_is_refused_in_words_and_makes_nothing(
    store: str, middle: str, events_count: int, words: list[str], reason: str
) -> None:
    numbers = {"middle": middle, "turn_started": int(middle) + 1, "events_count": events_count}
    words = [word.format(**numbers) for word in words]
    before = len(objects("runs", "--store", store))

    result = run("branch", PARENT, *words, "--store", store)

    assert (result.returncode, result.stdout) == (3, "")
    assert reason.format(**numbers) in result.stderr
    assert len(objects("runs", "--store", store)) == before
