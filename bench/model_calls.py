"""What a call through a backend costs beside a bare one, and what a whole turn costs with a server that takes its time."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from bench.acts import ENDLESS
from bench.result import Result, judged, profiled
from glasshouse import Manifest, MemoryStore, ModelRouter, Terrarium
from glasshouse.manifests.manifest import Schedule
from glasshouse.models import OpenAICompatible
from glasshouse.runtime import event_loop
from glasshouse.turns.moment.prompt import Prompt

concurrencies = (1, 16, 64)
calls_a_round, rounds = 512, 5
crowd, server_seconds, turns = 64, 0.2, 8
SERVER = Path(__file__).with_name("model_server.py")

SCHEMA = {
    "anyOf": [
        {
            "type": "object",
            "properties": {
                "kind": {"const": kind},
                "thought": {"type": "string"},
                "text": {"type": "string"},
            },
            "required": ["kind", "thought", "text"],
            "additionalProperties": False,
        }
        for kind in ("agent.spoke", "agent.thought")
    ]
}
LINES = "\n".join(f"[{n}] bo: The beans of row {n} want water before noon." for n in range(40))
PROMPT = Prompt("You keep the bean rows, and you say what is missing. " * 12, LINES, SCHEMA, 7, 384)


@contextmanager
def model_server(seconds: float) -> Iterator[str]:
    """The address of a model server in a process of its own, so that its work is not measured."""
    process = subprocess.Popen([sys.executable, str(SERVER), str(seconds)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield f"http://127.0.0.1:{int(process.stdout.readline())}"
    finally:
        process.kill()
        process.communicate()


async def _cpu_a_call(call: Callable[[], Awaitable[object]], at_once: int) -> float:
    async def several(count: int) -> None:
        for _ in range(count):
            await call()

    await asyncio.gather(*[several(2) for _ in range(at_once)])
    began = time.process_time()
    await asyncio.gather(*[several(calls_a_round // at_once) for _ in range(at_once)])
    return (time.process_time() - began) / (calls_a_round // at_once * at_once)


async def _bare(url: str, at_once: int) -> float:
    import httpx2

    body = {
        "model": "m",
        "messages": [{"role": "system", "content": PROMPT.system}, {"role": "user", "content": PROMPT.user}],
        "max_tokens": PROMPT.reply_tokens_max,
        "seed": PROMPT.seed,
        "stream": False,
        "response_format": {"type": "json_schema", "json_schema": {"name": "reply", "schema": SCHEMA}},
    }
    limits = httpx2.Limits(max_connections=None, max_keepalive_connections=64)
    async with httpx2.AsyncClient(timeout=120, limits=limits, trust_env=False) as client:

        async def call() -> str:
            answer = await client.post(f"{url}/v1/chat/completions", json=body)
            return str(answer.json()["choices"][0]["message"]["content"])

        return await _cpu_a_call(call, at_once)


async def _through_a_backend(url: str, at_once: int) -> float:
    model = OpenAICompatible("m", url)
    try:
        return await _cpu_a_call(partial(model.complete, PROMPT), at_once)
    finally:
        await model.close()


def _ratios() -> dict[int, float]:
    """Both take turns, and the quickest round of each counts: others use these cores, too."""
    ratios = {}
    with model_server(0.0) as url:
        for at_once in concurrencies:
            pairs = [
                (event_loop.run(_bare(url, at_once)), event_loop.run(_through_a_backend(url, at_once)))
                for _ in range(rounds)
            ]
            ratios[at_once] = min(ours for _, ours in pairs) / min(bare for bare, _ in pairs)
    return ratios


async def _crowded_turns(url: str) -> tuple[float, float]:
    """The seconds of a turn in which everybody thinks at once, and the CPU seconds of each call in it. The quickest turn
    counts."""
    model = OpenAICompatible("m", url, max_parallel=crowd)
    speaker = Manifest(name="next", persona="Counts rows.", schedule=Schedule(tick_every=1, together=True))
    measured = []
    async with Terrarium(MemoryStore(), models=ModelRouter(model), governor=ENDLESS) as t:
        first = await t.add_creature(speaker)
        for _ in range(crowd - 1):
            await t.add_creature(speaker, graph=first.graph_id)
        await t.step(1)
        for _ in range(turns):
            calls, began, cpu = t.runs()[0].calls, time.perf_counter(), time.process_time()
            await t.step(1)
            seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
            measured.append((seconds, cpu / (t.runs()[0].calls - calls)))
    await model.close()
    return min(seconds for seconds, _ in measured), min(cpu for _, cpu in measured)


def run() -> list[Result]:
    """Every figure of model calls."""
    results = [
        judged(f"a call through the backend against bare httpx2, {at_once} at once", ratio, "× CPU", "≤", 1.3)
        for at_once, ratio in _ratios().items()
    ]
    with model_server(server_seconds) as url:
        seconds, cpu = event_loop.run(_crowded_turns(url))

        def profile() -> str:
            return profiled(_crowded_turns(url))

        name = f"{crowd} together on a server of {server_seconds * 1000:g} ms"
        results += [
            judged(
                f"{name}, a turn against one call", seconds / server_seconds, "×", "≤", 2, profile=profile
            ),
            judged(f"{name}, a call", cpu * 1000, "ms CPU", "≤", 3, profile=profile),
        ]
    return results
