"""The commands: one module each, with the name of the command."""

from __future__ import annotations

from collections.abc import Callable
from inspect import cleandoc

import typer

from glasshouse.cli.program import examples_to_paste
from glasshouse.cli.standard_output import prints_json_alone


def add_command(app: typer.Typer, name: str, short_help: str, function: Callable[..., None]) -> None:
    """Add a command. Its docstring is its help; the examples at the end of the docstring are printed last."""
    help_text, _, examples = cleandoc(function.__doc__ or "").partition("\n\n\b\n")
    app.command(name, help=help_text, short_help=short_help, epilog=f"\b\n{examples_to_paste(examples)}")(
        prints_json_alone(function)
    )
