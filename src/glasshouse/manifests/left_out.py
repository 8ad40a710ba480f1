"""What a scenario may leave out because its files say it: its name, and kinds that its creatures write (ADR 0104).

Always holds: what is filled in is part of the scenario from then on, so it is in the digest and in the ledger. `what_is_left_out`
tells it. A kind that resembles one of the engine's is never filled in: it is misspelt.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from glasshouse.manifests.manifest import Manifest
from glasshouse.manifests.problem import Complaint
from glasshouse.manifests.scenario import CORE_KINDS, Scenario
from glasshouse.manifests.world_folders import name_of
from glasshouse.manifests.yaml_source import Source
from glasshouse.world.state.ids import name_made_of

likeness_min: Final = 0.8
"""From here on two kinds resemble each other, of 1.0 for the same."""

_NAMESPACES: Final = frozenset(kind.partition(".")[0] for kind in CORE_KINDS)


def usual_name(world: Path) -> str:
    """The name of a world whose scenario has none: its folder's or its file's, made valid."""
    return name_made_of(name_of(world), "world")


def with_kinds_of(
    scenario: Scenario, manifests: Mapping[str, Manifest], *, is_complete: bool = True
) -> Scenario:
    """A scenario that declares no kind, with those that its creatures may write: each has one field, text.

    If a creature is missing, it might have written what the others hear, so nothing can be said against that.
    """
    if scenario.kinds:
        return scenario
    heard = () if is_complete else [kind for m in manifests.values() for kind in m.subscribes_to]
    own = [*_writers(manifests), *filter(_is_own, heard)]
    kinds = {kind: {"text": "string"} for kind in own}
    return scenario.model_copy(update={"kinds": kinds}) if kinds else scenario


def _writers(manifests: Mapping[str, Manifest]) -> dict[str, str]:
    """The kinds of their own that creatures may write, each with the first creature that may."""
    writers: dict[str, str] = {}
    for name, manifest in manifests.items():
        for kind in filter(_is_own, manifest.may_emit):
            writers.setdefault(kind, name)
    return writers


def _is_own(kind: str) -> bool:
    """Whether a kind is a world's own, and not one of the engine's, misspelt."""
    is_like_one = get_close_matches(kind, CORE_KINDS, 1, likeness_min)
    return kind.partition(".")[0] not in _NAMESPACES and not is_like_one


def what_is_left_out(
    source: Source, world: Path, scenario: Scenario, manifests: Mapping[str, Manifest]
) -> Iterator[Complaint]:
    """What a scenario leaves out, and what to write."""
    written = source.data if isinstance(source.data, dict) else {}
    if "name" not in written:
        noun = "file" if world.is_file() else "folder"
        text = f"there is none, so the world is called {scenario.name!r}, like its {noun}. Write name: {scenario.name}."
        yield Complaint(("name",), f"{text} The name is in the digest, which another {noun} would change.")
    for kind, name in _writers(manifests).items() if not written.get("kinds") else ():
        text = f"{name} may write {kind!r}, which is not declared, so it has one field, text."
        yield Complaint(("kinds",), f"{text} Write kinds: {{{kind}: {{text: string}}}}.")
