"""A script that plays two runs of many graphs and prints their digests, which must depend only on the story."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

from glasshouse import Agent, Draft, MemoryStore, SqliteStore, kinds
from glasshouse.manifests.loading import LoadedWorld
from glasshouse.runtime.capabilities import Pacing
from glasshouse.runtime.store_port import Store
from glasshouse.turns.moment.moment import Moment
from tests.runtime.stage_crew import hearing, on_stage, ticking, world_of

graphs_in_a_run = 7


class Listener(Agent):
    """Says what it heard last and how much: so whoever hears another order says other words."""

    async def act(self, moment: Moment) -> Draft | None:
        heard = [event.payload.get("text", "") for event in moment.recent_events]
        text = f"{moment.handle}{moment.turn} after {heard[-1][:12] if heard else '-'} of {len(heard)} ({moment.seed})"
        return Draft(kind=kinds.AGENT_SPOKE, payload={"text": text})


def big_world(name: str, **more: Any) -> LoadedWorld:
    """One cast of three for each graph: one that ticks, one that answers, one that ticks seldom, some of them together."""
    manifests, troupes = [], {}
    for n in range(graphs_in_a_run):
        trio = (f"{name}-tick{n}", f"{name}-echo{n}", f"{name}-slow{n}")
        manifests += [
            ticking(trio[0], 1 + n % 3, together=bool(n % 2)),
            hearing(trio[1], kinds.AGENT_SPOKE, kinds.WORLD_OBSERVED),
            ticking(trio[2], 2 + n % 4, together=bool(n % 2), subscribes_to=(kinds.USER_INJECTED,)),
        ]
        troupes[f"t{n}"] = {"cast": list(trio)}
    fields = {"opening": "Dusk.", "beats": [{"turn": 3, "text": "Rain."}], **more}
    return world_of(*manifests, name=name, troupes=troupes, **fields)


def minds() -> dict[str, Agent]:
    """A listener for everybody."""
    names = [
        f"{w}-{k}{n}"
        for w in ("elm", "oak")
        for k in ("tick", "echo", "slow")
        for n in range(graphs_in_a_run)
    ]
    return {name: Listener() for name in names}


async def play(
    store: Store,
    pacing: Pacing = "lockstep",
    *,
    disturbs: bool = True,
    turns: int | None = None,
    limits: dict[str, int] | None = None,
) -> tuple[str, str, dict[str, list[str]]]:
    """The digests of both runs, and the lines of each graph by its oldest creature."""
    governor = {"max_turns": 8, **(limits or {})}
    async with on_stage(store, minds(), pacing=pacing) as t:
        first = await t.open_world(big_world("elm", governor=governor), run_id="r-elm")
        two = await t.open_world(big_world("oak", governor=governor), run_id="r-oak")
        oldest = {graph.id: graph.creature_ids[0] for graph in t.graphs()}
        assert len(oldest) == 2 * graphs_in_a_run
        if disturbs:
            await t.step(2)
            await t.disturb(first.id, "A bell rings.")
        if turns is None:
            await t.run()
            assert all(run.is_finished for run in t.runs())
        else:
            await t.step(turns)
        lines: dict[str, list[str]] = {name: [] for name in oldest.values()}
        for run in (first, two):
            for event in await t.run_events(run.id):
                if event.kind == kinds.AGENT_SPOKE:
                    lines[oldest[event.graph_id]].append(event.payload["text"])
        return await t.digest(first.id), await t.digest(two.id), lines


if __name__ == "__main__":
    where = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    print(asyncio.run(play(MemoryStore() if where is None else SqliteStore(where)))[:2])
