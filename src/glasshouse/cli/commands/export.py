"""`glasshouse export` writes a run or a session into one file.

A file that was redacted for a role says so.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from glasshouse.cli.drawing.screen import Screen, print_json
from glasshouse.cli.options import JsonOption, RoleName, StoreOption, argument
from glasshouse.cli.store_reader import StoreReader, contents_of, read_store


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
    """Write a run, with all sides of its splits, or a session with all that it remembers into one file.

    \b
    Examples:
      glasshouse export last play.glass                      the last run, with everybody's thoughts
      glasshouse export last play.jsonl --as spectator       to read in other tools, without thoughts
      glasshouse export s-1a2b play.glass --as director      a session with everything there is
    """

    async def exported(reader: StoreReader) -> dict[str, Any]:
        named_id, _ = await reader.run_or_session(name)
        is_run = named_id not in await reader.session_ids()
        written = await reader.terrarium.export(named_id, path, role=role.value)
        contents, _ = contents_of(written)
        return {
            "path": str(written),
            "run_id": named_id if is_run else None,
            "role": role.value,
            **contents,
        }

    facts = read_store(store, exported)
    if as_json:
        print_json(facts)
        return
    whose = facts["run_id"] or facts["session_id"]
    Screen().draw(f"{facts['path']}: {facts['events']:,} events of {whose}, as seen by: {role.value}.")
