"""`Telemetry`: the spans and metrics of one terrarium, by way of OpenTelemetry's API.

A run is a span; its acts are children of it, and model calls and tools are children of their act. So spans that an agent, a
tool or an HTTP client makes itself are found below the act they belong to.

Always holds: it only reads. No id or time of a span reaches the ledger. Without `has_content`, no span holds a text that a
creature, a model or a tool wrote, and no text of an exception, which may quote one.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

import msgspec
from opentelemetry import context, metrics, trace
from opentelemetry.context import Context
from opentelemetry.trace import Span, SpanContext, SpanKind, Status, StatusCode
from opentelemetry.util.types import AttributeValue

from glasshouse.events import kinds
from glasshouse.events.event import Event
from glasshouse.events.model_use import Call
from glasshouse.events.payloads import RunFinished, RunStarted, payload_of
from glasshouse.events.recorded_fields import scenario_fields_of
from glasshouse.runtime.telemetry import names

events_with_span_max: Final = 65_536
"""For how many of the last events the span that they were written in is known."""


class Telemetry:
    """Makes spans and counts, for one terrarium."""

    def __init__(self, *, has_content: bool) -> None:
        self.has_content = has_content
        self._outside = context.get_current()
        """Where the terrarium was made: its runs are children of the span that was current there, if any."""
        self._tracer = trace.get_tracer(names.SCOPE, schema_url=names.SCHEMA_URL)
        self._runs: dict[str, Span] = {}
        self._span_of: dict[str, SpanContext] = {}
        meter = metrics.get_meter(names.SCOPE, schema_url=names.SCHEMA_URL)
        self.acts = meter.create_counter(names.METRIC_ACTS, "{act}", "Acts that ended, by the kind of event.")
        self.usd = meter.create_counter(names.METRIC_USD, "USD", "What model calls with a known price cost.")
        self.tokens = meter.create_histogram(names.METRIC_TOKENS, "{token}", "Tokens of a model call.")
        self.call_seconds = meter.create_histogram(names.METRIC_CALL_SECONDS, "s", "Time of a model call.")
        self.waiting = meter.create_up_down_counter(
            names.METRIC_WAITING, "{call}", "Model calls that wait for their server."
        )
        self.queued_seconds = meter.create_histogram(
            names.METRIC_QUEUED_SECONDS, "s", "How long a model call waited for its server."
        )
        self.commit_seconds = meter.create_histogram(
            names.METRIC_COMMIT_SECONDS, "s", "How long the store took to make a group of events durable."
        )
        self.commit_events = meter.create_histogram(
            names.METRIC_COMMIT_EVENTS, "{event}", "How many events waited for a commit and went into it."
        )

    def span_of(self, event_id: str) -> tuple[str, str] | None:
        """The ids of the trace and the span in which an event was written, in hexadecimal, if it is one of the last."""
        ids = self._span_of.get(event_id)
        return None if ids is None else (f"{ids.trace_id:032x}", f"{ids.span_id:016x}")

    def event_of(self, span_id: str) -> str | None:
        """The id of the newest event that was written in a span, if it is one of the last."""
        number = int(span_id, 16)
        return next((event for event, ids in reversed(self._span_of.items()) if ids.span_id == number), None)

    def begin(
        self,
        operation: str,
        subject: str,
        attributes: Mapping[str, AttributeValue],
        parent: Context | None = None,
        kind: SpanKind = SpanKind.INTERNAL,
        began_ns: int | None = None,
    ) -> Span:
        """A new span, below `parent` or else below the current span."""
        is_convention = operation in names.OPERATIONS
        facts = {names.OPERATION: operation, **attributes} if is_convention else attributes
        return self._tracer.start_span(
            f"{operation} {subject}".rstrip(), parent, kind, facts, start_time=began_ns
        )

    @contextmanager
    def current(self, span: Span) -> Iterator[None]:
        """Make a span the current one. An exception is named in it, without its text."""
        try:
            with trace.use_span(span, record_exception=False, set_status_on_exception=False):
                yield
        except BaseException as wrong:
            self.note_error(span, type(wrong).__name__)
            raise

    def note_error(self, span: Span, error: str) -> None:
        """Say that what the span is about has failed."""
        span.set_attribute(names.ERROR_TYPE, error)
        span.set_status(Status(StatusCode.ERROR))

    def note_event(self, span: Span, event: Event) -> None:
        """Say which event a span has led to; from then on the span is found by the event, too."""
        span.set_attributes({names.EVENT_ID: event.id, names.EVENT_KIND: event.kind})
        if (ids := span.get_span_context()).is_valid:
            self._span_of[event.id] = ids
        while len(self._span_of) > events_with_span_max:
            del self._span_of[next(iter(self._span_of))]

    # Runs

    def in_run(self, run_id: str | None, name: str = "") -> Context:
        """The context of a run's span, which begins with whatever happens first in the run."""
        if run_id is None:
            return self._outside  # It belongs to no run.
        span = self._runs.get(run_id)
        if span is None:
            facts = {names.RUN_ID: run_id, names.CONVERSATION_ID: run_id, names.WORKFLOW_NAME: name or run_id}
            span = self._runs[run_id] = self.begin(names.INVOKE_WORKFLOW, name, facts, self._outside)
        return trace.set_span_in_context(span, self._outside)

    def note_durable(self, event: Event) -> None:
        """Follow the runs: an event became durable."""
        if event.kind not in kinds.OF_RUNS or event.run_id is None:
            return  # It changes no run.
        if event.kind == kinds.RUN_STARTED:
            scenario = scenario_fields_of(payload_of(event, RunStarted).scenario)
            self.in_run(event.run_id, scenario.name)
        span = self._runs.get(event.run_id)
        if span is None:
            return  # The run was begun by another process.
        if event.kind != kinds.RUN_FINISHED:
            span.add_event(event.kind, {names.EVENT_ID: event.id})
            self._span_of.setdefault(event.id, span.get_span_context())
            return  # The run goes on.
        finished = payload_of(event, RunFinished)
        self.note_event(span, event)
        span.set_attributes({names.RUN_REASON: finished.reason, names.RUN_TURNS: finished.turns})
        if finished.usd is not None:
            span.set_attribute(names.USD, finished.usd)
        self._runs.pop(event.run_id).end()

    def close(self) -> None:
        """End the spans of runs that are left open. Who plays them on, begins new ones."""
        for span in self._runs.values():
            span.end()
        self._runs.clear()

    # Model calls

    def note_call(self, span: Span, call: Call, provider: str, model: str) -> None:
        """Put what is recorded of a model call into its span, and count it."""
        tokens = call.usage
        seconds = call.milliseconds / 1_000
        queued = call.queued_ms / 1_000
        given = tokens.input_uncached + tokens.cache_read + tokens.cache_write
        span.set_attributes(
            {names.INPUT_TOKENS: given, names.OUTPUT_TOKENS: tokens.output, names.QUEUED_SECONDS: queued}
        )
        if tokens.cache_read or tokens.cache_write:
            cached = {
                names.CACHE_READ_TOKENS: tokens.cache_read,
                names.CACHE_WRITE_TOKENS: tokens.cache_write,
            }
            span.set_attributes(cached)
        for name, text in ((names.RESPONSE_MODEL, call.model), (names.RESPONSE_ID, call.response_id)):
            if text:
                span.set_attribute(name, text)
        facts = {names.OPERATION: names.CHAT, names.PROVIDER: provider, names.REQUEST_MODEL: model}
        if call.is_answered:
            span.set_attribute(names.FINISH_REASONS, [call.finish])
            self.tokens.record(given, {**facts, names.TOKEN_TYPE: "input"})
            self.tokens.record(tokens.output, {**facts, names.TOKEN_TYPE: "output"})
        if call.usd is not None and call.reached:
            span.set_attribute(names.USD, call.usd)
            self.usd.add(call.usd, facts)
        self.call_seconds.record(
            seconds, facts if call.is_answered else {**facts, names.ERROR_TYPE: "failed"}
        )
        self.queued_seconds.record(queued, facts)

    def note_content(self, span: Span, **texts: object) -> None:
        """Put texts into a span, if somebody asked for content. Each is named as in `names`, and written as JSON."""
        if self.has_content:
            for name, content in texts.items():
                span.set_attribute(getattr(names, name), msgspec.json.encode(content).decode())


def now_ns() -> int:
    """The time as spans count it."""
    return time.time_ns()
