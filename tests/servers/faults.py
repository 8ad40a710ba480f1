"""What can go wrong between a client and a server, one request at a time: statuses, silence, broken answers.

A fault gets the answer as it would have been sent, and the connection. `generates` says whether the model has worked for it:
then the server has tokens that it could not report.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from tests.servers.wire import Connection, Reply, json_reply

flood_bytes = 48 * 1024 * 1024

Break = Callable[[Connection, Reply], Awaitable[None]]


@dataclass(frozen=True)
class Fault:
    """One way to fail."""

    name: str
    send: Break
    generates: bool = True


def status(code: int, *, retry_after: str | None = None, message: str = "") -> Fault:
    """An HTTP error before the model has done anything."""

    async def send(connection: Connection, reply: Reply) -> None:
        headers = {} if retry_after is None else {"Retry-After": retry_after}
        error = {"message": message or f"The server says {code}.", "type": "error", "code": code}
        await connection.send(json_reply(code, {"error": error}, headers))

    return Fault(f"status {code}", send, generates=False)


def flood(piece: bytes) -> Fault:
    """A huge answer: the same piece again and again, until the client leaves."""

    async def send(connection: Connection, reply: Reply) -> None:
        length = {"Content-Length": str(flood_bytes)}
        with contextlib.suppress(ConnectionError):
            await connection.write(replace(reply, headers=length, is_streamed=False).head)
            for _ in range(flood_bytes // len(piece)):
                await connection.write(piece)

    return Fault("flood", send)


def drip(seconds_between_bytes: float = 0.0, bytes_at_most: int | None = None) -> Fault:
    """The answer a byte at a time; with a bound, only so many bytes of its body, and then silence."""

    async def send(connection: Connection, reply: Reply) -> None:
        await connection.write(reply.head)
        for byte in reply.body[:bytes_at_most]:
            await connection.write(bytes([byte]))
            await asyncio.sleep(seconds_between_bytes)
        if bytes_at_most is not None:
            await connection.wait_for_the_client_to_leave()

    return Fault("drip", send)


async def _hang(connection: Connection, reply: Reply) -> None:
    await connection.wait_for_the_client_to_leave()


async def _cut_json(connection: Connection, reply: Reply) -> None:
    text = b"".join(reply.pieces)
    await connection.send(replace(reply, pieces=[text[: len(text) // 2]]))


async def _html(connection: Connection, reply: Reply) -> None:
    page = b"<html><body>Welcome to nginx!</body></html>"
    await connection.send(Reply(200, [page], "text/html"))


async def _disconnect(connection: Connection, reply: Reply) -> None:
    connection.close()


async def _disconnect_after_the_head(connection: Connection, reply: Reply) -> None:
    await connection.write(reply.head)
    connection.close()


async def _disconnect_in_the_body(connection: Connection, reply: Reply) -> None:
    await connection.write(reply.head + reply.body[: len(reply.body) // 2])
    connection.close()


async def _garbage(connection: Connection, reply: Reply) -> None:
    await connection.write(b"\x16\x03\x01\x02\x00\x01\x00 this is no HTTP\r\n\r\n")
    connection.close()


async def _wrong_length(connection: Connection, reply: Reply) -> None:
    # Too short a length: the rest of the answer stands where the next answer should begin.
    text = b"".join(reply.pieces)
    whole = replace(reply, is_streamed=False, headers={"Content-Length": str(len(text) // 2)})
    await connection.write(whole.head + text)


hang = Fault("hang", _hang)
cut_json = Fault("cut JSON", _cut_json)
html = Fault("HTML", _html, generates=False)
disconnect = Fault("disconnect", _disconnect)
disconnect_after_the_head = Fault("disconnect after the head", _disconnect_after_the_head)
disconnect_in_the_body = Fault("disconnect in the body", _disconnect_in_the_body)
garbage = Fault("garbage", _garbage)
wrong_length = Fault("wrong length", _wrong_length)

BROKEN_ANSWERS = [
    cut_json,
    html,
    disconnect,
    disconnect_after_the_head,
    disconnect_in_the_body,
    garbage,
    wrong_length,
]
"""Every fault that ends by itself and is no status."""
