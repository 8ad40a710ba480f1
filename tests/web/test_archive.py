"""The archive, over a real server: lists, labels, lineage, the leaderboard, and the same as CSV."""

from __future__ import annotations

import csv
import io
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from glasshouse import MemoryStore, Terrarium
from glasshouse.runtime.past.what_if import WhatIf
from glasshouse.web.access import Access
from glasshouse.web.csv_answers import csv_of
from tests.web.served import Served, served

RUNS = "/api/v1/runs"
SECRET = "a secret of more than sixteen characters"


async def ids(page: Served, **query: Any) -> list[str]:
    return [run["id"] for run in await page.get(RUNS, **query)]


async def test_runs_are_found_by_world_state_date_cost_and_label() -> None:
    async with Terrarium(MemoryStore()) as t:
        first = await t.open_world("mystery-roots")
        second = await t.open_world("twenty-sprouts", seed="a lamp with a cold")
        await t.run(second.id)
        async with served(t) as page:
            assert await ids(page) == [second.id, first.id]
            rows = {run["id"]: run for run in await page.get(RUNS)}
            ended = rows[second.id]
            assert (ended["state"], ended["winner"]) == ("finished", t.run_of(second.id).winner)
            assert ended["began"] < ended["ended"]
            assert rows[first.id]["ended"] is None
            view = await page.get(f"{RUNS}/{second.id}/view")
            assert ended["events"] == view["k"]
            assert await ids(page, search="COLD") == [second.id]
            assert await ids(page, world="mystery-roots") == [first.id]
            assert await ids(page, state="finished") == [second.id]
            assert await ids(page, since=ended["began"]) == [second.id]
            assert await ids(page, until=ended["began"]) == [first.id]
            assert await ids(page, usd_min=0.01) == []
            assert await ids(page, usd_max=0) == [second.id, first.id]
            paged = await page.client.get(RUNS, params={"limit": 1, "offset": 1})
            assert ([run["id"] for run in paged.json()], paged.headers["x-total-count"]) == ([first.id], "2")

            given = await page.client.post(f"{RUNS}/{first.id}/labels", json={"labels": ["keep", " keep "]})
            assert given.json() == {"labels": ["keep"]}
            assert await ids(page, label="keep") == [first.id]
            assert await ids(page, search="keep") == [first.id]
            assert await ids(page, label=["keep", "dull"]) == []
            archive = await page.get("/api/v1/archive", world="mystery-roots")
            assert (archive["total"], archive["labels"]) == (1, {"keep": 1})
            assert archive["worlds"] == {"mystery-roots": 1, "twenty-sprouts": 1}
            assert archive["runs"][0]["labels"] == ["keep"]
            await page.client.post(f"{RUNS}/{first.id}/labels", json={"labels": []})
            assert await ids(page, label="keep") == []


async def test_labels_change_no_story_and_survive_in_a_file(tmp_path: Path) -> None:
    async with Terrarium(tmp_path / "show.glasshouse") as t:
        run = await t.open_world("twenty-sprouts")
        await t.run(run.id)
        digest, position = await t.digest(run.id), (await t.run_events(run.id))[-1].position
        await t.label_run(run.id, ["keep", "for the talk"])
        assert (await t.digest(run.id), (await t.run_events(run.id))[-1].position) == (digest, position)
    async with Terrarium(tmp_path / "show.glasshouse") as t:
        assert await t.labels() == {run.id: ("keep", "for the talk")}


@pytest.mark.parametrize(
    ("labels", "status"),
    [
        (["x" * 41], 422),
        ([""], 422),
        (["  "], 409),
        (["two\nlines"], 409),
        ([str(n) for n in range(17)], 422),
    ],
)
async def test_what_is_no_label_is_refused(labels: list[str], status: int) -> None:
    async with Terrarium(MemoryStore()) as t, served(t) as page:
        run = await t.open_world("twenty-sprouts")
        answer = await page.client.post(f"{RUNS}/{run.id}/labels", json={"labels": labels})
        assert answer.status_code == status
        assert await t.labels() == {}
        missing = await page.client.post(f"{RUNS}/r-nobody/labels", json={"labels": ["keep"]})
        assert missing.status_code == 404


async def test_only_a_director_labels() -> None:
    access = Access(SECRET)
    async with Terrarium(MemoryStore()) as t, served(t, access) as page:
        run = await t.open_world("twenty-sprouts")
        bearer = {"authorization": f"Bearer {access.token_for('audience')}"}
        answer = await page.client.post(f"{RUNS}/{run.id}/labels", json={"labels": ["x"]}, headers=bearer)
        assert answer.status_code == 403


async def test_branches_and_splits_are_in_the_lineage() -> None:
    async with Terrarium(MemoryStore()) as t:
        run = await t.open_world("mystery-roots")
        await t.run(run.id, turns=3)
        at = (await t.run_events(run.id))[-1]
        branch = await t.branch(at.session_id, at.id, WhatIf(disturb="A hen walks in."))
        await t.open_world("twenty-sprouts")
        async with served(t) as page:
            answer = await page.get(f"{RUNS}/{branch.id}/lineage")
            assert [row["id"] for row in answer["family"]] == [run.id, branch.id]
            assert answer["family"][1]["branch_of"] == run.id
            number = (await page.get(f"{RUNS}/{branch.id}/events/{at.id}/number"))["k"]
            for asked, other in (
                (branch, run),
                (run, branch),
            ):  # Each leaves the other's story at the same event.
                relatives = (await page.get(f"{RUNS}/{asked.id}/lineage"))["family"]
                leaves = {
                    relative["id"]: (relative["leaves_at"], relative["session"]) for relative in relatives
                }
                assert leaves == {asked.id: (None, None), other.id: (number, at.session_id)}
            origins = [row["origin"] for row in answer["sessions"]]
            assert (origins[0], origins[-1]) == ("root", "branch")
            for before, after in pairwise(answer["sessions"]):
                assert after["parents"] == [before["session"]]
            parent, child = [(await page.get(RUNS, search=run_id))[0] for run_id in (run.id, branch.id)]
            assert (child["branch_of"], child["branch_at"]) == (run.id, at.id)
            assert [lane["origin"] for lane in child["lanes"]] == origins
            assert [lane["parents"] for lane in child["lanes"]] == [
                [],
                *[[n] for n in range(len(origins) - 1)],
            ]
            assert child["events"] == (await page.get(f"{RUNS}/{branch.id}/view"))["k"]
            assert len(parent["lanes"]) == len(origins) - 1


async def test_a_run_that_came_in_a_file_is_in_the_archive(tmp_path: Path) -> None:
    async with Terrarium(MemoryStore()) as t:
        run = await t.open_world("twenty-sprouts", seed="a lamp")
        await t.run(run.id)
        await t.export(run.id, tmp_path / "run.glass")
        there = t.run_of(run.id)
    async with Terrarium(MemoryStore()) as t:
        await t.import_file(tmp_path / "run.glass")
        async with served(t) as page:
            (row,) = await page.get(RUNS)
            assert (row["id"], row["is_imported"], row["seed"]) == (run.id, True, "a lamp")
            assert (row["state"], row["winner"], row["tokens"]) == ("finished", there.winner, there.tokens)
            assert row["events"] == (await page.get(f"{RUNS}/{run.id}/view"))["k"]
            await page.client.post(f"{RUNS}/{run.id}/labels", json={"labels": ["keep"]})
            assert await ids(page, label="keep") == [run.id]
            assert len((await page.get(f"{RUNS}/{run.id}/lineage"))["sessions"]) == len(row["lanes"])


async def test_the_leaderboard_counts_finished_contests() -> None:
    async with Terrarium(MemoryStore()) as t:
        for seed in range(2):
            run = await t.open_world("twenty-sprouts", rng_seed=seed)
            await t.run(run.id)
        async with served(t) as page:
            leaderboard = await page.get("/api/v1/leaderboard")
            standings = t.leaderboard()
            assert [(row["name"], row["won"]) for row in leaderboard["standings"]] == [
                (standing.name, standing.won) for standing in standings
            ]
            assert leaderboard["branches_left_out"] == 0
            assert (await page.get("/api/v1/leaderboard", world="nowhere"))["standings"] == []
            answer = await page.client.get("/api/v1/leaderboard", params={"format": "csv"})
            rows = list(csv.DictReader(io.StringIO(answer.text)))
            assert [row["name"] for row in rows] == [standing.name for standing in standings]


async def test_a_list_as_csv_is_that_of_the_json() -> None:
    async with Terrarium(MemoryStore()) as t:
        await t.open_world("mystery-roots", seed='=HYPERLINK("http://x","y"), "quoted"\nline')
        await t.open_world("twenty-sprouts")
        async with served(t) as page:
            answer = await page.client.get(RUNS, params={"format": "csv", "world": "mystery-roots"})
            assert answer.headers["content-type"] == "text/csv; charset=utf-8"
            assert answer.headers["content-disposition"] == 'attachment; filename="runs.csv"'
            (row,) = csv.DictReader(io.StringIO(answer.text, newline=""))
            assert row["seed"] == '\'=HYPERLINK("http://x","y"), "quoted"\nline'
            assert row["usd"] == "0.0"
            assert (row["winner"], row["is_imported"]) == ("", "no")


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "  =1", "\uff1d1"])
def test_no_cell_is_a_formula(text: str) -> None:
    body = csv_of("x", ("a", "b"), [{"a": text, "b": -1.5}]).body
    ((cell, number),) = list(csv.reader(io.StringIO(bytes(body).decode(), newline="")))[1:]
    assert (cell, number) == (f"'{text}", "-1.5")
