"""The checks across a world's files: whether names exist, and whether the world can be played.

Always holds: each check is one function from a world to complaints and changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from glasshouse.manifests import cast_checks, play_checks
from glasshouse.manifests.checked_world import CheckedWorld
from glasshouse.manifests.problem import Complaint

Check = Callable[[CheckedWorld], Iterable[Complaint]]

CHECKS: tuple[Check, ...] = (
    cast_checks.creatures_without_a_file,
    cast_checks.unknown_roots,
    cast_checks.duplicate_handles,
    cast_checks.unknown_channels,
    cast_checks.unknown_wire_targets,
    cast_checks.bad_wire_conditions,
    cast_checks.bad_wire_prompts,
    cast_checks.unknown_handles,
    cast_checks.cast_over_population,
    play_checks.versus_without_teams,
    play_checks.overlapping_teams,
    play_checks.contestants_who_judge,
    play_checks.teams_named_like_creatures,
    play_checks.unknown_referee,
    play_checks.missing_referee,
    play_checks.referee_without_its_deal,
    play_checks.redeclared_kinds,
    play_checks.undeclared_kinds,
    play_checks.ending_without_cause,
    play_checks.turns_too_full,
    play_checks.beats_after_the_end,
    play_checks.bad_opening_placeholders,
    play_checks.unknown_tools,
    play_checks.tools_with_prose,
)


def complaints_about(world: CheckedWorld) -> list[Complaint]:
    """Everything the checks find."""
    return [complaint for check in CHECKS for complaint in check(world)]
