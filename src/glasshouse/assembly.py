"""The composition root: the only file that names adapters."""

from __future__ import annotations

from pathlib import Path

from glasshouse.errors import Refused
from glasshouse.manifests.loading import LoadedWorld
from glasshouse.manifests.manifest import Manifest
from glasshouse.models.router import ModelRouter
from glasshouse.runtime import terrarium
from glasshouse.runtime.acts.act import Record
from glasshouse.runtime.blocking import outcome_of
from glasshouse.runtime.clock import RandomIds, SystemClock
from glasshouse.runtime.minds.agent import Agent
from glasshouse.runtime.minds.played_by import agent_for
from glasshouse.runtime.played import Played, played_of
from glasshouse.runtime.ports import Approver, Clock, Ids, Router, Store
from glasshouse.runtime.ports import Toolbox as AnyToolbox
from glasshouse.runtime.show.conductor import Pacing
from glasshouse.runtime.sitting import Sitting
from glasshouse.settings import settings
from glasshouse.stores.memory import MemoryStore
from glasshouse.stores.sqlite import SqliteStore
from glasshouse.tools.function import tool
from glasshouse.tools.group.group_tools import GroupTools
from glasshouse.tools.joined import JoinedTools
from glasshouse.tools.toolbox import Toolbox
from glasshouse.turns.governor import Governor

__all__ = [
    "MemoryStore",
    "ModelRouter",
    "Played",
    "SqliteStore",
    "Terrarium",
    "Toolbox",
    "play",
    "tool",
    "usual_tools",
]


class Terrarium(terrarium.Terrarium):
    """The running whole, with the usual parts: memory for a store, the offline troupe, the built-in tools and
    the group tools, nobody to ask, the machine's clock, random ids."""

    def __init__(
        self,
        store: Store | None = None,
        *,
        models: Router | None = None,
        tools: AnyToolbox | None = None,
        approver: Approver | None = None,
        governor: Governor | None = None,
        pacing: Pacing = "lockstep",
        clock: Clock | None = None,
        ids: Ids | None = None,
        record: Record | None = None,
    ) -> None:
        super().__init__(
            store or MemoryStore(),
            clock or SystemClock(),
            ids or RandomIds(),
            models or ModelRouter(),
            _mind,
            tools=usual_tools(tools, approver),
            governor=governor,
            pacing=pacing,
            record=record,
        )


def play(
    world: str | Path | LoadedWorld,
    *,
    seed: str | None = None,
    rng_seed: int = 0,
    turns: int | None = None,
    governor: Governor | None = None,
    store: Store | None = None,
    models: Router | None = None,
    tools: AnyToolbox | None = None,
) -> Played:
    """Play a world to its end, or so many turns of it, and give back what was played.

    The one blocking call, for scripts and notebooks; it works where an event loop is running, too.
    """
    if turns is not None and turns < 1:
        raise Refused(f"{turns} turns cannot be played.", "Give a number from 1 on, or leave it out.")
    kept = store or MemoryStore()

    async def played() -> Played:
        async with Terrarium(kept, models=models, tools=tools) as terrarium:
            run = await terrarium.open_world(world, seed, rng_seed, governor)
            await Sitting(terrarium, run.id, turns=turns).play()
            return await played_of(terrarium, kept, run.id)

    return outcome_of(played)


def usual_tools(tools: AnyToolbox | None = None, approver: Approver | None = None) -> AnyToolbox:
    """The tools that a terrarium has: those given, or the built-in ones; and the group tools, for the privileged."""
    return JoinedTools(tools or Toolbox(), GroupTools(approver))


def _mind(manifest: Manifest) -> Agent:
    return agent_for(manifest.played_by, is_code_allowed=settings().allow_python_creatures)
