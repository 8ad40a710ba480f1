"""`glasshouse graph`: changes of the graph from the command line, whether another process plays the store or not."""

import asyncio
import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from glasshouse import SqliteStore, Terrarium
from tests.journeys.commanding import GLASSHOUSE, OPEN, environment, objects, run

MOSS = "name: moss\npersona: moss that listens\n"
WAITS = """
import asyncio, sys
from glasshouse import Terrarium

async def hold():
    async with Terrarium(sys.argv[1]):
        print("open", flush=True)
        await asyncio.sleep(600)

asyncio.run(hold())
"""
"""A process that has a store open and plays nothing."""


@pytest.fixture
def moss(tmp_path: Path) -> str:
    file = tmp_path / "moss.yaml"
    file.write_text(MOSS)
    return str(file)


async def shape_of(store: Path) -> dict[str, Any]:
    async with Terrarium(SqliteStore(store, is_guest=True)) as t:
        mine = [creature for creature in t.creatures() if creature.run_id == OPEN]
        return {creature.handle: creature for creature in mine}


def cast_of(store: Path) -> dict[str, Any]:
    return asyncio.run(shape_of(store))


def output_of(*words: str, store: Path) -> str:
    done = run("graph", *words, "--store", str(store))
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.strip()


def refused(*words: str, store: Path) -> str:
    done = run("graph", *words, "--store", str(store))
    assert (done.returncode, done.stdout) == (3, "")
    return done.stderr


def test_where_nobody_plays_the_command_makes_the_change_itself(own_store: Path, moss: str) -> None:
    added = output_of("add", moss, "--handle", "soft", "--privileged", store=own_store)
    stopped = output_of("stop", "soft", store=own_store)
    again = output_of("stop", "soft", store=own_store)

    assert added.startswith("Added soft to g-")
    assert added.endswith("Its id is moss.")
    assert stopped == "Stopped soft."
    assert again == "It is so already: stop soft. Nothing has changed."
    cast = cast_of(own_store)
    assert (cast["soft"].is_privileged, cast["soft"].is_running) == (True, False)


def test_a_dry_run_changes_nothing_and_says_what_would_happen(own_store: Path, moss: str) -> None:
    before = cast_of(own_store)

    (facts,) = objects("graph", "add", moss, "--dry-run", "--store", str(own_store))
    words = output_of("remove", next(iter(before)), "--dry-run", store=own_store)

    assert (facts["subject"], facts["has_changed"], facts["dry_run"]) == ("moss", True, True)
    assert words == f"It would remove {next(iter(before))}. Nothing has changed."
    assert cast_of(own_store) == before


def test_every_kind_of_change_can_be_asked_for(own_store: Path, moss: str) -> None:
    first, second, *_ = cast_of(own_store)

    for words in (
        ("add", moss, "--alone"),
        ("connect", "moss", first, "--channel", "attic", "--both"),
        ("channel", "add", "cellar", "--description", "Below.", "--since-joined"),
        ("channel", "join", second, "cellar", "--listen"),
        ("channel", "describe", "cellar", "Below the stairs."),
        ("channel", "rename", "cellar", "vault"),
        ("parent", "moss", first),
        ("parent", "moss"),
        ("wire", first, "moss", "--when", "text has moss", "--without-content"),
        ("grant", "moss"),
        ("revoke", "moss"),
        ("unwire", first, "moss"),
        ("channel", "leave", second, "vault"),
        ("channel", "remove", "vault"),
        ("disconnect", "moss", first),
        ("stop", "moss"),
        ("start", "moss"),
        ("remove", "moss"),
    ):
        (facts,) = objects("graph", *words, "--store", str(own_store))
        assert facts["has_changed"], words

    assert "moss" not in cast_of(own_store)


def test_a_creature_of_the_world_is_found_by_its_name_whichever_ending_its_file_has(tmp_path: Path) -> None:
    run("new", "world", "pond", cwd=tmp_path)
    file = tmp_path / "worlds" / "pond" / "creatures" / "wanderer.yaml"
    file.rename(file.with_suffix(".yml"))
    run("play", "pond", "--turns", "1", cwd=tmp_path)

    added = run("graph", "add", "wanderer", "--handle", "second", cwd=tmp_path)

    assert added.stdout.startswith("Added second to g-"), added.stderr


def test_a_merge_and_a_split_are_told_with_their_graphs(own_store: Path, moss: str) -> None:
    first = next(iter(cast_of(own_store)))
    output_of("add", moss, "--alone", store=own_store)

    merged = output_of("connect", "moss", first, store=own_store)
    split = output_of("remove", first, "--dry-run", store=own_store)

    assert "now form one graph: g-" in merged
    assert "would split into g-" in split
    assert "Moved: moss" in split


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("stop", "nobody"), "no creature is called 'nobody'"),
        (("add", "nowhere.yaml"), "There is no file nowhere.yaml"),
        (("add", "no-such-creature"), "no creature of the world"),
        (("add", "echo", "--alone", "--graph", "g"), "--alone is without --graph"),
        (("close", "nowhere"), "no open graph"),
        (("stop", "echo", "--run", "r-none"), "no run is called"),
    ],
)
def test_a_refusal_is_said_in_words(own_store: Path, words: tuple[str, ...], reason: str) -> None:
    assert reason in refused(*words, store=own_store)


def test_a_graph_is_closed_once_its_runs_are_over_and_can_be_read_then(tmp_path: Path) -> None:
    store = tmp_path / "show.glasshouse"
    run("play", "thousand-token-wood", "--run-id", OPEN, "--turns", "1", "--store", str(store))
    (graph_id,) = {creature.graph_id for creature in cast_of(store).values()}
    assert "still plays" in refused("close", graph_id, store=store)
    asyncio.run(finished(store))
    before = objects("digest", OPEN, "--store", str(store))

    said = output_of("close", graph_id[:9], store=store)

    assert said == f"Closed {graph_id}."
    assert cast_of(store) == {}
    assert objects("digest", OPEN, "--store", str(store)) == before
    assert run("resume", OPEN, "--turns", "1", "--pace", "fast", "--store", str(store)).returncode == 0


async def finished(path: Path) -> None:
    async with Terrarium(SqliteStore(path)) as t:
        await t.finish(OPEN)


def test_a_handle_that_several_open_runs_have_needs_a_run(own_store: Path) -> None:
    async def play_again() -> str:
        async with Terrarium(own_store) as t:
            return (await t.open_world(t.run_of(OPEN).scenario)).id

    other = asyncio.run(play_again())
    handle = next(iter(cast_of(own_store)))

    assert "Name its run with --run" in refused("stop", handle, store=own_store)
    assert output_of("stop", handle, "--run", other, store=own_store) == f"Stopped {handle}."
    assert cast_of(own_store)[handle].is_running


def test_no_store_is_made_to_change_it(tmp_path: Path) -> None:
    missing = tmp_path / "none.glasshouse"

    assert "There is no store" in refused("stop", "ada", store=missing)
    assert list(tmp_path.iterdir()) == []


def test_the_process_that_plays_answers(own_store: Path, moss: str) -> None:
    with subprocess.Popen([sys.executable, "-c", WAITS, str(own_store)], stdout=subprocess.PIPE) as holder:
        try:
            assert holder.stdout is not None
            holder.stdout.readline()
            words = ("--wait", "120", "--json", "--store", str(own_store))
            added = run("graph", "add", moss, *words)
            wrong = run("graph", "connect", "moss", "moss", *words)
            holder.send_signal(signal.SIGSTOP)
            unheard = run("graph", "stop", "moss", "--wait", "0.2", "--store", str(own_store))
        finally:
            holder.kill()

    facts = json.loads(added.stdout)
    assert (facts["subject"], facts["answered_by"]) == ("moss", holder.pid)
    assert (wrong.returncode, wrong.stdout) == (3, "")
    assert unheard.returncode == 3
    assert "Nobody answered in 0.2 seconds" in unheard.stderr
    assert "nothing was changed" in unheard.stderr
    assert cast_of(own_store)["moss"].is_running


def test_a_command_that_is_interrupted_withdraws_its_request(own_store: Path) -> None:
    handle = next(iter(cast_of(own_store)))
    with subprocess.Popen([sys.executable, "-c", WAITS, str(own_store)], stdout=subprocess.PIPE) as holder:
        try:
            assert holder.stdout is not None
            holder.stdout.readline()
            holder.send_signal(signal.SIGSTOP)
            words = [*GLASSHOUSE, "graph", "stop", handle, "--wait", "600", "--store", str(own_store)]
            with subprocess.Popen(words, env=environment(), stderr=subprocess.PIPE) as asking:
                while not asyncio.run(requests_in(own_store)):
                    assert asking.poll() is None
                asking.send_signal(signal.SIGINT)
                assert asking.wait() == 130
            assert asyncio.run(requests_in(own_store)) == 0
        finally:
            holder.kill()


async def requests_in(path: Path) -> int:
    store = SqliteStore(path, is_guest=True)
    await store.open("house")
    try:
        return len(await store.open_requests(9))
    finally:
        await store.close()
