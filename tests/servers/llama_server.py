"""A real llama.cpp server over HTTP, in its own process, with a small random model.

with llama_server(slots=1) as server:
    ...  # server.url, server.kill(), server.restart(), server.tokens_of(text), server.counted()
"""

import json
import random
import re
import select
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from tests.servers.gguf_model import Vocabulary, write_model

start_seconds_max = 60
"""Longer than a start takes on the slowest machine: only one that hangs is given up."""

# Below the ports that the system gives to clients, so that no client takes the port of a server that was killed.
PORTS = range(20_000, 30_000)
PROGRAM = Path(__file__).with_name("llama_process.py")


class Counted(NamedTuple):
    """Tokens as the server counted them."""

    input_uncached: int
    cache_read: int
    output: int

    def plus(self, other: "Counted") -> "Counted":
        return Counted(*(mine + others for mine, others in zip(self, other, strict=True)))


class LlamaServer:
    """The server's process and what one can ask it besides completions."""

    def __init__(self, model: Path, slots: int, context_tokens: int) -> None:
        self.slots = slots
        self.context_tokens = context_tokens
        self._model = model
        self._log = model.with_suffix(".log")
        self._counted_before = Counted(0, 0, 0)
        self._process, self._reservation = self._started_on_a_free_port()
        self.port: int = self._reservation.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._wait_for_health()

    def kill(self) -> None:
        """End the process at once, as a crash does. Requests under way are not answered."""
        if self._process.poll() is None:
            self._counted_before = self.counted()
            self._process.kill()
        self._process.communicate()

    def close(self) -> None:
        """End the process and give its port back."""
        self.kill()
        self._reservation.close()

    def restart(self) -> None:
        """Start it anew on the same port, with an empty cache."""
        self.kill()
        process = self._started(self.port)
        assert process is not None, f"port {self.port} was taken while the server was down"
        self._process = process
        self._wait_for_health()

    def tokens_of(self, text: str) -> list[int]:
        """The tokens of a text as the server reads it inside a message: control tokens are recognized."""
        return list(self.posted("/tokenize", {"content": text, "parse_special": True})["tokens"])

    def slots_now(self) -> list[dict[str, Any]]:
        """What each slot does now, as `/slots` tells it: `is_processing` and more."""
        return list(json.loads(self._got("/slots")))

    def counted(self) -> Counted:
        """All tokens of all requests, those before a restart included."""
        metrics = dict(re.findall(r"^llamacpp:(\w+) (\d+)", self._got("/metrics"), flags=re.MULTILINE))
        names = ("prompt_tokens_total", "prompt_tokens_cached_total", "tokens_predicted_total")
        return Counted(*(int(metrics[name]) for name in names)).plus(self._counted_before)

    def posted(self, path: str, body: dict[str, Any]) -> Any:
        """The answer to one request, as JSON; an answer other than 200 raises `HTTPError`."""
        head = {"Content-Type": "application/json"}
        request = urllib.request.Request(self.url + path, json.dumps(body).encode(), head)
        return json.loads(_answer(request))

    def _got(self, path: str) -> str:
        return _answer(urllib.request.Request(self.url + path)).decode()

    def _started_on_a_free_port(self) -> tuple[subprocess.Popen[bytes], socket.socket]:
        for port in random.SystemRandom().sample(PORTS, 100):
            if reservation := reserved(port):
                if process := self._started(port):
                    return process, reservation
                reservation.close()
        raise RuntimeError("a hundred ports were tried, and the server started on none")

    def _started(self, port: int) -> subprocess.Popen[bytes] | None:
        """The process once it listens; None if the port is taken."""
        words = [str(self._model), str(port), str(self.slots), str(self.context_tokens)]
        with self._log.open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-I", str(PROGRAM), *words],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
            )
        assert process.stdout is not None
        is_readable, _, _ = select.select([process.stdout], [], [], start_seconds_max)
        if is_readable and process.stdout.readline():
            return process
        process.kill()
        process.communicate()
        complaints = self._log.read_text(errors="replace")
        assert is_readable, f"the server did not start within {start_seconds_max} seconds: {complaints}"
        assert "Failed to init server" in complaints, complaints
        return None

    def _wait_for_health(self) -> None:
        deadline = time.monotonic() + start_seconds_max
        while '"ok"' not in self._health():
            assert time.monotonic() < deadline, (
                f"{self.url} was not healthy within {start_seconds_max} seconds"
            )
            time.sleep(0.005)

    def _health(self) -> str:
        try:
            return self._got("/health")
        except OSError:
            return ""


@contextmanager
def llama_server(
    vocabulary: Vocabulary = "ascii", *, slots: int = 1, context_tokens: int = 8192
) -> Iterator[LlamaServer]:
    """A llama.cpp server that is up; it is ended with the block, and with this process if that dies."""
    with TemporaryDirectory(prefix="llama-") as folder:
        model = Path(folder) / "random.gguf"
        write_model(model, vocabulary)
        server = LlamaServer(model, slots, context_tokens)
        try:
            yield server
        finally:
            server.close()


def reserved(port: int) -> socket.socket | None:
    """A socket that keeps other tests from this port while its server is down; None if one of them has it."""
    # It reserves the port for datagrams, which leaves the server free to listen for connections.
    reservation = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        reservation.bind(("127.0.0.1", port))
    except OSError:
        reservation.close()
        return None
    return reservation


def _answer(request: urllib.request.Request) -> bytes:
    # Without the proxies of the environment: the server is on this machine.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(request, timeout=start_seconds_max) as answer:
        return bytes(answer.read())
