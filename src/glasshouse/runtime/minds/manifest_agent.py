"""`ManifestAgent`: plays a creature from its manifest: a prompt, a reply, at most one repair; and the same again
after each tool call.
"""

from __future__ import annotations

from typing import Final

from glasshouse.errors import UnusableReply
from glasshouse.events import kinds
from glasshouse.events.event import Draft
from glasshouse.runtime.minds.agent import Agent
from glasshouse.turns.moment.moment import Moment
from glasshouse.turns.prompts.context import repair_prompt, written_for
from glasshouse.turns.replies.reply import Passed, Problem, draft_from

attempts_max: Final = 2
"""The first answer, and one more if that could not be used."""


class ManifestAgent(Agent):
    """The mind that a manifest describes."""

    asks_before_anything = True
    goes_on_from_its_talk = True

    async def act(self, moment: Moment) -> Draft | None:
        """Ask the model behind the profile, carry out the tools it wants, and make a draft of what it says."""
        (prompt, shown), attempt, before = written_for(moment), 1, ""
        while True:
            answer = await moment.ask(prompt, shown)
            reply = draft_from(answer.text, moment, is_last=attempt == attempts_max)
            if isinstance(reply, Draft):
                return reply
            if isinstance(reply, Passed):
                kept = _kept_of(before, moment)
                if kept is not None:
                    return kept
                return Draft(kind=kinds.AGENT_PASSED, payload={"reason": reply.reason}, private=reply.private)
            if isinstance(reply, Problem):
                if attempt == attempts_max:
                    kept = _kept_of(before, moment)
                    if kept is None:
                        raise UnusableReply(reply.text)
                    return kept
                prompt, attempt, before = (
                    repair_prompt(prompt, answer.text, reply.text),
                    attempt + 1,
                    answer.text,
                )
            else:
                assert moment.carry is not None, "a tool is asked for only where one was offered"
                await moment.carry(reply)
                moment = moment.look_again()
                (prompt, shown), attempt, before = written_for(moment), 1, ""


def _kept_of(before: str, moment: Moment) -> Draft | None:
    """What can be kept of the answer before the last one: a verdict whose winner nobody knows has its text still."""
    kept = draft_from(before, moment, is_last=True) if before else None
    return kept if isinstance(kept, Draft) else None
