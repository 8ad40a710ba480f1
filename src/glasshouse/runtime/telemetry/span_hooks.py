"""The ledger, acts, model calls and tools of a terrarium that is traced: each does what it always does, inside a span.

They are built in place of the usual ones if this program has configured OpenTelemetry. So whoever does not trace pays
nothing for it (ADR 0088).

Always holds: they decide nothing and write nothing of their own.
"""

from __future__ import annotations

import asyncio
import re
import time
from typing import Any, Final

from msgspec.structs import asdict
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace import Span, SpanKind

from glasshouse.events import kinds
from glasshouse.events.event import Event
from glasshouse.events.model_use import Call, Usage
from glasshouse.runtime.acts.act import ActResult, Acts
from glasshouse.runtime.acts.asking import ActCalls, CallUnderWay, Recorded
from glasshouse.runtime.acts.backend_queue import BackendQueue
from glasshouse.runtime.acts.reservations import Reservation
from glasshouse.runtime.ledger.ledger import Answering, Ledger, Look, Receipt, Tell
from glasshouse.runtime.ledger.writer import Queued
from glasshouse.runtime.ports import Route, Toolbox
from glasshouse.runtime.store_port import NO_INBOX_WRITES, NO_SIDE_WRITES, InboxWrites, SideWrites
from glasshouse.runtime.telemetry import names
from glasshouse.runtime.telemetry.telemetry import Telemetry, now_ns
from glasshouse.runtime.tool_context import ToolContext
from glasshouse.turns.moment.prompt import Completion, Prompt
from glasshouse.turns.moment.tools import ToolAnswer, ToolCall
from glasshouse.turns.runs.agenda import members_of
from glasshouse.turns.runs.schedule import Due
from glasshouse.world.decisions.intents import GraphEdit, Intent
from glasshouse.world.decisions.requests import Asker
from glasshouse.world.state.state import CreatureState

OWN: Final = "agent"
"""The provider that is named for a call which an agent made by its own means."""
_WORD_BEGINS: Final = re.compile(r"(?<!^)(?=[A-Z])")


class TracedLedger(Ledger):
    """A ledger whose graph edits are spans, and whose commits are measured."""

    def __init__(self, telemetry: Telemetry, *parts: Any) -> None:
        super().__init__(*parts)
        self._telemetry = telemetry
        self._commit_began = 0.0
        self.writer.watch = self

    async def change(
        self,
        intent: Intent,
        look: Look | None = None,
        side: SideWrites = NO_SIDE_WRITES,
        by: Asker | None = None,
        inbox: InboxWrites | Answering = NO_INBOX_WRITES,
    ) -> Receipt:
        """Decide an intent and wait until its events are durable; a graph edit in a span."""
        if not isinstance(intent, GraphEdit):
            return await super().change(intent, look, side, by, inbox)
        return await self._traced(intent, super().change(intent, look, side, by, inbox))

    async def edit(self, intent: Intent, cause: str, tell: Tell) -> Receipt:
        """Write an edit by a creature's tool, in a span."""
        return await self._traced(intent, super().edit(intent, cause, tell))

    async def _traced(self, intent: Intent, changing: Any) -> Receipt:
        telemetry, began = self._telemetry, now_ns()
        word = _WORD_BEGINS.sub("_", type(intent).__name__).lower()
        try:
            receipt: Receipt = await changing
        except BaseException as wrong:
            span = telemetry.begin(names.GRAPH_EDIT, word, {names.EDIT: word}, began_ns=began)
            telemetry.note_error(span, type(wrong).__name__)
            span.end()
            raise
        change = receipt.change
        facts = {
            names.EDIT: word,
            names.EDIT_CHANGE: change.kind,
            names.EDIT_OLD_GRAPHS: list(change.old_graph_ids),
            names.EDIT_NEW_GRAPHS: list(change.new_graph_ids),
        }
        parent = self._parent_of(receipt.events)
        span = telemetry.begin(names.GRAPH_EDIT, word, facts, parent, began_ns=began)
        for event in reversed(receipt.events):  # The first event stands in the span; each is found by its id.
            telemetry.note_event(span, event)
        span.end()
        return receipt

    def _parent_of(self, events: list[Event]) -> Context | None:
        """Whoever edits has a span, such as that of a tool. Otherwise an edit belongs to the run of its graph."""
        if trace.get_current_span().get_span_context().is_valid or not events:
            return None
        graph = self.world.graphs.get(events[0].graph_id)
        runs = [event.run_id for event in events if event.run_id is not None]
        runs += [] if graph is None else members_of(self.world, graph).runs_acting
        return self._telemetry.in_run(runs[0], self.title_of(runs[0])) if runs else None

    def title_of(self, run_id: str | None) -> str:
        """The name of the world that a run plays."""
        purse = self.folded.runs.purses.get(run_id or "")
        return "" if purse is None else purse.playbill.name

    def before_commit(self) -> None:
        """The store is about to be given a group of batches."""
        self._commit_began = time.perf_counter()

    def after_commit(self, events: int) -> None:
        """The store has taken this many events, or has failed."""
        self._telemetry.commit_seconds.record(time.perf_counter() - self._commit_began)
        self._telemetry.commit_events.record(events)

    def durable(self, event: Event) -> None:
        """An event is durable: its span can end."""
        self._telemetry.note_durable(event)

    async def close(self) -> None:
        """Make everything queued durable, then end the spans that are left."""
        try:
            await super().close()
        finally:
            self._telemetry.close()


class TracedActs(Acts):
    """Acts as spans. A span ends when the thinking does, and is kept until the event that ends the act has its id."""

    def __init__(self, telemetry: Telemetry, *parts: Any, **options: Any) -> None:
        super().__init__(*parts, **options)
        self._telemetry = telemetry
        self._thought: dict[tuple[str, str], tuple[Span, int]] = {}
        """The acts that were thought and are not written yet: their spans, and when the thinking ended."""

    async def think(
        self, due: Due, cause: Event, upto: int | None, gate: asyncio.Event | None = None
    ) -> ActResult | None:
        """Let a creature think once, in a span below that of its run."""
        creature = self._ledger.world.creatures.get(due.creature)
        if creature is None:
            return await super().think(due, cause, upto, gate)
        telemetry, span = self._telemetry, self._begin(creature, due)
        try:
            with telemetry.current(span):
                result = await super().think(due, cause, upto, gate)
        except BaseException:
            span.end()
            raise
        if result is None or result.end is None:
            if result is not None and result.stopped_by is not None:
                telemetry.note_error(span, type(result.stopped_by).__name__)
            span.end()
        else:
            self._end(self._thought.pop(result.act, None))
            self._thought[result.act] = span, now_ns()
        return result

    def _begin(self, creature: CreatureState, due: Due) -> Span:
        ledger, run_id = self._ledger, creature.run_id
        assert isinstance(ledger, TracedLedger), "a traced terrarium has a traced ledger"
        facts: dict[str, str | int] = {
            names.AGENT_ID: creature.id,
            names.AGENT_NAME: creature.handle,
            names.CAUSE_ID: due.cause,
            names.GRAPH_ID: creature.graph_id,
            names.TURN: ledger.world.graphs[creature.graph_id].turn,
        }
        if run_id is not None:
            facts |= {names.RUN_ID: run_id, names.CONVERSATION_ID: run_id}
        parent = self._telemetry.in_run(run_id, ledger.title_of(run_id))
        return self._telemetry.begin(names.INVOKE_AGENT, creature.handle, facts, parent)

    async def write(self, result: ActResult, before: Queued | None = None) -> Queued | None:
        """Stage the event that ends an act, and name it in the act's span."""
        kept, queued = self._thought.pop(result.act, None), None
        try:
            queued = await super().write(result, before)
        finally:
            self._end(kept, queued)
        return queued

    def _end(self, kept: tuple[Span, int] | None, queued: Queued | None = None) -> None:
        if kept is None:
            return
        span, ended = kept
        if queued is not None and queued.events:
            event = queued.events[0]
            self._telemetry.note_event(span, event)
            self._telemetry.acts.add(1, {names.EVENT_KIND: event.kind})
            if event.kind == kinds.AGENT_FAILED:
                self._telemetry.note_error(span, event.kind)
        span.end(ended)

    def _act_calls(self, route: Route, mine: Reservation, recorded: Recorded) -> ActCalls:
        return TracedCalls(route, self._model_access, mine, recorded, telemetry=self._telemetry)


class TracedCalls(ActCalls, kw_only=True):
    """The model calls of one act, each attempt in a span. An answer on record asks nobody and has none."""

    telemetry: Telemetry
    _own_began_ns: int = 0

    async def _attempt(self, route: Route, prompt: Prompt, *rest: Any) -> Completion:
        telemetry, calls_before = self.telemetry, len(self.calls)
        provider = getattr(route.model, "backend", "") or route.name
        facts = {
            names.PROVIDER: provider,
            names.REQUEST_MODEL: route.name,
            names.REQUEST_TOKENS_MAX: prompt.reply_tokens_max,
            names.REQUEST_SEED: prompt.seed,
            names.RUN_ID: self.mine.run_id,
            names.AGENT_ID: self.mine.creature_id,
        }
        span = telemetry.begin(names.CHAT, route.name, facts, kind=SpanKind.CLIENT)
        telemetry.note_content(
            span,
            SYSTEM_INSTRUCTIONS=[{"type": "text", "content": prompt.system}],
            INPUT_MESSAGES=[{"role": "user", "parts": [{"type": "text", "content": prompt.user}]}],
        )
        try:
            with telemetry.current(span):
                completion = await super()._attempt(route, prompt, *rest)
            said = [{"type": "text", "content": completion.text}]
            telemetry.note_content(span, OUTPUT_MESSAGES=[{"role": "assistant", "parts": said}])
            return completion
        finally:
            if len(self.calls) > calls_before:
                telemetry.note_call(span, self.calls[-1], provider, route.name)
            span.end()

    async def begin_own(self, worst: Usage) -> None:
        await super().begin_own(worst)
        self._own_began_ns = now_ns()

    def end_own(self, call: Call, prompt: str) -> None:
        super().end_own(call, prompt)
        facts = {names.PROVIDER: OWN, names.RUN_ID: self.mine.run_id, names.AGENT_ID: self.mine.creature_id}
        span = self.telemetry.begin(
            names.CHAT, call.model, facts, kind=SpanKind.CLIENT, began_ns=self._own_began_ns
        )
        self.telemetry.note_call(span, call, OWN, call.model)
        span.end()

    async def _wait_for_slot(self, queue: BackendQueue, under_way: CallUnderWay) -> float:
        facts = {names.PROVIDER: queue.name}
        self.telemetry.waiting.add(1, facts)
        try:
            return await super()._wait_for_slot(queue, under_way)
        finally:
            self.telemetry.waiting.add(-1, facts)


class TracedTools:
    """A toolbox whose calls are spans."""

    def __init__(self, telemetry: Telemetry, tools: Toolbox) -> None:
        self._telemetry = telemetry
        self._tools = tools
        self.has = tools.has
        self.names = tools.names
        self.offers = tools.offers

    async def use(self, call: ToolCall, context: ToolContext) -> ToolAnswer:
        """Carry out a call in a span."""
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
                answer = await self._tools.use(call, context)
            if not answer.is_ok:
                telemetry.note_error(span, "tool.failed")
            telemetry.note_content(span, TOOL_RESULT=asdict(answer))
            return answer
        finally:
            span.end()
