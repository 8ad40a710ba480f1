"""`ManifestAgent`: plays a creature from its manifest alone: one prompt, one answer, at most one repair."""

from __future__ import annotations

from typing import Final

from glasshouse.errors import UnusableReply
from glasshouse.events import kinds
from glasshouse.events.event import Draft
from glasshouse.runtime.agent import Agent
from glasshouse.turns.context import prompt_for, repair_prompt
from glasshouse.turns.moment import Moment
from glasshouse.turns.reply import Passed, draft_from

attempts_max: Final = 2
"""The first answer, and one more if that could not be used."""


class ManifestAgent(Agent):
    """The mind that a manifest describes."""

    asks_before_anything = True

    async def act(self, moment: Moment) -> Draft | None:
        """Ask the model behind the profile, and make a draft of what it says."""
        prompt = prompt_for(moment)
        for attempt in range(1, attempts_max + 1):
            answer = await moment.ask(prompt)
            reply = draft_from(answer.text, moment, is_last=attempt == attempts_max)
            if isinstance(reply, Draft):
                return reply
            if isinstance(reply, Passed):
                return Draft(kind=kinds.AGENT_PASSED, payload={"reason": reply.reason}, private=reply.private)
            if attempt == attempts_max:
                raise UnusableReply(reply.text)
            prompt = repair_prompt(prompt, answer.text, reply.text)
        raise UnusableReply("The model was not asked.")
