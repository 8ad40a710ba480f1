"""`glasshouse play`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Final

import typer

from glasshouse.cli.exits import in_words
from glasshouse.cli.options import StoreOption
from glasshouse.cli.performing.pace import Pace

if TYPE_CHECKING:
    from pathlib import Path

    from glasshouse.cli.performing.farewell import Words
    from glasshouse.cli.performing.performance import Wish

EXAMPLES: Final = """\b
Examples:
  glasshouse worlds                              what can be played
  glasshouse play WORLD                          play it, from its first seed
  glasshouse play WORLD --seed "a lost glove"    from a seed of your own
  glasshouse play worlds/mine --turns 4          a world of yours, four turns of it
  glasshouse play --continue last                go on where it was left
  glasshouse play --watch                        watch what another process plays
  glasshouse play WORLD --json | head -n 20      events for machines"""

WorldArgument = Annotated[
    str | None, typer.Argument(metavar="WORLD|PATH", help="A world by its name, or the folder it is in.")
]
SeedOption = Annotated[
    str | None,
    typer.Option(metavar="TEXT", help="What it grows from. By default: the world's first seed."),
]
RngSeedOption = Annotated[
    int | None,
    typer.Option(
        metavar="N", help="The number that all chance comes from. Same number, same play. By default: 0."
    ),
]
TurnsOption = Annotated[
    int | None,
    typer.Option(min=1, metavar="N", help="Play so many turns at most, and leave the run open."),
]
PaceOption = Annotated[
    Pace | None, typer.Option(help="How fast to go. By default: reading on a terminal, fast in a pipe.")
]
MindsOption = Annotated[bool, typer.Option("--minds", help="Show thoughts, moods and who passed, too.")]
WatchOption = Annotated[
    bool, typer.Option("--watch", help="Play nothing: show what another process plays in the store.")
]
ContinueOption = Annotated[
    str | None,
    typer.Option(
        "--continue", metavar="RUN", help="Go on with a run: its id, the beginning of it, or `last`."
    ),
]
RunIdOption = Annotated[
    str | None,
    typer.Option(metavar="ID", help="The id of the new run; with --watch, of the run to watch."),
]
EventsOption = Annotated[
    bool, typer.Option("--json", help="Print one event a line, as the audience may read it.")
]


def add_to(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command(epilog=EXAMPLES, short_help="Play a world, live.")(play)


def play(
    context: typer.Context,
    world: WorldArgument = None,
    *,
    seed: SeedOption = None,
    rng_seed: RngSeedOption = None,
    turns: TurnsOption = None,
    pace: PaceOption = None,
    minds: MindsOption = False,
    watch: WatchOption = False,
    continued: ContinueOption = None,
    run_id: RunIdOption = None,
    store: StoreOption = None,
    as_json: EventsOption = False,
) -> None:
    """Play a world, live: every voice in its colour, line by line, at the pace of a reader.

    Everything is kept in the store. It ends with the digest of the run and the commands to look at it again.

    On a terminal, at the pace of a reader: i throws something in, space pauses, q stops the run; any other key goes
    on at once.
    """
    _check_usage(world, continued, is_watching=watch)
    if continued is not None or watch:
        _check_nothing_is_for_a_new_run(seed, rng_seed, run_id=None if watch else run_id)
    with in_words():
        from glasshouse.cli.performing.performance import Wish, perform
        from glasshouse.cli.storing import store_path

        path = store_path(store)
        wish = Wish(
            world=world,
            store=path,
            words=_words(context, path),
            pace=pace or _pace_here(as_json=as_json),
            seed=seed,
            rng_seed=rng_seed or 0,
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


def wish_for(
    context: typer.Context,
    name: str,
    store: Path | None,
    pace: Pace | None,
    *,
    turns: int | None,
    has_minds: bool,
    as_json: bool,
) -> Wish:
    """What a command wishes that goes on from something played."""
    from glasshouse.cli.performing.performance import Wish
    from glasshouse.cli.storing import store_path

    path = store_path(store)
    return Wish(
        world=None,
        store=path,
        words=_words(context, path),
        pace=pace or _pace_here(as_json=as_json),
        turns=turns,
        continued=name,
        has_minds=has_minds,
        as_json=as_json,
    )


def _pace_here(*, as_json: bool) -> Pace:
    return Pace.READING if sys.stdout.isatty() and not as_json else Pace.FAST


def _words(context: typer.Context, store: Path) -> Words:
    """The commands that can be offered at the end."""
    from glasshouse.cli.performing import farewell
    from glasshouse.cli.storing import sound_settings

    commands = getattr(context.find_root().command, "commands", {})
    return farewell.words(commands, store, sound_settings().store)


def _watch(wish: Wish) -> None:
    from glasshouse.cli.commands.watching import watch

    watch(wish)


def _check_usage(world: str | None, continued: str | None, *, is_watching: bool) -> None:
    """Say which words do not go together."""
    if continued is not None and (world is not None or is_watching):
        raise typer.BadParameter("--continue names the run; leave WORLD and --watch away.")
    if world is None and continued is None and not is_watching:
        raise typer.BadParameter("Name a world. `glasshouse worlds` lists them.", param_hint="WORLD")


def _check_nothing_is_for_a_new_run(seed: str | None, rng_seed: int | None, run_id: str | None) -> None:
    """Say which options have come too late: the run that is meant has begun."""
    given = {"--seed": seed, "--rng-seed": rng_seed, "--run-id": run_id}
    for option, value in given.items():
        if value is not None:
            raise typer.BadParameter(f"{option} is for a new run; leave it away.")
