"""How long a play takes at the pace of a reader: told by a rehearsal, which the offline troupe plays in memory.

Always holds: a rehearsal changes nothing outside. A world whose creatures run code of their own is not rehearsed.
"""

from __future__ import annotations

from collections.abc import Iterable

from glasshouse.cli.drawing.run_view import RunView
from glasshouse.cli.pace import seconds_for
from glasshouse.errors import GlasshouseError
from glasshouse.events.described_tool import is_of_server
from glasshouse.events.event import Event
from glasshouse.events.payloads import Governor
from glasshouse.manifests.loading import LoadedWorld
from glasshouse.terrarium import play


def reading_seconds(events: Iterable[Event], run_id: str, *, has_minds: bool) -> float:
    """How long the lines of a run are read that people are shown of it."""
    view = RunView(run_id, "audience" if has_minds else "spectator", has_minds=has_minds)
    return sum(seconds_for(line) for event in events for line in view.take(event))


def rehearsed_seconds(
    world: LoadedWorld,
    seed: str | None,
    rng_seed: int,
    turns: int | None,
    governor: Governor | None,
    *,
    has_minds: bool,
) -> float | None:
    """How long an offline play of a world is read; none if it is not rehearsed. The same seeds give the same play."""
    if not _is_harmless(world):
        return None
    try:
        played = play(world, seed=seed, rng_seed=rng_seed, turns=turns, governor=governor)
    except GlasshouseError:  # The play itself says what is wrong.
        return None
    return reading_seconds(played.events, played.run.id, has_minds=has_minds)


def _is_harmless(world: LoadedWorld) -> bool:
    """Whether nobody in it runs code, or asks a server, that may do something outside."""
    return not any(
        manifest.played_by not in (None, "visitor")
        or any(":" in tool or is_of_server(tool) for tool in manifest.tools)
        for manifest in world.manifests.values()
    )
