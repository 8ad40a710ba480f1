"""What a run came to, and where that is told."""

from __future__ import annotations

from glasshouse.events.run_payloads import FinishReason, RunFinished
from glasshouse.runtime.folded import Folded
from glasshouse.world.state import World


def accounts_of(
    folded: Folded, run_id: str, reason: FinishReason, axis: str | None, winner: str | None, why: str | None
) -> RunFinished:
    """The last word about a run: why it ended, who has won, and what it cost."""
    purse = folded.runs.purses.get(run_id)
    if purse is None:
        return RunFinished(reason, 0, 0, 0, 0.0, axis, winner, why)
    usd = None if purse.is_unpriced else round(purse.usd, 9)
    return RunFinished(reason, purse.turns, purse.calls, purse.tokens, usd, axis, winner, why)


def last_graph(world: World, run_id: str) -> str | None:
    """The graph of a run that is furthest in time: its end is told there, behind everything of it, whoever saw it."""
    names = {creature.graph_id: None for creature in world.creatures.values() if creature.run_id == run_id}
    graphs = [world.graphs[name] for name in names]
    last = min(graphs, key=lambda graph: (-world.session_of(graph).lamport, graph.born), default=None)
    return None if last is None else last.id
