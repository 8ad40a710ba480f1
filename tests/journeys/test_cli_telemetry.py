"""What a play sends to a collector, and what it writes to logs."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from glasshouse.runtime.telemetry import names
from tests.journeys.commanding import run, run_apart
from tests.servers.otlp_collector import attributes_of, collector

words_chars_min = 12
"""Shorter texts may stand in an id or a name by chance."""


def test_a_collector_receives_the_spans_and_metrics_of_a_run_with_a_merge(tmp_path: Path) -> None:
    play = ("play", "three-ways-in", "--run-id", "r-00aa11bb22cc33d0")
    untraced = run(*play, "--store", str(tmp_path / "untraced"))
    with collector() as received:
        facts: Any = {"OTEL_EXPORTER_OTLP_ENDPOINT": received.address, "OTEL_SERVICE_NAME": "wood"}
        traced = run_apart(*play, "--telemetry", "--store", str(tmp_path / "traced"), **facts)

    assert (untraced.returncode, traced.returncode, traced.stderr) == (0, 0, "")
    assert digest_in(tmp_path / "untraced") == digest_in(tmp_path / "traced")
    assert (received.schema_urls, received.services) == ({names.SCHEMA_URL}, {"wood"})

    events = {event["id"]: event for event in events_in(tmp_path / "traced")}
    above = {
        (getattr(received.parent_of(span), "name", "").split(" ")[0], span.name.split(" ")[0])
        for span in received.spans
    }
    (of_run,) = received.of(names.INVOKE_WORKFLOW)
    assert above == {
        ("", names.INVOKE_WORKFLOW),
        (names.INVOKE_WORKFLOW, names.INVOKE_AGENT),
        (names.INVOKE_AGENT, names.CHAT),
        (names.INVOKE_AGENT, names.EXECUTE_TOOL),
        (names.EXECUTE_TOOL, names.GRAPH_EDIT),
    }
    assert attributes_of(of_run)[names.RUN_REASON] == "ended"
    merges = [span for span in received.spans if attributes_of(span).get(names.EDIT_CHANGE) == "merge"]
    assert len(merges) == len([event for event in events.values() if event["payload"].get("kind") == "merge"])
    assert merges

    # Every act is one span, which names its event; and each model call on record is one.
    acts = {attributes_of(span)[names.EVENT_ID]: span for span in received.of(names.INVOKE_AGENT)}
    for event_id, span in acts.items():
        assert attributes_of(span)[names.AGENT_ID] == events[event_id]["actor"]
        assert attributes_of(span)[names.EVENT_KIND] == events[event_id]["kind"]
    calls = [call for event in events.values() for call in event.get("model", {}).get("calls", ())]
    assert len(received.of(names.CHAT)) == len(calls)
    tokens = [attributes_of(span)[names.OUTPUT_TOKENS] for span in received.of(names.CHAT)]
    assert Counter(tokens) == Counter(call["usage"]["output"] for call in calls)

    acts_counted = received.metrics[names.METRIC_ACTS].sum.data_points
    assert sum(point.as_int for point in acts_counted) == len(acts)
    assert {names.METRIC_TOKENS, names.METRIC_USD, names.METRIC_COMMIT_SECONDS} < set(received.metrics)
    assert {names.METRIC_QUEUED_SECONDS, names.METRIC_CALL_SECONDS} < set(received.metrics)

    sent = b"".join(received.bodies)
    assert [text for text in words_of(list(events.values())) if text.encode() in sent] == []


def test_content_is_sent_if_it_is_asked_for(tmp_path: Path) -> None:
    with collector() as received:
        facts: Any = {
            "OTEL_EXPORTER_OTLP_ENDPOINT": received.address,
            "GLASSHOUSE_TELEMETRY": "1",
            "GLASSHOUSE_TELEMETRY_CONTENT": "1",
        }
        play = run_apart(
            "play", "thousand-token-wood", "--turns", "1", "--store", str(tmp_path / "s"), **facts
        )

    assert play.returncode == 0
    asked = [attributes_of(span) for span in received.of(names.CHAT)]
    replies = [
        call["completion"] for e in events_in(tmp_path / "s") for call in e.get("model", {}).get("calls", ())
    ]
    assert asked
    assert sorted(
        json.loads(span[names.OUTPUT_MESSAGES])[0]["parts"][0]["content"] for span in asked
    ) == sorted(replies)
    assert all("content" in json.loads(span[names.SYSTEM_INSTRUCTIONS])[0] for span in asked)


def test_a_collector_that_is_away_ends_no_play(tmp_path: Path) -> None:
    facts: Any = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9", "OTEL_EXPORTER_OTLP_TIMEOUT": "1"}

    play = run_apart("play", "thousand-token-wood", "--telemetry", "--store", str(tmp_path / "s"), **facts)

    assert play.returncode == 0
    assert "Traceback" not in play.stderr


def test_logs_have_a_line_an_event_and_nothing_that_anybody_thinks_says_or_holds(tmp_path: Path) -> None:
    store = str(tmp_path / "s")
    play = run("play", "one-odd-acorn", "--log", "json", "--log-level", "debug", "--store", store)

    events = events_in(tmp_path / "s")
    lines = [json.loads(line) for line in play.stderr.splitlines()]
    about_events = [line for line in lines if line["logger"] == "glasshouse.events"]
    assert [line["event_id"] for line in about_events] == [event["id"] for event in events]
    assert {line["level"] for line in about_events} == {"debug", "info"}

    dealt = [event["sealed"] for event in events if event.get("sealed")]
    thoughts = [event["private"] for event in events if event.get("private")]
    assert dealt
    assert thoughts
    hidden = {*words_of(events), *texts_in(dealt)} - {event["actor"] for event in events}
    # A short word that was dealt may be part of the name of a kind, as `fork` is of `session.forked`.
    shown = [text for text in hidden if re.search(rf"(?<!\w){re.escape(text)}(?!\w)", play.stderr)]
    assert shown == []


def test_logs_at_the_usual_level_tell_about_runs_alone(tmp_path: Path) -> None:
    play = run("play", "thousand-token-wood", "--log", "json", "--store", str(tmp_path / "s"))

    assert [json.loads(line)["kind"] for line in play.stderr.splitlines()] == ["run.started", "run.finished"]


def digest_in(store: Path) -> str:
    return run("digest", "last", "--store", str(store)).stdout


def events_in(store: Path) -> list[dict[str, Any]]:
    """Every event of a store's last run, as a director reads it, in the order of commits."""
    shown = run("show", "last", "--ledger", "--json", "--as", "director", "--store", str(store))
    return [json.loads(line) for line in shown.stdout.splitlines()]


def words_of(events: list[dict[str, Any]]) -> set[str]:
    """What was said, thought, prompted, replied and dealt, where it is long enough to be found by its bytes."""
    parts = [[event.get(name) for name in ("private", "sealed", "model")] for event in events]
    said = [event["payload"].get("text") for event in events]
    texts = {text for text in texts_in([parts, said]) if len(text) >= words_chars_min and " " in text}
    assert texts
    return texts


def texts_in(content: Any) -> Iterator[str]:
    """Every text in some JSON."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, dict | list):
        for part in content.values() if isinstance(content, dict) else content:
            yield from texts_in(part)
