"""Options and arguments that commands share, so that they are spelled and explained alike everywhere."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

StoreOption = Annotated[
    Path | None,
    typer.Option(
        "--store",
        metavar="PATH",
        readable=False,  # What cannot be read is said by the store, in its own words.
        help="The store. By default: $GLASSHOUSE_STORE, else show.glasshouse here.",
    ),
]
NumbersOption = Annotated[
    bool,
    typer.Option("--numbers", help="Print the number of its event before each line, as `why` takes it."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object a line instead.")]
RunArgument = Annotated[
    str, typer.Argument(metavar="RUN", help="A run: its id, the beginning of its id, or `last`.")
]
RunOrSessionArgument = Annotated[
    str,
    typer.Argument(
        metavar="RUN|SESSION",
        help="A run, or a session: its id, the beginning of its id, or `last` for the last run.",
        show_default=False,
    ),
]
StoryArgument = Annotated[
    str,
    typer.Argument(
        metavar="RUN",
        help="A run, or a session: its id, the beginning of its id, or `last` for the last run.",
    ),
]


class RoleName(StrEnum):
    """Who looks on, and so what is shown."""

    SPECTATOR = "spectator"
    AUDIENCE = "audience"
    DIRECTOR = "director"
