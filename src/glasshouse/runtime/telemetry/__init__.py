"""Telemetry: spans and metrics for OpenTelemetry, and a log line for each event. Nothing of it reaches the ledger."""
