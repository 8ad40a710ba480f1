"""The start of a play: which models play it, and what is said and asked about them before anything is written.

Always holds: a run that continues is played by the models that it began with, unless the command names others.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from glasshouse.assembly import NamedModels, StoreAddress, models_named
from glasshouse.cli.command_line import CommandLine
from glasshouse.cli.drawing.screen import Screen, print_json
from glasshouse.cli.expected_cost import check_agreed, expected_of_rest, how_to_price, is_priced
from glasshouse.cli.live.duration import rehearsed_seconds
from glasshouse.cli.model_choice import OFFLINE, AnyModels, ModelChoice, facts, heading
from glasshouse.cli.store_reader import StoreReader, read_store
from glasshouse.cli.tool_servers import NO_SERVERS, ServersOfWorld, servers_named, servers_of_world
from glasshouse.contests.expected_cost import Expected, expected_of_world
from glasshouse.errors import UnknownName
from glasshouse.events import kinds
from glasshouse.events.payloads import CastEntry, CreatureStarted, Governor, RunStarted, payload_of
from glasshouse.manifests.loading import LoadedWorld
from glasshouse.turns.moment.playbill import playbill_of

WITHOUT_MODEL: Final = (
    "No model plays, and this world has no script: its lines come from its personas, its wants and a general grammar; "
    "a model says lines of its own (--models ollama), and a script.txt says yours."
)
"""What to expect of a world without a script that is played without a model."""


@dataclass(frozen=True)
class Start:
    """What is known about a play before it begins."""

    who: frozenset[str]
    """The handles and teams that may be given a model."""
    expected: Callable[[NamedModels], Expected]
    models: str = ""
    """The models that the run began with, if it continues and they were named."""
    cast: tuple[CastEntry, ...] = ()
    """Who played until now, if it continues."""
    servers: ServersOfWorld = NO_SERVERS
    """The tool servers that its creatures may use."""
    rehearsed_seconds: Callable[[bool], float | None] = lambda _has_minds: None
    """How long the offline troupe's play is read, with or without minds; none if that is not known before."""
    is_without_script: bool = False
    """Whether it begins a world that has no script, so that the offline troupe would speak its general grammar."""

    def expectation(self, models: AnyModels) -> str:
        """What to expect of a play without a model, in one sentence; empty where a model or a script plays."""
        return "" if isinstance(models, NamedModels) or not self.is_without_script else WITHOUT_MODEL


def start_of_world(
    world: LoadedWorld, seed: str | None, rng_seed: int, turns: int | None, governor: Governor | None
) -> Start:
    """For a new run."""
    who = frozenset({*world.scenario.cast_by_handle, *world.scenario.competition.teams})

    def expected(models: NamedModels) -> Expected:
        return expected_of_world(models, world, seed, rng_seed, turns, governor=governor)

    def seconds(has_minds: bool) -> float | None:
        return rehearsed_seconds(world, seed, rng_seed, turns, governor, has_minds=has_minds)

    return Start(
        who,
        expected,
        servers=servers_of_world(world),
        rehearsed_seconds=seconds,
        is_without_script=world.script is None,
    )


def start_of_rest(store: StoreAddress, name: str, turns: int | None, limits: Mapping[str, float]) -> Start:
    """For a run, or a session, that continues, with these limits in place of its own."""

    async def read(reader: StoreReader) -> Start:
        story = await reader.story(name)
        begun = [payload_of(event, RunStarted) for event in story.events if event.kind == kinds.RUN_STARTED]
        if not begun:
            return Start(frozenset(), lambda _: Expected(0, None))
        last = begun[-1]
        bill = playbill_of(begun[-1].scenario)
        who = frozenset({*[entry.handle for entry in last.cast], *bill.competition.teams})
        is_offline = all(entry.model.partition(":")[0] == OFFLINE for entry in last.cast)
        models = last.models or (OFFLINE if last.cast and is_offline else "")
        births = [event for event in story.events if event.kind == kinds.CREATURE_STARTED]
        granted = [grant.tool.name for born in births for grant in payload_of(born, CreatureStarted).granted]
        servers = ServersOfWorld(bill.tool_servers, servers_named(granted))
        return Start(
            who,
            lambda named: expected_of_rest(named, story, turns, limits),
            models,
            tuple(last.cast),
            servers,
        )

    return read_store(store, read)


async def models_at_start(
    choice: ModelChoice, start: Start, command_line: CommandLine, *, as_json: bool
) -> AnyModels:
    """The models of a play. They are said, and agreed to if they cost something."""
    models = choice.models(start.models)
    for name in choice.pins:
        if name not in start.who:
            raise UnknownName(noun="creature or team of the cast", name=name, known=start.who)
    bound = {entry.handle: entry.model for entry in start.cast if entry.is_bound}
    if not isinstance(models, NamedModels):
        # Who was bound to a model of a server is played offline with the others.
        elsewhere = [handle for handle, model in bound.items() if model.partition(":")[0] != OFFLINE]
        return models_named(OFFLINE, pins=dict.fromkeys(elsewhere, OFFLINE)) if elsewhere else models
    await models.prepare(*[model for handle, model in bound.items() if handle not in choice.pins])
    expected = start.expected(models) if is_priced(models) else None
    if as_json:
        print_json({"models": facts(models, expected and expected.facts())})
    else:
        Screen().draw(*heading(models))
        print(f"  {command_line.call('models', *choice.words(models))}")
        if expected is not None:
            Screen().draw(f"Expected: {expected}.")
            for line in how_to_price(models) if expected.usd is None else ():
                print(line)
        print()
    for warning in _changed(models, start):
        print(f"glasshouse: {warning}", file=sys.stderr)
    if expected is not None:
        check_agreed(expected, is_agreed=choice.is_agreed, as_json=as_json)
    return models


def _changed(models: NamedModels, start: Start) -> list[str]:
    """Where a model of the cast is not the one that played until now."""
    warnings = {}
    for entry in start.cast:
        route = models.route(
            entry.profile, models.pin_of(entry.handle, {}, entry.model if entry.is_bound else None)
        )
        if entry.model == route.name and entry.model_digest and entry.model_digest != route.digest:
            digests = f"{entry.model_digest[:12]} then, {route.digest[:12] or 'unknown'} now"
            warnings[entry.model] = (
                f"{entry.model} is not the same any more ({digests}): the run may continue differently."
            )
    return [*warnings.values()]
