"""`glasshouse export` writes a run or a session into one file: to carry it elsewhere, or as a page to show around.

A file that was redacted for a role says so.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import typer

from glasshouse.cli.drawing.screen import Screen, counted, print_json
from glasshouse.cli.file_errors import writing
from glasshouse.cli.options import JsonOption, RoleName, StoreOption, argument, flag, option
from glasshouse.cli.prose import say
from glasshouse.cli.store_reader import StoreReader, contents_of, read_store
from glasshouse.errors import Refused

ENDINGS: Final = (".glass", ".jsonl", ".html")
"""What the name of a file may end in, in any letter case. Without an ending it is a `.glass` file."""
STANDARD_OUTPUT: Final = Path("-")


def export(
    name: str = argument("SESSION|RUN", "A run or a session: its id, the beginning of its id, or `last`."),
    path: Path | None = typer.Argument(
        None,
        metavar="PATH",
        help="The file: .glass, .jsonl for plain lines, or .html for a page, which is named after the world by default; or - for "
        "what reads the pipe.",
    ),
    *,
    role: RoleName | None = typer.Option(
        None,
        "--as",
        help="For whom, by default the audience. Only a director's file has all there is.",
    ),
    html: bool = flag(
        "--html", "Write a page that opens from disk, for spectators. A path that ends in .html does too."
    ),
    minds: bool = flag("--minds", "With --html: with everybody's thoughts."),
    first: int = option("N", "With --html: begin at this event.", 1, "--from", min=1),
    last: int | None = option("N", "With --html: end at this event.", None, "--to", min=1),
    verify: bool = flag("--verify", "With --html: replay the run first, and say in the page that it did."),
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write a run, with all sides of its splits, or a session with all that it remembers into one file.

    \b
    Examples:
      glasshouse export last --html                          a page to send around, without thoughts
      glasshouse export last night.html --minds              the same with everybody's thoughts
      glasshouse export last play.glass                      the last run, with everybody's thoughts
      glasshouse export last play.jsonl --as spectator       to read in other tools, without thoughts
      glasshouse export s-1a2b play.glass --as director      a session with everything there is
      glasshouse export last - | ssh shed glasshouse import -  into a store on another machine
    """
    html = _ending_of(path) == ".html" or html
    if html and role is not None:
        raise Refused("A page is for spectators.", "Leave --as out; --minds adds everybody's thoughts.")
    if not html and (minds or verify or first > 1 or last is not None):
        raise Refused(
            "--minds, --from, --to and --verify belong to --html.", "Add --html, or leave them out."
        )

    if path == STANDARD_OUTPUT:
        _check_is_piped(as_json=as_json)
    with _as_file(path, ".html" if html else ".glass") as file:
        facts = read_store(
            store,
            _shared(name, file, minds=minds, first=first, last=last, verify=verify)
            if html
            else _exported(name, file, role or RoleName.AUDIENCE),
        )
    if as_json:
        print_json(facts)
        return
    _tell(facts, path)


def _ending_of(path: Path | None) -> str:
    """What a file's name ends in. One that no file is written with is refused."""
    ending = "" if path is None else path.suffix.lower()
    if ending not in {"", *ENDINGS}:
        known = f"{', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}"
        raise Refused(f"No file that ends in {ending} is written.", f"Name one that ends in {known}.")
    return ending


def _tell(facts: dict[str, Any], path: Path | None) -> None:
    """Say what was written; beside standard output, if the file went there."""
    whose = facts["run_id"] or facts["session_id"]
    size = f", {facts['bytes'] / 1_000_000:.1f} MB" if "bytes" in facts else ""
    where = "standard output" if path == STANDARD_OUTPUT else facts["path"]
    line = f"{where}: {counted(facts['events'], 'event')} of {whose}{size}, as seen by: {facts['role']}."
    if path == STANDARD_OUTPUT:
        say(f"glasshouse: {line}", file=sys.stderr)
    else:
        Screen().draw(line)


def _check_is_piped(*, as_json: bool) -> None:
    """Refuse to write a file to standard output if something else is to read there."""
    if as_json:
        raise Refused("The file and --json both go to standard output.", "Leave --json out, or name a file.")
    if sys.stdout.isatty():
        raise Refused(
            "A file is not written to a terminal.", "Name one, or send it on: export RUN - > play.glass"
        )


@contextmanager
def _as_file(path: Path | None, ending: str) -> Iterator[Path | None]:
    """The path, or in place of standard output a temporary file that is copied there at the end."""
    if path != STANDARD_OUTPUT:
        yield path
        return
    with TemporaryDirectory() as folder:
        file = Path(folder) / f"export{ending}"
        yield file
        with file.open("rb") as written:
            shutil.copyfileobj(written, sys.stdout.buffer)
        sys.stdout.buffer.flush()


def _shared(
    name: str, path: Path | None, *, minds: bool, first: int, last: int | None, verify: bool
) -> Callable[[StoreReader], Awaitable[dict[str, Any]]]:
    """Write a page; what was written."""

    async def written(reader: StoreReader) -> dict[str, Any]:
        run_id, _ = await reader.run_or_session(name)
        made = await reader.terrarium.share(run_id, minds=minds, first=first, last=last, verify=verify)
        file = path or Path(made.name)
        with writing(file):
            file.write_bytes(made.content)
        role = RoleName.AUDIENCE if minds else RoleName.SPECTATOR
        about = {"path": str(file), "run_id": run_id, "role": role.value}
        return {**about, "events": made.events, "bytes": len(made.content)}

    return written


def _exported(
    name: str, path: Path | None, role: RoleName
) -> Callable[[StoreReader], Awaitable[dict[str, Any]]]:
    """Write a file that another store imports; what was written."""

    async def written(reader: StoreReader) -> dict[str, Any]:
        if path is None:
            raise Refused("The file has no name.", "Add one such as play.glass, or --html for a page.")
        named_id, _ = await reader.run_or_session(name)
        is_run = named_id not in await reader.session_ids()
        file = await reader.terrarium.export(named_id, path, role=role.value)
        contents, _ = contents_of(file)
        run_id = named_id if is_run else None
        return {"path": str(file), "run_id": run_id, "role": role.value, **contents}

    return written
