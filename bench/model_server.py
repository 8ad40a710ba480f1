"""A model server for benchmarks, as a program: `python model_server.py SECONDS`. Prints its port, then answers every
request with a line of random letters after so many seconds."""

from __future__ import annotations

import asyncio
import json
import random
import sys
from itertools import count

numbers = count(1)
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def answer(number: int) -> bytes:
    """The whole answer to a request. No line is like another, or creatures would be asked again."""
    dice = random.Random(number)
    text = " ".join(["".join(dice.choices(LETTERS, k=6)) for _ in range(8)])
    said = {"kind": "agent.spoke", "thought": "The pond is rising.", "text": text, "mood": "calm"}
    body = json.dumps(
        {
            "id": f"chatcmpl-{number}",
            "object": "chat.completion",
            "created": 1_790_000_000,
            "model": "m",
            "system_fingerprint": "b1",
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": json.dumps(said)},
                    "finish_reason": "stop",
                }
            ],
            "usage": {
                "prompt_tokens": 900,
                "completion_tokens": 30,
                "total_tokens": 930,
                "prompt_tokens_details": {"cached_tokens": 800},
            },
        }
    ).encode()
    return (
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body
    )


NOTHING_HERE = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
"""To whoever asks what the server is."""


class Answers(asyncio.Protocol):
    """One connection."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._read = b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A client has come."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Answer each request that is whole."""
        self._read += data
        while (length := self._request_length()) is not None:
            is_call = self._read.startswith(b"POST")
            self._read = self._read[length:]
            assert self._transport is not None
            if is_call:
                answered = answer(next(numbers))
                asyncio.get_running_loop().call_later(self._seconds, self._transport.write, answered)
            else:
                self._transport.write(NOTHING_HERE)

    def _request_length(self) -> int | None:
        head, mark, _ = self._read.partition(b"\r\n\r\n")
        if not mark:
            return None
        body = head.lower().partition(b"content-length:")[2].split(b"\r\n")[0]
        length = len(head) + len(mark) + int(body or 0)
        return length if len(self._read) >= length else None


async def main(seconds: float) -> None:
    """Serve until the process ends."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Answers(seconds), "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(float(sys.argv[1])))
