"""What the command line, HTTP and the tools for assistants say of a run that was recorded under another number for prompts."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from glasshouse import SqliteStore, Terrarium
from glasshouse.events.payloads import prompting_now
from glasshouse.manifests.world_folders import BUNDLED
from glasshouse.mcp_server.answers import played_of
from tests.journeys.commanding import objects, run
from tests.web.served import served

OLD = Path(__file__).resolve().parent.parent / "old_files" / "prompting-1" / "twenty-sprouts.glasshouse.gz"
GOES_ON = f"r-left was begun under prompting number 1 and goes on under number {prompting_now}"
ANEW = f"continues a past of prompting number 1 under number {prompting_now}"


@pytest.fixture
def store(tmp_path: Path) -> str:
    path = tmp_path / "old.glasshouse"
    path.write_bytes(gzip.decompress(OLD.read_bytes()))
    return str(path)


def in_one_line(text: str) -> str:
    return " ".join(text.split())


def test_verify_says_that_prompts_were_not_built_again(store: str) -> None:
    said = run("replay", "r-whole", "--verify", "--store", store)
    (facts,) = objects("replay", "r-whole", "--verify", "--store", store)

    assert said.returncode == 0
    assert "r-whole: verified." in said.stdout
    assert "The prompts of 15 acts were not built again" in in_one_line(said.stdout)
    assert (facts["is_same"], facts["acts_not_thought_again"], facts["prompting_then"]) == (True, 15, [1])
    assert "were not built again" in facts["prompts_not_built"]


def test_whoever_continues_an_old_run_is_told_and_its_verification_counts_the_old_acts(store: str) -> None:
    said = run("play", "--continue", "r-left", "--turns", "1", "--store", store, cwd=BUNDLED.parent)
    continued, *_ = objects(
        "play", "--continue", "r-left", "--turns", "1", "--store", store, cwd=BUNDLED.parent
    )
    verified = run("replay", "r-left", "--verify", "--store", store)

    assert GOES_ON in in_one_line(said.stdout + said.stderr)
    assert continued["continued"]["run_id"] == "r-left"
    assert GOES_ON in continued["continued"]["prompting_note"]
    assert "The prompts of 2 acts were not built again" in in_one_line(verified.stdout)


def test_whoever_resumes_an_old_run_in_place_is_told(store: str) -> None:
    facts, *_ = objects("resume", "r-left", "--as-was", "--turns", "1", "--store", store, cwd=BUNDLED.parent)

    assert GOES_ON in facts["resumed"]["prompting_note"]


def test_whoever_branches_or_resumes_a_finished_old_run_is_told_that_calls_are_paid_anew(store: str) -> None:
    said = run("branch", "r-whole", "--at", "20", "--no-play", "--store", store, cwd=BUNDLED.parent)
    branched, *_ = objects(
        "branch", "r-whole", "--at", "20", "--no-play", "--store", store, cwd=BUNDLED.parent
    )
    resumed, *_ = objects("resume", "r-whole", "--turns", "1", "--store", store, cwd=BUNDLED.parent)

    assert ANEW in in_one_line(said.stdout)
    assert "made and paid anew" in in_one_line(said.stdout)
    assert ANEW in branched["branched"]["prompting_note"]
    assert ANEW in resumed["resumed"]["prompting_note"]


async def test_http_and_assistants_tell_it_with_the_run(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(BUNDLED.parent)
    async with Terrarium(SqliteStore(store)) as t, served(t) as page:
        stepped = await page.client.post("/api/v1/runs/r-left/step", json={})
        listed = {run["id"]: run for run in await page.get("/api/v1/runs")}
        of_assistant = played_of(t.run_of("r-left"), is_played_here=False)

    assert GOES_ON in stepped.json()["prompting_note"]
    assert (listed["r-left"]["prompting"], listed["r-whole"]["prompting"]) == (1, 1)
    assert listed["r-whole"]["prompting_note"] == ""
    assert GOES_ON in of_assistant.prompting_note
