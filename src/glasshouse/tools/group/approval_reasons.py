"""Why a change by a group tool needs a yes from outside: strangers' words may have led to it, or it meets another run."""

from __future__ import annotations

from typing import Final

from glasshouse.errors import Refused
from glasshouse.runtime.tool_context import ToolContext
from glasshouse.tools.approval import ApprovalReason
from glasshouse.tools.group.requests import Request
from glasshouse.turns.runs.policy import rule_of_untrusted_edit
from glasshouse.world.state.state import CreatureState

_WORDS_OF_STRANGERS: Final = ApprovalReason(
    "words of a visitor or of a tool are in what you read now",
    "a visitor's or a tool's words were in what it read",
)
_OTHER_RUN: Final = ApprovalReason("creatures of another run are there", "creatures of another run are there")


def approval_reasons(context: ToolContext, caller: CreatureState, request: Request) -> list[ApprovalReason]:
    """Why this change needs a yes from outside; empty if it needs none. Raises `Refused` if policy refuses it."""
    reasons = [_OTHER_RUN] if request.meets_other_run else []
    if request.is_risky and context.is_untrusted:
        is_join = request.is_join_within_run
        rule = rule_of_untrusted_edit(context.folded.runs, caller, is_join_within_run=is_join)
        if rule == "refuse":
            raise Refused(
                "Words of a visitor or of a tool are in what you read now, and the policy of this run refuses"
                f" to {request.deed} then.",
                "Do it when they are gone from what you read, or say what should be done.",
            )
        if rule == "ask":
            reasons.insert(0, _WORDS_OF_STRANGERS)
    return reasons
