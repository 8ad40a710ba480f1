"""The composition root: the only file that names adapters."""

from __future__ import annotations

from pathlib import Path

from glasshouse.errors import check_has
from glasshouse.manifests.manifest import Manifest
from glasshouse.models.router import ModelRouter
from glasshouse.runtime.minds.minds import Agent, agent_played_by
from glasshouse.runtime.ports import Approver, Router, Store
from glasshouse.runtime.ports import Toolbox as AnyToolbox
from glasshouse.stores.memory import MemoryStore
from glasshouse.stores.sqlite import SqliteStore
from glasshouse.tools.function import tool
from glasshouse.tools.group.group_tools import GroupTools
from glasshouse.tools.toolbox import JoinedTools, Toolbox

__all__ = ["MemoryStore", "ModelRouter", "SqliteStore", "Toolbox", "tool"]
"""The adapters that other modules take from here."""


def store_meant(given: Store | str | Path | None) -> Store:
    """The given store, a SQLite store for a path, or a store in memory for None."""
    if given is None:
        return MemoryStore()
    if isinstance(given, str | Path):
        return SqliteStore(given)
    check_has("Terrarium(store)", given, "commit", "a path or a store", 'Write Terrarium("show.glasshouse").')
    return given


def router_meant(given: Router | None) -> Router:
    """The given router, or one that lets the offline troupe play every profile."""
    if given is None:
        return ModelRouter()
    check_has("Terrarium(models=...)", given, "route", "a ModelRouter", "Write ModelRouter(model).")
    return given


def usual_tools(tools: AnyToolbox | None = None, approver: Approver | None = None) -> AnyToolbox:
    """The tools of a terrarium: those given, or the built-in ones; plus the group tools for privileged creatures."""
    if tools is not None:
        check_has("Terrarium(tools=...)", tools, "names", "a Toolbox", "Write Toolbox(function).")
    return JoinedTools(tools or Toolbox(), GroupTools(approver))


def usual_agent(manifest: Manifest) -> Agent:
    """The agent that a manifest's `played_by` names."""
    return agent_played_by(manifest.played_by, _is_code_allowed, manifest.act_seconds_max)


def _is_code_allowed() -> bool:
    from glasshouse.settings import settings  # Imported here, so that settings are read only if needed.

    return settings().allow_python_creatures
