"""What a call of a server's tool costs through Glasshouse's client, against the bare client of the SDK in the same process."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter, process_time, sleep

from mcp import Client, StdioServerParameters

from bench.result import Result, judged
from glasshouse.runtime import event_loop
from glasshouse.runtime.clock import SystemClock
from glasshouse.tools.mcp.connections import Connections
from glasshouse.tools.mcp.tool_server import ToolServer

SCRIPT = str(Path(__file__).with_name("tool_server.py"))
ARGUMENTS = {"text": "A lantern whispers."}
calls_a_round = 2
rounds = 400

Call = Callable[[], Awaitable[object]]
Cost = tuple[float, float]


async def _cost(call: Call) -> Cost:
    """CPU of this process and wall time of one call, in microseconds."""
    cpu, wall = process_time(), perf_counter()
    for _ in range(calls_a_round):
        await call()
    return (process_time() - cpu) / calls_a_round * 1e6, (perf_counter() - wall) / calls_a_round * 1e6


async def _costs(bare: Client, connections: Connections) -> tuple[Cost, Cost]:
    """Both take turns in short rounds, and the quickest round of each counts."""
    tools = await connections.describe("bench")
    digest = getattr(tools["bench/echo"], "digest", "")

    async def through_sdk() -> None:
        assert not (await bare.call_tool("echo", ARGUMENTS)).is_error

    async def through_glasshouse() -> None:
        assert (await connections.call("bench/echo", ARGUMENTS, digest)).is_ok

    figures = [[await _cost(call) for call in (through_sdk, through_glasshouse)] for _ in range(rounds)]
    sdk, ours = zip(*figures, strict=True)
    return (min(c for c, _ in sdk), min(w for _, w in sdk)), (
        min(c for c, _ in ours),
        min(w for _, w in ours),
    )


async def _over_stdio() -> tuple[Cost, Cost]:
    server = ToolServer("bench", command=[sys.executable, SCRIPT])
    connections = Connections([server], lambda name: os.environ.get(name, ""), SystemClock())
    async with Client(StdioServerParameters(command=sys.executable, args=[SCRIPT])) as bare:
        try:
            return await _costs(bare, connections)
        finally:
            await connections.close()


async def _over_http(url: str) -> tuple[Cost, Cost]:
    connections = Connections([ToolServer("bench", url=url)], lambda _: "", SystemClock())
    async with Client(url) as bare:
        try:
            return await _costs(bare, connections)
        finally:
            await connections.close()


@contextmanager
def _serving() -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    serving = subprocess.Popen([sys.executable, SCRIPT, str(port)])
    try:
        while not _is_open(port) and serving.poll() is None:
            sleep(0.05)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        serving.kill()
        serving.wait()


def _is_open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def run() -> list[Result]:
    """A call over both transports: CPU and wall time, as multiples of the bare SDK's."""
    measured = {"stdio": event_loop.run(_over_stdio())}
    with _serving() as url:
        measured["HTTP"] = event_loop.run(_over_http(url))
    results = []
    for transport, ((sdk_cpu, sdk_wall), (cpu, wall)) in measured.items():
        name = f"a tool call by {transport}, against the bare SDK"
        results += [
            judged(f"{name}: CPU", cpu / sdk_cpu, "×", "≤", 1.5, f"{cpu:.0f} µs"),
            judged(f"{name}: time", wall / sdk_wall, "×", "≤", 1.5, f"{wall:.0f} µs"),
        ]
    return results
