"""Tournaments: models play a world against each other and swap seats; or a troupe competes with a single creature.

Always holds: every pairing is played in both orders with the same `rng_seed`, so the advantage of a seat cancels out.
Every match is an ordinary run in the store. The world, the models and the rounds are checked before anything starts.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from itertools import chain, combinations, zip_longest
from typing import Any, Final, NamedTuple

from glasshouse.contests.plays import Play, played, played_at_once
from glasshouse.errors import Refused
from glasshouse.events import kinds
from glasshouse.events.event import RESERVED_ACTORS, Draft, Event, is_event_id
from glasshouse.events.payloads import CreatureStarted, Governor, payload_of
from glasshouse.events.recorded_fields import fields_of
from glasshouse.manifests.loading import LoadedWorld
from glasshouse.manifests.solo import SOLO, TROUPE, players_of, reading_world, solo_world
from glasshouse.reprs import repr_of, shown
from glasshouse.runtime.acts.routes import check_model
from glasshouse.runtime.conducting.endings import is_public_line
from glasshouse.runtime.run import Run
from glasshouse.terrarium import Terrarium, router_of

rounds_max: Final = 1_000
"""A longer tournament is refused."""
models_max: Final = 16
"""More models in one tournament are refused."""
matches_at_once_usual: Final = 8
"""How many matches are in flight unless somebody says otherwise: enough for the slots of most servers, and few are left open
if somebody stops the tournament."""
lines_read_max: Final = 120
"""How many lines of each play are read out. The bound lets the judge hear all lines of both plays."""


@dataclass(frozen=True, slots=True)
class MatchPlayed:
    """One finished match of a tournament."""

    __repr__ = repr_of("round", "run_id", "seats", "winner", "why")

    round: int
    rng_seed: int
    run_id: str
    seats: Mapping[str, str]
    """Seat -> model, in the order of the seats."""
    winner: str | None
    why: str | None
    run_ids: Mapping[str, str]
    """In a tournament against solo: seat -> the run whose lines were read out."""

    @property
    def winning_model(self) -> str | None:
        """The model on the winning seat."""
        return self.seats.get(self.winner or "")


class _Pairing(NamedTuple):
    """A match before it is played."""

    round: int
    rng_seed: int
    seats: Mapping[str, str]


class Tournament:
    """Matches of one world. `models` are names that the terrarium's router knows."""

    def __init__(
        self,
        terrarium: Terrarium,
        world: LoadedWorld,
        models: Sequence[str],
        *,
        rounds: int = 1,
        rng_seed: int = 0,
        seed: str | None = None,
        is_against_solo: bool = False,
        at_once: int = matches_at_once_usual,
    ) -> None:
        check_draw(world, models, rounds, is_against_solo=is_against_solo)
        self._terrarium = terrarium
        self._world = world
        self._models = tuple(models)
        self._rounds = [(number + 1, rng_seed + number) for number in range(rounds)]
        self._seed = seed
        self._is_against_solo = is_against_solo
        self._at_once = at_once
        for model in models:
            check_model(router_of(terrarium), model)

    def __repr__(self) -> str:
        return shown(self, world=self._world.scenario.name, models=self._models, matches=self.matches)

    @property
    def matches(self) -> int:
        """How many matches the tournament has."""
        return matches_in(self._models, len(self._rounds), is_against_solo=self._is_against_solo)

    def play(self) -> AsyncIterator[MatchPlayed]:
        """Play all matches, and yield each when it has ended."""
        return self._against_solo() if self._is_against_solo else self._among_models()

    async def _among_models(self) -> AsyncIterator[MatchPlayed]:
        """In every round, let each pair of models play in both orders of seats."""
        matches = [*self._pairings()]
        plays = [Play(self._world, self._seed, match.rng_seed, models=match.seats) for match in matches]
        async with aclosing(played_at_once(self._terrarium, plays, self._at_once)) as ended:
            pairings = iter(matches)
            async for _, run in ended:
                yield _match_played(*next(pairings), run)

    def _pairings(self) -> Iterator[_Pairing]:
        seats = seats_in(self._world)
        for number, rng_seed in self._rounds:
            for pair in combinations(self._models, 2):
                for first in (0, 1):
                    models = {seat: pair[(at + first) % 2] for at, seat in enumerate(seats)}
                    yield _Pairing(number, rng_seed, models)

    async def _against_solo(self) -> AsyncIterator[MatchPlayed]:
        """Let the troupe play, then one creature with the budget that the troupe spent; judge both, in both orders."""
        for number, rng_seed in self._rounds:
            for model in self._models:
                everybody = dict.fromkeys(players_of(self._world), model)
                troupe = await self._played(self._world, rng_seed, everybody)
                solo = await self._alone(troupe, rng_seed, model)
                runs = {TROUPE: troupe.id, SOLO: solo.id}
                for order in ((TROUPE, SOLO), (SOLO, TROUPE)):
                    run = await self._read(runs, order, rng_seed, model)
                    yield _match_played(number, rng_seed, dict.fromkeys(order, model), run, runs)

    async def _played(
        self, world: LoadedWorld, rng_seed: int, models: Mapping[str, str], governor: Governor | None = None
    ) -> Run:
        """Play a world to its end and return its run."""
        return await played(self._terrarium, Play(world, self._seed, rng_seed, governor, models))

    async def _alone(self, troupe: Run, rng_seed: int, model: str) -> Run:
        """Play the same goal with one creature, limited to the calls and tokens that the troupe has spent."""
        acts = max(1, troupe.calls)
        world = solo_world(self._world, acts=acts, turns=max(1, troupe.turns))
        purse = Governor(
            max_turns=acts,
            max_calls_per_turn=troupe.governor.max_calls_per_turn,
            max_total_calls=acts,
            max_total_tokens=troupe.tokens or None,
        )
        return await self._played(world, rng_seed, {SOLO: model}, purse)

    async def _read(self, runs: Mapping[str, str], order: tuple[str, ...], rng_seed: int, model: str) -> Run:
        """Read both plays out to an assessor, in this order of seats, and return the run of the reading."""
        lines = {name: await _said_in(self._terrarium, runs[name]) for name in order}
        kinds_said = dict.fromkeys(line.kind for said in lines.values() for line in said)
        world = reading_world(self._world, order, kinds_said)
        run = await self._terrarium.open_world(world, rng_seed=rng_seed, models=dict.fromkeys(order, model))
        await _read_out(self._terrarium, run.id, lines)
        await self._terrarium.run(run.id)
        return self._terrarium.run_of(run.id)


def check_draw(world: LoadedWorld, models: Sequence[str], rounds: int, *, is_against_solo: bool) -> None:
    """Raise `Refused` for a tournament that cannot be played."""
    if not 1 <= rounds <= rounds_max:
        raise Refused(f"{rounds} rounds cannot be played.", f"Give a number from 1 to {rounds_max:,}.")
    if len({*models}) < len(models) or not 1 <= len(models) <= models_max:
        named = ", ".join(models[: models_max + 1]) or "none"
        raise Refused(f"These models cannot compete: {named}.", f"Name 1 to {models_max} models, each once.")
    if not is_against_solo:
        seats_in(world)
        if len(models) < 2:
            raise Refused("One model alone has nobody to play against.", "Name two or more, such as a,b.")


def matches_in(models: Sequence[str], rounds: int, *, is_against_solo: bool) -> int:
    """How many matches these models play: each pair, or each one against solo, in both orders of every round."""
    return 2 * rounds * (len(models) if is_against_solo else len([*combinations(models, 2)]))


def seats_in(world: LoadedWorld) -> tuple[str, ...]:
    """The teams or contestants of a world, in its order; raises `Refused` if there are fewer than two."""
    competition = world.scenario.competition
    seats = tuple(competition.teams) or competition.contestants
    if competition.kind == "none" or len(seats) < 2:
        raise Refused(
            f"Nobody plays against anybody in {world.scenario.name}.",
            "Choose a world with a competition of two teams or contestants, or play it against solo.",
        )
    return seats


def _match_played(
    number: int, rng_seed: int, seats: Mapping[str, str], run: Run, runs: Mapping[str, str] | None = None
) -> MatchPlayed:
    why = None if run.finished is None else run.finished.why
    return MatchPlayed(number, rng_seed, run.id, seats, run.winner, why, runs or {})


async def _said_in(terrarium: Terrarium, run_id: str) -> list[Event]:
    """The newest public lines of a run, without those of judges."""
    events = await terrarium.run_events(run_id)
    births = [payload_of(event, CreatureStarted) for event in events if event.kind == kinds.CREATURE_STARTED]
    silent = {
        born.creature for born in births if fields_of(born.manifest or {}).role == "judge"
    } | RESERVED_ACTORS
    spoke = [event for event in events if is_public_line(run_id, event) and event.actor not in silent]
    return spoke[-lines_read_max:]


async def _read_out(terrarium: Terrarium, run_id: str, lines: Mapping[str, list[Event]]) -> None:
    """Append the given lines for the creatures with these handles, one line of each in turn."""
    readers = {reader.handle: reader.id for reader in terrarium.creatures() if reader.run_id == run_id}
    now: dict[str, str] = {}
    in_turn = zip_longest(*[[(readers[name], line) for line in said] for name, said in lines.items()])
    for reader, line in filter(None, chain.from_iterable(in_turn)):
        fields = {name: _with_new_ids(value, now) for name, value in line.payload.items()}
        payload = {name: value for name, value in fields.items() if value is not None}
        event = await terrarium.append(reader, Draft(kind=line.kind, payload=payload, channel="stage"))
        now[line.id] = event.id


def _with_new_ids(value: Any, now: Mapping[str, str]) -> Any:
    """A field's value with the new ids of the events that it cites; none if it cites an event that was not read out."""
    if is_event_id(value):
        return now.get(value)
    if isinstance(value, list):
        return [new for old in value if (new := _with_new_ids(old, now)) is not None]
    return value
