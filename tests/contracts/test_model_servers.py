"""What goes wrong between a backend and its server: statuses, silence, broken answers, proxies, redirects, names."""

import asyncio
import logging
import socket
from codecs import BOM_UTF8
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, get_args

import pytest

from glasshouse.errors import GlasshouseError, ModelFailed, ModelMisconfigured, ModelUnreachable
from glasshouse.models import ollama, openai_lists
from glasshouse.models.ollama import OllamaModel
from glasshouse.models.openai_compatible import OpenAICompatible
from glasshouse.models.server import without_mark
from glasshouse.turns.moment.prompt import Completion, Prompt, completion_chars_max
from tests.servers import faults
from tests.servers.certificates import Authority
from tests.servers.faults import Fault
from tests.servers.imitating_server import ImitatingServer, imitating_server
from tests.servers.imitations import Personality
from tests.servers.wire import Connection, Reply

PROMPT = Prompt("You are the keeper of the pond.", "What do you say?", None, 7, 200)


def model_of(imitated: ImitatingServer, **more: Any) -> OpenAICompatible | OllamaModel:
    if imitated.imitation.root:
        return OpenAICompatible(imitated.model, imitated.url, **more)
    return OllamaModel(imitated.model, imitated.url, **more)


async def outcome_of(model: OpenAICompatible | OllamaModel, *, streamed: bool = False) -> Any:
    try:
        return await model.complete(PROMPT, on_text=(lambda text: None) if streamed else None)
    except GlasshouseError as wrong:
        return wrong
    finally:
        await model.close()


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("personality", get_args(Personality))
async def test_a_byte_order_mark_before_json_changes_nothing(personality: Any, streamed: bool) -> None:
    texts, lists = [], []
    for mark in (b"", BOM_UTF8):
        with imitating_server(personality, say=lambda prompt: "The pond is calm.") as server:
            server.begin_bodies_with(mark)
            outcome = await outcome_of(model_of(server), streamed=streamed)
            listing = openai_lists.installed_at if server.imitation.root else ollama.installed_at
            lists.append(await listing(server.url))
            texts.append(getattr(outcome, "text", outcome))

    assert (texts[1], lists[1]) == (texts[0], lists[0])
    assert "The pond is calm." in texts[1]
    assert lists[1]


@pytest.mark.parametrize("personality", ["vllm", "ollama"])
async def test_an_error_behind_a_byte_order_mark_is_read(personality: Any) -> None:
    with imitating_server(personality, faults.status(400, message="The pond is closed.")) as server:
        server.begin_bodies_with(BOM_UTF8)

        assert "The pond is closed." in str(await outcome_of(model_of(server)))


@pytest.mark.parametrize("personality", ["vllm", "ollama"])
@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, ModelMisconfigured),
        (401, ModelMisconfigured),
        (402, ModelMisconfigured),
        (403, ModelMisconfigured),
        (404, ModelMisconfigured),
        (408, ModelUnreachable),
        (429, ModelUnreachable),
        (500, ModelFailed),
        (502, ModelFailed),
        (503, ModelUnreachable),
    ],
)
async def test_each_status_has_its_error(personality: Any, status: int, error: type[Exception]) -> None:
    with imitating_server(personality, faults.status(status)) as server:
        wrong = await outcome_of(model_of(server))

        assert (type(wrong), wrong.model) == (error, server.model)
        assert len(server.calls) == 1, "a backend makes one request"


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("3", 3.0),
        ("0.5", 0.5),
        ("86400", 60.0),
        ("soon", 2.0),
        (None, 2.0),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0),
    ],
)
async def test_a_busy_server_says_when_to_come_back(header: str | None, seconds: float) -> None:
    with imitating_server("vllm", faults.status(429, retry_after=header)) as server:
        busy = await outcome_of(model_of(server))

    assert busy.retry_after == seconds


async def test_an_account_without_credit_is_not_waited_for() -> None:
    with imitating_server(
        "openai", faults.status(429, message="insufficient_quota: check your plan")
    ) as server:
        wrong = await outcome_of(model_of(server))

    assert isinstance(wrong, ModelMisconfigured)
    assert "credit" in str(wrong)


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("personality", ["vllm", "ollama"])
@pytest.mark.parametrize("fault", faults.BROKEN_ANSWERS, ids=lambda fault: fault.name)
async def test_a_broken_answer_is_a_failed_call(personality: Any, fault: Fault, streamed: bool) -> None:
    with imitating_server(personality, fault) as server:
        wrong = await outcome_of(model_of(server), streamed=streamed)

        assert type(wrong) is ModelFailed
        assert len(server.calls) == 1
        assert server.root_url in str(wrong)


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("fault", [faults.hang, faults.drip(bytes_at_most=40)], ids=lambda fault: fault.name)
async def test_a_server_that_falls_silent_is_waited_for_no_longer_than_the_limit(
    fault: Fault, streamed: bool
) -> None:
    with imitating_server("openai", fault) as server:
        wrong = await outcome_of(model_of(server, server="openai", call_seconds_max=0.3), streamed=streamed)

    assert type(wrong) is ModelFailed
    assert "within 0.3 seconds" in str(wrong)


@pytest.mark.parametrize("streamed", [False, True])
async def test_a_call_that_is_given_up_leaves_the_server(streamed: bool) -> None:
    has_come, has_left = asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    async def wait_for_the_client_to_leave(connection: Connection, reply: Reply) -> None:
        loop.call_soon_threadsafe(has_come.set)
        await connection.wait_for_the_client_to_leave()
        loop.call_soon_threadsafe(has_left.set)

    with imitating_server("vllm", Fault("waits", wait_for_the_client_to_leave)) as server:
        model = model_of(server)
        call = asyncio.create_task(model.complete(PROMPT, on_text=(lambda text: None) if streamed else None))
        await has_come.wait()
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)

        await has_left.wait()
        server.always.clear()
        assert isinstance(await outcome_of(model), Completion), "the model can be asked again"


async def test_an_answer_that_comes_byte_by_byte_is_read() -> None:
    with imitating_server("vllm", faults.drip()) as server:
        reply = await outcome_of(model_of(server), streamed=True)

    assert isinstance(reply, Completion)


@pytest.mark.parametrize("personality", ["vllm", "ollama"])
@pytest.mark.parametrize(
    ("piece", "streamed"), [(b" " * 65_536, False), (b" " * 65_536, True), (b"\n" * 65_536, True)]
)
async def test_an_answer_without_an_end_is_read_no_further_than_its_bound(
    personality: Any, piece: bytes, streamed: bool
) -> None:
    with imitating_server(personality, faults.flood(piece)) as server:
        wrong = await outcome_of(model_of(server), streamed=streamed)

    assert type(wrong) is ModelFailed
    assert "sent more than" in str(wrong)


async def test_a_huge_reply_is_cut() -> None:
    with imitating_server("vllm", "huge") as server:
        reply = await outcome_of(model_of(server))

    assert (len(reply.text), reply.finish) == (completion_chars_max, "length")


async def test_invalid_text_that_a_server_reports_as_500_is_a_failed_call() -> None:
    with imitating_server("llamacpp", "invalid UTF-8") as server:
        wrong = await outcome_of(model_of(server))

    assert type(wrong) is ModelFailed


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("personality", ["vllm", "ollama"])
async def test_calls_one_after_the_other_use_one_connection(personality: Any, streamed: bool) -> None:
    connections: list[Connection] = []

    async def send(connection: Connection, reply: Reply) -> None:
        connections.append(connection)
        await connection.send(reply)

    with imitating_server(personality, Fault("counts", send)) as server:
        model = model_of(server)
        for _ in range(3):
            await model.complete(PROMPT, on_text=(lambda text: None) if streamed else None)
        await model.close()

    assert (len(connections), len(set(connections))) == (3, 1)


async def test_a_connection_that_llama_cpp_closes_after_a_stream_is_not_used_again() -> None:
    connections: list[Connection] = []

    async def send_once(connection: Connection, reply: Reply) -> None:
        if connection in connections:
            connection.close()  # What the real one does, though a little earlier or later.
            return
        connections.append(connection)
        await connection.send(reply)

    with imitating_server("llamacpp", Fault("closes", send_once)) as server:
        model = model_of(server, server="llama.cpp")
        replies = [await model.complete(PROMPT) for _ in range(3)]
        await model.close()

    assert (len(replies), len(connections)) == (3, 3)


async def test_a_stream_that_is_left_open_after_its_last_part_is_whole() -> None:
    async def leave_open(connection: Connection, reply: Reply) -> None:
        await connection.write(reply.head + b"".join(map(reply.on_the_wire, reply.pieces)))
        await connection.wait_for_the_client_to_leave()

    with imitating_server("vllm", Fault("left open", leave_open)) as server:
        assert isinstance(await outcome_of(model_of(server), streamed=True), Completion)


async def test_time_for_loading_ends_with_the_first_byte() -> None:
    with imitating_server("vllm", faults.drip(bytes_at_most=40)) as server:
        wrong = await outcome_of(model_of(server, call_seconds_max=0.3), streamed=True)

    assert type(wrong) is ModelFailed
    assert "within 0.3 seconds" in str(wrong)


@pytest.mark.parametrize("personality", ["openai", "ollama"])
async def test_no_log_contains_the_key(personality: Any, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with imitating_server(personality, key="sk-secret") as server:
        reply = await outcome_of(model_of(server, key="sk-secret"), streamed=True)
        refused = await outcome_of(model_of(server, key="sk-secret-too"))

    assert (type(reply), type(refused)) == (Completion, ModelMisconfigured)
    assert "HTTP" in caplog.text
    assert "sk-secret" not in caplog.text


async def test_a_server_that_is_not_there_was_not_reached() -> None:
    with imitating_server("vllm") as server:
        gone = server.url
    wrong = await outcome_of(OpenAICompatible("m", gone))

    assert type(wrong) is ModelUnreachable
    assert wrong.retry_after is None


async def test_a_redirect_is_refused_in_words_and_takes_no_key_along() -> None:
    with (
        imitating_server("vllm") as other,
        imitating_server("vllm", "redirects", redirects_to=other.root_url) as server,
    ):
        wrong = await outcome_of(model_of(server, key="secret"))

        assert isinstance(wrong, ModelMisconfigured)
        assert other.root_url in str(wrong)
        assert not other.requests


async def test_loopback_addresses_are_not_asked_through_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    with imitating_server("vllm") as proxy, imitating_server("vllm") as server:
        for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY", "https_proxy"):
            monkeypatch.setenv(name, proxy.root_url)
        reply = await outcome_of(model_of(server))

        assert isinstance(reply, Completion)
        assert not proxy.requests


async def test_other_addresses_are_asked_through_the_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    with imitating_server("vllm") as proxy:
        monkeypatch.setenv("http_proxy", proxy.root_url)
        await outcome_of(OpenAICompatible(proxy.model, "http://model-server.invalid:8000"))

        (request,) = proxy.requests
        assert request.is_for_a_proxy


def _has_ipv6() -> bool:
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError:
        return False
    return True


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
async def test_localhost_is_found_wherever_the_server_listens(host: str) -> None:
    if host == "::1" and not _has_ipv6():
        pytest.skip("this machine has no IPv6")
    with imitating_server("vllm", host=host) as server:
        port = server.root_url.rpartition(":")[2]
        by_address = await outcome_of(model_of(server))
        by_name = await outcome_of(OpenAICompatible(server.model, f"http://localhost:{port}"))

    assert isinstance(by_address, Completion)
    names_v6 = any(family == socket.AF_INET6 for family, *_ in socket.getaddrinfo("localhost", None))
    assert isinstance(by_name, Completion) or (host == "::1" and not names_v6)


@pytest.mark.parametrize("trusted", ["nobody", "the authority", "a file that is not there"])
async def test_certificates_of_an_organisation_come_from_ssl_cert_file(
    trusted: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    authority = Authority(tmp_path)
    if trusted != "nobody":
        file = authority.file if trusted == "the authority" else tmp_path / "gone.pem"
        monkeypatch.setenv("SSL_CERT_FILE", str(file))
    with imitating_server("vllm", authority=authority) as server:
        outcome = await outcome_of(model_of(server))

    if trusted == "the authority":
        assert isinstance(outcome, Completion)
    else:
        assert isinstance(outcome, ModelMisconfigured)
        assert "SSL_CERT_FILE" in str(outcome)


@pytest.mark.parametrize("pieces", [[BOM_UTF8 + b"{}"], [b"\xef", b"\xbb", b"\xbf{", b"}"], [b"{", b"}"]])
async def test_a_byte_order_mark_may_come_in_pieces(pieces: list[bytes]) -> None:
    async def sent() -> AsyncIterator[bytes]:
        for piece in pieces:
            yield piece

    assert b"".join([chunk async for chunk in without_mark(sent())]) == b"{}"
