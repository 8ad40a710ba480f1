"""What a shell completes beside commands and options: names of worlds, of runs, and of servers of models.

Always holds: whoever presses Tab never reads an error; where nothing can be said, nothing is. What is asked for is imported when
it is asked for, so that no other command waits for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import typer

from glasshouse.errors import GlasshouseError

completed_max: Final = 200
"""How many names are offered: a shell asks before it shows more."""

Offered = list[tuple[str, str]]
"""Names, each with a few words about it, which zsh and fish show."""


def worlds(incomplete: str) -> Offered:
    """The worlds whose names begin so."""
    from glasshouse.manifests.world_folders import found_worlds

    try:
        return _beginning([(world.name, world.title) for world in found_worlds()], incomplete)
    except (GlasshouseError, OSError):
        return []


def installed_worlds(incomplete: str) -> Offered:
    """The worlds that the user has added."""
    from glasshouse.manifests.world_folders import found_worlds

    try:
        names = [(world.name, world.title) for world in found_worlds() if world.where == "installed"]
    except (GlasshouseError, OSError):
        return []
    return _beginning(names, incomplete)


def runs(context: typer.Context, incomplete: str) -> Offered:
    """The runs of the store whose ids begin so, the newest first."""
    from glasshouse.cli.store_reader import StoreReader, read_store, short_ids

    async def listed(reader: StoreReader) -> Offered:
        newest_first = reader.terrarium.runs()[::-1]
        short = short_ids([run.id for run in newest_first])
        return [(short[run.id], f"{run.scenario}, {run.status}") for run in newest_first]

    try:
        store: Any = context.params.get("store")
        return _beginning([("last", "the last run"), *read_store(store, listed)], incomplete)
    except (GlasshouseError, OSError):
        return []


def models(incomplete: str) -> Offered:
    """Servers of models, and models.yaml."""
    from typing import get_args

    from glasshouse.manifests.models_file import ServerName

    return _beginning([(name, "") for name in get_args(ServerName) if name != "other"], incomplete)


def _beginning(names: Offered, incomplete: str) -> Offered:
    def kept() -> Iterator[tuple[str, str]]:
        for name, about in names:
            if name.startswith(incomplete):
                yield name, " ".join(about.split())

    return list(kept())[:completed_max]
