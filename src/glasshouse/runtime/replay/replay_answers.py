"""The recorded acts that a replay drives again, and its answers from them.

Always holds: an answer is found by creature, cause and the number of the call in the act. No model is called.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from difflib import unified_diff
from typing import Final, Literal, NamedTuple, Protocol

from glasshouse.errors import BudgetExceeded, ModelUnreachable
from glasshouse.events import kinds
from glasshouse.events.event import Draft, Event, session_and_seq
from glasshouse.events.model_use import FREE, Call, ModelUse
from glasshouse.events.payloads import AgentFailed, RunFinished, payload_of, prompting_now
from glasshouse.manifests.manifest import Manifest
from glasshouse.model_values import Size
from glasshouse.runtime.acts.act_so_far import NOTHING_YET, Step, act_so_far_of, tool_events_by_act
from glasshouse.runtime.acts.looking import time_of
from glasshouse.runtime.acts.recorded_answers import InForm, RecordedAct, RecordedAnswers, WrittenAct
from glasshouse.runtime.acts.spending import Spending
from glasshouse.runtime.minds.faults import RecordedFailure
from glasshouse.runtime.minds.minds import Agent, ManifestAgent
from glasshouse.runtime.ports import Route
from glasshouse.runtime.store_port import Store
from glasshouse.turns.moment.moment import Moment
from glasshouse.turns.moment.prompt import CONTEXT_TOKENS, REPLY_TOKENS, Completion, Prompt, text_digest
from glasshouse.world.state.state import CreatureState, World

diff_lines_max: Final = 200
"""A replay shows at most this many lines of a changed prompt."""


class Wait(Protocol):
    """Makes an act wait until the replay lets it continue: to look at the world again, or to write."""

    def __call__(self, *, is_look: bool) -> Awaitable[None]:
        """Wait."""


Act = tuple[str, str]
"""The id of a creature, and the id of the cause that its act answers."""


class PromptChange(NamedTuple):
    """A prompt of the replay that differs from the recorded one."""

    creature: str
    turn: int
    system_then: str
    user_then: str
    prompt_now: Prompt

    async def diff(self, store: Store) -> str:
        """The change as a unified diff."""
        system = await store.prompt(self.system_then) or ""
        user = await store.prompt(self.user_then) or ""
        name = f"{self.creature}, turn {self.turn}"
        if not system and not user:
            return f"{name}: the recorded prompt is no longer kept."
        then = f"{system}\n\n{user}".splitlines()
        now = f"{self.prompt_now.system}\n\n{self.prompt_now.user}".splitlines()
        lines = list(unified_diff(then, now, f"{name}, recorded", f"{name}, replayed", lineterm=""))
        return "\n".join(lines[:diff_lines_max])


def act_of(event: Event) -> Act | None:
    """The act that an event ends or in which it calls a tool, or None."""
    is_step = event.kind == kinds.TOOL_CALLED or event.ends_its_act
    return (event.actor, event.caused_by) if is_step and event.caused_by is not None else None


class ReplayAnswers(RecordedAnswers):
    """The recorded acts: how each ended, which tools it used, and what its models answered."""

    knows_limits = True
    searches = False
    calls_servers = False

    def __init__(
        self,
        events: Sequence[Event],
        begun: Mapping[str, tuple[Act, list[Event]]],
        prompting: int = prompting_now,
    ) -> None:
        """`begun` holds, by creature, the acts that were using tools when the record begins, each with the events that
        it had written. Acts that were written under another number than `prompting` are not thought again."""
        self.changes: list[PromptChange] = []
        self.not_thought_again: dict[Act, frozenset[int]] = {}
        """The acts so far that were taken as they are on record, with the numbers that they were written under."""
        self._prompting = prompting
        self.given: Counter[str] = Counter()
        self.world: Callable[[], World] = World
        """The world of the replay."""
        self.wait: Wait | None = None
        self._calls_before = {
            act: sum(len(event.calls) for event in written if event.kind == kinds.TOOL_CALLED)
            for act, written in begun.values()
        }
        """How many model calls each act had made before the record begins. These calls are not made again."""
        written = tool_events_by_act(events, act_of, begun)
        self._acts_so_far = {act: act_so_far_of(of_act) for act, of_act in written.items()}
        self._ends = {act_of(event): event for event in events if event.ends_its_act}
        finished = [event for event in events if event.kind == kinds.RUN_FINISHED]
        self._axes = {event.run_id: payload_of(event, RunFinished).axis for event in finished}
        """The limit that ended each run, if one did. A replay cannot compute it again where it depends on the prices of
        models or on how long a call took."""

    async def before_commit(self) -> None:
        """Wait until the next recorded change is one of this act."""
        if self.wait is not None:
            await self.wait(is_look=False)

    async def before_look(self) -> None:
        """Wait until the world is as it was when the recorded act looked again."""
        if self.wait is not None:
            await self.wait(is_look=True)

    @property
    def numbers_then(self) -> tuple[int, ...]:
        """The other numbers under which acts were written that were not thought again."""
        return tuple(sorted(frozenset().union(*self.not_thought_again.values())))

    @property
    def act_of_call(self) -> dict[str, Act]:
        """The act of each `tool.called`, by the id of that event."""
        return {step.called.id: act for act, so_far in self._acts_so_far.items() for step in so_far.steps}

    def end_of(self, creature_id: str, cause_id: str) -> Event | None:
        """The recorded event that ended an act."""
        return self._ends.get((creature_id, cause_id))

    def steps_of(self, creature_id: str, cause_id: str) -> tuple[Step, ...]:
        """The recorded tool steps of an act."""
        return self._acts_so_far.get((creature_id, cause_id), NOTHING_YET).steps

    def as_of(self, creature_id: str, cause_id: str) -> str | None:
        """The id of the last event that the recorded prompts of an act saw."""
        end = self.end_of(creature_id, cause_id)
        so_far = self._acts_so_far.get((creature_id, cause_id), NOTHING_YET)
        return so_far.as_of or (None if end is None else end.as_of)

    def act_on_record(self, creature: CreatureState, cause: Event) -> RecordedAct:
        """The recorded answers to an act's calls, in order: those that led to tool calls, then those of its end; with the
        sizes of its prompts, the form of its first call, and the time up to which its prompts saw the past."""
        act = (creature.id, cause.id)
        end = self.end_of(*act)
        all_calls = self._calls_of(*act)
        calls = all_calls[self._calls_before.get(act, 0) :]
        failure = None if end is None else _failure_in(end)
        if failure is None and (axis := self._axes.get(creature.run_id)) is not None:
            failure = BudgetExceeded(axis)

        def recorded(number: int, _route: Route, prompt: Prompt, in_form: InForm) -> Call:
            if number >= len(calls):
                away = ModelUnreachable(f"Call {number + 1} of {creature.handle} was not recorded.")
                raise failure or away
            call = calls[number]
            prompt = in_form(prompt, call.form)
            digests = text_digest(prompt.system), text_digest(prompt.user)
            if call.is_answered and (call.system, call.user) != digests:
                turn = 0 if end is None else end.turn
                self.changes.append(PromptChange(creature.handle, turn, call.system, call.user, prompt))
            return call

        form = all_calls[0].form if all_calls else None
        sizes = self._sizes_then(act)
        use = self._use_then(act)
        recalled = () if use is None else use.recalled
        written = self.written_otherwise(act)
        upto = self._seen_upto(act)
        told_in = self._told_in(end)
        return RecordedAct(recorded, form, upto, *sizes, written=written, recalled=recalled, told_in=told_in)

    def _told_in(self, end: Event | None) -> str:
        """The session in which the end of an act was told whose creature was removed; empty for other ends."""
        if end is None or end.kind != kinds.ACT_DISCARDED or end.session_id not in self.world().sessions:
            return ""
        return end.session_id

    def written_otherwise(self, act: Act) -> WrittenAct | None:
        """What an act wrote, if a part of it was written under another number; None if it is thought again."""
        called = tuple([step.called for step in self.steps_of(*act)])
        end = self.end_of(*act)
        events = called if end is None else (*called, end)
        numbers = frozenset([event.model.prompting for event in events if event.model is not None])
        if numbers <= {self._prompting}:
            return None
        self.not_thought_again[act] = numbers - {self._prompting}
        return WrittenAct(called, end)

    def _sizes_then(self, act: Act) -> tuple[int, int, Size | Literal[""]]:
        """The sizes that the recorded prompts of an act had, and that of their model; 0 or empty for those of its route."""
        use = self._use_then(act)
        return (0, 0, "") if use is None else (use.context_tokens, use.reply_tokens, use.model_size)

    def _use_then(self, act: Act) -> ModelUse | None:
        """What the first recorded event of an act says of its model."""
        end = self.end_of(*act)
        events = [*[step.called for step in self.steps_of(*act)], *([end] if end else [])]
        return next((event.model for event in events if event.model is not None), None)

    def _seen_upto(self, act: Act) -> int | None:
        """The logical time up to which the recorded prompts of an act saw the past."""
        as_of = self.as_of(*act)
        if as_of is None or session_and_seq(as_of)[0] not in self.world().sessions:
            return None
        return time_of(self.world(), as_of)

    def _calls_of(self, creature_id: str, cause_id: str) -> list[Call]:
        end = self.end_of(creature_id, cause_id)
        calls = [call for step in self.steps_of(creature_id, cause_id) for call in step.called.calls]
        return calls if end is None else [*calls, *end.calls]

    def is_played_by_code(self, creature_id: str) -> bool:
        """Whether a creature was added with a Python object."""
        creature = self.world().ever(creature_id)
        return creature is not None and bool(creature.played_by_code)

    def step_then(self, creature: CreatureState, cause: Event, steps_so_far: Sequence[Step]) -> Step | None:
        """The recorded step of the same number, even if it called another tool: the comparison shows the difference."""
        steps = self.steps_of(creature.id, cause.id)
        end = self.end_of(creature.id, cause.id)
        if len(steps_so_far) > len(steps):
            return None
        step = steps[len(steps_so_far) - 1]
        if step.returned is not None or end is None:
            return step
        return step._replace(cut_off=_failure_in(end) or RecordedFailure("The call was cut off."))


class RecordedAgent(Agent):
    """Plays a creature again. If its manifest played it, prompts and parsing run again on the recorded answers. If code or a
    visitor played it, the recorded calls and lines are taken as they are: nobody can say what code would ask (ADR 0090). The same
    holds for an act that was written under another number for prompts: how it was asked and read is not in this code (ADR
    0119)."""

    goes_on_from_its_talk = True

    def __init__(self, replay_answers: ReplayAnswers, manifest: Manifest) -> None:
        self._replay_answers = replay_answers
        self._is_of_manifest = manifest.played_by is None
        self._by_manifest = ManifestAgent()

    async def act(self, moment: Moment) -> Draft | None:
        """What the creature did and said then."""
        end = self._replay_answers.end_of(moment.creature_id, moment.cause.id)
        is_of_code = not self._is_of_manifest or self._replay_answers.is_played_by_code(moment.creature_id)
        act = (moment.creature_id, moment.cause.id)
        is_taken = is_of_code or self._replay_answers.written_otherwise(act) is not None
        if not is_taken and (end is None or end.model is not None):
            return await self._by_manifest.act(moment)
        if moment.carry is not None:
            for step in self._replay_answers.steps_of(moment.creature_id, moment.cause.id)[
                len(moment.talk) :
            ]:
                await _call_again(moment, step.called)
                with suppress(
                    RecordedFailure, BudgetExceeded
                ):  # The call was cut off. What ended the act follows.
                    await moment.carry(step.call)
        if end is None:
            return None  # The record ends before the act does.
        await _call_again(moment, end)
        if (failure := _failure_in(end)) is not None:
            raise failure
        return draft_of(end)


async def _call_again(moment: Moment, event: Event) -> None:
    """Count the model calls of code that led to an event, as they are on record."""
    is_untrusted = event.model is not None and event.model.is_untrusted
    for call in event.calls:
        async with moment.spending(call.model, tokens_max=0, is_untrusted=is_untrusted) as again:
            assert isinstance(again, Spending), "a replay runs in its own house"
            again.call = call


def _failure_in(end: Event) -> RecordedFailure | BudgetExceeded | None:
    """The failure or the limit that ended an act, if one did. A limit may end an act without ending its run."""
    if end.kind != kinds.AGENT_FAILED:
        return None
    failed = payload_of(end, AgentFailed)
    if failed.axis is not None:
        return BudgetExceeded(failed.axis, words=failed.reason)
    return RecordedFailure(failed.reason, failed.fault, failed.rule)


def draft_of(event: Event) -> Draft:
    """The draft that became an event."""
    return Draft(**{name: getattr(event, name) for name in Draft.__struct_fields__})


class NoModel:
    """The model behind every profile in a replay. A sound replay never calls it."""

    async def complete(self, prompt: Prompt) -> Completion:
        """Raise: a replay takes every answer from the record."""
        raise ModelUnreachable(f"A replay asks no model, and this prompt is not on record: {prompt.digest}.")

    def route(self, profile: str, model: str | None = None) -> Route:
        """A route with the default sizes of the profile. The recorded calls name their models."""
        return Route(self, model or "", CONTEXT_TOKENS[profile], REPLY_TOKENS[profile], FREE)
