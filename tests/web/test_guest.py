"""A server beside the process that plays its store: it follows, asks through the inbox, and refuses the rest by name."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import httpx2

from tests.journeys.commanding import run
from tests.web.test_serve_command import serving, step_seconds_max

RUNS = "api/v1/runs"


def soon(look: Any, is_there: Any) -> Any:
    """What comes in time; on any machine a moment later."""
    until = time.monotonic() + step_seconds_max
    while not is_there(seen := look()):
        assert time.monotonic() < until, seen
        time.sleep(0.05)
    return seen


def get(client: httpx2.Client, path: str) -> Any:
    answer = client.get(path)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_a_second_server_follows_the_first_and_asks_it_for_changes(tmp_path: Path) -> None:
    store = tmp_path / "show.glasshouse"
    with serving(store) as first, serving(store) as second, first.client() as host, second.client() as guest:
        me = get(guest, "api/v1/me")
        assert me["is_guest"]
        assert first.address in me["holder"]
        assert not get(host, "api/v1/me")["is_guest"]

        # A run that begins later, and everything in it, comes to the guest, too.
        begun = host.post(RUNS, json={"world": "thousand-token-wood", "speed": "fast"}).json()
        run_id = begun["id"]
        soon(lambda: get(guest, RUNS), bool)
        soon(
            lambda: get(guest, f"{RUNS}/{run_id}/view")["runs"][run_id]["state"],
            lambda state: state == "finished",
        )
        assert get(guest, f"{RUNS}/{run_id}/view") == get(host, f"{RUNS}/{run_id}/view")

        playing = host.post(RUNS, json={"world": "mystery-roots"}).json()["id"]
        soon(lambda: [run["id"] for run in get(guest, RUNS)], lambda ids: playing in ids)
        with guest.stream("GET", f"{RUNS}/{playing}/stream") as stream:
            lines = stream.iter_lines()
            assert next(lines) == "event: view"
            assert (
                guest.post(f"{RUNS}/{playing}/disturb", json={"text": "A quandle rolls in."}).status_code
                == 200
            )
            assert any("A quandle rolls in." in line for line in lines)  # It comes back down the stream.

        bridge = {"what": "connect", "creature": "seedkeeper", "target": "clue-gatherer"}
        before = len(get(host, f"{RUNS}/{playing}/view")["graphs"])
        assert guest.post("api/v1/edits", json={**bridge, "dry_run": True}).json()["kind"] == "merge"
        assert len(get(host, f"{RUNS}/{playing}/view")["graphs"]) == before
        made = guest.post("api/v1/edits", json=bridge)
        assert made.status_code == 200, made.text
        assert made.json()["kind"] == "merge"
        newt = {"name": "newt", "persona": "A newt who has come about the lamp."}
        graph = made.json()["new_graph_ids"][0]
        added = guest.post("api/v1/edits", json={"what": "add_creature", "manifest": newt, "graph": graph})
        assert added.status_code == 200, added.text

        for path in (RUNS, f"{RUNS}/{playing}/pause", f"{RUNS}/{playing}/play", f"{RUNS}/{playing}/finish"):
            refused = guest.post(path, json={"world": "mystery-roots"} if path == RUNS else {})
            assert refused.status_code == 409, path
            assert first.address in refused.json()["message"], path

        busy = run("play", "mystery-roots", "--store", str(store))
        assert busy.returncode == 3
        assert first.address in busy.stderr
