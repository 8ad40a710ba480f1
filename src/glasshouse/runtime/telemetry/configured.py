"""Whether this program has configured OpenTelemetry.

Always holds: if it has not, nothing of OpenTelemetry is imported here, and a terrarium is built as if telemetry did not
exist (ADR 0088).
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from glasshouse.runtime.telemetry.telemetry import Telemetry


def configured_telemetry() -> Telemetry | None:
    """Telemetry for one terrarium; None if this program has set no tracer provider."""
    trace = sys.modules.get("opentelemetry.trace")
    if trace is None or isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
        return None  # This program does not trace.
    from glasshouse.runtime.telemetry.telemetry import Telemetry
    from glasshouse.settings import settings

    return Telemetry(has_content=settings().telemetry_content)
