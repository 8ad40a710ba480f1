"""The checks across a world's files: whether names exist, and whether the world can be played.

Always holds: every public function of `cast_checks` and `play_checks` is a check, from a world to complaints.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from inspect import isfunction

from glasshouse.manifests import cast_checks, play_checks
from glasshouse.manifests.checked_world import CheckedWorld
from glasshouse.manifests.problem import Complaint

CHECKS: tuple[Callable[[CheckedWorld], Iterable[Complaint]], ...] = tuple(
    function
    for module in (cast_checks, play_checks)
    for name, function in vars(module).items()
    if isfunction(function) and function.__module__ == module.__name__ and not name.startswith("_")
)


def complaints_about(world: CheckedWorld) -> list[Complaint]:
    """Everything the checks find."""
    return [complaint for check in CHECKS for complaint in check(world)]
