"""Cross checks: whether the names in a world name anybody, and whether its play can be played.

Always holds: the checks are pure, and each is one function from a world to complaints. What could not be read is not
held against what names it: a check that needs a broken part says nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from glasshouse.manifests import cast_checks, play_checks, team_checks, tool_checks, wire_checks
from glasshouse.manifests.problem import Complaint
from glasshouse.manifests.rehearsal import Rehearsal

Check = Callable[[Rehearsal], Iterable[Complaint]]

CHECKS: tuple[Check, ...] = (
    cast_checks.creatures_without_a_file,
    cast_checks.root_is_somebody,
    cast_checks.handles_given_twice,
    cast_checks.channels_that_are_not_open,
    cast_checks.wires_to_nobody,
    wire_checks.conditions_that_cannot_hold,
    wire_checks.prompts_that_cannot_be_filled,
    cast_checks.names_of_nobody,
    cast_checks.too_many_for_the_population,
    team_checks.versus_without_teams,
    team_checks.teams_overlapping,
    team_checks.contestants_who_judge,
    team_checks.teams_called_like_creatures,
    team_checks.referee_unknown,
    team_checks.referee_missing,
    team_checks.referee_without_its_deal,
    play_checks.kinds_that_cannot_be,
    play_checks.kinds_undeclared,
    play_checks.ending_without_cause,
    play_checks.turns_too_full,
    play_checks.beats_beyond_the_end,
    play_checks.opening_placeholders,
    tool_checks.tools_unknown,
    tool_checks.tools_in_prose,
)


def complaints_about(world: Rehearsal) -> list[Complaint]:
    """Everything the cross checks find."""
    return [complaint for check in CHECKS for complaint in check(world)]
