"""Tools in an act: each tool call is recorded before it is made and after it is answered (ADR 0034).

Always holds: `tool.called` is durable before its tool is called. After a crash, a call whose answer is recorded is not
made again, and a call of a server's tool never is: whether it took effect is not known. A removed creature, or one
whose act has ended, calls no tool. An act makes its calls one after another. If several acts think in parallel, each
waits until it is its turn to be written before it calls a tool.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final, NamedTuple

from msgspec.structs import replace

from glasshouse.errors import Refused, StoreError, UnknownName
from glasshouse.events import kinds
from glasshouse.events.codec import json_copy
from glasshouse.events.described_tool import RECALL, is_of_server
from glasshouse.events.event import VISITOR, Event
from glasshouse.events.model_use import ModelUse, PromptDigests
from glasshouse.events.recalled import recall_result
from glasshouse.runtime.acts.act_calls import ActCalls, UnrecordedCalls
from glasshouse.runtime.acts.act_so_far import NOTHING_YET, ActSoFar, Step, act_so_far_of, completion_of
from glasshouse.runtime.acts.recorded_answers import RecordedAnswers, WrittenAct
from glasshouse.runtime.acts.reservations import Reservations
from glasshouse.runtime.acts.warm_lines import WarmLines
from glasshouse.runtime.folded import Folded
from glasshouse.runtime.hooks import Hooks
from glasshouse.runtime.ledger.history import EventById
from glasshouse.runtime.ledger.ledger import Ledger
from glasshouse.runtime.ledger.writer import Queued
from glasshouse.runtime.ports import Toolbox
from glasshouse.runtime.store_port import SideWrites
from glasshouse.runtime.tool_context import Recall, ToolContext
from glasshouse.turns.moment import tools
from glasshouse.turns.moment.moment import FarLine, Moment
from glasshouse.turns.moment.prompt import Completion, Prompt, text_digest
from glasshouse.turns.moment.tools import ToolAnswer, ToolCall, ToolOffer, ToolTalk, answer_of
from glasshouse.turns.prompts.context import prompt_for
from glasshouse.turns.replies.reply import Wrong, arguments_in
from glasshouse.turns.runs.schedule import Due
from glasshouse.world.decisions.intents import CallTool, Intent
from glasshouse.world.state.state import CreatureState

NOT_KNOWN: Final = ToolAnswer(
    is_ok=False,
    text="The show was interrupted during this call, and it is not made again. Whether it took effect is not known.",
    is_engine=True,
)


RecallAgain = Callable[[str, Sequence[str] | None], Awaitable[Sequence[FarLine]]]
"""Searches the creature's long memory for some words, or reads the lines with these ids."""


class ToolAccess(NamedTuple):
    """What acts need to use tools: the tools, the recorded answers, and the ledger they write to."""

    ledger: Ledger
    toolbox: Toolbox
    answers: RecordedAnswers
    event: EventById
    warm_lines: WarmLines
    reservations: Reservations
    hooks: Hooks | None = None
    is_strict: bool = False
    """Whether what a program's own tool raises is raised to whoever drives."""

    async def act_so_far(self, due: Due) -> ActSoFar:
        """What an interrupted act had already written; empty for a new act."""
        act = self.ledger.agenda.under_way.get(due.creature)
        if act is None or act.cause != due.cause:
            return NOTHING_YET  # It has called no tool yet.
        return act_so_far_of([await self.event(name) for name in act.events])


class ToolUse:
    """The tools of one act."""

    def __init__(
        self,
        access: ToolAccess,
        creature: CreatureState,
        cause: Event,
        use: ModelUse,
        act_calls: ActCalls,
        side_writes: Callable[[], SideWrites],
        note_sent: Callable[[tuple[str, str], UnrecordedCalls], None],
        check_base: Callable[[], None],
        *,
        before: ActSoFar = NOTHING_YET,
        gate: asyncio.Event | None = None,
        written: WrittenAct | None = None,
        recall: RecallAgain | None = None,
    ) -> None:
        self.talk: list[ToolTalk] = []
        self.events = [event.id for step in before.steps for event in (step.called, step.returned) if event]
        """The ids of the act's `tool.called` and `tool.returned` events."""
        self.is_untrusted = before.is_untrusted
        self.has_recorded_calls = bool(before.calls)
        self.has_ended = False
        self.store_failure: StoreError | None = None
        self._access = access
        self._ledger = access.ledger
        self._creature = creature
        self._cause = cause
        self._use = use
        """What every recorded call says of the act: its profile, and the past that it sees."""
        self._act_calls = act_calls
        self._side_writes = side_writes
        """What is stored beside the next event of the act."""
        self._note_sent = note_sent
        """Told of the act's calls that are on their way to the ledger before the act ends."""
        self._check_base = check_base
        """Raises if something that the act has seen was refused."""
        self._gate = gate
        """Opened when it is this act's turn to be written; None if acts do not think in parallel."""
        self._recall = recall
        """Searches the creature's long memory."""
        self._act_then = written
        """What the act wrote, if it is not thought again."""
        self._steps = list(before.steps)
        self._completions = before.calls
        self._number = len(before.steps)
        self._steps_made: list[Step] = []
        """The calls so far, each with its answer."""
        self._offers: tuple[ToolOffer, ...] = ()
        self._sight: Moment | None = None
        self._one_at_a_time = asyncio.Lock()
        self._has_asked = False
        self._has_changed = False
        """Whether a tool was called since the offers were last computed: it may have changed them."""

    @property
    def has_written(self) -> bool:
        """Whether the ledger holds a tool call of this act."""
        return self._number > 0

    def offers(self, folded: Folded, creature: CreatureState | None) -> tuple[ToolOffer, ...]:
        """The tools that the creature may use now; none after `tool_calls_in_act_max` calls."""
        self._has_changed = False
        if creature is None or self._number >= tools.tool_calls_in_act_max:
            self._offers = ()
        else:
            self._offers = self._access.toolbox.offers(folded, creature)
        return self._offers

    async def go_on(self) -> int:
        """Continue an interrupted act: keep the recorded answers, and make a call without an answer again, unless a server
        may have got it.

        Returns how many model calls are already answered by the record.
        """
        steps = self._steps
        self._steps = []
        asked = len(self._completions)
        self._completions = []
        for step in steps:
            if step.returned is not None:
                self._noted(step, step.returned)
            else:
                await self._wait_for_its_turn()
                await self._carried_out(step, is_again=True)
        return asked

    def completion_before(self) -> Completion | None:
        """The next recorded completion of an interrupted act that starts over; None if the model is to be asked."""
        return completion_of(self._completions.pop(0)) if self._completions else None

    def note_sight(self, moment: Moment) -> None:
        """Remember the moment that the act sees now."""
        self._sight = moment

    def note_recalled(self, ids: tuple[str, ...]) -> None:
        """Note what the creature's long memory gave the act, so that its calls say it."""
        self._use = replace(self._use, recalled=ids)

    def note_prompt(self, prompt: Prompt) -> None:
        """Note whether a prompt holds untrusted text. If the prompt does not say so, the whole moment counts."""
        self._has_asked = True
        is_untrusted = self._is_sight_untrusted() if prompt.is_untrusted is None else prompt.is_untrusted
        self.is_untrusted = self.is_untrusted or is_untrusted

    def _is_sight_untrusted(self) -> bool:
        if self._sight is None:
            return False  # It has not looked at anything.
        if any(offer.is_foreign for offer in self._sight.tools):
            return True  # A server describes them, so that text is a stranger's.
        recalled = [line.event for line in self._sight.recalled]
        actors = {self._cause.actor, *[event.actor for event in (*self._sight.recent_events, *recalled)]}
        return VISITOR in actors or not actors.isdisjoint(self._sight.visitors)

    async def carry(self, call: ToolCall) -> ToolAnswer:
        """Carry out a call: record it, call the tool, record the answer."""
        async with self._one_at_a_time:
            await self._wait_for_its_turn()
            step = self._step_before(call)
            if step is None:
                return await self._carried_out(Step(await self._called(self._checked(call))))
            if step.returned is not None:
                return self._noted(step, step.returned)
            return await self._carried_out(step, is_again=True)

    def _noted(self, step: Step, returned: Event) -> ToolAnswer:
        """Note a call that is answered, and return its answer as recorded, so that a replay gives the same one."""
        answer = answer_of(returned)
        self._steps_made.append(step._replace(returned=returned))
        self.talk.append(ToolTalk(step.call.tool, step.call.arguments, answer))
        self.is_untrusted = self.is_untrusted or not tools.is_trusted(step.call.tool, answer)
        return answer

    async def end(self) -> None:
        """End the act: wait for the tool call that is running, and allow no further one."""
        async with self._one_at_a_time:
            self.has_ended = True

    async def _wait_for_its_turn(self) -> None:
        if self._gate is not None:
            with self._act_calls.mine.waiting():
                await self._gate.wait()

    def _step_before(self, call: ToolCall) -> Step | None:
        """The recorded step for this call, if the act was interrupted. If the act now makes another call, the rest of
        its record no longer applies and is dropped."""
        if not self._steps:
            return None  # Its record is used up, or it was not interrupted.
        step = self._steps.pop(0)
        if (step.call.tool, step.call.arguments) == (call.tool, call.arguments):
            return step  # The act makes the same call as before.
        self._steps = []
        self._completions = []
        return None

    def _checked(self, call: ToolCall) -> ToolCall:
        if self.has_ended:
            raise Refused(f"The act that wants to use {call.tool} has ended.", "Use tools before it ends.")
        if self._number >= tools.tool_calls_in_act_max:
            most = f"An act uses at most {tools.tool_calls_in_act_max} tools."
            raise Refused(most, "End it, and go on in the next one.")
        folded = self._ledger.folded
        mine = folded.world.creatures.get(self._creature.id)
        offers = self.offers(folded, mine) if self._has_changed else self._offers
        offer = next((offer for offer in offers if offer.name == call.tool), None)
        if offer is None and mine is not None and call.tool.startswith(tools.GROUP_PREFIX):
            if not mine.is_privileged:
                raise tools.needs_privilege(call.tool, mine.handle)
            if self._access.toolbox.has(call.tool):
                # It cannot succeed now, and the tool itself says why.
                return ToolCall(call.tool, json_copy(kinds.TOOL_CALLED, call.arguments), call.private)
        if offer is None:
            names = [known.name for known in offers]
            raise UnknownName(noun="tool that is offered", name=call.tool, known=names)
        if self._act_then is not None:
            return call  # Its arguments were read then, by other rules.
        try:
            return ToolCall(call.tool, arguments_in(call.arguments, offer), call.private)
        except Wrong as wrong:
            raise Refused(str(wrong), "Mend the call.") from wrong

    async def _called(self, call: ToolCall) -> Event:
        calls = self._act_calls.calls
        if not self._has_asked:  # An agent written in Python may have read everything in its moment.
            self.is_untrusted = self.is_untrusted or self._is_sight_untrusted()
        use = replace(self._use, calls=tuple(calls), is_untrusted=self.is_untrusted)
        if self._act_then is not None:
            use = self._act_then.use_of_call(self._number, use)
        elif self._sight is not None and not self._has_asked:
            use = replace(use, shown=_shown(self._sight))
        intent = CallTool(
            self._creature.id, self._cause.id, call.tool, call.arguments, self._number + 1, call.private, use
        )
        with self._noting_failures():
            queued = await self._written(intent, self._side_writes)
            assert queued is not None, "a call is told, or refused"
            self._note_sent((self._creature.id, self._cause.id), self._act_calls.begin_anew())
            self._number += 1
            self.events.append(queued.events[0].id)
            self.has_recorded_calls = self.has_recorded_calls or any(call.reached for call in calls)
            self._tell_reservations()
            await queued.acknowledged
        return queued.events[0]

    async def _carried_out(self, step: Step, *, is_again: bool = False) -> ToolAnswer:
        """Call a tool, or take its answer from the record. `is_again`: the call was recorded before a crash."""
        if self._creature.id not in self._ledger.world.creatures:
            raise _gone(self._creature.id)
        then = self._access.answers.step_then(self._creature, self._cause, (*self._steps_made, step))
        context = ToolContext(
            self._ledger,
            self._creature.id,
            step.called,
            is_untrusted=step.is_untrusted,
            on_the_way=step.on_the_way,
            then=() if then is None else then.on_the_way,
            before_commit=self._access.answers.before_commit,
            recall=self._recall_for(then),
            is_strict=self._access.is_strict,
        )
        if then is not None and then.cut_off is not None:
            await context.repeat()
            self._steps_made.append(step)
            raise then.cut_off
        # What was recalled is found again, or read again by its ids, so that each line is checked.
        is_repeated = then is not None and step.call.tool != RECALL
        answer = then.answer_on_record if then is not None and is_repeated else None
        with self._noting_failures():
            if answer is not None:
                await context.repeat()
            elif is_of_server(step.call.tool) and self._must_not_be_called(step, is_again=is_again):
                answer = NOT_KNOWN
            if answer is None:
                using = self._access.toolbox.use(step.call, context)
                hooks = self._access.hooks
                answer = await (using if hooks is None else hooks.around_tool(step.call, context, using))
            if context.returned is None:
                queued = await self._written(context.returning(answer))
                if queued is None:
                    raise _gone(self._creature.id)
                await queued.acknowledged
                context.returned = queued.events[0]
        self.events.append(context.returned.id)
        answer = self._noted(step, context.returned)
        self._has_changed = True
        self._tell_reservations()
        await self._access.answers.before_look()
        # A merge or a split may have put the creature into a new graph.
        await self._access.warm_lines.make_ready_for(self._creature.id)
        if self._creature.id not in self._ledger.world.creatures:
            raise _gone(self._creature.id)
        return answer

    def _recall_for(self, then: Step | None) -> Recall | None:
        """How the tool `recall` finds lines: by searching, or in a replay by the ids on record."""
        recall = self._recall
        if recall is None:
            return None
        ids: tuple[str, ...] | None = None
        if not self._access.answers.searches:
            returned = None if then is None else then.returned
            result = None if returned is None else answer_of(returned).result
            ids = tuple([line.id for line in recall_result(result).found])
        return lambda words: recall(words, ids)

    def _must_not_be_called(self, step: Step, *, is_again: bool) -> bool:
        """Whether a server's tool must not be called: the server may have got this call already, or this is a replay."""
        return not self._access.answers.calls_servers or (is_again and step.may_have_been_made)

    async def _written(
        self, intent: Intent, side_writes: Callable[[], SideWrites] = SideWrites
    ) -> Queued | None:
        await self._access.answers.before_commit()
        if not self._ledger.writer.takes_more:
            await self._ledger.wait_for_room()
        self._check_base()
        return self._ledger.stage(intent, side_writes())

    @contextmanager
    def _noting_failures(self) -> Iterator[None]:
        """Remember a store's failure, so that it is not recorded as a failure of the agent whose act met it."""
        try:
            yield
        except StoreError as failure:
            self.store_failure = failure
            raise

    def _tell_reservations(self) -> None:
        """Release what the fold now counts, so that it is not counted twice; later costs go to the creature's current
        graph."""
        creature = self._ledger.world.creatures.get(self._creature.id)
        graph_id = None if creature is None else creature.graph_id
        self._access.reservations.tell(self._act_calls.mine, graph_id)


def _shown(sight: Moment) -> PromptDigests:
    """What an agent that asks no model was shown: the digests of the prompt that a model would have got."""
    prompt = prompt_for(sight)
    return PromptDigests(text_digest(prompt.system), text_digest(prompt.user))


def _gone(creature_id: str) -> Refused:
    return Refused(f"{creature_id} was removed in the middle of its act.", "Let the act end here.")
