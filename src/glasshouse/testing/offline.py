"""`play_offline`: plays a whole world in memory in one call."""

from __future__ import annotations

from pathlib import Path

from glasshouse.assembly import ModelRouter
from glasshouse.manifests.loading import LoadedWorld
from glasshouse.runtime.played import Played
from glasshouse.runtime.ports import Model
from glasshouse.terrarium import play


def play_offline(
    path: str | Path | LoadedWorld,
    turns: int | None = None,
    seed: str | None = None,
    rng_seed: int = 0,
    *,
    model: Model | None = None,
) -> Played:
    """Play a world in memory, to its end or for `turns` turns, with the given model or else the offline troupe."""
    return play(path, seed=seed, rng_seed=rng_seed, turns=turns, models=ModelRouter(model))
