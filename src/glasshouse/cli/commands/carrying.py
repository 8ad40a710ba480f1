"""`glasshouse export` and `glasshouse import`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from glasshouse.cli.exits import in_words
from glasshouse.cli.options import JsonOption, RoleName, StoreOption

if TYPE_CHECKING:
    from glasshouse.cli.looking import Lookout

EXPORT_EXAMPLES: Final = """\b
Examples:
  glasshouse export last play.glass                      the last run, with everybody's thoughts
  glasshouse export last play.jsonl --as spectator       to read in other tools, without thoughts
  glasshouse export s-1a2b play.glass --as director      a session with everything there is"""

IMPORT_EXAMPLES: Final = """\b
Examples:
  glasshouse import play.glass                           into the store here
  glasshouse import play.glass --store new.glasshouse    into another store, which is made if need be"""


def add_to(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    app.command("export", epilog=EXPORT_EXAMPLES, short_help="Write a run or session into a file.")(export)
    app.command("import", epilog=IMPORT_EXAMPLES, short_help="Take in a session from a file.")(import_file)


def export(
    name: Annotated[
        str,
        typer.Argument(
            metavar="SESSION|RUN", help="A run or a session: its id, the beginning of its id, or `last`."
        ),
    ],
    path: Annotated[
        Path, typer.Argument(metavar="PATH", help="The file: .glass, or .jsonl for plain lines.")
    ],
    *,
    role: Annotated[
        RoleName, typer.Option("--as", help="For whom: only a director's file has all there is.")
    ] = RoleName.AUDIENCE,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write a session with all that it remembers into one file. Of a run: the session that knows its end."""
    with in_words():
        from glasshouse.cli.drawing.screen import print_json
        from glasshouse.cli.looking import looked_up

        told = looked_up(store, lambda lookout: _exported(lookout, name, path, role))
        if as_json:
            print_json(told)
            return
        print(
            f"{told['path']}: {told['events']:,} events of {told['session_id']}, as seen by: {told['role']}."
        )
        if told["elsewhere"]:
            print(
                f"The run also went on in {', '.join(told['elsewhere'])}: not in this file.", file=sys.stderr
            )


async def _exported(lookout: Lookout, name: str, path: Path, role: RoleName) -> dict[str, Any]:
    session_id, elsewhere = await lookout.session_to_carry(name)
    written = await lookout.terrarium.export(session_id, path, role=role.value)
    lineage = lookout.terrarium.lineage(session_id)
    events = len(await lookout.terrarium.events(session_id))
    return {
        "path": str(written),
        "session_id": session_id,
        "role": role.value,
        "sessions": len(lineage.ancestors) + 1,
        "events": events,
        "elsewhere": elsewhere,
    }


def import_file(
    path: Annotated[Path, typer.Argument(metavar="PATH", readable=False, help="A file that `export` wrote.")],
    *,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Take in a session from a file. It can be read and grown from; nobody in it lives here."""
    with in_words():
        import asyncio

        from glasshouse.cli.drawing.screen import print_json
        from glasshouse.cli.storing import store_path
        from glasshouse.errors import Refused

        into = store_path(store)
        if not path.exists():  # Said before a store is made for nothing.
            raise Refused(f"There is no file {path}.", "Check the path.")
        told = asyncio.run(_imported(path, into))
        if as_json:
            print_json(told)
            return
        place = "" if store is None else f" --store {into}"
        print(f"{told['session_id']}: {told['events']:,} events, now in {into}.")
        print(f"Look at it: glasshouse show {told['session_id']}{place}")


async def _imported(path: Path, into: Path) -> dict[str, Any]:
    from glasshouse.assembly import SqliteStore
    from glasshouse.terrarium import Terrarium

    async with Terrarium(SqliteStore(into)) as terrarium:
        session = await terrarium.import_file(path)
        events = len(await terrarium.events(session.id))
        sessions = len(terrarium.lineage(session.id).ancestors) + 1
    return {
        "path": str(path),
        "session_id": session.id,
        "sessions": sessions,
        "events": events,
        "store": str(into),
    }
