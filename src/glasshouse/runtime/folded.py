"""`Folded`: the world, and the state of runs, turns and recent lines beside it.

Always holds: it is a function of the ledger alone. It encodes to bytes without conversion, which makes a snapshot.
"""

from __future__ import annotations

import msgspec

from glasshouse.turns.heard.recent_lines import Tables
from glasshouse.turns.runs.agenda import Agenda
from glasshouse.turns.runs.purses import Runs
from glasshouse.world.state.state import World


class Folded(msgspec.Struct):
    """All state that is folded from the ledger and kept in memory."""

    world: World = msgspec.field(default_factory=World)
    agenda: Agenda = msgspec.field(default_factory=Agenda)
    runs: Runs = msgspec.field(default_factory=Runs)
    tables: Tables = msgspec.field(default_factory=Tables)
    position: int = 0
    snapshot_bytes: int = 0
