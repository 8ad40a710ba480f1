"""A tool server in a process of its own: spoken to on stdin and stdout, one JSON message a line.

The SDK has such a transport. This one differs in what strangers can do (ADR 0091): a line is bounded, what is no message is
skipped and not logged, of stderr only the end is kept, and the environment is what it is given.

Always holds: the process and its children are gone when the transport is left, also if the house is killed: a guard, which
sees the house's end of a pipe close, then ends them. The process is in a session of its own, so a Ctrl-C for the house does
not reach it before the house has closed the connection.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

from glasshouse.tools.mcp.tool_server import ToolServer
from glasshouse.tools.mcp.traffic import Traffic, buffered_messages_max

if TYPE_CHECKING:
    from mcp.types import JSONRPCError

message_bytes_max: Final = 4_194_304
"""A longer message of a server ends its connection."""
last_words_bytes_max: Final = 2_048
"""What is kept of the end of stderr."""
leave_seconds_max: Final = 1.0
"""How long a process may take to end once its stdin is closed, and again after SIGTERM. Then it is killed."""
poll_seconds: Final = 0.01
hear_seconds_min: Final = 0.02
"""The least time between two looks at stderr, so that a flood of it does not keep the house busy."""
id_bytes_max: Final = 200
"""How far into a line that cannot be read the id of a request is looked for."""

_GUARD: Final = 'read -r _; sleep 2; kill -s TERM -- "-$1"; sleep 1; kill -s KILL -- "-$1"'
"""Waits until stdin ends, which is when the house is gone, and then ends a group of processes that has not ended itself."""
_ID: Final = re.compile(rb'^\s*\{[^{}]*"id"\s*:\s*(\d{1,9})[,}]')
"""The request that a line seems to answer which cannot be read."""


class ProcessNotes:
    """What is known of a process: whether it speaks no more, and what it said last that is no message."""

    def __init__(self) -> None:
        self.has_ended = False
        self.last_words = b""

    def add(self, words: bytes) -> None:
        """Keep the end of it."""
        self.last_words = (self.last_words + words)[-last_words_bytes_max:]


@asynccontextmanager
async def process_streams(
    server: ToolServer,
    environment: Mapping[str, str],
    traffic: Traffic,
    notes: ProcessNotes,
    on_end: Callable[[], None],
) -> AsyncIterator[tuple[Any, Any]]:
    """The messages from a new process and to it, as streams of the SDK."""
    import anyio

    process = await asyncio.create_subprocess_exec(
        *server.command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        cwd=server.folder,
        start_new_session=True,
        limit=message_bytes_max,
    )
    tasks: list[asyncio.Task[None]] = []
    guard: subprocess.Popen[bytes] | None = None
    to_house, incoming = anyio.create_memory_object_stream[Any](buffered_messages_max)
    outgoing, from_house = anyio.create_memory_object_stream[Any](0)
    try:
        guard = _guard_of(process)
        tasks = [
            asyncio.create_task(_read(process, to_house, traffic, notes, on_end)),
            asyncio.create_task(_write(process, from_house, to_house)),
            asyncio.create_task(_hear(process, notes)),
        ]
        yield incoming, outgoing
    finally:
        try:
            await _stop(process)
        finally:
            _kill(process, signal.SIGKILL)  # Also children that outlive the process itself.
            if guard is not None:
                guard.kill()
                guard.communicate()
            for task in tasks:
                task.cancel()
            for stream in (to_house, incoming, outgoing, from_house):
                stream.close()
            # A child that left the group may still hold a pipe. Only the transport closes our end of it, and asyncio
            # gives no public name to it.
            process._transport.close()  # type: ignore[attr-defined]


async def _read(
    process: Any, to_house: Any, traffic: Traffic, notes: ProcessNotes, on_end: Callable[[], None]
) -> None:
    import anyio
    from mcp.shared.message import SessionMessage
    from mcp.types import JSONRPCMessage, jsonrpc_message_adapter

    try:
        while not traffic.is_flood and (line := await process.stdout.readline()):
            message: JSONRPCMessage | None
            try:
                message = jsonrpc_message_adapter.validate_json(line, by_name=False)
            except ValueError:
                message = _failed_answer(line)
                if message is None:
                    notes.add(line)
            if traffic.is_needed(message) and message is not None:
                await to_house.send(SessionMessage(message))
    except (ValueError, OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        pass  # A line that is too long, a broken pipe, or nobody who reads on: there is no more to say.
    finally:
        to_house.close()
    notes.has_ended = True
    on_end()


def _failed_answer(line: bytes) -> JSONRPCError | None:
    """An error in place of an answer that cannot be read, for whoever waits for it."""
    from mcp.types import PARSE_ERROR, ErrorData, JSONRPCError

    number = _ID.search(line, 0, id_bytes_max)
    if number is None:
        return None
    error = ErrorData(code=PARSE_ERROR, message="not a message of the protocol")
    return JSONRPCError(jsonrpc="2.0", id=int(number[1]), error=error)


async def _write(process: Any, from_house: Any, to_house: Any) -> None:
    try:
        async for message in from_house:
            line = message.message.model_dump_json(by_alias=True, exclude_unset=True)
            process.stdin.write(line.encode() + b"\n")
            await process.stdin.drain()
    except (ValueError, OSError):
        to_house.close()  # Then whoever waits for an answer learns that none will come.


async def _hear(process: Any, notes: ProcessNotes) -> None:
    while said := await process.stderr.read(65_536):
        notes.add(said)
        await asyncio.sleep(hear_seconds_min)


def _guard_of(process: Any) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603 (a fixed script; of others' words it gets none, only a number)
        ["/bin/sh", "-c", _GUARD, "guard", str(process.pid)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={"PATH": os.defpath},
        start_new_session=True,
    )


async def _stop(process: Any) -> None:
    process.stdin.close()
    if not await _has_left(process):
        _kill(process, signal.SIGTERM)
        if not await _has_left(process):
            _kill(process, signal.SIGKILL)
            await _has_left(process)


async def _has_left(process: Any) -> bool:
    """Whether it ended in time. `process.wait` also waits for its pipes, which a child may hold."""
    for _ in range(int(leave_seconds_max / poll_seconds)):
        if process.returncode is not None:
            return True
        await asyncio.sleep(poll_seconds)
    return False


def _kill(process: Any, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)
