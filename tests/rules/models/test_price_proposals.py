"""Prices that a list proposes: what is unknown stays unknown, and nobody is asked over the network."""

import socket
from datetime import date
from decimal import Decimal
from typing import Any, NoReturn

import pytest

from glasshouse.cli.price_lines import price_lines
from glasshouse.errors import Refused
from glasshouse.events.model_use import Price
from glasshouse.manifests.models_file import ModelsFile, ServerName
from glasshouse.models import price_proposals
from glasshouse.models.known_servers import KNOWN_SERVERS, hosted_model
from glasshouse.models.price_proposals import PROVIDER_IDS, newest_day, price_in, proposed_price

TODAY = date(2026, 11, 18)
PRICE = Price(0.25, 2.0, 0.025)


class Steps:
    """A price with steps, as the list has it."""

    base = Decimal("1.25")
    tiers = ()


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: Any) -> NoReturn:
        raise AssertionError("a connection was made")

    monkeypatch.setattr(socket.socket, "connect", refused)
    monkeypatch.setattr(socket, "getaddrinfo", refused)


def test_every_server_with_a_usual_model_has_a_proposal_for_it() -> None:
    for server in PROVIDER_IDS:
        if usual := KNOWN_SERVERS[server].usual_model:
            proposal = proposed_price(server, usual, TODAY)

            assert proposal is not None, usual
            assert 0 < proposal.price.input < proposal.price.output < 100
            assert proposal.source.startswith("genai-prices ")
            assert proposal.known_until is not None
            assert date(2026, 1, 1) < proposal.known_until <= TODAY


def test_every_hosted_server_can_be_asked_for() -> None:
    assert {name for name, known in KNOWN_SERVERS.items() if known.key_variable} == {*PROVIDER_IDS}


def test_what_the_list_does_not_know_stays_unknown() -> None:
    assert proposed_price("openai", "a-model-that-nobody-made", TODAY) is None
    assert proposed_price("ollama", "gpt-5-mini", TODAY) is None


@pytest.mark.parametrize(
    ("listed", "price"),
    [
        ({"input_mtok": Decimal("0.25"), "output_mtok": Decimal(2)}, Price(0.25, 2.0)),
        (
            {"input_mtok": Steps(), "output_mtok": Decimal(10), "cache_read_mtok": Decimal("0.1")},
            Price(1.25, 10, 0.1),
        ),
        ({"input_mtok": Decimal("0.25")}, None),
        ({"output_mtok": Decimal(2)}, None),
        ({"input_mtok": Decimal(0), "output_mtok": Decimal(0)}, None),
        ({}, None),
    ],
)
def test_half_a_price_and_one_of_nothing_are_none(listed: dict[str, Any], price: Price | None) -> None:
    assert price_in(listed) == price


def test_the_newest_day_is_never_in_the_future() -> None:
    assert newest_day([date(2026, 3, 1), date(2026, 10, 1), date(2027, 1, 1), date.min], TODAY) == date(
        2026, 10, 1
    )
    assert newest_day([date(2027, 1, 1)], TODAY) is None


def test_without_the_list_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(price_proposals, "find_spec", lambda name: None)

    with pytest.raises(Refused, match=r"extra `prices`.*\[prices\]"):
        proposed_price("openai", "gpt-5-mini", TODAY)


@pytest.mark.parametrize(
    ("text", "meant"),
    [("openai", ("openai", "gpt-5-mini")), ("openrouter:qwen/qwen3-8b", ("openrouter", "qwen/qwen3-8b"))],
)
def test_a_hosted_model_is_named_by_its_server(text: str, meant: tuple[str, str]) -> None:
    assert hosted_model(text) == meant


@pytest.mark.parametrize("text", ["ollama:gemma3:4b", "http://127.0.0.1:9/v1#x", "openrouter", "offline"])
def test_what_is_no_hosted_model_is_refused(text: str) -> None:
    with pytest.raises(Refused, match=r"Write \S+:MODEL"):
        hosted_model(text)


def a_file(**profiles: dict[str, Any]) -> ModelsFile:
    usual = {"backend": "openai", "context_tokens": 4_096}
    return ModelsFile.model_validate({"profiles": {name: usual | more for name, more in profiles.items()}})


@pytest.mark.parametrize(
    ("file", "where", "first"),
    [
        (None, "into a new file models.yaml", "profiles:"),
        (a_file(fast={"model": "other"}), "into models.yaml, under profiles", '  "gpt-5-mini":'),
        (a_file(tiny={"model": "other"}), "into models.yaml, under profiles", "  fast:"),
        (
            a_file(strong={"model": "gpt-5-mini"}),
            "into models.yaml, in the profile strong, with the same indent as its model",
            "    price: {input: 0.25, output: 2, cache_read: 0.025}  # a list",
        ),
        (
            a_file(strong={"model": "gpt-5-mini", "price": {"input": 1, "output": 1}}),
            "into models.yaml, in the profile strong, in place of the price there",
            "    price: {input: 0.25, output: 2, cache_read: 0.025}  # a list",
        ),
        (
            a_file(fast={"model": "gpt-5-mini", "backend": "openrouter"}),
            "into models.yaml, under profiles",
            '  "gpt-5-mini":',
        ),
    ],
)
def test_the_lines_fit_what_stands_in_the_file(file: ModelsFile | None, where: str, first: str) -> None:
    server: ServerName = "openai"

    written = price_lines(file, "models.yaml", server, "gpt-5-mini", PRICE, "a list")

    assert (written.where, written.lines[0]) == (where, first)
