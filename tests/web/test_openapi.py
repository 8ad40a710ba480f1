"""The API as its OpenAPI tells it: complete, and never answered with a failure, whatever is sent."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from typing import Any, Final

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from glasshouse import MemoryStore, Terrarium
from tests.simulation.seeds import fresh_seeds, replayable
from tests.web import http_page
from tests.web.served import served

answer_seconds_max: Final = 60
CHECKS: Final = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]


async def openapi() -> dict[str, Any]:
    async with Terrarium(MemoryStore()) as t, served(t) as page:
        answer: dict[str, Any] = await page.get("/api/openapi.json")
        return answer


async def test_every_route_is_described() -> None:
    answer = await openapi()
    for path, methods in answer["paths"].items():
        for method, route in methods.items():
            where = f"{method} {path}"
            assert len(route["summary"].split()) > 1, where
            assert route["summary"].endswith("."), where
            for parameter in route.get("parameters", ()):
                assert parameter.get("description"), f"{where}: {parameter['name']}"
            answers = route["responses"]
            for status in (
                "401",
                "421",
                "429",
                "503",
                *(("403", "413", "415", "422") if method == "post" else ()),
            ):
                if path != "/healthz":
                    assert "$ref" in answers[status]["content"]["application/json"]["schema"], (
                        f"{where} {status}"
                    )
            if "{run_id}" in path:
                assert "404" in answers, where
            good = next(answer for status, answer in answers.items() if status.startswith("2"))
            for content in good.get("content", {}).values():
                assert content["schema"], f"{where} has no typed answer"
    for name, model in answer["components"]["schemas"].items():
        assert model.get("description"), name


def attack(
    base: str, document: dict[str, Any], names: dict[str, list[str]], examples: int, number: int
) -> int:
    """Ask every route many things, good and bad, which the number decides. Returns how often."""
    schema = schemathesis.openapi.from_dict(document)
    schema.config.update(base_url=base)
    count = 0
    session = requests.Session()
    session.trust_env = False
    for result in schema.get_all_operations():
        assert isinstance(result, Ok)
        operation = result.ok()
        if operation.path.endswith("/stream"):
            continue  # It does not end.
        modes = [GenerationMode.POSITIVE]
        if list(operation.query) or list(operation.body):  # Every text is a good name in an address.
            modes.append(GenerationMode.NEGATIVE)
        for mode in modes:
            strategy = operation.as_strategy(generation_mode=mode)

            @seed(number)
            @settings(
                max_examples=examples,
                deadline=None,
                database=None,
                phases=[Phase.generate],
                suppress_health_check=list(HealthCheck),
            )
            @given(case=strategy, data=st.data())
            def ask(case: Case[Any], data: Any) -> None:
                nonlocal count
                for part in (case.path_parameters, case.body, case.query):
                    put_names(part, names, data.draw)
                response = case.call(session=session, timeout=answer_seconds_max)
                count += 1
                case.validate_response(response, checks=CHECKS)

            ask()
    return count


def put_names(part: Any, names: dict[str, list[str]], draw: Callable[[Any], Any]) -> None:
    """Put names that are there in place of made-up ones, mostly: otherwise nearly all is answered 404."""
    if isinstance(part, dict):
        for field in part.keys() & names.keys():
            if draw(st.integers(0, 3)):
                part[field] = draw(st.sampled_from(names[field]))


async def attacked(examples: int, number: int = 1) -> int:
    async with Terrarium(MemoryStore()) as t:
        runs = [await t.open_world(world) for world in ("twenty-sprouts", "mystery-roots")]
        for run in runs:
            await t.run(run.id, turns=2)
        events = [event.id for run in runs for event in await t.run_events(run.id)][::7]
        names = {
            "run_id": [run.id for run in runs],
            "event_id": events,
            "at": events,
            "world": ["twenty-sprouts"],
            "graph": [graph.id for graph in t.graphs()],
            "creature": [creature.id for creature in t.creatures()],
            "target": [creature.handle for creature in t.creatures()],
            "channel": ["stage"],
            "speed": ["fast"],
        }
        async with served(t) as page:
            answer = await page.get("/api/openapi.json")
            base = str(page.client.base_url).rstrip("/")
            count = await asyncio.to_thread(attack, base, answer, names, examples, number)
            assert (await page.client.get("/healthz")).status_code == 200
            return count


async def test_nothing_that_is_sent_makes_the_server_fail() -> None:
    assert await attacked(4) > 150


@pytest.mark.soak
async def test_nothing_makes_the_server_fail_for_long() -> None:
    for number in fresh_seeds(1):
        with replayable(number, "tests/web/test_openapi.py"):
            await attacked(int(os.environ.get("GLASSHOUSE_ATTACKS", "300")), number)


def test_the_reference_of_the_api_is_that_of_the_routes() -> None:
    assert http_page.PAGE.read_text(encoding="utf-8") == http_page.written(), "python -m tests.web.http_page"
