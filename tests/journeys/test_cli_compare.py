"""`compare` as somebody meets it who has two runs, and wants to know what is otherwise."""

import asyncio
import re
from pathlib import Path

import pytest

from glasshouse import SqliteStore, Terrarium
from glasshouse.runtime.past.what_if import WhatIf
from tests.journeys.commanding import ESCAPE, objects, run

PARENT, OTHER = "r-00aa11bb22cc33d0", "r-11bb11bb22cc33d1"


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str, str]:
    """A store with a run, the same world from another number, and two branches: their ids."""
    path = tmp_path_factory.mktemp("comparing") / "played.glasshouse"
    same, disturbed = asyncio.run(play_and_branch(path))
    return str(path), same, disturbed


async def play_and_branch(path: Path) -> tuple[str, str]:
    async with Terrarium(SqliteStore(path)) as t:
        await t.open_world("thousand-token-wood", run_id=PARENT)
        await t.run(PARENT)
        await t.open_world("thousand-token-wood", rng_seed=3, run_id=OTHER)
        await t.run(OTHER)
        at = next(event for event in await t.run_events(PARENT) if event.turn == 5)
        same = await t.branch(at.session_id, at.id)
        disturbed = await t.branch(at.session_id, at.id, WhatIf(disturb="A hen walks in."))
        for run_id in (same.id, disturbed.id):
            await t.run(run_id)
        return same.id, disturbed.id


def test_a_branch_in_which_nothing_is_otherwise_is_one_story(played: tuple[str, str, str]) -> None:
    store, same, _ = played

    result = run("compare", PARENT, same, "--store", store)
    (facts,) = objects("compare", PARENT, same, "--store", store)

    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith("One story: ")
    assert facts["is_same"]
    assert facts["first"]["parts_with"] is facts["second"]["parts_with"] is None
    assert (
        objects("digest", PARENT, "--store", store)[0]["digest"]
        == (objects("digest", same, "--store", store)[0]["digest"])
    )


def test_lines_that_are_left_out_are_counted(played: tuple[str, str, str]) -> None:
    store, _, disturbed = played
    (facts,) = objects("compare", PARENT, disturbed, "--store", store)
    apart = len(facts["second"]["only_here"])

    some = run("compare", PARENT, disturbed, "--lines", "1", "--store", store)
    every = run("compare", PARENT, disturbed, "--lines", "400", "--store", store)

    assert some.stdout.endswith(f"and {apart - 1} more\n")
    assert not re.search(r"^and .* more$", every.stdout, flags=re.MULTILINE)


def test_a_disturbed_branch_parts_from_its_parent_where_it_began(played: tuple[str, str, str]) -> None:
    store, _, disturbed = played

    result = run("compare", PARENT, disturbed, "--store", store)
    (facts,) = objects("compare", PARENT, disturbed, "--store", store)

    assert (
        f"continues with event {facts['second']['parts_with_number']}, a branch, turn 5: the visitor says “A hen walks in.”"
        in result.stdout
    )
    assert f"only in {disturbed}:\n" in result.stdout
    assert ESCAPE not in result.stdout
    assert facts["shared_lines"] > 0
    assert facts["second"]["only_here"][0]["text"] == "A hen walks in."
    assert facts["first"]["cost_apart"]["calls"] < facts["first"]["cost"]["calls"]
    assert "completion" not in str(facts["first"]["parts_with"])


def test_events_are_cited_by_the_numbers_that_show_prints_and_why_takes(
    played: tuple[str, str, str],
) -> None:
    store, _, disturbed = played

    result = run("compare", PARENT, disturbed, "--store", store)

    (numbered,) = [line for line in result.stdout.splitlines() if "visitor: A hen walks in." in line]
    assert numbered in run("show", disturbed, "--numbers", "--lines", "200", "--store", store).stdout
    asked = run("why", numbered.split()[0], "--run", disturbed, "--store", store)
    assert asked.stdout.startswith(f"{numbered.split()[0]}  visitor  user.injected")


def test_two_plays_are_laid_side_by_side(played: tuple[str, str, str]) -> None:
    store, _, _ = played

    result = run("compare", PARENT, OTHER, "--lines", "1", "--store", store, COLUMNS="60")
    (facts,) = objects("compare", PARENT, OTHER, "--store", store)

    assert not facts["is_same"]
    assert (facts["first"]["name"], facts["second"]["name"]) == (PARENT, OTHER)
    assert list(facts) == ["is_same", "shared_events", "shared_lines", "first", "second"]
    assert [line.split()[0] for line in result.stdout.splitlines() if line.startswith(("turns", "cost"))] == [
        "turns",
        "cost",
    ]


def test_the_lineage_of_a_branch_shows_what_it_grew_from(played: tuple[str, str, str]) -> None:
    store, _, disturbed = played

    sessions = objects("lineage", disturbed, "--store", store)

    assert [session["origin"] for session in sessions] == ["root", "fork", "branch"]


def test_why_goes_back_beyond_the_place_where_a_branch_began(played: tuple[str, str, str]) -> None:
    store, _, disturbed = played
    events = objects("show", disturbed, "--ledger", "--store", store)
    spoken = next(e for e in events if e.get("run_id") == disturbed and e["kind"] == "agent.spoke")

    (answer,) = objects("why", spoken["id"], "--run", disturbed, "--store", store)

    seen = {line["event_id"] for line in answer["links"][0]["lines"]}
    assert seen
    assert any(not str(event_id).startswith(spoken["session_id"]) for event_id in seen)
    assert None not in seen
