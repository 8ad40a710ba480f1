"""What a run came to, and where that is told."""

from __future__ import annotations

from msgspec import UNSET

from glasshouse.events.run_payloads import RunFinished
from glasshouse.runtime.folded import Folded
from glasshouse.runtime.show.endings import Ending
from glasshouse.turns.governor import Governor
from glasshouse.turns.playbill import Playbill
from glasshouse.turns.runs import Purse
from glasshouse.world.state import World


def accounts_of(folded: Folded, run_id: str, ending: Ending, axis: str | None) -> RunFinished:
    """The last word about a run: why it ended, who has won, and what it cost."""
    purse = folded.runs.purses.get(run_id) or Purse(Governor(), Playbill())
    spent = purse.spent
    usd = None if spent.is_unpriced else round(spent.usd, 9)
    costs = (spent.turns, spent.calls, spent.tokens, usd)
    members = list(ending.members) or UNSET
    return RunFinished(ending.reason, *costs, axis, ending.winner, ending.why, members)


def last_graph(world: World, run_id: str) -> str | None:
    """The graph of a run that is furthest in time: its end is told there, behind everything of it, whoever saw it."""
    names = {creature.graph_id: None for creature in world.creatures.values() if creature.run_id == run_id}
    graphs = [world.graphs[name] for name in names]
    last = min(graphs, key=lambda graph: (-world.session_of(graph).lamport, graph.born), default=None)
    return None if last is None else last.id
