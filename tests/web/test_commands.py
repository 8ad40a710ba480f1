"""What the page does, over a real server: start, play, pause, step, finish, disturb, branch, and change the graph."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, get_args

import pytest

from glasshouse import MemoryStore, Terrarium
from glasshouse.events.event import Event
from glasshouse.views import reading_time
from glasshouse.web.access import Access
from glasshouse.web.commands import Edit
from tests.web.served import Served, blocks_of, served

RUNS = "/api/v1/runs"


async def post(page: Served, path: str, body: dict[str, Any] | None = None) -> Any:
    answer = await page.client.post(path, json=body or {})
    assert answer.status_code in {200, 201}, answer.text
    return answer.json()


async def until(t: Terrarium, run_id: str, status: str) -> None:
    """Wait until a run has a status; every change of it is an event."""
    changes = t.subscribe(after=0)
    try:
        while t.run_of(run_id).status != status:
            await anext(changes)
    finally:
        await changes.aclose()


async def test_a_world_is_started_and_played_to_its_end() -> None:
    async with Terrarium(MemoryStore()) as t, served(t) as page:
        begun = await post(page, RUNS, {"world": "thousand-token-wood", "seed": "a lamp", "speed": "fast"})
        assert (begun["world"], begun["seed"], begun["state"]) == ("thousand-token-wood", "a lamp", "playing")
        await until(t, begun["id"], "finished")
        (listed,) = await page.get(RUNS)
        assert (listed["id"], listed["state"], listed["reason"]) == (begun["id"], "finished", "ended")


def read_for_an_hour(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a reader need an hour for every line, also for the opening."""
    monkeypatch.setattr(reading_time, "seconds_to_read", lambda _text: 3_600.0)
    monkeypatch.setattr(reading_time, "opening_milliseconds_max", 3_600_000)


async def test_at_the_pace_of_a_reader_no_act_begins_before_every_line_could_be_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read: list[str] = []

    def for_ever(text: str) -> float:
        read.append(text)
        return 0.0 if len(read) == 1 else 3_600.0

    monkeypatch.setattr(reading_time, "seconds_to_read", for_ever)
    async with Terrarium(MemoryStore()) as t, served(t) as page:
        begun = await post(page, RUNS, {"world": "thousand-token-wood"})
        said = [event.payload["text"] async for event in _lines(t, begun["id"], 2)]
        # Many more lines would come in this time, if the next act did not wait. Nobody looks on.
        await asyncio.sleep(0.3)
        await post(page, f"{RUNS}/{begun['id']}/disturb", {"text": "A quandle rolls in."})
        assert read == said
        assert t.run_of(begun["id"]).calls == 1
        await post(page, f"{RUNS}/{begun['id']}/play", {"speed": "fast"})
        await until(t, begun["id"], "finished")


async def _lines(t: Terrarium, run_id: str, count: int) -> AsyncIterator[Event]:
    async with t.subscribe(after=0) as events:
        async for event in events:
            if event.run_id == run_id and isinstance(event.payload.get("text"), str):
                yield event
                count -= 1
                if not count:
                    return


async def test_a_run_that_goes_on_while_it_pauses_is_played_on(monkeypatch: pytest.MonkeyPatch) -> None:
    read_for_an_hour(monkeypatch)
    async with Terrarium(MemoryStore()) as t, served(t) as page:
        begun = await post(page, RUNS, {"world": "thousand-token-wood"})
        path = f"{RUNS}/{begun['id']}"
        for _ in range(5):  # Whether its drive has ended in between or not.
            assert (await post(page, f"{path}/pause"))["state"] == "paused"
            assert (await post(page, f"{path}/play"))["state"] == "playing"
        await post(page, f"{path}/play", {"speed": "fast"})
        await until(t, begun["id"], "finished")


async def test_pause_step_and_play_write_what_play_alone_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    world = {"world": "thousand-token-wood", "seed": "a lamp"}
    async with Terrarium(MemoryStore()) as t, served(t) as page:
        alone = (await post(page, RUNS, {**world, "speed": "fast"}))["id"]
        await until(t, alone, "finished")
        read_for_an_hour(monkeypatch)
        begun = (await post(page, RUNS, world))["id"]
        path = f"{RUNS}/{begun}"
        for turns in (1, 2):  # The step waits for the drive that ends.
            assert (await post(page, f"{path}/pause"))["state"] == "paused"
            stepped = await post(page, f"{path}/step")
            assert (stepped["state"], stepped["turns"]) == ("paused", turns)
            (listed,) = await page.get(RUNS, state="paused")
            assert (listed["id"], t.run_of(begun).status) == (begun, "playing")
            (related,) = (await page.get(f"{path}/lineage"))["family"]
            assert related["state"] == "paused"
            await post(page, f"{path}/play")
        playing = await page.client.post(f"{path}/step", json={})
        assert (playing.status_code, await page.get(RUNS, state="paused")) == (409, [])
        await post(page, f"{path}/play", {"speed": "fast"})
        await until(t, begun, "finished")

        assert len(await t.run_events(begun)) == len(await t.run_events(alone))
        assert await t.digest(begun) == await t.digest(alone)


async def test_a_run_that_was_paused_in_the_ledger_continues_for_a_step_and_is_not_paused_again() -> None:
    async with Terrarium(MemoryStore()) as t, served(t) as page:
        run = await t.open_world("mystery-roots")
        await t.pause(run.id, "Back at eight.")
        stepped = await post(page, f"{RUNS}/{run.id}/step")
        assert (stepped["state"], stepped["turns"]) == ("paused", 1)
        moved = [
            event for event in await t.run_events(run.id) if event.kind in ("run.paused", "run.continued")
        ]
        assert [event.kind for event in moved] == ["run.paused", "run.continued"]
        assert moved[1].payload["by"] == "page"


async def test_runs_that_share_a_graph_are_paused_together(monkeypatch: pytest.MonkeyPatch) -> None:
    read_for_an_hour(monkeypatch)
    async with Terrarium(MemoryStore()) as t, served(t) as page:
        wood, roots = [await t.open_world(world) for world in ("thousand-token-wood", "mystery-roots")]
        await t.connect("seedkeeper", "clue-gatherer")
        await post(page, f"{RUNS}/{wood.id}/play")
        assert {run["state"] for run in await page.get(RUNS)} == {"playing"}
        await post(page, f"{RUNS}/{roots.id}/pause")
        assert {run["state"] for run in await page.get(RUNS)} == {"paused"}
        await post(page, f"{RUNS}/{wood.id}/disturb", {"text": "A quandle rolls in."})
        assert {run["state"] for run in await page.get(RUNS)} == {"paused"}


async def test_a_paused_run_is_stepped_disturbed_and_finished() -> None:
    async with Terrarium(MemoryStore()) as t, served(t) as page:
        run = await t.open_world("mystery-roots")
        path = f"{RUNS}/{run.id}"
        assert (await post(page, f"{path}/pause"))["state"] == "paused"
        before = t.run_of(run.id).turns
        stepped = await post(page, f"{path}/step")
        assert (stepped["state"], stepped["turns"]) == ("paused", before + 1)
        said = await post(page, f"{path}/disturb", {"text": "A quandle rolls in."})
        assert (await t.event(said["event_id"])).payload["text"] == "A quandle rolls in."
        (listed,) = await page.get(RUNS)
        assert (listed["state"], listed["turns"]) == ("paused", before + 1)
        assert (await post(page, f"{path}/finish"))["state"] == "finished"
        again = await page.client.post(f"{path}/pause", json={})
        assert again.status_code == 409


async def test_a_branch_is_played_and_its_parent_stays_as_it_is() -> None:
    async with Terrarium(MemoryStore()) as t, served(t) as page:
        run = await t.open_world("mystery-roots")
        await t.run(run.id, turns=5)
        events = await t.run_events(run.id)
        body = {"at": events[30].id, "disturb": "A hen walks in.", "speed": "fast"}
        branch = await post(page, f"{RUNS}/{run.id}/branch", body)
        await until(t, branch["id"], "finished")
        assert branch["branch_of"] == run.id
        assert await t.run_events(run.id) == events
        elsewhere = await t.open_world("thousand-token-wood")
        foreign = (await t.run_events(elsewhere.id))[0].id
        refused = await page.client.post(f"{RUNS}/{run.id}/branch", json={"at": foreign})
        assert refused.status_code == 404


async def test_it_is_kept_that_the_page_asked_for_a_change() -> None:
    store = MemoryStore()
    async with Terrarium(store) as t, served(t) as page:
        run = await t.open_world("thousand-token-wood")
        await post(page, "/api/v1/edits", {"what": "stop_creature", "creature": "seedkeeper"})
        await t.start_creature("seedkeeper")
        await post(page, f"{RUNS}/{run.id}/finish")
        requests = await store.requests(1, await store.position())

    assert [(request.by, request.sender) for _, request in sorted(requests.items())] == [
        ("api", "page"),
        ("api", ""),
        ("api", "page"),
    ]


async def test_a_change_of_the_graph_is_foretold_and_made() -> None:
    async with Terrarium(MemoryStore()) as t, served(t) as page:
        await t.open_world("thousand-token-wood")
        await t.open_world("mystery-roots")
        bridge = {"what": "connect", "creature": "seedkeeper", "target": "clue-gatherer"}
        foretold = await post(page, "/api/v1/edits", {**bridge, "dry_run": True})
        assert foretold["kind"] == "merge"
        assert len(t.graphs()) == 2
        assert (await post(page, "/api/v1/edits", bridge))["kind"] == "merge"
        assert len(t.graphs()) == 1
        cut = {**bridge, "what": "disconnect"}
        assert (await post(page, "/api/v1/edits", cut))["kind"] == "split"
        assert len(t.graphs()) == 2
        leaving = {"what": "leave_channel", "creature": "clue-gatherer", "channel": "stage"}
        foretold = await post(page, "/api/v1/edits", {**leaving, "dry_run": True})
        assert foretold["kind"] == "split"
        graph = t.creature("seedkeeper").graph_id
        renaming = {"what": "rename_channel", "graph": graph, "channel": "stage~2", "target": "clearing"}
        await post(page, "/api/v1/edits", renaming)
        await post(page, "/api/v1/edits", {"what": "add_channel", "graph": graph, "channel": "hollow"})
        joining = {"what": "join_channel", "creature": "seedkeeper", "channel": "hollow"}
        assert (await post(page, "/api/v1/edits", joining))["kind"] == "nothing"
        senders = {channel.name: channel.senders for channel in t.environment(graph).channels}
        assert "seedkeeper" in senders["hollow"]
        assert "seedkeeper" in senders["clearing"]
        newcomer = {"name": "newt", "persona": "A newt who has come about the lamp."}
        await post(
            page, "/api/v1/edits", {"what": "add_creature", "manifest": newcomer, "graph": t.graphs()[0].id}
        )
        assert (await post(page, "/api/v1/edits", {"what": "remove_creature", "creature": "newt"}))[
            "kind"
        ] == "nothing"


async def test_every_change_is_named_as_a_method_and_is_made() -> None:
    async with Terrarium(MemoryStore()) as t, served(t) as page:
        run = await t.open_world("thousand-token-wood")
        (graph,) = run.graph_ids
        first, second = t.graph(graph).creature_ids[:2]
        pair = {"creature": first, "target": second}
        changes: list[dict[str, Any]] = [
            {"what": "stop_creature", "creature": first},
            {"what": "start_creature", "creature": first},
            {"what": "grant_privilege", "creature": first},
            {"what": "revoke_privilege", "creature": first},
            {"what": "wire", **pair},
            {"what": "unwire", **pair},
            {"what": "set_parent", **pair},
            {"what": "set_parent", "creature": first},
            {"what": "add_channel", "graph": graph, "channel": "hollow"},
            {"what": "join_channel", "creature": first, "channel": "hollow"},
            {"what": "leave_channel", "creature": first, "channel": "hollow"},
            {"what": "rename_channel", "graph": graph, "channel": "hollow", "target": "nook"},
            {"what": "remove_channel", "graph": graph, "channel": "nook"},
            {"what": "connect", **pair, "channel": "lane", "both": True},
            {"what": "disconnect", **pair, "channel": "lane"},
            {"what": "add_creature", "graph": graph, "manifest": {"name": "newt", "persona": "A newt."}},
            {"what": "remove_creature", "creature": "newt"},
        ]
        named = {*get_args(Edit.model_fields["what"].annotation)} - {
            "accept_tool"
        }  # This needs a tool server.
        assert {change["what"] for change in changes} == named
        assert all(hasattr(t, name) for name in named)
        kinds_written = []
        for change in changes:
            before = len(await t.run_events(run.id))
            await post(page, "/api/v1/edits", {**change, "dry_run": True})
            assert len(await t.run_events(run.id)) == before
            await post(page, "/api/v1/edits", change)
            kinds_written.append((await t.run_events(run.id))[before].kind)
        assert kinds_written == [
            *("creature.stopped", "creature.started", "privilege.granted", "privilege.revoked"),
            *("wire.added", "wire.removed"),
            *("parent.changed", "parent.changed", "channel.opened", "channel.joined", "channel.left"),
            *("channel.renamed", "channel.closed", "channel.opened", "channel.left"),
            *("creature.started", "creature.stopped"),
        ]


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        (RUNS, {"world": "../../etc"}, 404),
        (RUNS, {"world": "mystery-root"}, 404),
        (RUNS, {"world": "mystery-roots", "unknown": 1}, 422),
        (RUNS, {"world": "mystery-roots", "rng_seed": -1}, 422),
        ("/api/v1/edits", {"what": "connect", "creature": "ada"}, 409),
        ("/api/v1/edits", {"what": "explode"}, 422),
        ("/api/v1/edits", {"what": "add_creature"}, 409),
        ("/api/v1/edits", {"what": "add_creature", "manifest": {"name": "x", "temper": 7}}, 409),
        ("/api/v1/edits", {"what": "add_creature", "manifest": {"name": "x", "played_by": "os:system"}}, 409),
        ("/api/v1/edits", {"what": "add_creature", "manifest": {"name": "x", "tools": ["evil.py:run"]}}, 409),
    ],
)
async def test_what_cannot_be_done_changes_nothing_and_is_told_in_words(
    path: str, body: dict[str, Any], status: int
) -> None:
    store = MemoryStore()
    async with Terrarium(store) as t, served(t) as page:
        answer = await page.client.post(path, json=body)

        assert answer.status_code == status, answer.text
        assert await store.position() == 0


@pytest.mark.parametrize("role", ["spectator", "audience"])
async def test_only_a_director_directs(role: Any) -> None:
    access = Access("a secret of more than sixteen characters")
    store = MemoryStore()
    async with Terrarium(store) as t, served(t, access) as page:
        bearer = {"authorization": f"Bearer {access.token_for(role)}"}
        for path in (RUNS, f"{RUNS}/r-1/play", f"{RUNS}/r-1/disturb", "/api/v1/edits"):
            answer = await page.client.post(path, json={}, headers=bearer)
            assert answer.status_code == 403, path
        assert await store.position() == 0


async def test_two_runs_are_played_side_by_side_and_shut_down_at_once() -> None:
    store = MemoryStore()
    async with Terrarium(store) as t:
        async with served(t) as page:
            for world in ("thousand-token-wood", "mystery-roots"):
                await post(page, RUNS, {"world": world})
            loop = asyncio.get_running_loop()
            begun = loop.time()
        assert (
            loop.time() - begun < 10
        )  # Far more than the 2.5 seconds it may take, for a machine under load.
        assert {run.status for run in t.runs()} == {"playing"}
        await t.step(1)


async def test_a_run_that_a_limit_stopped_goes_on_in_a_branch_with_higher_limits() -> None:
    async with Terrarium(MemoryStore()) as t, served(t) as page:
        limits = {"max_total_calls": 3}
        begun = await post(page, RUNS, {"world": "mystery-roots", "limits": limits, "speed": "fast"})
        path = f"{RUNS}/{begun['id']}/limits"
        await until(t, begun["id"], "finished")
        assert t.run_of(begun["id"]).axis == "max_total_calls"
        events = await t.run_events(begun["id"])
        for refused in ({"max_total_calls": 3}, {"max_turns": 50}):
            answer = await page.client.post(path, json={"limits": refused})
            assert answer.status_code == 409
            assert "max_total_calls" in answer.json()["message"]
        raised = await post(page, path, {"limits": {"max_total_calls": 5}, "speed": "fast"})
        assert raised["branch_of"] == begun["id"]
        await until(t, raised["id"], "finished")
        assert t.run_of(raised["id"]).calls == 5
        assert await t.run_events(begun["id"]) == events
        free = await t.open_world("mystery-roots")
        answer = await page.client.post(f"{RUNS}/{free.id}/limits", json={"limits": limits})
        assert answer.status_code == 409


async def signal_of(page: Served, run_id: str) -> Any:
    """What the stream of a run says that goes on now."""
    async with page.client.stream("GET", f"{RUNS}/{run_id}/stream") as answer:
        blocks = blocks_of(answer.aiter_lines(), has_signals=True)
        async for block in blocks:
            if block.name == "signal":
                await blocks.aclose()  # type: ignore[attr-defined]
                return block.data
    raise AssertionError("the stream has no signal")


async def test_a_run_that_came_in_a_file_unfinished_is_recorded_and_played_on_in_a_child(
    tmp_path: Path,
) -> None:
    async with Terrarium(MemoryStore()) as t:
        run = await t.open_world("twenty-sprouts", seed="a lamp")
        await t.run(run.id, turns=3)
        await t.export(run.id, tmp_path / "run.glass", role="director")
        events = len(await t.run_events(run.id))
    async with Terrarium(MemoryStore()) as t, served(t) as page:
        await t.import_file(tmp_path / "run.glass")
        assert (await signal_of(page, run.id))["driver"] == {run.id: {"state": "recorded"}}
        for dead in ("play", "pause", "step", "finish"):
            assert (await page.client.post(f"{RUNS}/{run.id}/{dead}", json={})).status_code == 404

        child = await post(page, f"{RUNS}/{run.id}/resume", {"speed": "fast"})

        assert (child["branch_of"], child["seed"], child["is_imported"]) == (run.id, "a lamp", False)
        await until(t, child["id"], "finished")
        assert t.run_of(child["id"]).turns > 3
        assert len(await t.run_events(run.id)) == events, "what was recorded stays as it is"


async def test_a_finished_run_is_played_on_in_a_child_as_its_world_is_now() -> None:
    async with Terrarium(MemoryStore()) as t, served(t) as page:
        run = await t.open_world("twenty-sprouts")
        live = await page.client.post(f"{RUNS}/{run.id}/resume", json={})
        assert (live.status_code, "is live" in live.text) == (409, True)
        await t.run(run.id)
        assert t.run_of(run.id).is_finished

        child = await post(page, f"{RUNS}/{run.id}/resume", {"speed": "fast"})

        assert (child["branch_of"], child["world"]) == (run.id, "twenty-sprouts")
        await until(t, child["id"], "finished")
        assert t.run_of(child["id"]).turns > 0


async def test_a_file_for_spectators_cannot_be_played_on_and_the_refusal_says_why(tmp_path: Path) -> None:
    async with Terrarium(MemoryStore()) as t:
        run = await t.open_world("twenty-sprouts")
        await t.run(run.id, turns=3)
        await t.export(run.id, tmp_path / "run.glass", role="spectator")
    async with Terrarium(MemoryStore()) as t, served(t) as page:
        await t.import_file(tmp_path / "run.glass")
        refused = await page.client.post(f"{RUNS}/{run.id}/resume", json={})
        assert refused.status_code == 409
        assert "Import a file that was exported for the audience" in refused.json()["message"]
