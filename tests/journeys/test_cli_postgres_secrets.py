"""A password in the address of a store is nowhere in what Glasshouse says, sends or shows; and a program without the driver says so."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator

import pytest

from tests.journeys.commanding import run_apart, run_code
from tests.servers.otlp_collector import collector
from tests.servers.postgres import drop_databases, new_database
from tests.web.test_serve_command import serving

SECRET = "hu%40sh-and-never-told"
AS_IT_IS = "hu@sh-and-never-told"

WITHOUT_DRIVER = """
import sys
sys.modules["asyncpg"] = None
from glasshouse.cli.app import app
try:
    app(sys.argv[1:])
except SystemExit as end:
    print(f"ended with {end.code}", file=sys.stderr)
"""


@pytest.fixture
def house() -> Iterator[str]:
    yield new_database().replace("//glass@", f"//glass:{SECRET}@") + "#night"
    drop_databases()


def holds_the_secret(text: str) -> bool:
    return SECRET in text or AS_IT_IS in text


def test_no_span_no_log_no_page_and_no_answer_has_the_password(house: str) -> None:
    with collector() as received:
        words = ("play", "mystery-roots", "--telemetry", "--log", "json", "--log-level", "debug")
        played = run_apart(*words, "--store", house, OTEL_EXPORTER_OTLP_ENDPOINT=received.address)
    sent = b"".join(received.bodies).decode(errors="replace")
    with serving(house, "--log", "json", "--log-level", "debug") as page, page.client() as client:
        answers = [client.get(path) for path in ("", "api/v1/me", "api/v1/runs", "api/v1/worlds")]
        busy = run_apart("play", "mystery-roots", "--store", house)
        runs = client.get("api/v1/runs").text
        _, last = page.end(signal.SIGTERM)
    page_said = "\n".join([*page.said, last])

    assert played.returncode == 0, played.stderr
    assert received.spans
    assert [answer.status_code for answer in answers] == [200] * 4
    assert json.loads(runs)
    assert "night" in busy.stderr
    said = [played.stdout, played.stderr, busy.stdout, busy.stderr, sent, page_said, runs]
    said += [f"{answer.text} {answer.headers}" for answer in answers]
    assert [text for text in said if holds_the_secret(text)] == []


def test_a_program_without_the_driver_names_the_extra_and_how_to_install_it(house: str) -> None:
    answer = run_code(WITHOUT_DRIVER, "runs", "--store", house)

    assert "extra `postgres`" in answer.stderr
    assert "pip install" in answer.stderr
    assert "ended with 3" in answer.stderr
    assert "Traceback" not in answer.stderr
    assert not holds_the_secret(answer.stdout + answer.stderr)
