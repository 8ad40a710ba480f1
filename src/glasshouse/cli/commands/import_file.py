"""`glasshouse import` reads a run or a session from a file into a store."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Final

import typer

from glasshouse.assembly import StoreAddress
from glasshouse.cli.command_line import CommandLine, store_path
from glasshouse.cli.conversion_bar import store_to_write
from glasshouse.cli.drawing.screen import Screen, print_json
from glasshouse.cli.exits import INTERRUPTED
from glasshouse.cli.interrupts import run_until_interrupted
from glasshouse.cli.options import JsonOption, StoreOption, argument
from glasshouse.cli.prose import say
from glasshouse.cli.store_reader import contents_of
from glasshouse.errors import Refused
from glasshouse.terrarium import Terrarium

STDIN: Final = Path("-")


def import_file(
    path: Path = argument("PATH", "A file that `export` wrote, or - for what is piped in.", readable=False),
    *,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Read a run or a session from a file into a store.

    It can be read and branched. Its creatures are not live in this store.

    \b
    Examples:
      glasshouse import play.glass                           into the store here
      glasshouse import play.glass --store new.glasshouse    into another store, which is made if need be
      glasshouse import -                                    from a pipe
    """
    into = store_path(store)
    try:
        with _as_file(path) as file:
            run_until_interrupted(lambda: _import(file, into))
            contents, other_sides = contents_of(file)
    except KeyboardInterrupt as stop:
        say("\nglasshouse: stopped. The file is imported whole or not at all.", file=sys.stderr)
        raise typer.Exit(INTERRUPTED) from stop
    facts = {"path": str(path), **contents, "other_sides": other_sides, "store": str(into)}
    if as_json:
        print_json(facts)
        return
    Screen().draw(f"{facts['session_id']}: {facts['events']:,} events, now in {into}.")
    line = CommandLine.on(into)
    say(f"Look at it: {line.call('show', facts['session_id'])}")
    for session_id in other_sides:
        say(f"The run also went on in another session: {line.call('show', session_id)}")


async def _import(path: Path, into: StoreAddress) -> None:
    async with Terrarium(store_to_write(into)) as terrarium:
        await terrarium.import_file(path)


@contextmanager
def _as_file(path: Path) -> Iterator[Path]:
    """The path if it is one of a file; else a temporary copy, because a pipe can be read only once."""
    if path.is_file():
        yield path
    elif path == STDIN or path.exists():
        with NamedTemporaryFile(suffix=".glass") as copy:
            with sys.stdin.buffer if path == STDIN else path.open("rb") as piped:
                shutil.copyfileobj(piped, copy)
            copy.flush()
            if not copy.tell():
                what = "Standard input" if path == STDIN else str(path)
                raise Refused(f"{what} is empty: there is nothing to import.", "Pipe in what `export` wrote.")
            yield Path(copy.name)
    else:  # Said before a store is made for nothing.
        raise Refused(f"There is no file {path}.", "Check the path.")
