"""`doctor` and `rehearse` with a model that takes very long: they speak at once, in a pipe too, tell what they know, and end."""

import json
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

from tests.journeys.commanding import environment, journey_seconds_max, run
from tests.journeys.terminals import Terminal
from tests.journeys.understudy import Performer, understudy
from tests.servers.imitating_server import ImitatingServer, imitating_server

never_seconds = 3_600.0
"""How long a slow server takes for an answer: longer than any test."""
REHEARSE = ("rehearse", "mystery-roots", "--form", "json")


@contextmanager
def server_that_stops(after: int) -> Iterator[ImitatingServer]:
    """A server that answers so many calls at once, and none after that."""
    answered = 0

    def say(_prompt: str) -> str:
        nonlocal answered
        if answered == after:
            server.delay_seconds = never_seconds
        answered += 1
        return "The kettle was warm at five, and nobody was up."

    with imitating_server("llamacpp", say=say) as server:
        yield server


class Piped:
    """A command whose output goes into two files, which are read while it runs."""

    def __init__(self, process: Performer, out: IO[bytes], complaints: IO[bytes]) -> None:
        self._process = process
        self._files = {"stdout": out, "stderr": complaints}

    def text(self, stream: str) -> str:
        self._files[stream].seek(0)
        return self._files[stream].read().decode()

    def wait_for(self, stream: str, text: str) -> None:
        self.wait_until(lambda: text in self.text(stream))

    def wait_until(self, is_so: Callable[[], bool]) -> None:
        until = time.monotonic() + journey_seconds_max
        while not is_so():
            assert time.monotonic() < until, f"it never came: {self.text('stdout')} {self.text('stderr')}"
            assert self._process.poll() is None, f"it ended: {self.text('stdout')} {self.text('stderr')}"
            time.sleep(0.01)

    def interrupt(self) -> int:
        self._process.send_signal(signal.SIGINT)
        return self._process.wait(journey_seconds_max)


@contextmanager
def piped(*words: str, cwd: Path) -> Iterator[Piped]:
    with TemporaryFile() as nothing, TemporaryFile() as out, TemporaryFile() as complaints:
        streams = [file.fileno() for file in (nothing, out, complaints)]
        process = understudy().begin(words, environment(), cwd, streams)
        try:
            yield Piped(process, out, complaints)
        finally:
            process.kill()
            process.wait()


def test_doctor_says_what_it_tries_and_tells_each_finding_while_the_model_is_silent(tmp_path: Path) -> None:
    with (
        server_that_stops(after=2) as server,
        piped("doctor", "--models", server.url, cwd=tmp_path) as doctor,
    ):
        doctor.wait_for("stderr", f"Asking {server.model} for a prompt of about ")

        findings = [line.split()[:2] for line in doctor.text("stdout").splitlines() if line[0] != " "]
        assert [what for _, what in findings][:5] == ["python", "packages", "page", "settings", "store"]
        assert f"{server.model} answers (llama.cpp at {server.url}" in doctor.text("stdout")
        assert f"{server.model} holds replies to a JSON Schema" in doctor.text("stdout")
        first, second, third, fourth, *_ = doctor.text("stderr").splitlines()
        assert first == f"Looking for the models of {server.url}: at most 60 seconds."
        assert second == f"Asking the server of {server.model} about itself: at most 60 seconds."
        assert third.startswith(f"Asking {server.model} a few things: at most ")
        assert fourth == f"Asking {server.model} for a reply under a JSON Schema: at most 90 seconds."
        assert doctor.interrupt() == 130


def test_doctor_ends_in_time_and_keeps_what_it_found(tmp_path: Path) -> None:
    with server_that_stops(after=0) as server:
        done = run("doctor", "--models", server.url, "--max-minutes", "0.03", "--json", cwd=tmp_path)

    findings = [json.loads(line) for line in done.stdout.splitlines()]
    texts = [finding["told"] for finding in findings if finding["what"] == "models"]
    # The second is what a machine says that is so busy that not even the list came.
    ends = (
        "was not asked to the end. The 0.03 minutes are over. For more: --max-minutes",
        "not listed in time.",
    )
    assert len([text for text in texts if text.endswith(ends)]) == 1
    assert [finding["what"] for finding in findings][-2:] == ["terminal", "worlds"]


def test_on_a_terminal_what_is_tried_makes_room_for_what_was_found(tmp_path: Path) -> None:
    with (
        server_that_stops(after=0) as server,
        Terminal("doctor", "--models", server.url, cwd=tmp_path) as terminal,
    ):
        before = terminal.wait_for("for a reply under a JSON Schema: at most 90 seconds.")
        terminal.press("\x03")
        assert terminal.end() == 130

    assert f"\r\x1b[KAsking the server of {server.model} about itself" in before
    assert "\r\x1b[K" in before.partition(" answers (")[0].rpartition("at most")[2]


def test_rehearse_speaks_while_the_first_call_is_under_way_and_shows_what_there_is_when_stopped(
    tmp_path: Path,
) -> None:
    with (
        server_that_stops(after=0) as server,
        piped(*REHEARSE, "--models", server.url, cwd=tmp_path) as rehearsal,
    ):
        rehearsal.wait_for("stderr", f"{server.model}, json: round 1 of 3, 0 calls in ")
        rehearsal.wait_until(lambda: bool(server.calls))
        assert rehearsal.interrupt() == 130

        assert rehearsal.text("stderr").startswith(f"Rehearsal: looking for {server.url}.\n")
        assert "| valid at first try " in rehearsal.text("stdout")


def test_a_round_that_is_interrupted_counts_as_far_as_it_was_played(tmp_path: Path) -> None:
    with (
        server_that_stops(after=3) as server,
        piped(*REHEARSE, "--models", server.url, "--json", cwd=tmp_path) as rehearsal,
    ):
        rehearsal.wait_until(lambda: len(server.calls) > 3)
        assert rehearsal.interrupt() == 130
        *_, last = [json.loads(line) for line in rehearsal.text("stdout").splitlines()]

    measures = last["measures"]
    assert (last["rounds"], last["is_partial"]) == (1, False)
    assert measures["valid_at_first_try"]["n"] >= 1
    assert measures["prompt_tokens"]["n"] >= 1
    assert measures["uptake"]["n"] == 0, "nobody had the time to hear the visitor"


def test_rehearse_does_not_wait_for_a_call_once_its_time_is_over(tmp_path: Path) -> None:
    with server_that_stops(after=0) as server:
        done = run(*REHEARSE, "--models", server.url, "--max-minutes", "0.03", cwd=tmp_path)

    assert done.returncode == 0
    assert "Stopped after 0.03 minutes" in done.stderr
