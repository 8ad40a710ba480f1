"""`export` and `import`: a play goes from one store to another in a file."""

import gzip
import json
import subprocess
from pathlib import Path

import pytest

from tests.journeys.commanding import GLASSHOUSE, ROOTS, WOOD, environment, journey_seconds_max, objects, run
from tests.web.packed import record_in


def test_a_run_goes_into_another_store_and_tells_the_same_story(store: str, tmp_path: Path) -> None:
    file, other = str(tmp_path / "play.glass"), str(tmp_path / "other.glasshouse")
    (sent,) = objects("export", ROOTS, file, "--as", "director", "--store", store)

    (came,) = objects("import", file, "--store", other)

    assert list(sent) == ["path", "run_id", "role", "session_id", "sessions", "events"]
    assert list(came) == ["path", "session_id", "sessions", "events", "other_sides", "store"]
    assert (sent["session_id"], sent["events"], []) == (
        came["session_id"],
        came["events"],
        came["other_sides"],
    )
    answers = objects("replay", ROOTS, "--store", store)
    assert objects("replay", came["session_id"], "--store", other) == answers
    assert "The end: " in run("show", "last", "--store", other).stdout


def test_a_run_that_split_goes_into_another_store_with_both_sides(tmp_path: Path) -> None:
    file, store, other = "play.jsonl", ("--store", "show.glasshouse"), ("--store", "other.glasshouse")
    run("play", "keeper-of-dusk", "--run-id", WOOD, *store, cwd=tmp_path)
    (at_home,) = objects("digest", WOOD, *store, cwd=tmp_path)

    (sent,) = objects("export", WOOD, file, "--as", "director", *store, cwd=tmp_path)
    (came,) = objects("import", file, *other, cwd=tmp_path)

    assert (sent["run_id"], sent["events"], sent["sessions"]) == (WOOD, at_home["events"], came["sessions"])
    (abroad,) = objects("digest", WOOD, *other, cwd=tmp_path)
    end = json.loads((tmp_path / file).read_text(encoding="utf-8").splitlines()[-1])["end"]
    assert (end["events"], abroad["digest"]) == (at_home["events"], at_home["digest"])
    assert (came["events"], len(came["other_sides"])) == (at_home["events"], 1)
    sides = [came["session_id"], *came["other_sides"]]
    stories = [objects("replay", side, *other, cwd=tmp_path) for side in sides]
    played = {line["id"]: line for line in objects("replay", WOOD, *store, cwd=tmp_path)}
    assert {line["id"]: line for story in stories for line in story} == played
    assert all(len(story) < len(played) for story in stories)
    result = run("import", file, *other, cwd=tmp_path).stdout.splitlines()
    assert [line.partition(" show ")[2].split()[0] for line in result[1:]] == sides
    assert [run("show", side, *other, cwd=tmp_path).returncode for side in sides] == [0, 0]
    assert objects("import", file, *other, cwd=tmp_path) == [came]


def test_after_an_import_a_run_is_named_by_its_id(tmp_path: Path) -> None:
    file, store, other = "play.jsonl", ("--store", "show.glasshouse"), ("--store", "other.glasshouse")
    run("play", "keeper-of-dusk", "--run-id", WOOD, *store, cwd=tmp_path)
    run("export", WOOD, file, "--as", "director", *store, cwd=tmp_path)
    run("import", file, *other, cwd=tmp_path)

    for words in (["digest", WOOD], ["replay", WOOD], ["show", WOOD], ["why", "20", "--run", WOOD]):
        assert objects(*words, *other, cwd=tmp_path) == objects(*words, *store, cwd=tmp_path), words
    for words in (["lineage", WOOD], ["compare", WOOD, WOOD], ["who-knew", "20", "--run", WOOD]):
        assert run(*words, *other, cwd=tmp_path).returncode == 0, words
    assert "was imported: its creatures are not live here" in run("tree", WOOD, *other, cwd=tmp_path).stderr
    (again,) = objects("export", WOOD, "again.jsonl", "--as", "director", *other, cwd=tmp_path)
    assert again["run_id"] == WOOD
    assert (tmp_path / "again.jsonl").read_bytes() == (tmp_path / file).read_bytes()
    (here,) = objects("replay", WOOD, "--verify", *store, cwd=tmp_path)
    assert here["is_same"]
    assert objects("replay", WOOD, "--verify", *other, cwd=tmp_path) == [here]
    branched = run("branch", WOOD, "--at", "20", "--pace", "fast", *other, cwd=tmp_path)
    assert branched.returncode == 0, branched.stderr


def test_a_run_that_came_in_a_file_for_the_audience_says_why_it_is_not_verified(tmp_path: Path) -> None:
    store, other = ("--store", "show.glasshouse"), ("--store", "other.glasshouse")
    run("play", "keeper-of-dusk", "--run-id", WOOD, *store, cwd=tmp_path)
    run("export", WOOD, "play.glass", *store, cwd=tmp_path)
    run("import", "play.glass", *other, cwd=tmp_path)

    result = run("replay", WOOD, "--verify", *other, cwd=tmp_path)

    assert (result.returncode, result.stdout) == (3, "")
    words = " ".join(result.stderr.split())
    assert "cannot be replayed from its file: the file was redacted, and lacks the requests" in words
    assert f"glasshouse export {WOOD} --as director" in words


def test_what_is_piped_in_is_told_like_a_file(tmp_path: Path) -> None:
    store = ("--store", "show.glasshouse")
    run("play", "keeper-of-dusk", "--run-id", WOOD, *store, cwd=tmp_path)
    run("export", WOOD, "play.glass", *store, cwd=tmp_path)
    (from_file,) = objects("import", "play.glass", "--store", "one.glasshouse", cwd=tmp_path)

    piped = subprocess.run(
        [*GLASSHOUSE, "import", "-", "--store", "two.glasshouse", "--json"],
        input=(tmp_path / "play.glass").read_bytes(),
        env=environment(),
        cwd=tmp_path,
        capture_output=True,
        check=True,
    )

    assert json.loads(piped.stdout) == {**from_file, "path": "-", "store": "two.glasshouse"}


@pytest.mark.parametrize(("role", "is_there"), [("spectator", False), ("audience", True)])
def test_a_file_holds_what_its_role_may_read(
    store: str, tmp_path: Path, role: str, *, is_there: bool
) -> None:
    file = tmp_path / "play.jsonl"

    result = run("export", WOOD, str(file), "--as", role, "--store", store)

    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert result.returncode == 0
    assert any(line.get("private") for line in lines) is is_there
    assert not any(line.get("sealed") for line in lines)
    calls = [call for line in lines for call in (line.get("model") or {}).get("calls", [])]
    assert calls
    assert not any(call.get("completion") or call.get("user") for call in calls)


def test_a_glass_file_is_compressed(store: str, tmp_path: Path) -> None:
    file = tmp_path / "play.glass"

    run("export", "last", str(file), "--store", store)

    assert b'"glass":2' in gzip.decompress(file.read_bytes()).splitlines()[0]


def test_importing_twice_changes_nothing(store: str, tmp_path: Path) -> None:
    file, other = str(tmp_path / "play.glass"), str(tmp_path / "other.glasshouse")
    run("export", WOOD, file, "--store", store)

    first, second = run("import", file, "--store", other), run("import", file, "--store", other)

    assert (first.returncode, second.returncode) == (0, 0)
    assert first.stdout == second.stdout


@pytest.mark.parametrize("content", [b"", b"no ledger", b"\x1f\x8b\x08broken"])
def test_a_file_that_is_none_of_ours_is_refused_in_words(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "play.glass"
    file.write_bytes(content)

    tried = run("import", str(file), "--store", str(tmp_path / "other.glasshouse"))

    assert (tried.returncode, tried.stdout) == (3, "")
    assert tried.stderr.startswith("glasshouse: ")
    assert "Traceback" not in tried.stderr


def test_a_place_that_takes_no_file_is_refused_in_words(store: str, tmp_path: Path) -> None:
    tried = run("export", WOOD, str(tmp_path / "nowhere/play.glass"), "--store", store)

    assert (tried.returncode, tried.stdout) == (3, "")
    assert "Traceback" not in tried.stderr


def test_a_run_becomes_a_page_named_after_its_world(store: str, tmp_path: Path) -> None:
    (plain,) = objects("export", ROOTS, "--html", "--store", store, cwd=tmp_path)
    (minds,) = objects("export", ROOTS, "minds.html", "--minds", "--verify", "--store", store, cwd=tmp_path)

    assert (plain["path"], plain["role"], minds["role"]) == ("mystery-roots.html", "spectator", "audience")
    assert plain["bytes"] == (tmp_path / "mystery-roots.html").stat().st_size < minds["bytes"]
    (digest,) = objects("digest", ROOTS, "--store", store)
    assert record_in((tmp_path / "minds.html").read_bytes())["digest"] == digest["digest"]
    for words, reason in (
        (("--html", "--as", "director"), "A page is for spectators."),
        (("play.glass", "--from", "3"), "belong to --html"),
        (("play.glass", "--to", "3"), "belong to --html"),
        ((), "The file has no name."),
    ):
        refused = run("export", ROOTS, *words, "--store", store, cwd=tmp_path)
        assert (refused.returncode, reason in refused.stderr) == (3, True)


def test_a_file_goes_from_one_store_to_another_through_a_pipe(store: str, tmp_path: Path) -> None:
    sending = subprocess.run(
        [*GLASSHOUSE, "export", ROOTS, "-", "--store", store],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        timeout=journey_seconds_max,
        check=False,
    )
    taking = subprocess.run(
        [*GLASSHOUSE, "import", "-", "--store", "other.glasshouse"],
        cwd=tmp_path,
        env=environment(),
        input=sending.stdout,
        capture_output=True,
        timeout=journey_seconds_max,
        check=False,
    )

    assert (sending.returncode, taking.returncode) == (0, 0), sending.stderr + taking.stderr
    assert sending.stderr.startswith(b"glasshouse: standard output: ")
    assert [path.name for path in tmp_path.iterdir() if path.name == "-"] == []


def test_a_page_goes_through_a_pipe_too_and_json_beside_it_is_refused(store: str, tmp_path: Path) -> None:
    page = run("export", ROOTS, "-", "--html", "--store", store, cwd=tmp_path)
    both = run("export", ROOTS, "-", "--json", "--store", store, cwd=tmp_path)

    assert page.stdout.lower().startswith("<!doctype html>")
    assert (both.returncode, both.stdout) == (3, "")
    assert both.stderr.startswith("glasshouse: The file and --json both go to standard output.")


def test_an_ending_counts_in_any_letter_case_and_an_unknown_one_is_refused(
    store: str, tmp_path: Path
) -> None:
    page = run("export", ROOTS, "night.HTML", "--store", store, cwd=tmp_path)
    lines = run("export", ROOTS, "night.JSONL", "--store", store, cwd=tmp_path)
    other = run("export", ROOTS, "night.foo", "--store", store, cwd=tmp_path)

    assert (page.returncode, lines.returncode) == (0, 0)
    assert (tmp_path / "night.HTML").read_text(encoding="utf-8").lower().startswith("<!doctype html>")
    assert (tmp_path / "night.JSONL").read_bytes().startswith(b'{"glass"')
    assert run("import", "night.JSONL", "--store", "other.glasshouse", cwd=tmp_path).returncode == 0
    assert other.returncode == 3
    assert other.stderr.startswith(
        "glasshouse: No file that ends in .foo is written. Name one that ends in .glass, .jsonl or .html."
    )
    assert not (tmp_path / "night.foo").exists()
