"""Spans and log lines of a terrarium in this process."""

import json
import logging
import re
import subprocess
import sys
from collections.abc import Iterator

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.semconv._incubating.attributes import gen_ai_attributes
from opentelemetry.semconv._incubating.metrics import gen_ai_metrics
from opentelemetry.semconv.schemas import Schemas

from glasshouse import Agent, Draft, Terrarium
from glasshouse.cli.watched.logs import LogFormatter
from glasshouse.cli.watched.telemetry import send_telemetry
from glasshouse.errors import Refused
from glasshouse.events import event_of_span, span_of
from glasshouse.installation import command_for_extra
from glasshouse.runtime.telemetry import names
from glasshouse.turns.moment.moment import Moment
from tests.runtime.stage_crew import Doing, Speaker, cast_on, ledger_of, ticking
from tests.runtime.troupe import soon

KEY = "sk-quince-4711-not-for-logs"


@pytest.fixture
def exporter(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    """Keeps the spans of a test, as if its program had configured OpenTelemetry."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", provider)
    yield exporter
    provider.shutdown()


class Careless(Agent):
    """Makes a span of its own, and then raises a key."""

    async def act(self, moment: Moment) -> Draft | None:
        with trace.get_tracer("careless").start_as_current_span("looking"):
            pass
        raise RuntimeError(KEY)


async def test_an_act_that_raises_is_named_in_its_span_and_in_logs_without_the_text_of_the_exception(
    exporter: InMemorySpanExporter, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "glasshouse")
    async with Terrarium() as t:
        await cast_on(t, {"a": Speaker(), "odd": Careless()}, ticking("a"), ticking("odd"))
        await soon(t.step(1))

    spans = {span.name: span for span in exporter.get_finished_spans()}
    failed = spans["invoke_agent odd"]
    assert facts_of(failed)[names.ERROR_TYPE] == "agent.failed"
    assert parent_of(spans["looking"]) == span_id(failed)
    assert KEY not in "".join(span.to_json() for span in spans.values())

    logs = [LogFormatter(style).format(record) for record in caplog.records for style in ("json", "text")]
    assert not [line for line in logs if KEY in line or "\n" in line]
    warned = [json.loads(line) for line in logs if '"level": "warning"' in line]
    assert [line["message"] for line in warned] == ["odd failed in its act."]
    assert warned[0]["error"] == "RuntimeError"
    assert warned[0]["frames"][-1].startswith("test_telemetry.py:")

    records = [record.fields for record in caplog.records if record.name == "glasshouse.events"]  # type: ignore[attr-defined]
    span_ids = {line["event_id"]: int(line["span_id"], 16) for line in records if "span_id" in line}
    assert span_ids[str(facts_of(failed)[names.EVENT_ID])] == span_id(failed)


async def test_events_and_spans_are_found_by_each_other_and_an_agents_own_calls_have_spans(
    exporter: InMemorySpanExporter,
) -> None:
    async def deed(moment: Moment) -> None:
        async with moment.spending("its own", tokens_max=100, usd_max=0.5) as call:
            call.report(input_tokens=40, output_tokens=20)

    async with Terrarium() as t:
        await cast_on(t, {"a": Doing(deed)}, ticking("a"))
        await soon(t.step(1))
        event = (await ledger_of(t))[-1]
        ids = span_of(t, event.id)

        spans = {span.name: span for span in exporter.get_finished_spans()}
        act, call = spans["invoke_agent a"], spans["chat its own"]
        assert ids is not None
        assert act.context is not None
        assert ids == (f"{act.context.trace_id:032x}", f"{span_id(act):016x}")
        assert event_of_span(t, ids[1]) == event.id
        assert (span_of(t, "e-unknown.1"), event_of_span(t, "00ff")) == (None, None)
        assert parent_of(call) == span_id(act)
        assert facts_of(call)[names.INPUT_TOKENS] == 40


async def test_an_edit_from_outside_belongs_to_its_run_and_a_refused_one_is_an_error(
    exporter: InMemorySpanExporter,
) -> None:
    async with Terrarium() as t:
        await cast_on(t, {"a": Speaker(), "b": Speaker()}, ticking("a"), ticking("b"))
        await soon(t.step(1))
        exporter.clear()
        await t.stop_creature("a")
        with pytest.raises(Refused):
            await t.rename_channel(t.graphs()[0].id, "nowhere", "elsewhere")

    done, refused, of_run = exporter.get_finished_spans()
    assert (done.name, parent_of(done)) == ("graph_edit stop_creature", span_id(of_run))
    assert facts_of(refused)[names.ERROR_TYPE] == "UnknownName"
    assert of_run.name.startswith(names.INVOKE_WORKFLOW)


def test_without_a_configured_provider_nothing_of_telemetry_is_imported_or_in_the_way() -> None:
    program = (
        "import sys, asyncio, glasshouse\n"
        "async def main():\n"
        "    async with glasshouse.Terrarium() as t:\n"
        "        assert t._house.ledger.writer.hooks is t._parts.model_access.hooks is None\n"
        "asyncio.run(main())\n"
        "print([name for name in sys.modules if name.startswith('opentelemetry')])"
    )
    assert subprocess.check_output([sys.executable, "-c", program], text=True) == "[]\n"


def test_a_missing_extra_is_named_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)

    with pytest.raises(Refused, match=f"extra `telemetry`.* {re.escape(command_for_extra('telemetry'))}"):
        send_telemetry()


def test_the_names_are_those_of_the_conventions() -> None:
    ours = {value for value in vars(names).values() if isinstance(value, str) and value.startswith("gen_ai.")}
    theirs = [*vars(gen_ai_attributes).values(), *vars(gen_ai_metrics).values()]
    operations = {each.value for each in vars(gen_ai_attributes)["GenAiOperationNameValues"]}

    assert ours - {value for value in theirs if isinstance(value, str)} == set()
    assert operations >= names.OPERATIONS
    assert Schemas.V1_41_0.value == names.SCHEMA_URL


def facts_of(span: ReadableSpan) -> dict[str, object]:
    return dict(span.attributes or {})


def span_id(span: ReadableSpan) -> int:
    assert span.context is not None
    return int(span.context.span_id)


def parent_of(span: ReadableSpan) -> int | None:
    return None if span.parent is None else span.parent.span_id
