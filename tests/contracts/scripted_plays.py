"""Plays of scripted worlds, line by line with the entry each line is of: for authors, and for the tests of the scripts.

`python -m tests.contracts.scripted_plays WORLD [PLAYS] [--quiet] [--disturb "TEXT"]` prints them and what they add up to.
"""

from __future__ import annotations

import argparse
import asyncio
from collections import Counter
from dataclasses import dataclass, field
from functools import cache

from glasshouse import Event, MemoryStore, Terrarium, kinds
from glasshouse.manifests import LoadedWorld, load_world
from glasshouse.scripts.script import Entry, Script
from glasshouse.scripts.script_text import script_of

GENERAL = "GENERAL"
turn_disturbed = 3


@dataclass(frozen=True)
class ScriptedLine:
    """A line and the entry it is of; none where no script has it."""

    event: Event
    entry: Entry | None

    @property
    def text(self) -> str:
        return str(self.event.payload["text"])


@dataclass
class ScriptedPlay:
    """One play from beginning to end."""

    world: str
    rng_seed: int
    events: tuple[Event, ...] = ()
    lines: list[ScriptedLine] = field(default_factory=list)
    """What the cast said."""
    winner: str = ""


@cache
def _loaded(name: str) -> LoadedWorld:
    return load_world(name)


@cache
def script_named(world: str) -> Script:
    """The script of a bundled world."""
    script = script_of(_loaded(world).script or "")
    assert script is not None, f"the script of {world} has a fault"
    return script


def scripted_play(world: str, rng_seed: int, disturbance: str = "", seed: str | None = None) -> ScriptedPlay:
    """Play a world offline, to its end."""

    async def play() -> tuple[Event, ...]:
        async with Terrarium(MemoryStore()) as t:
            run = await t.open_world(_loaded(world), rng_seed=rng_seed, seed=seed)
            if disturbance:
                await t.step(turn_disturbed)
                await t.disturb(run.id, disturbance)
            await t.run(run.id)
            return await t.run_events(run.id)

    events = asyncio.run(play())
    played = ScriptedPlay(world, rng_seed, events)
    for event in events:
        is_cast = event.caused_by is not None and event.actor not in {"world", "visitor"}
        if is_cast and isinstance(event.payload.get("text"), str) and event.kind != kinds.TOOL_RETURNED:
            known = script_named(world).recognised(event.actor or "", event.payload["text"])
            played.lines.append(ScriptedLine(event, known.entry if known else None))
            played.winner = str(event.payload.get("winner") or played.winner)
    return played


def transcript(played: ScriptedPlay) -> str:
    """A play as somebody would read it, with what the world said between the lines."""
    by_id = {line.event.id: line for line in played.lines}
    shown = [f"==== {played.world}, rng seed {played.rng_seed}"]
    for event in played.events:
        line = by_id.get(event.id)
        if line is not None:
            entry = line.entry.id if line.entry else GENERAL
            shown.append(f"{event.turn:>3} {event.actor}: {line.text}   <{entry}>")
        elif event.kind in {kinds.WORLD_OBSERVED, kinds.USER_INJECTED}:
            shown.append(f"--- {event.payload.get('title', '')} {event.payload.get('text', '')}")
        elif event.kind == kinds.AGENT_PASSED:
            shown.append(f"{event.turn:>3} {event.actor} passes.")
        elif event.kind == kinds.TOOL_CALLED:
            shown.append(f"{event.turn:>3} {event.actor} uses {event.payload.get('tool')}.")
        elif event.kind == kinds.AGENT_FAILED:
            shown.append(f"{event.turn:>3} {event.actor} FAILS: {event.payload}")
    return "\n".join(shown)


def summary(plays: list[ScriptedPlay]) -> str:
    """What some plays add up to."""
    lines = [line for played in plays for line in played.lines]
    scripted = [line for line in lines if line.entry is not None]
    said = Counter(line.entry.id for line in lines if line.entry is not None)
    script = script_named(plays[0].world)
    every = [entry for part in script.parts.values() for entry in part]
    shown = [
        f"{len(lines)} lines in {len(plays)} plays, {len(scripted) / max(1, len(lines)):.0%} of them from the script",
        f"never said: {', '.join(entry.id for entry in every if not said[entry.id]) or 'nothing'}",
        f"winners: {dict(Counter(played.winner for played in plays))}",
    ]
    for handle in script.parts:
        mine = [line for line in lines if line.event.actor == handle]
        wants = sum(bool(line.entry and line.entry.want) for line in mine)
        general = sum(line.entry is None for line in mine)
        shown.append(
            f"{handle}: {len(mine)} lines, {general} general, {wants / max(1, len(mine)):.0%} show its want"
        )
    return "\n".join(shown)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("world")
    parser.add_argument("plays", nargs="?", type=int, default=3)
    parser.add_argument("--first", type=int, default=0, help="the first rng seed")
    parser.add_argument("--quiet", action="store_true", help="only the summary")
    parser.add_argument("--disturb", default="", help="what a visitor says in turn 3")
    parser.add_argument("--seed", default=None, help="what the world grows from")
    told_to = parser.parse_args()
    numbers = range(told_to.first, told_to.first + told_to.plays)
    plays = [scripted_play(told_to.world, number, told_to.disturb, told_to.seed) for number in numbers]
    if not told_to.quiet:
        print("\n\n".join(map(transcript, plays)))
    print(summary(plays))


if __name__ == "__main__":
    main()
