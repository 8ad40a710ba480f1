"""`SpanHooks`: the hooks that make spans and metrics of acts, model calls, tools, edits and commits.

They are given to a terrarium if this program has configured OpenTelemetry (ADR 0088).

Always holds: they decide nothing and write nothing of their own.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from msgspec.structs import asdict
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace import Span, SpanKind

from glasshouse.events import kinds
from glasshouse.events.event import Event
from glasshouse.events.model_use import Call
from glasshouse.runtime.capabilities import capabilities_of
from glasshouse.runtime.hooks import Asker, EditT, Hooks, Running, ThoughtT
from glasshouse.runtime.ledger.ledger import Ledger
from glasshouse.runtime.ports import Route
from glasshouse.runtime.telemetry import names
from glasshouse.runtime.telemetry.telemetry import Telemetry, now_ns
from glasshouse.runtime.tool_context import ToolContext
from glasshouse.turns.moment.prompt import Completion, Prompt
from glasshouse.turns.moment.tools import ToolAnswer, ToolCall
from glasshouse.turns.runs.agenda import members_of
from glasshouse.turns.runs.schedule import Due
from glasshouse.world.decisions.intents import Intent
from glasshouse.world.state.state import CreatureState

OWN: Final = "agent"
"""The provider that is named for a call which an agent made by its own means."""
_WORD_BEGINS: Final = re.compile(r"(?<!^)(?=[A-Z])")


class SpanHooks(Hooks):
    """The hooks of one traced terrarium."""

    def __init__(self, telemetry: Telemetry, ledger: Ledger) -> None:
        self._telemetry = telemetry
        self._ledger = ledger
        self._thought: dict[tuple[str, str], tuple[Span, int]] = {}
        """The spans of acts that were thought and are not written yet, and when the thinking ended. A span is kept until the
        event that ends its act has an id."""

    # Acts

    async def around_act(self, due: Due, thinking: Running[ThoughtT | None]) -> ThoughtT | None:
        """Let a creature think in a span below that of its run."""
        creature = self._ledger.world.creatures.get(due.creature)
        if creature is None:
            return await thinking  # It was removed: it begins no act, and has no span.
        telemetry = self._telemetry
        span = self._begin_act(creature, due)
        try:
            with telemetry.current(span):
                result = await thinking
        except BaseException:
            span.end()
            raise
        if result is None or result.end is None:
            if result is not None and result.stopped_by is not None:
                telemetry.note_error(span, type(result.stopped_by).__name__)
            span.end()
        else:
            self._end_act(self._thought.pop(result.act, None))
            self._thought[result.act] = span, now_ns()
        return result

    def act_written(self, act: tuple[str, str], event: Event | None) -> None:
        """Name the event that ends an act in the act's span."""
        self._end_act(self._thought.pop(act, None), event)

    def _begin_act(self, creature: CreatureState, due: Due) -> Span:
        run_id = creature.run_id
        facts: dict[str, str | int] = {
            names.AGENT_ID: creature.id,
            names.AGENT_NAME: creature.handle,
            names.CAUSE_ID: due.cause,
            names.GRAPH_ID: creature.graph_id,
            names.TURN: self._ledger.world.graphs[creature.graph_id].turn,
        }
        if run_id is not None:
            facts |= {names.RUN_ID: run_id, names.CONVERSATION_ID: run_id}
        parent = self._telemetry.in_run(run_id, self._title_of(run_id))
        return self._telemetry.begin(names.INVOKE_AGENT, creature.handle, facts, parent)

    def _end_act(self, kept: tuple[Span, int] | None, event: Event | None = None) -> None:
        if kept is None:
            return  # Nothing is known of the act: its span has ended already, or it never began.
        span, ended = kept
        if event is not None:
            self._telemetry.note_event(span, event)
            self._telemetry.acts.add(1, {names.EVENT_KIND: event.kind})
            if event.kind == kinds.AGENT_FAILED:
                self._telemetry.note_error(span, event.kind)
        span.end(ended)

    # Model calls

    async def around_attempt(
        self, route: Route, prompt: Prompt, act: Asker, asking: Running[Completion]
    ) -> Completion:
        """Ask a model in a span. An answer on record asks nobody and has none."""
        telemetry = self._telemetry
        calls_before = len(act.calls)
        provider = capabilities_of(route.model).backend or route.name
        facts: dict[str, str | int] = {
            names.PROVIDER: provider,
            names.REQUEST_MODEL: route.name,
            names.REQUEST_TOKENS_MAX: prompt.reply_tokens_max,
            names.REQUEST_SEED: prompt.seed,
            names.RUN_ID: act.mine.run_id,
            names.AGENT_ID: act.mine.creature_id,
        }
        span = telemetry.begin(names.CHAT, route.name, facts, kind=SpanKind.CLIENT)
        telemetry.note_content(
            span,
            SYSTEM_INSTRUCTIONS=[{"type": "text", "content": prompt.system}],
            INPUT_MESSAGES=[{"role": "user", "parts": [{"type": "text", "content": prompt.user}]}],
        )
        try:
            with telemetry.current(span):
                completion = await asking
            said = [{"type": "text", "content": completion.text}]
            telemetry.note_content(span, OUTPUT_MESSAGES=[{"role": "assistant", "parts": said}])
            return completion
        finally:
            if len(act.calls) > calls_before:
                telemetry.note_call(span, act.calls[-1], provider, route.name)
            span.end()

    @contextmanager
    def around_waiting(self, server: str) -> Iterator[None]:
        """Count a call that waits for its server."""
        facts = {names.PROVIDER: server}
        self._telemetry.waiting.add(1, facts)
        try:
            yield
        finally:
            self._telemetry.waiting.add(-1, facts)

    def own_call_ended(self, act: Asker, call: Call) -> None:
        """Make the span of a call that an agent made by its own means: it began when the call did."""
        began = now_ns() - round(call.milliseconds * 1_000_000)
        facts = {names.PROVIDER: OWN, names.RUN_ID: act.mine.run_id, names.AGENT_ID: act.mine.creature_id}
        span = self._telemetry.begin(names.CHAT, call.model, facts, kind=SpanKind.CLIENT, began_ns=began)
        self._telemetry.note_call(span, call, OWN, call.model)
        span.end()

    # Tools

    async def around_tool(
        self, call: ToolCall, context: ToolContext, using: Running[ToolAnswer]
    ) -> ToolAnswer:
        """Carry out a tool's call in a span."""
        telemetry = self._telemetry
        facts = {
            names.TOOL_NAME: call.tool,
            names.TOOL_TYPE: "function",
            names.TOOL_CALL_ID: context.called.id,
        }
        span = telemetry.begin(names.EXECUTE_TOOL, call.tool, facts)
        telemetry.note_event(span, context.called)
        telemetry.note_content(span, TOOL_ARGUMENTS=call.arguments)
        try:
            with telemetry.current(span):
                answer = await using
            if not answer.is_ok:
                telemetry.note_error(span, "tool.failed")
            telemetry.note_content(span, TOOL_RESULT=asdict(answer))
            return answer
        finally:
            span.end()

    # The ledger

    async def around_edit(self, intent: Intent, changing: Running[EditT]) -> EditT:
        """Edit a graph in a span. It is begun afterwards, when it is known to which run the edit belongs."""
        telemetry = self._telemetry
        began = now_ns()
        word = _WORD_BEGINS.sub("_", type(intent).__name__).lower()
        try:
            made = await changing
        except BaseException as wrong:
            span = telemetry.begin(names.GRAPH_EDIT, word, {names.EDIT: word}, began_ns=began)
            telemetry.note_error(span, type(wrong).__name__)
            span.end()
            raise
        facts = {
            names.EDIT: word,
            names.EDIT_CHANGE: made.change.kind,
            names.EDIT_OLD_GRAPHS: list(made.change.old_graph_ids),
            names.EDIT_NEW_GRAPHS: list(made.change.new_graph_ids),
        }
        parent = self._parent_of(made.events)
        span = telemetry.begin(names.GRAPH_EDIT, word, facts, parent, began_ns=began)
        for event in reversed(made.events):  # The first event stands in the span; each is found by its id.
            telemetry.note_event(span, event)
        span.end()
        return made

    async def around_commit(self, events: int, committing: Running[None]) -> None:
        """Measure a commit."""
        began = time.perf_counter()
        await committing
        self._telemetry.commit_seconds.record(time.perf_counter() - began)
        self._telemetry.commit_events.record(events)

    def durable(self, events: Sequence[Event]) -> None:
        """Follow the runs."""
        for event in events:
            self._telemetry.note_durable(event)

    def closed(self) -> None:
        """End the spans that are left."""
        self._telemetry.close()

    def _parent_of(self, events: list[Event]) -> Context | None:
        """Whoever edits has a span, such as that of a tool. Otherwise an edit belongs to the run of its graph."""
        if trace.get_current_span().get_span_context().is_valid or not events:
            return None  # The current span is its parent, or nothing was written.
        world = self._ledger.world
        graph = world.graphs.get(events[0].graph_id)
        runs = [event.run_id for event in events if event.run_id is not None]
        runs += [] if graph is None else members_of(world, graph).runs_acting
        return self._telemetry.in_run(runs[0], self._title_of(runs[0])) if runs else None

    def _title_of(self, run_id: str | None) -> str:
        """The name of the world that a run plays."""
        purse = self._ledger.folded.runs.purses.get(run_id or "")
        return "" if purse is None else purse.playbill.name
