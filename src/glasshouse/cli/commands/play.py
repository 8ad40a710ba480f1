"""`glasshouse play` plays a world live in the terminal.

Options become a governor and a seed; what happens on the screen is in `cli.live`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import typer

from glasshouse.cli import options
from glasshouse.cli.live.live_play import LiveRequest, play_new, play_on, watch_live
from glasshouse.cli.live.open_runs import continued_run
from glasshouse.cli.model_choice import ModelChoice
from glasshouse.cli.options import flag, option
from glasshouse.cli.program import program_called
from glasshouse.cli.tool_servers import tool_names
from glasshouse.cli.world_path import check_world
from glasshouse.events.redaction import Role
from glasshouse.manifests.loading import load_world

_RNG_SEED = "Seed of the random numbers. The same seed gives the same play. Default: 0."
_ROLE = (
    "Role to show events for. Default: audience with --json or --minds, otherwise spectator. "
    "Who plays also sees by default why an act failed."
)
_CONTINUE = "Continue a run: its id, the beginning of it, or `last`."


@options.takes_limits
def play(
    world: options.OptionalWorldArgument = None,
    *,
    seed: options.SeedOption = None,
    rng_seed: int | None = option("N", _RNG_SEED),
    turns: options.TurnsOption = None,
    limits: Mapping[str, float],
    pace: options.PaceOption = None,
    minds: options.MindsOption = False,
    role: options.RoleName | None = typer.Option(None, "--as", help=_ROLE),
    watch: bool = flag("--watch", "Play nothing: show what another process plays in the store."),
    continued: str | None = option("RUN", _CONTINUE, None, "--continue"),
    run_id: str | None = option("ID", "The id of the new run; with --watch, of the run to watch."),
    strict: bool = flag(
        "--strict", "Stop with the traceback when an agent, a model or a tool of your own raises."
    ),
    models: options.ModelsOption = None,
    model: options.ModelOption = None,
    env_file: options.EnvFileOption = None,
    tools: options.ToolsOption = None,
    yes: options.YesOption = False,
    store: options.StoreOption = None,
    as_json: options.EventsOption = False,
) -> None:
    """Play a world, live: every voice in its colour, line by line, at the pace of a reader.

    Everything is kept in the store. At the end come the digest of the run and the commands to look at it again.

    Keys, on a terminal at the pace of a reader: i says something to the run, space pauses, q finishes the run, any other
    key shows the next line at once.

    \b
    Examples:
      glasshouse worlds                              what can be played
      glasshouse play WORLD                          play it, from its first seed
      glasshouse play WORLD --seed "a lost glove"    from a seed of your own
      glasshouse play worlds/mine --turns 4          a world of yours, four turns of it
      glasshouse play mystery.yaml                   a scenario of yours, beside its creatures
      glasshouse play WORLD --max-usd 0.50           until it would cost more than half a dollar
      glasshouse play WORLD --models ollama          with a real model, on a server of yours
      glasshouse play --continue last                continue where it was left
      glasshouse play --watch                        watch what another process plays
      glasshouse play WORLD --json | head -n 20      events for machines
    """
    late: dict[str, Any] = {"--seed": seed, "--rng-seed": rng_seed, "--run-id": None if watch else run_id}
    late |= {f"--{axis.replace('_', '-')}": limit for axis, limit in limits.items()}
    _check_names_one(world, continued, late, watch=watch)
    seen_by: Role | None = None if role is None else role.value
    shown: dict[str, Any] = {"turns": turns, "has_minds": minds, "as_json": as_json, "role": seen_by}
    choice = ModelChoice.of(models, model, env_file, yes)
    request = LiveRequest(store, pace, models=choice, tools=tools, is_strict=strict, **shown)
    if watch:
        watch_live(request, world, run_id)
    elif world is not None:
        # Read at once, so that an invalid world creates no store.
        check_world(world)
        loaded = load_world(world, tools=tool_names(request.tool_servers))
        play_new(request, loaded, seed, rng_seed or 0, run_id, limits)
    else:
        play_on(request, continued_run(continued or "last", request.command_line), continued or "last")


def _check_names_one(world: str | None, continued: str | None, late: dict[str, Any], *, watch: bool) -> None:
    """Refuse options that do not go together. `late` are those for a new run."""
    if continued is not None and (world is not None or watch):
        raise typer.BadParameter("--continue names the run; leave WORLD and --watch away.")
    if world is None and continued is None and not watch:
        raise typer.BadParameter(f"Name a world. `{program_called()} worlds` lists them.", param_hint="WORLD")
    given = [name for name, value in late.items() if value is not None]
    if given and (continued is not None or watch):
        raise typer.BadParameter(f"{given[0]} is for a new run; leave it away.")
