"""Plays: runs that are planned beforehand and played to their end, many at once. Tournaments and grids play by it.

Always holds: a planned run is played as if its store held no other. Whether it was begun, and which of its lines were said, is
read from the ledger. So a run that was cut off continues from its last act when it is played again under the same id, and nothing
is said twice. Plays end in the order in which they were planned, however many are in flight.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Iterable, Mapping
from typing import NamedTuple

from glasshouse.events import kinds
from glasshouse.events.payloads import Governor, copied_from
from glasshouse.manifests.loading import LoadedWorld
from glasshouse.runtime.run import Run
from glasshouse.terrarium import Terrarium, folded_of, keep_script, open_apart


class SaidLine(NamedTuple):
    """What a visitor says before a turn begins."""

    turn: int
    text: str


class Play(NamedTuple):
    """One run as it is planned."""

    world: LoadedWorld
    seed: str | None = None
    rng_seed: int = 0
    governor: Governor | None = None
    models: Mapping[str, str] = {}
    """Handles or teams -> models by name."""
    lines: tuple[SaidLine, ...] = ()
    """By turn."""
    run_id: str | None = None
    """None: a new one. A run that has it already is continued."""
    is_unattended: bool = False
    """Whether creatures that a visitor would play pass at once, because nobody is there."""


async def played(terrarium: Terrarium, play: Play) -> Run:
    """Play a planned run to its end, or until it pauses."""
    run = await _begun(terrarium, play)
    if play.is_unattended:
        terrarium.send_visitors_away(run.id)
    if run.status == "paused":
        await terrarium.continue_run(run.id)
    for line in play.lines[await _lines_said(terrarium, play, run) :]:
        await _play_until(terrarium, run.id, line.turn)
        if terrarium.run_of(run.id).status == "playing":
            await terrarium.disturb(run.id, line.text)
    if terrarium.run_of(run.id).status == "playing":
        await terrarium.run(run.id)
    return terrarium.run_of(run.id)


async def _begun(terrarium: Terrarium, play: Play) -> Run:
    """The run of a play, which is opened unless the terrarium has it."""
    if play.run_id is not None and play.run_id in folded_of(terrarium).world.runs:
        keep_script(terrarium, play.world)  # It was opened by another process, perhaps on another machine.
        return terrarium.run_of(play.run_id)
    chance = (play.seed, play.rng_seed, play.governor)
    return await open_apart(terrarium, play.world, *chance, run_id=play.run_id, models=play.models)


async def _lines_said(terrarium: Terrarium, play: Play, run: Run) -> int:
    """How many lines of a play were said before it was cut off."""
    if not play.lines:
        return 0
    events = await terrarium.run_events(run.id)
    spoke = [event for event in events if event.kind == kinds.USER_INJECTED]
    return len([event for event in spoke if copied_from(event) is None])


async def _play_until(terrarium: Terrarium, run_id: str, turn: int) -> None:
    """Play a run until the next act of one of its graphs would be in this turn."""

    def is_due() -> bool:
        return any(due.turn >= turn for due in terrarium.due(run_id))

    async def gate(_graph_id: str) -> bool:
        return not is_due()

    if not is_due():
        await terrarium.run(run_id, before_act=gate)


async def played_at_once(
    terrarium: Terrarium, plays: Iterable[Play], at_once: int
) -> AsyncGenerator[tuple[Play, Run], None]:
    """Play these runs in one terrarium, so many in flight, and yield each when it and all before it have ended."""
    planned = iter(plays)
    in_flight: deque[tuple[Play, asyncio.Task[Run]]] = deque()

    def begin_more() -> None:
        while len(in_flight) < at_once and (play := next(planned, None)) is not None:
            in_flight.append((play, asyncio.create_task(played(terrarium, play), name="glasshouse play")))

    try:
        begin_more()
        while in_flight:
            play, task = in_flight[0]
            run = await task
            in_flight.popleft()
            begin_more()
            yield play, run
    finally:
        tasks = [task for _, task in in_flight]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
