"""Recorded answers: what acts ask before a model or a tool is asked. A replay has its own (`replay_answers.py`); those of
branches are here: a call that equals a recorded call of the parent run is not made again (ADR 0039).

Always holds: a model's answer is taken from the record only if prompt, form, model, profile and seed are the same. It
counts the recorded cost. A tool's answer is taken only if the same creature makes the same call at the same point of
the story, after the same prompts and answers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Final, Literal, NamedTuple

from msgspec.structs import replace

from glasshouse.events.event import Event, session_and_seq
from glasshouse.events.model_use import Call, ModelUse
from glasshouse.model_values import Form, Size
from glasshouse.runtime.acts import act_so_far
from glasshouse.runtime.acts.act_so_far import ActKey, ActSoFar, Step
from glasshouse.runtime.capabilities import capabilities_of
from glasshouse.runtime.ledger.history import HistoryReader
from glasshouse.runtime.ledger.ledger import Ledger
from glasshouse.runtime.ports import Route
from glasshouse.turns.moment.prompt import Prompt, text_digest
from glasshouse.world.state.state import CreatureState

InForm = Callable[[Prompt, Form], Prompt]
"""Gives the same prompt in another form."""

Recorded = Callable[[int, Route, Prompt, InForm], Call | None]
"""Gives the recorded call of an act by its number, if there is one. It may have asked in another form than the act."""


class WrittenAct(NamedTuple):
    """An act that a replay does not think again, because its prompts were built under another number (ADR 0119)."""

    called: tuple[Event, ...]
    """Its `tool.called` events, in order."""
    end: Event | None

    def use_of_call(self, index: int, use: ModelUse) -> ModelUse:
        """What a tool call says of its model: what follows from prompts, as it is on record."""
        then = self.called[index].model if index < len(self.called) else None
        if then is None:
            return use
        return replace(use, shown=then.shown, is_untrusted=then.is_untrusted, prompting=then.prompting)

    def use_of_end(self, use: ModelUse) -> ModelUse:
        """What the end says of its model: what follows from prompts and from reading, as it is on record."""
        then = None if self.end is None else self.end.model
        return use if then is None else replace(use, is_stale=then.is_stale, prompting=then.prompting)


class RecordedAct(NamedTuple):
    """What is on record of an act that is played again: in a replay, or in a branch."""

    answers: Recorded
    form: Form | None = None
    """The form in which it first asked."""
    upto: int | None = None
    """The time up to which it saw the past. A live act sees the current past."""
    context_tokens: int = 0
    reply_tokens: int = 0
    """The sizes of its prompts; 0: those of the route."""
    model_size: Size | Literal[""] = ""
    """The size of the model that its prompts were made for; empty: that of the route."""
    written: WrittenAct | None = None
    """What it wrote, if it is not thought again."""
    recalled: tuple[str, ...] | None = None
    """The ids of the lines that its long memory gave it. None: it searches."""
    told_in: str = ""
    """The session in which its end was told, if its creature was removed before. An act that was interrupted and gone on with may have begun in
    another session than the one that it went on from, and only the record knows both."""


def no_answers(_number: int, _route: Route, _prompt: Prompt, _in_form: InForm) -> Call | None:
    """The recorded answers of an act that is not on record."""
    return None


NOT_ON_RECORD: Final = RecordedAct(no_answers)


def prompt_for_route(route: Route, first: Route, prompt: Prompt, in_form: InForm) -> Prompt:
    """The prompt as a route wants it: in its form, and with its bound of the reply. If answers could not be used, and the act asks in a
    simpler form than its first route has, all are asked in that."""
    if route is first:
        return prompt  # It was written for this one.
    if prompt.form == first.form and route.form != "auto":
        prompt = in_form(prompt, route.form)
    if route.reply_tokens_max < prompt.reply_tokens_max:
        prompt = replace(prompt, reply_tokens_max=route.reply_tokens_max)
    return prompt


class RecordedAnswers:
    """Answers the calls of acts from a record. This base class has no record; its subclasses override it."""

    given: Counter[str]
    """How many calls of each run were answered from the record since this house was opened."""
    knows_limits = False
    """Whether the record also says where limits stopped acts. Then no call is refused: acts that thought at the same time
    reserved their costs in an order that is not on record."""

    searches = True
    """Whether a creature with long memory searches it. A replay reads the lines that are on record."""
    calls_servers = True
    """Whether a tool of a server is called if the record has no answer. A replay calls none."""

    def is_ready(self, run_id: str) -> bool:  # noqa: ARG002 (as the others name it)
        """Whether the record for a run is loaded, or there is none."""
        return True

    async def make_ready(self, run_id: str) -> None:
        """Load the record for a run."""

    def let_go(self, run_id: str) -> None:
        """Drop the record for a run that has finished."""

    def act_on_record(self, creature: CreatureState, cause: Event) -> RecordedAct:  # noqa: ARG002 (as the others name it)
        """What is on record of an act for this cause."""
        return NOT_ON_RECORD

    def step_then(self, creature: CreatureState, cause: Event, steps_so_far: Sequence[Step]) -> Step | None:  # noqa: ARG002 (as the others name it)
        """The recorded step for the last of an act's tool calls so far; None if the tool is to be called now."""
        return None

    async def before_commit(self) -> None:
        """Awaited in an act before it writes. A replay uses it to repeat first what was recorded before."""

    async def before_look(self) -> None:
        """Awaited in an act before it looks at the world again. A replay waits until the world is as it was then."""


calls_recalled_max: Final = 200_000
"""How many model calls, and how many acts with tools, are kept of a record. Calls beyond that are made anew."""

Key = tuple[str, str, str, str, Form, int]
"""Profile, model, system message, user message, form, seed."""


def _questions(use: ModelUse) -> Iterator[tuple[Call, Call]]:
    """Each question of an act that was answered: its first attempt, and the call that answered it."""
    first: Call | None = None
    for call in [call for call in use.calls if not call.is_own]:
        first = first or call
        if call.is_answered:
            yield first, call
            first = None


class BranchAnswers(RecordedAnswers):
    """The answers of parent runs, loaded when a branch is first driven."""

    def __init__(self, ledger: Ledger, history: HistoryReader) -> None:
        self._ledger = ledger
        self._history = history
        self._calls_cache: dict[str, dict[Key, Call]] = {}
        self._ways_cache: dict[str, dict[ActKey, list[ActSoFar]]] = {}
        self.given = Counter()

    def is_ready(self, run_id: str) -> bool:
        """Whether the answers of a run's parents are loaded, or it has none."""
        return run_id in self._calls_cache

    async def make_ready(self, run_id: str) -> None:
        """Load the answers that the parent of a branch got after the branch point, and those of the parent's own
        parents."""
        parent = self._history.parent_of(run_id)
        calls: dict[Key, Call] = {}
        ways: dict[ActKey, list[ActSoFar]] = {}
        while parent is not None:
            cut = (await self._history.event(parent.at)).position or 0
            story = await self._history.events_of_run(parent.run_id)
            for use in [event.model for event in story if event.model and (event.position or 0) > cut]:
                for first, call in _questions(use):
                    if len(calls) < calls_recalled_max:
                        asked = (use.profile, first.model, first.system, first.user, first.form, first.seed)
                        calls.setdefault(asked, call)
            story.sort(key=lambda event: event.position or 0)
            for key, written in act_so_far.tool_events_by_act(story, self._key_of).items():
                if (written[-1].position or 0) > cut and len(ways) < calls_recalled_max:
                    ways.setdefault(key, []).append(act_so_far.act_so_far_of(written))
            parent = self._history.parent_of(parent.run_id)
        self._calls_cache[run_id] = calls
        self._ways_cache[run_id] = ways

    def let_go(self, run_id: str) -> None:
        """Drop the answers that were loaded for a run."""
        self._calls_cache.pop(run_id, None)
        self._ways_cache.pop(run_id, None)

    def _key_of(self, event: Event) -> ActKey | None:
        world = self._ledger.world
        creature = world.ever(event.actor)
        if creature is None or event.caused_by is None:
            return None  # Its creature never lived in this house.
        session_id, seq = session_and_seq(event.caused_by)
        return creature.ordinal, world.sessions[session_id].story_time(seq)

    def act_on_record(self, creature: CreatureState, cause: Event) -> RecordedAct:  # noqa: ARG002 (as the others name it)
        """The answers that the parents of a creature's run got."""
        run_id = creature.run_id or ""
        calls = self._calls_cache.get(run_id)
        if not calls:
            return NOT_ON_RECORD  # The run is no branch, or its parents asked nobody after it.
        profile = self._ledger.world.facts_of(creature).model_profile

        def recorded(_number: int, first: Route, prompt: Prompt, in_form: InForm) -> Call | None:
            for model in (first, *first.fallbacks):
                asked = prompt_for_route(model, first, prompt, in_form)
                rest = text_digest(asked.system), text_digest(asked.user), asked.form, asked.seed
                # An answer names the model as its server does; a run may have bound it by another name.
                for name in {model.name: None, capabilities_of(model.model).name: None}:
                    if (call := calls.get((profile, name, *rest))) is not None:
                        self.given[run_id] += 1
                        return call  # The parent asked the same.
            return None

        return RecordedAct(recorded)

    def step_then(self, creature: CreatureState, cause: Event, steps_so_far: Sequence[Step]) -> Step | None:
        """The step of a parent run that equals the last of `steps_so_far`."""
        ways = self._ways_cache.get(creature.run_id or "")
        if not ways:
            return None  # The run is no branch, or its parents used no tool after it.
        acts = ways.get((creature.ordinal, self._ledger.world.story_time(cause)), ())
        steps = (act_so_far.step_alike(steps_so_far, act.steps) for act in acts)
        return next((step for step in steps if step is not None), None)
