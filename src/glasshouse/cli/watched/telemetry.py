"""Sending traces and metrics: configures OpenTelemetry's SDK for a command, as the standard OTEL_ variables say (ADR 0088)."""

from __future__ import annotations

from typing import Final

from glasshouse.installation import missing_extra
from glasshouse.settings import value_of

send_seconds_max: Final = 3.0
"""How long a batch is tried to be sent, unless OTEL_EXPORTER_OTLP_TIMEOUT says otherwise: nobody should wait long at the end
because a collector is away."""


def send_telemetry() -> None:
    """Send what this command does to the collector, over OTLP and HTTP. What is left is sent when the process ends."""
    try:
        from opentelemetry import metrics, trace
        from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.metrics import MeterProvider
        from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
        from opentelemetry.sdk.resources import SERVICE_NAME, Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as missing:
        reason = "Telemetry needs the extra `telemetry`, which is not installed."
        raise missing_extra(reason, "telemetry") from missing
    resource = Resource.create()
    if str(resource.attributes[SERVICE_NAME]).startswith("unknown_service"):
        resource = resource.merge(Resource({SERVICE_NAME: "glasshouse"}))
    seconds_max = None if value_of("OTEL_EXPORTER_OTLP_TIMEOUT") else send_seconds_max
    tracers = TracerProvider(resource=resource)
    if value_of("OTEL_TRACES_EXPORTER") != "none":
        tracers.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(timeout=seconds_max)))
    trace.set_tracer_provider(tracers)
    if value_of("OTEL_METRICS_EXPORTER") != "none":
        reader = PeriodicExportingMetricReader(OTLPMetricExporter(timeout=seconds_max))
        metrics.set_meter_provider(MeterProvider([reader], resource=resource))
