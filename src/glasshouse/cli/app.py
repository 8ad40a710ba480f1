"""The commands, and what happens when one fails: words and an exit code, never a traceback."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Troupes of small language-model agents that live under glass.",
)


@app.callback(invoke_without_command=True)
def glasshouse(
    *, version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False
) -> None:
    """Troupes of small language-model agents that live under glass."""


def main() -> None:
    """Run the command line."""
    sys.exit(app())
