"""`ManifestAgent`: plays a creature from its manifest alone: a prompt, an answer, at most one repair; and the same
again after each tool that it uses.
"""

from __future__ import annotations

from typing import Final

from glasshouse.errors import UnusableReply
from glasshouse.events import kinds
from glasshouse.events.event import Draft
from glasshouse.runtime.agent import Agent
from glasshouse.turns.context import prompt_for, repair_prompt
from glasshouse.turns.moment import Moment
from glasshouse.turns.reply import Passed, Problem, draft_from
from glasshouse.turns.tools import ToolCall

attempts_max: Final = 2
"""The first answer, and one more if that could not be used."""


class ManifestAgent(Agent):
    """The mind that a manifest describes."""

    asks_before_anything = True
    goes_on_from_its_talk = True

    async def act(self, moment: Moment) -> Draft | None:
        """Ask the model behind the profile, carry out the tools it wants, and make a draft of what it says."""
        while True:
            reply = await self._reply(moment)
            if isinstance(reply, Draft):
                return reply
            if isinstance(reply, Passed):
                return Draft(kind=kinds.AGENT_PASSED, payload={"reason": reply.reason}, private=reply.private)
            if moment.carry is None:
                raise UnusableReply("The model asked for a tool, and none is at hand.")
            await moment.carry(reply)
            moment = moment.look_again()

    async def _reply(self, moment: Moment) -> Draft | Passed | ToolCall:
        prompt = prompt_for(moment)
        for attempt in range(1, attempts_max + 1):
            answer = await moment.ask(prompt)
            reply = draft_from(answer.text, moment, is_last=attempt == attempts_max)
            if not isinstance(reply, Problem):
                return reply
            if attempt == attempts_max:
                raise UnusableReply(reply.text)
            prompt = repair_prompt(prompt, answer.text, reply.text)
        raise UnusableReply("The model was not asked.")
