"""`glasshouse import` reads a run or a session from a file into a store."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from glasshouse.assembly import SqliteStore
from glasshouse.cli.command_line import CommandLine, store_path
from glasshouse.cli.drawing.screen import Screen, print_json
from glasshouse.cli.options import JsonOption, StoreOption, argument
from glasshouse.cli.store_reader import contents_of
from glasshouse.errors import Refused
from glasshouse.terrarium import Terrarium


def import_file(
    path: Path = argument("PATH", "A file that `export` wrote.", readable=False),
    *,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Read in a run or a session from a file. It can be read and branched from; nobody in it lives here.

    \b
    Examples:
      glasshouse import play.glass                           into the store here
      glasshouse import play.glass --store new.glasshouse    into another store, which is made if need be
    """
    into = store_path(store)
    if not path.exists():  # Said before a store is made for nothing.
        raise Refused(f"There is no file {path}.", "Check the path.")
    contents, other_sides = asyncio.run(_imported(path, into)), list[str]()
    if path.is_file():  # A pipe can be read only once.
        contents, other_sides = contents_of(path)
    facts = {"path": str(path), **contents, "other_sides": other_sides, "store": str(into)}
    if as_json:
        print_json(facts)
        return
    Screen().draw(f"{facts['session_id']}: {facts['events']:,} events, now in {into}.")
    line = CommandLine.on(into)
    print(f"Look at it: {line.call('show', facts['session_id'])}")
    for session_id in other_sides:
        print(f"The run also went on in another session: {line.call('show', session_id)}")


async def _imported(path: Path, into: Path) -> dict[str, Any]:
    async with Terrarium(SqliteStore(into)) as terrarium:
        session = await terrarium.import_file(path)
        sessions = len(terrarium.lineage(session.id).ancestors) + 1
        return {
            "session_id": session.id,
            "sessions": sessions,
            "events": len(await terrarium.events(session.id)),
        }
