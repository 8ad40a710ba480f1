"""`glasshouse serve` as a process of its own: what it says, whom it answers, and how it ends."""

from __future__ import annotations

import asyncio
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

from glasshouse import SqliteStore, Terrarium
from glasshouse.events.redaction import ROLES
from tests.journeys.commanding import GLASSHOUSE, environment, on_a_terminal, run
from tests.servers.imitating_server import imitating_server

TOKEN = "a secret of more than sixteen characters"
step_seconds_max = 120
"""For a step that takes a second or two on a quiet machine."""


class Serving:
    """A server that runs, and what it said when it began."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        self.process = process
        self.said: list[str] = []
        while not self.said or "Stop it with Ctrl-C" not in self.said[-1]:
            line = process.stdout.readline()
            assert line, process.communicate()
            self.said.append(line.strip())
        heading = next(n for n, line in enumerate(self.said) if line.endswith("is shown here:"))
        self.links = [line.split()[-1] for line in self.said[heading + 1 : -1]]
        self.address = self.links[0].partition("#")[0]

    def client(self) -> httpx2.Client:
        return httpx2.Client(base_url=self.address, trust_env=False, timeout=step_seconds_max)

    def end(self, number: signal.Signals) -> tuple[float, str]:
        """How many seconds it took to end after a signal, and what it said last."""
        begun = time.monotonic()
        self.process.send_signal(number)
        output, errors = self.process.communicate(timeout=step_seconds_max)
        return time.monotonic() - begun, output + errors


@contextmanager
def serving(store: Path | str, *words: str, **more: str) -> Iterator[Serving]:
    # A test run in the background inherits an ignored SIGINT, which a person at a terminal never has.
    command = [
        "env",
        "--default-signal=INT",
        *GLASSHOUSE,
        "serve",
        "--port",
        "0",
        "--store",
        str(store),
        *words,
    ]
    process = subprocess.Popen(
        command, env=environment(**more), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        yield Serving(process)
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_in_time_with_streams_open_and_an_act_in_flight_and_owes_it_still(
    number: signal.Signals, tmp_path: Path
) -> None:
    store, is_asked, may_answer = tmp_path / "show.glasshouse", threading.Event(), threading.Event()

    def slow(_prompt: str) -> str:
        is_asked.set()
        may_answer.wait(step_seconds_max)
        return "Too late."

    with imitating_server("vllm", say=slow) as model, serving(store, "--models", model.url) as page:
        with page.client() as client:
            begun = client.post("/api/v1/runs", json={"world": "mystery-roots", "speed": "fast"})
            run_id = begun.json()["id"]
            assert is_asked.wait(step_seconds_max)
            with client.stream("GET", f"/api/v1/runs/{run_id}/stream") as stream:
                blocks = stream.iter_lines()
                assert next(blocks) == "event: view"
                seconds, said = page.end(number)
                may_answer.set()
        assert page.process.returncode == 0
        assert seconds < 15  # Three seconds, and what a stalled machine may take.
        assert said.startswith("Stopped.")
        assert "Traceback" not in said

    async def goes_on() -> None:
        async with Terrarium(SqliteStore(store)) as t:
            assert t.run_of(run_id).status == "playing"
            assert t.due(run_id)
            assert (await t.run(run_id, turns=1)).turns == 1

    asyncio.run(goes_on())


def test_with_a_token_there_is_a_link_for_each_role_under_any_path(tmp_path: Path) -> None:
    words = ("--root-path", "/show/", "--allow-host", "glass.example")
    with serving(tmp_path / "show.glasshouse", *words, GLASSHOUSE_TOKEN=TOKEN) as page:
        assert len(page.links) == len(ROLES)
        assert page.address.endswith("/show/")
        assert TOKEN not in "\n".join(page.said)
        with page.client() as client:
            assert client.get("api/v1/runs").status_code == 401
            for link, role in zip(page.links, reversed(ROLES), strict=True):
                token = link.partition("#token=")[2]
                headers = {"authorization": f"Bearer {token}"}
                assert client.get("api/v1/me", headers=headers).json()["role"] == role
                here = {"origin": str(client.base_url.join("/")).rstrip("/")}
                entered = client.post("api/v1/session", json={"token": token}, headers=here)
                assert "path=/show;" in f"{entered.headers['set-cookie'].lower()};"
                # A proxy may take the path away before it passes a request on, or not; and may have any name allowed.
                assert client.get("api/v1/me").json()["role"] == role
                for host, status in (("glass.example", 200), ("192.0.2.7:80", 200), ("other.example", 421)):
                    stripped = str(client.base_url).replace("/show", "") + "api/v1/me"
                    answer = client.get(stripped, headers={**headers, "host": host})
                    assert answer.status_code == status


def test_what_cannot_be_served_is_said_in_one_sentence_and_where_help_is(tmp_path: Path) -> None:
    (other := tmp_path / "other.txt").write_text("This is no store. " * 100, encoding="utf-8")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        for words, environment_, expected in (
            (("--port", port), {}, f"--port {int(port) + 1}"),
            (("--host", "0.0.0.0"), {}, "GLASSHOUSE_TOKEN=$(openssl rand -hex 16)"),
            (("--host", "0.0.0.0"), {"GLASSHOUSE_TOKEN": "short"}, "at least 16 characters"),
            (("--allow-host", "glass.example"), {}, "GLASSHOUSE_TOKEN"),
            (("--port", "0", "--store", str(tmp_path / "no/such")), {}, "Make the folder first"),
            (("--port", "0", "--store", str(other)), {}, "is not a Glasshouse store"),
            (("--port", "0", "--models", "http://127.0.0.1:1"), {}, "--models offline"),
        ):
            result = run("serve", *words, cwd=tmp_path, **environment_)
            assert (result.returncode, result.stdout) == (3, ""), words
            assert expected in result.stderr, words
            said, help_, *more = result.stderr.splitlines()
            assert said.startswith("glasshouse: "), words
            assert help_.startswith("Help: docs/"), words
            assert more == [], words
    assert run("serve", "--root-path", "a b").returncode == 2


def test_a_browser_is_opened_only_on_a_terminal_with_a_display(tmp_path: Path) -> None:
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" >> {tmp_path}/opened\nkill -TERM $PPID\n', encoding="utf-8")
    browser.chmod(0o755)
    words = ("serve", "--port", "0", "--store", str(tmp_path / "show.glasshouse"))

    code, said = on_a_terminal(*words, BROWSER=f"{browser} %s", DISPLAY=":0")

    assert code == 0
    assert (tmp_path / "opened").read_text(encoding="utf-8").strip() in said
