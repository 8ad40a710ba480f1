"""`Connections`: the tool servers of a terrarium, each connected when it is first needed.

Theory of operation. All creatures share one connection to a server. When it ends otherwise than by `close`, the server is
started or asked again only after a pause, which doubles with each failure in a row and is forgotten once a call is answered.
During the pause calls fail at once. Nothing is tried in the background: whoever needs the server next opens it.

Always holds: a call is made at most once. What happens to it is told in words, never raised: an answer, or why there is
none and whether the tool may have done its work. A tool is called only if its server still describes it as it did when
it was granted.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from importlib.util import find_spec
from math import ceil
from typing import Final

from glasshouse.errors import BadEvent, Refused, UnknownName
from glasshouse.events import kinds
from glasshouse.events.codec import canonical_json, json_copy
from glasshouse.events.described_tool import SERVER_SEPARATOR
from glasshouse.events.event import Json
from glasshouse.installation import missing_extra
from glasshouse.reprs import shown
from glasshouse.runtime.ports import Clock
from glasshouse.tools.mcp.connection import PARSE_ERROR, Connection, Form, said_chars_max
from glasshouse.tools.mcp.described import Described
from glasshouse.tools.mcp.hiding import hid
from glasshouse.tools.mcp.http import status_in_words
from glasshouse.tools.mcp.results import answer_from
from glasshouse.tools.mcp.tool_server import ToolServer
from glasshouse.turns.moment.line_text import cut, one_line
from glasshouse.turns.moment.tools import ToolAnswer

pause_seconds_first: Final = 1.0
pause_seconds_max: Final = 60.0
"""The pause before a server that failed is tried again. It doubles with each failure in a row up to this."""

UNKNOWN: Final = "Whether it took effect is not known."

OnDescribed = Callable[[str, Described], None]


class Connections:
    """All tool servers of a terrarium."""

    def __init__(self, servers: Iterable[ToolServer], value_of: Callable[[str], str], clock: Clock) -> None:
        """`value_of` gives the value of an environment variable, empty if it is not set."""
        self._states = {server.name: _State(server) for server in servers}
        self._value_of = value_of
        self._clock = clock
        self._listeners: list[OnDescribed] = []

    def __repr__(self) -> str:
        return shown(self, servers=tuple(self._states))

    def on_described(self, listener: OnDescribed) -> None:
        """Have `listener` called with a server's name and its tools, each time that the server has said what they are:
        when it is connected, again after a failure, and when it tells of a change. It is called in no act, and must not
        wait."""
        self._listeners.append(listener)

    async def describe(self, server: str) -> Described:
        """What a server says of its tools now. Raises `Refused` if it cannot be asked."""
        return (await self._connected(server)).tools

    async def call(self, tool: str, arguments: Json, digest: str) -> ToolAnswer:
        """Call a tool, if its definition still has this digest. Raises only `CancelledError`."""
        name, _, own_name = tool.partition(SERVER_SEPARATOR)
        try:
            connection = await self._connected(name)
            given = _checked(arguments)
            now = connection.tools.get(tool)
            if now is None:
                raise Refused(f"{name} has no such tool any more.")
            if isinstance(now, Refused):
                raise now
            if now.digest != digest:
                raise Refused(f"{name} describes it in another way than when it was granted.")
        except Refused as wrong:
            return _failure(f"{tool} was not called. {wrong}")
        return await self._answer(connection, tool, own_name, given)

    async def close(self) -> None:
        """End all connections, and all processes that were started for them."""
        loop = asyncio.get_running_loop()
        open_now = [state.connection for state in self._states.values() if state.connection is not None]
        for state in self._states.values():
            state.connection = None
        await asyncio.gather(*[each.close() for each in open_now if each.task.get_loop() is loop])

    async def _connected(self, name: str) -> Connection:
        if name not in self._states:
            raise UnknownName(noun="tool server", name=name, known=self._states)
        if find_spec("mcp") is None:
            reason = f"The tools of {name} need the extra `mcp`, which is not installed."
            raise missing_extra(reason, "mcp")
        state = self._states[name]
        connection = state.connection
        is_elsewhere = connection is not None and connection.task.get_loop() is not asyncio.get_running_loop()
        if connection is None or connection.has_ended or is_elsewhere:
            state.check_pause(self._clock.now())
            connection = state.connection = self._begun(state)
        await asyncio.shield(connection.opened)
        await connection.wait_until_fresh()
        if connection.has_ended:
            raise Refused(f"The tool server {name} has just ended.")
        return connection

    def _begun(self, state: _State) -> Connection:
        def tell(tools: Described) -> None:
            for listener in self._listeners:
                listener(state.server.name, tools)

        def pause() -> None:
            state.form = connection.form if connection.opened.done() else "auto"
            state.failures += 1
            seconds = min(pause_seconds_first * 2 ** (state.failures - 1), pause_seconds_max)
            state.not_before = self._clock.now() + timedelta(seconds=seconds)

        connection = Connection(state.server, self._value_of, state.form, tell, pause)
        return connection

    async def _answer(self, connection: Connection, tool: str, own_name: str, arguments: Json) -> ToolAnswer:
        from mcp import MCPError
        from mcp.types import CONNECTION_CLOSED, CallToolRequest, CallToolRequestParams, CallToolResult

        request = CallToolRequest(params=CallToolRequestParams(name=own_name, arguments=arguments))
        server = connection.server
        seen = list[int]()
        try:
            result = await connection.ask(request, CallToolResult, server.seconds_max, seen)
        except TimeoutError:
            connection.probe()
            return _failure(f"{tool} did not answer within {server.seconds_max:g} seconds. {UNKNOWN}")
        except MCPError as wrong:
            if wrong.code == CONNECTION_CLOSED:
                connection.end()
                return _failure(f"The server of {tool} ended during the call. {UNKNOWN}")
            if seen == [404]:  # The server has forgotten the connection, and wants a new one.
                connection.end()
            else:
                self._states[server.name].failures = 0
            words = str(hid(wrong.message, connection.hidden))
            if seen:
                after = UNKNOWN if seen[0] >= 500 else words
                return _failure(f"{tool} failed with {status_in_words(seen[0])}. {after}")
            if wrong.code == PARSE_ERROR:
                return _failure(f"{tool} gave an answer that cannot be read. {UNKNOWN}")
            return _failure(f"{tool} failed: {words}")
        except (ValueError, RuntimeError):
            return _failure(f"{tool} gave an answer that cannot be read. {UNKNOWN}")
        self._states[server.name].failures = 0
        return answer_from(result, connection.hidden)


class _State:
    """A declared server, and how it has fared."""

    def __init__(self, server: ToolServer) -> None:
        self.server = server
        self.connection: Connection | None = None
        self.form: Form = "auto"
        self.failures = 0
        self.not_before: datetime | None = None

    def check_pause(self, now: datetime) -> None:
        if self.not_before is not None and now < self.not_before:
            seconds = ceil((self.not_before - now).total_seconds())
            raise Refused(f"The tool server {self.server.name} failed, and is tried again in {seconds} s.")


def _checked(arguments: Json) -> Json:
    try:
        given = json_copy(kinds.TOOL_CALLED, arguments)
        canonical_json(given)
    except (BadEvent, OverflowError, TypeError, ValueError, RecursionError):
        raise Refused("Its arguments are not data.") from None
    return given


def _failure(text: str) -> ToolAnswer:
    return ToolAnswer(is_ok=False, text=cut(one_line(text), said_chars_max))
