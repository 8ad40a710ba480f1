"""Importing a file from the page: what `glasshouse import` does, for a director in a browser.

Always holds: a file is imported whole or not at all, within the bounds of `glasshouse import`. What it brings is read-only:
nobody in it lives here. A refusal names the file as its owner calls it, never a path of this machine.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Final

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field

from glasshouse.errors import GlasshouseError, ImportConflict, Refused
from glasshouse.terrarium import Terrarium, folded_of
from glasshouse.turns.moment.line_text import one_line
from glasshouse.web.commands import Stage
from glasshouse.web.refusals import COMMANDS

file_name_chars_max: Final = 200
"""A longer name of a file is refused."""
_BODY: Final = {
    "required": True,
    "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
}

router = APIRouter(prefix="/api/v1", responses=COMMANDS)


class Imported(BaseModel):
    """What a file brought."""

    session_id: str = Field(description="The session that the file was written of.")
    run_id: str | None = Field(description="Its run, which can be opened; null if the session has none.")
    events: int = Field(description="How many events the store has of that session.")


@router.post("/imports", openapi_extra={"requestBody": _BODY})
async def import_file(
    request: Request,
    stage: Stage,
    name: Annotated[
        str, Query(min_length=1, max_length=file_name_chars_max, description="The file's name, for refusals.")
    ],
) -> Imported:
    """Import a file that `glasshouse export` wrote. It is sent as it is, as `application/octet-stream`."""
    with TemporaryDirectory(prefix="glasshouse-import-") as folder:
        path = Path(folder) / "file"
        await _keep(request.stream(), path)
        try:
            session = await stage.terrarium.import_file(path)
        except (Refused, ImportConflict) as wrong:
            raise _in_words(wrong, path, name) from wrong
    return Imported(session_id=session.id, run_id=_run_of(stage.terrarium, session.id), events=session.events)


async def _keep(chunks: AsyncIterator[bytes], path: Path) -> None:
    """Write what comes into a file."""
    with path.open("wb") as file:
        async for chunk in chunks:
            await asyncio.to_thread(file.write, chunk)


def _in_words(wrong: GlasshouseError, path: Path, name: str) -> GlasshouseError:
    """A refusal that names the file as its owner does."""
    words = str(wrong).replace(str(path), one_line(name))
    return ImportConflict(words) if isinstance(wrong, ImportConflict) else Refused(words)


def _run_of(terrarium: Terrarium, session_id: str) -> str | None:
    """The run that a session ended with."""
    session = folded_of(terrarium).world.sessions[session_id]
    return next(reversed((*session.runs, *session.writers)), None)
