"""Records the plays that the moments are taken from: each world once, by the offline troupe, as a small store.

Always holds: a store keeps no text of a prompt, so that every version of the prompt builder writes its own. A store is
recorded once and then kept: recorded again by another version, its acts are others, and `moments.yaml` no longer fits.

    python -m bench.prompts.record WORLD...    records these worlds again
"""

from __future__ import annotations

import asyncio
import gzip
import sqlite3
import sys
import tempfile
from pathlib import Path
from typing import Final, NamedTuple

from bench.prompts.product import WORLDS_MARK, bundled_worlds
from glasshouse import Terrarium
from glasshouse.manifests.loading import load_world
from glasshouse.runtime.clock import SeededIds

stores: Final = Path(__file__).parent / "stores"


class Recording(NamedTuple):
    """How a world is recorded."""

    rng_seed: int = 1
    turns_before: int | None = 3
    """After as many turns a visitor says the first disturbance of the world; None: nobody disturbs it. Where creatures
    change the graph, nobody does: what a visitor said makes those changes a matter for an approver."""
    wire: tuple[str, str, str] | None = None
    """A wire from one creature to another, and what it asks."""


RECORDINGS: Final = {
    "almanac-oak": Recording(),
    "far-end-of-the-attic": Recording(turns_before=None),
    "hatbox-and-cello": Recording(turns_before=None),
    "hedge-parliament": Recording(),
    "keeper-of-dusk": Recording(turns_before=None),
    "mystery-roots": Recording(),
    "one-odd-acorn": Recording(wire=("prize-turnip", "left-glove", "Say what you would do about it.")),
    "plum-tree-table": Recording(
        wire=("kite-mender", "well-digger", "Say whether you would take that from him.")
    ),
    "thousand-token-wood": Recording(),
    "three-ways-in": Recording(turns_before=None),
    "twenty-sprouts": Recording(),
    "two-tale-hearth": Recording(),
}


async def record(world: str) -> Path:
    """Play a world, and keep its store without its side tables; the path of the file."""
    how = RECORDINGS[world]
    loaded = load_world(world)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{world}.glasshouse"
        async with Terrarium(path, pacing="lockstep", ids=SeededIds(how.rng_seed)) as terrarium:
            run = await terrarium.open_world(loaded, None, how.rng_seed)
            if how.wire is not None:
                source, target, asked = how.wire
                ids = {creature.handle: creature.id for creature in terrarium.creatures()}
                await terrarium.wire(ids[source], ids[target], prompt=asked)
            if how.turns_before is not None:
                await terrarium.run(run.id, turns=how.turns_before)
                await terrarium.disturb(run.id, loaded.scenario.disturbances[0])
            await terrarium.run(run.id)
        _strip(path)
        kept = stores / f"{world}.glasshouse.gz"
        kept.write_bytes(gzip.compress(path.read_bytes(), mtime=0))
    return kept


def _strip(path: Path) -> None:
    """Empty the side tables, which hold texts of prompts and what can be computed again."""
    connection = sqlite3.connect(path)
    for table in ("prompts", "shown", "snapshots"):
        connection.execute(f"DELETE FROM {table}")
    for column in ("payload", "rest"):  # The path of this machine is nobody's business.
        connection.execute(
            f"UPDATE events SET {column} = replace({column}, ?, ?)", (str(bundled_worlds), WORLDS_MARK)
        )
    connection.commit()
    connection.execute("PRAGMA journal_mode = DELETE")
    connection.execute("VACUUM")
    connection.close()


if __name__ == "__main__":
    for name in sys.argv[1:]:
        print(asyncio.run(record(name)))
