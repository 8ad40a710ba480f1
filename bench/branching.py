"""What it costs to branch at any point of a long ledger. CPU time, the writing of the new session included."""

from __future__ import annotations

import shutil
from pathlib import Path
from time import process_time

from bench.acts import ENDLESS
from bench.creatures import LINE, store_file
from bench.result import Result, judged, profiled
from glasshouse import Draft, Manifest, SqliteStore, Terrarium, kinds
from glasshouse.manifests.loading import LoadedWorld
from glasshouse.manifests.scenario import Scenario
from glasshouse.runtime import event_loop

creatures = 100
pasts = (1_000, 10_000, 100_000)
batch_events = 50
points = (0.03, 0.26, 0.51, 0.74, 0.99)
"""Where in the ledger branches begin, as a share of it."""
times = 9

LISTENER = Manifest(name="listener", persona="Listens.", subscribes_to=(kinds.JUDGE_VERDICT,))


def run() -> list[Result]:
    """How long a branch takes, at the beginning, the middle and the end."""
    of_each: list[list[float]] = []
    with store_file() as path:
        copy, session_id = path.with_name("copy.glasshouse"), ""
        written = 0
        for past in pasts:
            session_id = event_loop.run(_grow(path, past - written))
            written = past
            shutil.copy(path, copy)
            of_each.append(event_loop.run(_branch(copy, session_id, past)))
        worst = [max(spent) for spent in of_each]
        table = "; ".join(
            f"{past:,}: " + ", ".join(f"{seconds * 1e3:.1f}" for seconds in spent) + " ms"
            for past, spent in zip(pasts, of_each, strict=True)
        )
        return [
            judged(
                f"branch at any point of 100k events, {creatures} creatures",
                worst[-1] * 1e3,
                "ms",
                "≤",
                15,
                table,
                profile=lambda: profiled(_branch(copy, session_id, pasts[-1])),
            ),
            judged("branch does not grow with the ledger", worst[-1] / worst[0], "× at 1k", "≤", 2),
        ]


async def _grow(path: Path, more: int) -> str:
    """Lengthen the past of a full stage; the session it is written into."""
    async with Terrarium(SqliteStore(path), governor=ENDLESS) as terrarium:
        if not terrarium.creatures():
            cast = [{"use": "listener", "handle": f"listener-{number}"} for number in range(creatures)]
            scenario = Scenario.model_validate({"name": "full-house", "cast": cast})
            await terrarium.open_world(LoadedWorld.of(scenario, [LISTENER]), run_id="house")
        graph = terrarium.graph(terrarium.run_of("house").graph_ids[0])
        for number in range(more // batch_events):
            speaker = graph.creature_ids[number % creatures]
            await terrarium.append_all(speaker, [_line(n) for n in range(batch_events)])
        return graph.session_id


def _line(number: int) -> Draft:
    return Draft(kind=kinds.AGENT_SPOKE, payload={"text": f"{LINE} {number}"}, channel="stage")


async def _branch(path: Path, session_id: str, past: int) -> list[float]:
    """Branch at several points of a past; the lowest cost of each, since others use these cores, too."""
    async with Terrarium(SqliteStore(path), governor=ENDLESS) as terrarium:
        return [await _branch_at(terrarium, session_id, round(past * share)) for share in points]


async def _branch_at(terrarium: Terrarium, session_id: str, seq: int) -> float:
    spent: list[float] = []
    for _ in range(times):
        before = process_time()
        await terrarium.branch(session_id, f"{session_id}.{max(seq, creatures * 4)}")
        spent.append(process_time() - before)
    return min(spent)
