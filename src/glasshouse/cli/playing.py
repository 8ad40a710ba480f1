"""`glasshouse play`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Final

import typer

from glasshouse.cli.exits import in_words
from glasshouse.cli.options import StoreOption
from glasshouse.cli.pace import Pace

if TYPE_CHECKING:
    from glasshouse.cli.performing import Wish

EXAMPLES: Final = """\b
Examples:
  glasshouse worlds                              what can be played
  glasshouse play WORLD                          play it, from its first seed
  glasshouse play WORLD --seed "a lost glove"    from a seed of your own
  glasshouse play worlds/mine --turns 4          a world of yours, four turns of it
  glasshouse play --continue last                go on where it was left
  glasshouse play --watch                        watch what another process plays
  glasshouse play WORLD --json | head -n 20      events for machines

\b
On a terminal, at the pace of a reader: i throws something in, space pauses, q stops the run; any other key goes on at once."""


def add_to(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command(epilog=EXAMPLES, short_help="Play a world, live.")(play)


def play(
    context: typer.Context,
    world: Annotated[
        str | None,
        typer.Argument(metavar="WORLD|PATH", help="A world by its name, or the folder it is in."),
    ] = None,
    *,
    seed: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="What it grows from. By default: the world's first seed."),
    ] = None,
    rng_seed: Annotated[
        int, typer.Option(metavar="N", help="The number that all chance comes from. Same number, same play.")
    ] = 0,
    turns: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Play so many turns at most, and leave the run open."),
    ] = None,
    pace: Annotated[
        Pace | None, typer.Option(help="How fast to go. By default: reading on a terminal, fast in a pipe.")
    ] = None,
    minds: Annotated[bool, typer.Option("--minds", help="Show thoughts, moods and who passed, too.")] = False,
    watch: Annotated[
        bool, typer.Option("--watch", help="Play nothing: show what another process plays in the store.")
    ] = False,
    continued: Annotated[
        str | None,
        typer.Option(
            "--continue", metavar="RUN", help="Go on with a run: its id, the beginning of it, or `last`."
        ),
    ] = None,
    run_id: Annotated[
        str | None,
        typer.Option(metavar="ID", help="The id of the new run; with --watch, of the run to watch."),
    ] = None,
    store: StoreOption = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one event a line, as the audience may read it.")
    ] = False,
) -> None:
    """Play a world, live: every voice in its colour, line by line, at the pace of a reader.

    Everything is kept in the store. It ends with the digest of the run and the commands to look at it again.
    """
    _check_usage(world, continued, is_watching=watch)
    if (continued is not None or watch) and seed is not None:
        raise typer.BadParameter("--seed is for a new run; leave it away.")
    with in_words():
        from glasshouse.cli import farewell
        from glasshouse.cli.performing import Wish, perform
        from glasshouse.cli.storing import sound_settings, store_path

        path = store_path(store)
        commands = getattr(context.find_root().command, "commands", {})
        wish = Wish(
            world=world,
            store=path,
            words=farewell.words(commands, path, sound_settings().store),
            pace=pace or (Pace.READING if sys.stdout.isatty() and not as_json else Pace.FAST),
            seed=seed,
            rng_seed=rng_seed,
            turns=turns,
            run_id=run_id,
            continued=continued,
            has_minds=minds,
            as_json=as_json,
        )
        if watch:
            _watch(wish)
        else:
            perform(wish)


def _watch(wish: Wish) -> None:
    from glasshouse.cli.watching import watch

    watch(wish)


def _check_usage(world: str | None, continued: str | None, *, is_watching: bool) -> None:
    """Say which words do not go together."""
    if continued is not None and (world is not None or is_watching):
        raise typer.BadParameter("--continue names the run; leave WORLD and --watch away.")
    if world is None and continued is None and not is_watching:
        raise typer.BadParameter("Name a world. `glasshouse worlds` lists them.", param_hint="WORLD")
