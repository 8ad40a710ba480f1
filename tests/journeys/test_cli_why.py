"""`why`, `who-knew`, `lineage` and `tree` as somebody meets them who has just watched a play."""

import asyncio
import re
from pathlib import Path

import pytest

from glasshouse import Manifest, SqliteStore, Terrarium
from tests.journeys.commanding import ESCAPE, ROOTS, WOOD, objects, on_a_terminal, run


@pytest.fixture(scope="module")
def moved(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A store whose graphs merged and split, and in which somebody is gone."""
    path = tmp_path_factory.mktemp("moving") / "moved.glasshouse"
    asyncio.run(move_some(path))
    return str(path)


async def move_some(path: Path) -> None:
    async with Terrarium(SqliteStore(path)) as t:
        for name in ("ada", "bo", "cy"):
            await t.add_creature(Manifest(name=name), is_privileged=name == "ada", parent=None)
        await t.connect("ada", "bo", channel="path", both=True)
        await t.connect("bo", "cy", channel="path", both=True)
        await t.add_creature(Manifest(name="dee"), graph=t.creature("ada").graph_id, parent="ada")
        await t.wire("ada", "cy", with_content=False)
        await t.disconnect("bo", "cy")
        await t.disconnect("cy", "bo")
        await t.remove_creature("bo")


def test_a_person_asks_why_the_judge_ruled_so(store: str) -> None:
    shown = run("show", ROOTS, "--numbers", "--lines", "3", "--store", store)
    number = re.findall(r"^ *([0-9]+)  mystery-judge: ", shown.stdout, flags=re.MULTILINE)[-1]

    result = run("why", number, "--run", ROOTS, "--store", store)

    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith(f"{number}  mystery-judge  judge.verdict on stage, turn ")
    assert re.search(r"rests on [0-9]+: ", result.stdout)
    assert re.search(r"[0-9]+ lines in its prompt, the last 12:", result.stdout)
    assert "because its turn came" in result.stdout
    assert result.stdout.endswith("It began with a turn of its own: nobody asked.\n")
    assert ESCAPE not in result.stdout


def test_the_newest_lines_of_a_prompt_and_of_a_run_are_drawn(store: str) -> None:
    (answer,) = objects("why", "last", "--run", ROOTS, "--store", store)
    in_sight = sorted(answer["links"][0]["lines"], key=lambda line: line["number"])
    spoken = objects("replay", ROOTS, "--store", store)

    why = run("why", "last", "--run", ROOTS, "--lines", "2", "--store", store).stdout.partition("↳")[0]
    shown = run("show", ROOTS, "--lines", "2", "--store", store).stdout

    drawn = re.findall(r"^ +([0-9]+)  ", why, flags=re.MULTILINE)
    assert drawn == [str(line["number"]) for line in in_sight[-2:]]
    on_one_line = " ".join(shown.split())
    assert [line["text"] in on_one_line for line in (spoken[0], spoken[-1])] == [False, True]


def test_a_number_of_the_ledger_means_the_same_event(store: str) -> None:
    ledger = run("show", ROOTS, "--ledger", "--numbers", "--store", store).stdout.splitlines()
    spoken = next(line for line in ledger if "[hypothesis.formed]" in line)

    (answer,) = objects("why", spoken.split()[0], "--run", ROOTS, "--store", store)

    assert str(answer["number"]) == spoken.split()[0]
    assert answer["links"][0]["event"]["kind"] == "hypothesis.formed"
    assert answer["links"][0]["event"]["payload"]["text"] in spoken
    assert len(answer["links"][0]["cites"]) == len(answer["links"][0]["event"]["payload"]["cites"])


def test_last_is_the_last_line_of_the_last_run(store: str) -> None:
    (answer,) = objects("why", "last", "--store", store)

    assert list(answer) == ["event_id", "number", "role", "began", "links"]
    assert answer["links"][0]["event"]["payload"] == {"text": "A lantern \x1b[31mwhispers."}
    assert answer["began"] == "disturbance"


def test_an_event_goes_by_its_id_and_by_the_beginning_of_its_session(store: str) -> None:
    (by_number,) = objects("why", "40", "--run", WOOD, "--store", store)
    session_id, _, seq = by_number["event_id"].rpartition(".")

    (by_id,) = objects("why", by_number["event_id"], "--store", store)
    (by_prefix,) = objects("why", f"{session_id[2:10]}.{seq}", "--store", store)

    assert by_id == by_prefix == by_number


@pytest.mark.parametrize(
    ("role", "has_thoughts", "has_prompts"),
    [("spectator", False, False), ("audience", True, False), ("director", True, True)],
)
def test_each_role_reads_what_it_may(store: str, role: str, has_thoughts: bool, has_prompts: bool) -> None:
    (answer,) = objects("why", "last", "--run", ROOTS, "--as", role, "--store", store)

    link = answer["links"][0]
    assert ("private" in link["event"]) is has_thoughts
    assert link["event"]["model"]["calls"]
    assert ("completion" in str(link["event"]["model"])) is bool(link["prompts"]) is has_prompts
    assert link["lines"]
    assert "prompt" not in link["missing"]


def test_what_the_model_was_asked_is_drawn_for_a_director_alone(store: str) -> None:
    director = run("why", "last", "--run", ROOTS, "--as", "director", "--store", store)
    audience = run("why", "last", "--run", ROOTS, "--store", store)

    assert "You are mystery-judge, judge." in director.stdout
    assert "You are mystery-judge" not in audience.stdout


def test_nothing_that_was_said_steers_the_terminal(store: str) -> None:
    code, shown = on_a_terminal("why", "last", "--store", store, columns=50)

    assert code == 0
    assert "\\u001b[31m" in shown.replace("\r\n", "")
    assert f"{ESCAPE}[31m" not in shown


def test_events_that_are_not_there_are_refused_with_what_to_do(store: str) -> None:
    tried = [
        run("why", name, "--store", store) for name in ("100000", "0", "s-0000000000000000.1", "nonsense")
    ]

    assert [result.returncode for result in tried] == [3, 3, 3, 3]
    assert "Give a number from 1 to" in tried[0].stderr
    assert all(result.stdout == "" for result in tried)


def test_who_knew_at_an_event_counts_in_the_same_run(store: str) -> None:
    (line,) = objects("why", "40", "--run", ROOTS, "--store", store)
    now = objects("who-knew", "40", "--run", ROOTS, "--store", store)

    before = run("who-knew", "40", "--run", ROOTS, "--at", "39", "--store", store)
    then = objects("who-knew", line["event_id"], "--at", "41", "--store", store)

    assert "Nobody could see it." in before.stdout
    assert {knower["handle"] for knower in then} == {knower["handle"] for knower in now}


def test_who_knew_lists_everybody_who_could_see_a_line(store: str) -> None:
    result = run("who-knew", "last", "--run", ROOTS, "--store", store)
    everybody = objects("who-knew", "last", "--run", ROOTS, "--store", store)

    assert (result.returncode, result.stderr) == (0, "")
    assert [knower["creature"] for knower in everybody] == [
        "mystery-judge",
        "clue-gatherer",
        "hypothesis-former",
        "devils-advocate",
        "gate-snail",
    ]
    assert [knower["how"] for knower in everybody] == ["said", "heard", "heard", "heard", "heard"]
    assert all(knower["creature"] in result.stdout for knower in everybody)
    assert list(everybody[0]) == [
        "event_id",
        "number",
        "creature",
        "handle",
        "how",
        "since",
        "until",
        "with_content",
        "is_elsewhere",
    ]


def test_lineage_draws_merges_and_splits_as_lanes(moved: str) -> None:
    result = run("lineage", "--store", moved)
    sessions = objects("lineage", "--store", moved)

    assert (result.returncode, result.stderr) == (0, "")
    assert "├─╯" in result.stdout
    assert "merge" in result.stdout
    assert [session["origin"] for session in sessions].count("merge") >= 1
    merged = next(session for session in sessions if session["origin"] == "merge")
    seq, wall_time = merged["merged_at"].partition(".")[2], merged["began_at"][:19].replace("T", " ")
    assert f".{seq}, {wall_time}" in result.stdout
    assert (
        sum(line.lstrip("│ ").startswith(("○", "●")) for line in result.stdout.splitlines())
        == len(sessions) + 1
    )
    assert ESCAPE not in result.stdout


@pytest.mark.parametrize("columns", [100, 60, 40])
def test_a_lineage_and_a_tree_fit_the_width(moved: str, columns: int) -> None:
    for command in ("lineage", "tree"):
        result = run(command, "--store", moved, COLUMNS=str(columns))

        assert result.returncode == 0
        assert max(map(len, result.stdout.splitlines())) <= columns


def test_the_sessions_of_a_run_begin_with_its_root(store: str) -> None:
    sessions = objects("lineage", ROOTS, "--store", store)

    assert [session["origin"] for session in sessions] == ["root", "fork"]
    (played,) = [row for row in objects("runs", "--store", store) if row["run_id"].startswith(ROOTS)]
    assert (sessions[1]["first_turn"], sessions[1]["last_turn"]) == (0, played["turns"])


def test_tree_shows_who_is_where_now_and_then(moved: str) -> None:
    sessions = objects("lineage", "--store", moved)
    merged = [session for session in sessions if session["origin"] == "merge"][-1]

    (then,) = objects(
        "tree", merged["id"], "--at", f"{merged['id']}.{merged['events'] - 6}", "--store", moved
    )
    drawn = run("tree", merged["id"], "--at", then["event_id"], "--store", moved)

    assert {creature["id"] for creature in then["creatures"]} >= {"ada", "bo", "cy"}
    (ada,) = [creature for creature in then["creatures"] if creature["id"] == "ada"]
    assert ada["is_privileged"]
    assert "ada  privileged" in drawn.stdout
    assert "ada → cy  without its words" in drawn.stdout
    assert "path" in drawn.stdout


def test_tree_of_a_run_shows_its_channels(store: str) -> None:
    now = run("tree", ROOTS, "--store", store)
    before = run("tree", ROOTS, "--at", "0", "--store", store)

    assert (now.returncode, now.stderr) == (0, "")
    assert "mystery-judge  judge" in now.stdout
    assert "all listen and send: clue-gatherer," in now.stdout
    assert before.stdout.endswith("There is no graph of it then.\n")


def test_a_play_says_how_to_ask_why(tmp_path: Path) -> None:
    result = run("play", "thousand-token-wood", "--turns", "2", "--pace", "fast", cwd=tmp_path)

    (offered,) = [line for line in result.stdout.splitlines() if " why last --run r-" in line]
    assert run(*offered.split("glasshouse ", 1)[1].split(), cwd=tmp_path).returncode == 0


@pytest.fixture(scope="module")
def carried(store: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a store into which a run of another one was carried, once for the audience, once for a director."""
    folder = tmp_path_factory.mktemp("carried")
    for role in ("audience", "director"):
        file = str(folder / f"{role}.glass")
        assert run("export", ROOTS, file, "--as", role, "--store", store).returncode == 0
        assert run("import", file, "--store", str(folder / f"{role}.glasshouse")).returncode == 0
    return folder


@pytest.mark.parametrize("role", ["audience", "director"])
def test_who_knew_of_what_came_in_a_file_is_told_with_where_they_live(
    store: str, carried: Path, role: str
) -> None:
    verdict = objects("why", "last", "--run", ROOTS, "--store", store)[0]["event_id"]
    there = str(carried / f"{role}.glasshouse")
    at_home = objects("who-knew", verdict, "--store", store)

    knew = objects("who-knew", verdict, "--store", there)
    result = run("who-knew", verdict, "--store", there)

    assert [{**knower, "is_elsewhere": False} for knower in knew] == at_home
    assert all(knower["is_elsewhere"] for knower in knew)
    assert (result.returncode, result.stderr) == (0, "")
    assert "elsewhere" in result.stdout.splitlines()[2]
    assert result.stdout.endswith(
        "Creatures that live elsewhere came in a file, with the handle they had there.\n"
    )


def test_why_of_what_came_in_a_file_tells_what_that_file_lacks(store: str, carried: Path) -> None:
    verdict = objects("why", "last", "--run", ROOTS, "--store", store)[0]["event_id"]

    for_audience = run("why", verdict, "--store", str(carried / "audience.glasshouse"))
    for_director = run("why", verdict, "--store", str(carried / "director.glasshouse"))

    assert "the file it came in leaves out the model's side" in for_audience.stdout
    assert "in its prompt" not in for_audience.stdout
    assert "prompt not kept" in for_director.stdout
    assert "leaves out" not in for_director.stdout
