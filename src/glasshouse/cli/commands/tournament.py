"""`glasshouse tournament` lets models play a world against each other.

Matches are made in `contests`; here they are started and shown.
"""

from __future__ import annotations

from enum import StrEnum

import typer

from glasshouse.cli.command_line import store_path
from glasshouse.cli.live.matches import play_matches
from glasshouse.cli.model_choice import ModelChoice
from glasshouse.cli.options import (
    EnvFileOption,
    JsonOption,
    SeedOption,
    StoreOption,
    WorldArgument,
    YesOption,
    option,
)
from glasshouse.runtime import event_loop

_MODELS = "The models that play, such as ollama:qwen3:8b, or profiles of models.yaml. With --against solo: offline if left out."
_OTHERS = "What plays those who do not compete, such as judges; as --models of `play` takes it."
_RNG_SEED = "Seed of the random numbers of the first round; each round adds one."
_AGAINST = "Let the troupe play against one creature alone, which has the purse that the troupe spent."


class Against(StrEnum):
    """What a troupe may be played against."""

    SOLO = "solo"


def tournament(
    world: WorldArgument,
    *,
    models: str | None = option("A,B", _MODELS),
    rounds: int = option("N", "How many rounds; each is played in both orders of seats.", 1, min=1),
    against: Against | None = typer.Option(None, help=_AGAINST),
    seed: SeedOption = None,
    rng_seed: int = option("N", _RNG_SEED, 0),
    others: str | None = option("SERVER", _OTHERS),
    env_file: EnvFileOption = None,
    yes: YesOption = False,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Let models play a world against each other: every two of them, every round, in both orders of seats.

    Both orders of a round use the same rng_seed. Judges are played by the models behind their profiles. Every match is an
    ordinary run of the store, so `glasshouse leaderboard` counts it.

    \b
    Examples:
      glasshouse tournament WORLD --models offline,offline:hasty   two models, each on both sides
      glasshouse tournament WORLD --models ollama:qwen3:8b,ollama:gemma3:4b --others ollama
      glasshouse tournament WORLD --against solo --rounds 5        the troupe against one with its purse
      glasshouse leaderboard --by model                            all that was ever played in the store
    """
    if models is None and against is None:
        raise typer.BadParameter("Name two models, such as offline,offline:hasty.", param_hint="--models")
    names = [name.strip() for name in (models or "offline").split(",")]
    is_solo = against is not None
    seeds = {"seed": seed, "rng_seed": rng_seed}
    choice = ModelChoice(others, {}, env_file, yes)
    matches = play_matches(
        world,
        [*filter(None, names)],
        rounds,
        store_path(store),
        choice,
        is_solo=is_solo,
        as_json=as_json,
        **seeds,
    )
    event_loop.run(matches)
