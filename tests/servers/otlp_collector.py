"""A collector for OpenTelemetry: a plain HTTP server that decodes what an OTLP exporter sends."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


class Collector:
    """What was received."""

    def __init__(self) -> None:
        self.address = ""
        self.bodies: list[bytes] = []
        self.spans: list[Any] = []
        self.schema_urls: set[str] = set()
        self.services: set[str] = set()
        self.metrics: dict[str, Any] = {}

    def take(self, path: str, body: bytes) -> None:
        self.bodies.append(body)
        if path == "/v1/traces":
            for part in ExportTraceServiceRequest.FromString(body).resource_spans:
                self.services.add(attributes_of(part.resource)["service.name"])
                for scope in part.scope_spans:
                    self.schema_urls.add(scope.schema_url)
                    self.spans += scope.spans
        else:
            assert path == "/v1/metrics"
            for resource in ExportMetricsServiceRequest.FromString(body).resource_metrics:
                self.metrics |= {
                    each.name: each for scope in resource.scope_metrics for each in scope.metrics
                }

    def parent_of(self, span: Any) -> Any:
        """The span above a span; None for the first of a trace."""
        if not span.parent_span_id:
            return None
        (parent,) = [other for other in self.spans if other.span_id == span.parent_span_id]
        return parent

    def of(self, operation: str) -> list[Any]:
        """The spans of an operation."""
        return [span for span in self.spans if span.name.split()[0] == operation]


def attributes_of(described: Any) -> dict[str, Any]:
    """The attributes of a span or of a resource."""
    values = {each.key: each.value for each in described.attributes}
    return {key: getattr(value, value.WhichOneof("value")) for key, value in values.items()}


@contextmanager
def collector() -> Iterator[Collector]:
    """A collector that listens on this machine."""
    received = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            received.take(self.path, self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        received.address = f"http://127.0.0.1:{server.server_port}"
        listening = threading.Thread(target=server.serve_forever)
        listening.start()
        try:
            yield received
        finally:
            server.shutdown()
            listening.join()
