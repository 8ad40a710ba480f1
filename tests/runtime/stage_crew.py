"""Support for tests of plays: agents written in Python, small worlds, and functions that read back what was said."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from glasshouse import Agent, Draft, Event, Manifest, MemoryStore, kinds
from glasshouse.events.payloads import Governor
from glasshouse.manifests.loading import LoadedWorld
from glasshouse.manifests.manifest import Schedule
from glasshouse.manifests.scenario import Scenario
from glasshouse.models.router import ModelRouter
from glasshouse.models.scripted import ScriptedModel
from glasshouse.runtime.capabilities import Pacing
from glasshouse.runtime.clock import HandMovedClock, SeededIds
from glasshouse.runtime.minds.minds import ManifestAgent
from glasshouse.runtime.parts import Parts
from glasshouse.runtime.ports import Router, Toolbox
from glasshouse.runtime.store_port import Store
from glasshouse.terrarium import Terrarium
from glasshouse.tools.toolbox import Toolbox as UsualToolbox
from glasshouse.turns.moment.moment import Moment
from tests.made_up_words import word_for
from tests.runtime.troupe import soon, terrarium_of

ANSWER = '{"kind": "agent.spoke", "thought": "", "text": "A leaf turned over."}'


class Speaker(Agent):
    """Says its handle and the turn; keeps every moment it was given."""

    def __init__(self, kind: str = kinds.AGENT_SPOKE) -> None:
        self.kind = kind
        self.moments: list[Moment] = []

    async def act(self, moment: Moment) -> Draft | None:
        self.moments.append(moment)
        return Draft(kind=self.kind, payload={"text": f"{moment.handle}{moment.turn}"})


class Doing(Agent):
    """Does what it was told to in its act, and then says so."""

    def __init__(self, deed: Callable[[Moment], Awaitable[Any]]) -> None:
        self.deed = deed
        self.acts = 0

    async def act(self, moment: Moment) -> Draft | None:
        self.acts += 1
        done = await self.deed(moment)
        if isinstance(done, Draft):
            return done
        return Draft(kind=kinds.AGENT_SPOKE, payload={"text": f"{moment.handle}{moment.turn}"})


class Gated(Agent):
    """Begins to think, says that it has begun, and goes on when it is let."""

    def __init__(self) -> None:
        self.has_begun = asyncio.Event()
        self.gate = asyncio.Event()
        self.acts = 0

    async def act(self, moment: Moment) -> Draft | None:
        self.acts += 1
        self.has_begun.set()
        await self.gate.wait()
        return Draft(kind=kinds.AGENT_SPOKE, payload={"text": f"{moment.handle}{moment.turn}"})


class Asker(Agent):
    """Asks its model as its manifest says, and says what it was told."""

    def __init__(self, calls: int = 1) -> None:
        self.calls = calls

    async def act(self, moment: Moment) -> Draft | None:
        from glasshouse.turns.prompts.context import prompt_for

        prompt = prompt_for(moment)
        for _ in range(self.calls):
            await moment.ask(prompt)
        text = f"{moment.handle}{moment.turn}"
        # Seldom, so that few tests must know these words; in time, before talk without news ends a scene.
        news = f" {word_for(moment.turn)}" if moment.turn % 6 == 0 else ""
        return Draft(kind=kinds.AGENT_SPOKE, payload={"text": f"{text}{news}"})


def ticking(name: str, every: int = 1, *, together: bool = False, **more: Any) -> Manifest:
    """A creature that acts unasked."""
    return Manifest(name=name, schedule=Schedule(tick_every=every, together=together), **more)


def hearing(name: str, *heard: str, **more: Any) -> Manifest:
    """A creature that answers these kinds."""
    return Manifest(name=name, subscribes_to=heard or (kinds.AGENT_SPOKE,), **more)


def world_of(*manifests: Manifest, **fields: Any) -> LoadedWorld:
    """A world whose cast is these creatures, on one stage unless it is said otherwise."""
    given: dict[str, Any] = {"name": "w", "cast": [manifest.name for manifest in manifests], **fields}
    if "troupes" in given:
        given.pop("cast")
    return LoadedWorld.of(Scenario.model_validate(given), manifests)


def show(
    store: Store | None = None,
    minds: Mapping[str, Agent] | None = None,
    *,
    models: Router | None = None,
    tools: Toolbox | None = None,
    governor: Governor | None = None,
    pacing: Pacing = "lockstep",
    clock: HandMovedClock | None = None,
    act_seconds_max: float = 60.0,
    ids_seed: int = 7,
) -> Terrarium:
    """A terrarium whose creatures are played by these minds, by the name of their manifest; the others by a model."""
    played = minds or {}
    parts = Parts(
        store or MemoryStore(),
        clock or HandMovedClock(),
        SeededIds(ids_seed),
        models or ModelRouter(ScriptedModel(ANSWER)),
        lambda manifest: played.get(manifest.name) or ManifestAgent(),
        tools=tools or UsualToolbox(has_built_in=False),
        governor=governor,
        pacing=pacing,
        act_seconds_max=act_seconds_max,
    )
    return terrarium_of(parts)


@asynccontextmanager
async def on_stage(*given: Any, **more: Any) -> AsyncIterator[Terrarium]:
    """The same, open; closed in good time whatever happens."""
    terrarium = show(*given, **more)
    await terrarium.open()
    try:
        yield terrarium
    finally:
        await soon(terrarium.close())


async def cast_on(t: Terrarium, minds: Mapping[str, Agent], *manifests: Manifest) -> str:
    """Creatures with minds of their own, all on the channel `stage`; their graph."""
    for manifest in manifests:
        await t.add_creature(manifest, agent=minds[manifest.name])
    for manifest in manifests[1:]:
        await t.connect(manifests[0].name, manifest.name, channel="stage", both=True)
    return t.creature(manifests[0].name).graph_id


async def ledger_of(t: Terrarium) -> list[Event]:
    """Everything that is durable, in the order of commits."""
    return await t._house.store.read_after(0, 1_000_000)


async def events_of(t: Terrarium, *wanted: str) -> list[Event]:
    """Everything of these kinds, in the order of commits."""
    return [event for event in await ledger_of(t) if event.kind in wanted]


async def said(t: Terrarium) -> list[str]:
    """The words of every line that a creature spoke, in the order of commits."""
    return words(await ledger_of(t))


def words(events: Iterable[Event]) -> list[str]:
    """The words of every line that a creature spoke."""
    return [event.payload["text"] for event in events if event.kind == kinds.AGENT_SPOKE]


async def turns_begun(t: Terrarium) -> list[int]:
    return [event.turn for event in await events_of(t, kinds.TURN_STARTED)]


async def the_end(t: Terrarium, run_id: str | None = None) -> Event:
    """The one `run.finished`, which must be the last thing that its run says."""
    of_run = [e for e in await ledger_of(t) if run_id is None or e.run_id == run_id]
    ends = [event for event in of_run if event.kind == kinds.RUN_FINISHED]
    assert len(ends) == 1, ends
    after = [event for event in of_run[of_run.index(ends[0]) + 1 :] if event.run_id == ends[0].run_id]
    assert not after, after
    return ends[0]
