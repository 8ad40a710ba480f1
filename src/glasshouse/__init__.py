"""Glasshouse: a runtime for troupes of small language-model agents that live under glass.

The public names, each brought from its home when it is first asked for: importing the package costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from glasshouse.assembly import MemoryStore, ModelRouter, SqliteStore, Terrarium, Toolbox, play, tool
    from glasshouse.errors import (
        BadEvent,
        BadWorld,
        BudgetExceeded,
        Conflict,
        GlasshouseError,
        ImportConflict,
        ModelUnreachable,
        Refused,
        StoreBusy,
        StoreDamaged,
        StoreError,
        StoreFailed,
        StoreTooNew,
        UnknownName,
        UnusableReply,
    )
    from glasshouse.events import kinds
    from glasshouse.events.digest import digest_of
    from glasshouse.events.event import Draft, EngineEvent, Event
    from glasshouse.events.filter import EventFilter
    from glasshouse.manifests.loading import LoadedWorld, load_world
    from glasshouse.manifests.manifest import Manifest, Memory, Schedule, Voice
    from glasshouse.manifests.scenario import Scenario
    from glasshouse.runtime.contests.tournament import Tournament
    from glasshouse.runtime.creature import Creature
    from glasshouse.runtime.ledger.observer import Observer
    from glasshouse.runtime.minds.agent import Agent
    from glasshouse.runtime.minds.manifest_agent import ManifestAgent
    from glasshouse.runtime.past.what_if import WhatIf
    from glasshouse.runtime.played import Played
    from glasshouse.runtime.ports import Proposal, Route, Verdict
    from glasshouse.runtime.replays.replay import verify
    from glasshouse.runtime.run import Run
    from glasshouse.turns.governor import Governor
    from glasshouse.turns.moment import Moment
    from glasshouse.turns.prompt import Completion, Prompt
    from glasshouse.turns.referees import Match, Ruling
    from glasshouse.turns.tools import ToolAnswer
    from glasshouse.views.diff import ViewDiff
    from glasshouse.views.knowing import Knower, WhoKnew
    from glasshouse.views.leaderboard import Standing
    from glasshouse.views.stage import StageProjection, rebuild_stage
    from glasshouse.views.topology import Member, Shape
    from glasshouse.views.why import Asked, Link, SeenLine, ToolUse, Why
    from glasshouse.world.values import Change, Channel, Environment, Graph, Lineage, Session, Wire

__all__ = [
    "Agent",
    "Asked",
    "BadEvent",
    "BadWorld",
    "BudgetExceeded",
    "Change",
    "Channel",
    "Completion",
    "Conflict",
    "Creature",
    "Draft",
    "EngineEvent",
    "Environment",
    "Event",
    "EventFilter",
    "GlasshouseError",
    "Governor",
    "Graph",
    "ImportConflict",
    "Knower",
    "Lineage",
    "Link",
    "LoadedWorld",
    "Manifest",
    "ManifestAgent",
    "Match",
    "Member",
    "Memory",
    "MemoryStore",
    "ModelRouter",
    "ModelUnreachable",
    "Moment",
    "Observer",
    "Played",
    "Prompt",
    "Proposal",
    "Refused",
    "Route",
    "Ruling",
    "Run",
    "Scenario",
    "Schedule",
    "SeenLine",
    "Session",
    "Shape",
    "SqliteStore",
    "StageProjection",
    "Standing",
    "StoreBusy",
    "StoreDamaged",
    "StoreError",
    "StoreFailed",
    "StoreTooNew",
    "Terrarium",
    "ToolAnswer",
    "ToolUse",
    "Toolbox",
    "Tournament",
    "UnknownName",
    "UnusableReply",
    "Verdict",
    "ViewDiff",
    "Voice",
    "WhatIf",
    "WhoKnew",
    "Why",
    "Wire",
    "digest_of",
    "kinds",
    "load_world",
    "play",
    "rebuild_stage",
    "tool",
    "verify",
]
__version__ = "0.1.0"

_HOMES = {
    "MemoryStore": "glasshouse.assembly",
    "ModelRouter": "glasshouse.assembly",
    "SqliteStore": "glasshouse.assembly",
    "Terrarium": "glasshouse.assembly",
    "Toolbox": "glasshouse.assembly",
    "play": "glasshouse.assembly",
    "tool": "glasshouse.assembly",
    "BadEvent": "glasshouse.errors",
    "BadWorld": "glasshouse.errors",
    "BudgetExceeded": "glasshouse.errors",
    "Conflict": "glasshouse.errors",
    "GlasshouseError": "glasshouse.errors",
    "ImportConflict": "glasshouse.errors",
    "ModelUnreachable": "glasshouse.errors",
    "Refused": "glasshouse.errors",
    "StoreBusy": "glasshouse.errors",
    "StoreDamaged": "glasshouse.errors",
    "StoreError": "glasshouse.errors",
    "StoreFailed": "glasshouse.errors",
    "StoreTooNew": "glasshouse.errors",
    "UnknownName": "glasshouse.errors",
    "UnusableReply": "glasshouse.errors",
    "kinds": "glasshouse.events",
    "digest_of": "glasshouse.events.digest",
    "Draft": "glasshouse.events.event",
    "EngineEvent": "glasshouse.events.event",
    "Event": "glasshouse.events.event",
    "EventFilter": "glasshouse.events.filter",
    "LoadedWorld": "glasshouse.manifests.loading",
    "load_world": "glasshouse.manifests.loading",
    "Manifest": "glasshouse.manifests.manifest",
    "Memory": "glasshouse.manifests.manifest",
    "Schedule": "glasshouse.manifests.manifest",
    "Voice": "glasshouse.manifests.manifest",
    "Scenario": "glasshouse.manifests.scenario",
    "Agent": "glasshouse.runtime.minds.agent",
    "Creature": "glasshouse.runtime.creature",
    "ManifestAgent": "glasshouse.runtime.minds.manifest_agent",
    "Observer": "glasshouse.runtime.ledger.observer",
    "Played": "glasshouse.runtime.played",
    "Proposal": "glasshouse.runtime.ports",
    "Route": "glasshouse.runtime.ports",
    "Verdict": "glasshouse.runtime.ports",
    "Run": "glasshouse.runtime.run",
    "Tournament": "glasshouse.runtime.contests.tournament",
    "verify": "glasshouse.runtime.replays.replay",
    "WhatIf": "glasshouse.runtime.past.what_if",
    "Governor": "glasshouse.turns.governor",
    "Moment": "glasshouse.turns.moment",
    "Completion": "glasshouse.turns.prompt",
    "Prompt": "glasshouse.turns.prompt",
    "Match": "glasshouse.turns.referees",
    "Ruling": "glasshouse.turns.referees",
    "ToolAnswer": "glasshouse.turns.tools",
    "ViewDiff": "glasshouse.views.diff",
    "Standing": "glasshouse.views.leaderboard",
    "StageProjection": "glasshouse.views.stage",
    "rebuild_stage": "glasshouse.views.stage",
    "Change": "glasshouse.world.values",
    "Channel": "glasshouse.world.values",
    "Environment": "glasshouse.world.values",
    "Graph": "glasshouse.world.values",
    "Lineage": "glasshouse.world.values",
    "Knower": "glasshouse.views.knowing",
    "WhoKnew": "glasshouse.views.knowing",
    "Member": "glasshouse.views.topology",
    "Shape": "glasshouse.views.topology",
    "Asked": "glasshouse.views.why",
    "Link": "glasshouse.views.why",
    "SeenLine": "glasshouse.views.why",
    "ToolUse": "glasshouse.views.why",
    "Why": "glasshouse.views.why",
    "Session": "glasshouse.world.values",
    "Wire": "glasshouse.world.values",
}


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(
            f"glasshouse has no name {name!r}. Its public names are in docs/reference/api.md."
        )
    value: object = import_module(f"{home}.{name}") if name == "kinds" else getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
