"""What telemetry costs: an act that is traced against one that is not, in the same process."""

from __future__ import annotations

from unittest.mock import patch

from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from bench.acts import cpu_per_act, stage_after
from bench.result import Result, judged
from glasshouse.runtime import event_loop

history = 100
turns_a_round = 60
rounds = 20


async def _cpu_per_act_untraced_and_traced() -> tuple[float, float, float]:
    """The cost of an act while nobody traces, then of untraced and traced acts that take turns in short rounds: the
    interpreter must then serve both kinds. The quickest round of each counts."""
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter := InMemorySpanExporter()))
    untraced = await stage_after(history)
    alone = [await cpu_per_act(untraced, turns_a_round) for _ in range(rounds)]
    with patch.object(trace, "_TRACER_PROVIDER", provider):
        traced = await stage_after(history)
    figures = []
    for _ in range(rounds):
        figures.append([await cpu_per_act(stage, turns_a_round) for stage in (untraced, traced)])
        exporter.clear()
    for stage in (untraced, traced):
        await stage.close()
    provider.shutdown()
    off, on = map(min, zip(*figures, strict=True))
    return min(alone), off, on


def run() -> list[Result]:
    """An act where OpenTelemetry is imported but not configured, and what tracing adds."""
    alone, off, on = event_loop.run(_cpu_per_act_untraced_and_traced())
    return [
        judged("an act, telemetry off", alone, "µs CPU", "≤", 220),
        judged("an act, traced against untraced", on / off, "×", "≤", 2.0),
    ]
