"""Glasshouse: a runtime for troupes of small language-model agents that live under glass.

The public names, each brought from its home when it is first asked for: importing the package costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from glasshouse.assembly import MemoryStore, ModelRouter, SqliteStore, Toolbox, tool
    from glasshouse.contests.tournament import Tournament
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
    from glasshouse.runtime.creature import Creature
    from glasshouse.runtime.ledger.observer import Observer
    from glasshouse.runtime.minds.agent import Agent
    from glasshouse.runtime.minds.manifest_agent import ManifestAgent
    from glasshouse.runtime.past.what_if import WhatIf
    from glasshouse.runtime.played import Played
    from glasshouse.runtime.ports import Proposal, Route, Verdict
    from glasshouse.runtime.replays.replay import verify
    from glasshouse.runtime.run import Run
    from glasshouse.terrarium import Terrarium, play
    from glasshouse.turns.governor import Governor
    from glasshouse.turns.moment import Moment
    from glasshouse.turns.prompt import Completion, Prompt
    from glasshouse.turns.referees import Match, Ruling
    from glasshouse.turns.tools import ToolAnswer
    from glasshouse.views.diff import ViewDiff
    from glasshouse.views.leaderboard import Standing
    from glasshouse.views.stage import StageProjection, rebuild_stage
    from glasshouse.views.topology import Member, Shape
    from glasshouse.views.who_knew import Knower, WhoKnew
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

_NAMES_OF = {
    "assembly": ("MemoryStore", "ModelRouter", "SqliteStore", "Toolbox", "tool"),
    "errors": (
        "BadEvent",
        "BadWorld",
        "BudgetExceeded",
        "Conflict",
        "GlasshouseError",
        "ImportConflict",
        "ModelUnreachable",
        "Refused",
        "StoreBusy",
        "StoreDamaged",
        "StoreError",
        "StoreFailed",
        "StoreTooNew",
        "UnknownName",
        "UnusableReply",
    ),
    "events": ("kinds",),
    "events.digest": ("digest_of",),
    "events.event": ("Draft", "EngineEvent", "Event"),
    "events.filter": ("EventFilter",),
    "manifests.loading": ("LoadedWorld", "load_world"),
    "manifests.manifest": ("Manifest", "Memory", "Schedule", "Voice"),
    "manifests.scenario": ("Scenario",),
    "contests.tournament": ("Tournament",),
    "runtime.creature": ("Creature",),
    "runtime.ledger.observer": ("Observer",),
    "runtime.minds.agent": ("Agent",),
    "runtime.minds.manifest_agent": ("ManifestAgent",),
    "runtime.past.what_if": ("WhatIf",),
    "runtime.played": ("Played",),
    "runtime.ports": ("Proposal", "Route", "Verdict"),
    "runtime.replays.replay": ("verify",),
    "runtime.run": ("Run",),
    "terrarium": ("Terrarium", "play"),
    "turns.governor": ("Governor",),
    "turns.moment": ("Moment",),
    "turns.prompt": ("Completion", "Prompt"),
    "turns.referees": ("Match", "Ruling"),
    "turns.tools": ("ToolAnswer",),
    "views.diff": ("ViewDiff",),
    "views.who_knew": ("Knower", "WhoKnew"),
    "views.leaderboard": ("Standing",),
    "views.stage": ("StageProjection", "rebuild_stage"),
    "views.topology": ("Member", "Shape"),
    "views.why": ("Asked", "Link", "SeenLine", "ToolUse", "Why"),
    "world.values": ("Change", "Channel", "Environment", "Graph", "Lineage", "Session", "Wire"),
}
_HOMES = {name: f"glasshouse.{home}" for home, names in _NAMES_OF.items() for name in names}


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
