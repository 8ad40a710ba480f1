"""What users test their own worlds with: play one offline in one call, script a model, count how often one is asked.

Always holds: nothing here reaches the network or writes a file; the same world and seeds give the same `digest`.
"""

from __future__ import annotations

from pathlib import Path

from glasshouse.assembly import ModelRouter, Played, play
from glasshouse.manifests.loading import LoadedWorld
from glasshouse.models.scripted import CountingModel, ScriptedModel
from glasshouse.runtime.ports import Model

__all__ = ["CountingModel", "Played", "ScriptedModel", "play_offline"]


def play_offline(
    path: str | Path | LoadedWorld,
    turns: int | None = None,
    seed: str | None = None,
    rng_seed: int = 0,
    *,
    model: Model | None = None,
) -> Played:
    """Play a world in memory, to its end or for so many turns, by the offline troupe or by the model given."""
    return play(path, seed=seed, rng_seed=rng_seed, turns=turns, models=ModelRouter(model))
