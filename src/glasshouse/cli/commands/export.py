"""`glasshouse export` writes a session into one file.

A file that was redacted for a role says so.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import typer

from glasshouse.cli.drawing.screen import print_json
from glasshouse.cli.options import JsonOption, RoleName, StoreOption, argument
from glasshouse.cli.store_reader import StoreReader, counts_of, read_store


def export(
    name: str = argument("SESSION|RUN", "A run or a session: its id, the beginning of its id, or `last`."),
    path: Path = argument("PATH", "The file: .glass, or .jsonl for plain lines."),
    *,
    role: RoleName = typer.Option(
        RoleName.AUDIENCE, "--as", help="For whom: only a director's file has all there is."
    ),
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write a session with all that it remembers into one file. Of a run: the session that knows its end.

    \b
    Examples:
      glasshouse export last play.glass                      the last run, with everybody's thoughts
      glasshouse export last play.jsonl --as spectator       to read in other tools, without thoughts
      glasshouse export s-1a2b play.glass --as director      a session with everything there is
    """

    async def exported(reader: StoreReader) -> dict[str, Any]:
        session_id, elsewhere = await reader.session_at_end_of(name)
        written = await reader.terrarium.export(session_id, path, role=role.value)
        counts = await counts_of(reader.terrarium, session_id)
        about = {"path": str(written), "session_id": session_id, "role": role.value}
        return {**about, **counts, "elsewhere": elsewhere}

    facts = read_store(store, exported)
    if as_json:
        print_json(facts)
        return
    print(f"{facts['path']}: {facts['events']:,} events of {facts['session_id']}, as seen by: {role.value}.")
    if facts["elsewhere"]:
        others = ", ".join(facts["elsewhere"])
        print(f"The run also went on in {others}: not in this file.", file=sys.stderr)
