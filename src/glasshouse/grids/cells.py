"""Cells: the runs of a grid before they are played. Pure: the product of the axes, and the name of each cell.

Always holds: the name of a cell is a digest of all that decides its play, and of nothing else: not of the folder, the machine, the
path of a file, the number of processes or a price. So whoever plays the same cell again finds that it was played.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from hashlib import blake2b
from itertools import product
from typing import Final, NamedTuple

from msgspec import to_builtins

from glasshouse.contests.plays import Play
from glasshouse.events.codec import canonical_json
from glasshouse.events.event import Json
from glasshouse.events.payloads import prompting_now, rules_now, settled
from glasshouse.grids.grid_file import GridFile
from glasshouse.grids.variants import Variant
from glasshouse.reprs import shown

naming: Final = 1
"""The number of the rule by which cells are named. Raise it when the same play gets another name."""


class Cell(NamedTuple):
    """One run of a grid. Its axes are as the grid's file writes them."""

    name: str
    """Sixteen hexadecimal characters."""
    world: str
    what_if: str
    models: str
    rng_seed: int
    repeat: int
    """From 1 on."""

    def __repr__(self) -> str:
        return shown(
            self,
            name=self.name,
            world=self.world,
            what_if=self.what_if,
            models=self.models,
            rng_seed=self.rng_seed,
            repeat=self.repeat,
        )

    @property
    def run_id(self) -> str:
        """The id of its run."""
        return f"r-{self.name}"

    def play(self, variant: Variant) -> Play:
        """Its run as it is planned."""
        return Play(
            variant.world,
            variant.seed,
            self.rng_seed,
            variant.governor,
            variant.seats,
            variant.lines,
            self.run_id,
            is_unattended=True,
        )


ModelFacts = Mapping[tuple[str, str, str], Json]
"""World, what-if and models -> what decides how these models play there."""


def cells_of(
    file: GridFile, variants: Mapping[tuple[str, str], Variant], models: ModelFacts
) -> Iterator[Cell]:
    """The product of the axes, in the order of the file: the repeats of a seed stand together."""
    for world, what_if, asked in product(file.worlds, [each.name for each in file.what_ifs], file.models):
        decided = _decided_by(variants[world, what_if], models[world, what_if, asked])
        for rng_seed, repeat in product(file.rng_seeds, range(1, file.repeats + 1)):
            digest = blake2b(f"{decided}:{rng_seed}:{repeat}".encode(), digest_size=8)
            yield Cell(digest.hexdigest(), world, what_if, asked, rng_seed, repeat)


def _decided_by(variant: Variant, models: Json) -> str:
    """A digest of what all seeds and repeats of a variant share."""
    world = variant.world
    scenario = world.scenario
    limits = scenario.limits if variant.governor is None else settled(variant.governor, scenario.creatures)
    facts = {
        "naming": naming,
        "rules": rules_now,
        "prompting": prompting_now,
        "world": world.digest,
        "beside": variant.beside,
        "seed": next(iter(scenario.seeds), "") if variant.seed is None else variant.seed,
        "limits": to_builtins(limits),
        "limits_given": variant.governor is not None and sorted(vars(variant.governor).get("given") or ()),
        "lines": [[line.turn, line.text] for line in variant.lines],
        "models": models,
    }
    return blake2b(canonical_json(facts), digest_size=16).hexdigest()
