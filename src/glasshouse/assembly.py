"""The composition root: the only file that names adapters."""

from __future__ import annotations

from pathlib import Path

from glasshouse.events.limits import Governor
from glasshouse.manifests.manifest import Manifest
from glasshouse.models.router import ModelRouter
from glasshouse.runtime.clock import RandomIds, SystemClock
from glasshouse.runtime.conducting.order import Pacing
from glasshouse.runtime.minds.agent import Agent
from glasshouse.runtime.minds.minds import AgentFor
from glasshouse.runtime.minds.played_by import agent_for as agent_played_by
from glasshouse.runtime.parts import Parts
from glasshouse.runtime.ports import Approver, Clock, Ids, Router, Store
from glasshouse.runtime.ports import Toolbox as AnyToolbox
from glasshouse.stores.memory import MemoryStore
from glasshouse.stores.sqlite import SqliteStore
from glasshouse.tools.function import tool
from glasshouse.tools.group.group_tools import GroupTools
from glasshouse.tools.joined import JoinedTools
from glasshouse.tools.toolbox import Toolbox

__all__ = ["MemoryStore", "ModelRouter", "SqliteStore", "Toolbox", "assembled", "tool", "usual_tools"]


def assembled(
    store: Store | str | Path | None = None,
    *,
    models: Router | None = None,
    tools: AnyToolbox | None = None,
    approver: Approver | None = None,
    governor: Governor | None = None,
    pacing: Pacing = "lockstep",
    clock: Clock | None = None,
    ids: Ids | None = None,
    agent_for: AgentFor | None = None,
) -> Parts:
    """The parts of a terrarium, the usual ones for whatever is left out."""
    if store is None:
        store = MemoryStore()
    return Parts(
        SqliteStore(store) if isinstance(store, str | Path) else store,
        clock or SystemClock(),
        ids or RandomIds(),
        models or ModelRouter(),
        agent_for or _agent_for,
        tools=usual_tools(tools, approver),
        governor=governor,
        pacing=pacing,
    )


def usual_tools(tools: AnyToolbox | None = None, approver: Approver | None = None) -> AnyToolbox:
    """The tools that a terrarium has: those given, or the built-in ones; and the group tools, for the privileged."""
    return JoinedTools(tools or Toolbox(), GroupTools(approver))


def _agent_for(manifest: Manifest) -> Agent:
    return agent_played_by(manifest.played_by, _is_code_allowed)


def _is_code_allowed() -> bool:
    from glasshouse.settings import settings  # Nothing else of a terrarium asks the environment.

    return settings().allow_python_creatures
