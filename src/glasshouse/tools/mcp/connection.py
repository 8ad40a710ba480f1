"""One connection to a tool server, from its opening to its end.

Theory of operation. The SDK's contexts must be entered and left in one task, so a connection has a task of its own: it
opens the transport, negotiates the protocol's version, lists the tools, and then waits for changes until the connection
ends. Calls come from any task. Each is a task too, so that it can be given up without disturbing the connection.

Always holds: a connection and its calls run in a context of their own, not in that of the act which happened to need them
first: they belong to no act, what the SDK logs about them (messages of strangers, arguments) is dropped, and no span quotes
a stranger. Whatever the server does, opening, listing and calling end within their bounds of time.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, nullcontext, suppress
from contextvars import Context, ContextVar
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Literal

from opentelemetry import trace
from opentelemetry.context import attach

from glasshouse.errors import Refused
from glasshouse.events.event import Json
from glasshouse.installation import installed_version
from glasshouse.tools.mcp.described import Described, described
from glasshouse.tools.mcp.hiding import hid
from glasshouse.tools.mcp.http import checked_header, http_client, status_in_words, statuses
from glasshouse.tools.mcp.process import ProcessNotes, message_bytes_max, process_streams
from glasshouse.tools.mcp.tool_server import ToolServer
from glasshouse.tools.mcp.traffic import Traffic, counted
from glasshouse.turns.moment.line_text import cut, safe_line

if TYPE_CHECKING:
    from mcp import Client

open_seconds_max: Final = 60.0
"""How long a server may take until its tools are listed. It includes ten seconds in which the SDK waits for servers that do
not answer its first question, as old ones may."""
list_seconds_max: Final = 10.0
"""A list of tools that takes longer has failed, and the server is disconnected."""
probe_seconds_max: Final = 5.0
"""A server that did not answer a call in time is asked for its tools. If it does not answer that either, it is ended."""
relist_seconds_min: Final = 1.0
"""The first pause before tools that changed once more are listed again; it doubles, unless somebody wants
to use them."""
relist_seconds_max: Final = 60.0
"""The time between two lists of tools that change and are not used. It begins with a second and doubles."""
relisten_seconds: Final = 30.0
close_seconds_max: Final = 5.0
"""A connection that does not end in this time is broken off."""
server_tools_max: Final = 512
"""A server with more is refused."""
tool_pages_max: Final = 64
"""A server that lists its tools in more is refused."""
said_chars_max: Final = 300
"""What a message quotes of a server."""
hidden_chars_min: Final = 6
"""A shorter value of a variable is no key, and is not looked for in what a server says."""

VARIABLES: Final = ("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "TZ", "USER", "LOGNAME")
"""The environment variables that every command gets."""
_LOGGERS: Final = frozenset({"mcp", "client", "httpx2", "httpcore2"})

Form = Literal["auto", "legacy", "sse"]
"""How a server is spoken to: as it prefers; by the protocol as it was before 2026; by the HTTP transport of 2024."""
_HAS_NO_POST: Final = frozenset({400, 404, 405})
"""Statuses by which a server that knows only the transport of 2024 answers to the newer one."""

PARSE_ERROR: Final = -32700
"""The SDK's error for an answer that cannot be read, which is that of JSON-RPC."""

_is_quiet: ContextVar[bool] = ContextVar("logs of the SDK are dropped here", default=False)


def _is_logged(_record: logging.LogRecord) -> bool:
    # A function of the module, because a logger takes the same filter only once.
    return not _is_quiet.get()


class Connection:
    """A connection that is being opened, is open, or has ended."""

    def __init__(
        self,
        server: ToolServer,
        value_of: Callable[[str], str],
        form: Form,
        on_described: Callable[[Described], None],
        on_end: Callable[[], None],
    ) -> None:
        """`on_end` is called once, when the connection fails."""
        self.server = server
        self.form: Form = form
        self.tools: Described = {}
        self.has_ended = False
        """Whether nothing can be asked any more. Its process may still be ending."""
        self._on_described = on_described
        self._on_end = on_end
        self._notes = ProcessNotes()
        self._traffic = Traffic()
        self._news = asyncio.Event()
        """Set when the tools may have changed, or the connection has ended."""
        self._fresh = asyncio.Event()
        """Set while `tools` is what the server says now."""
        self._wanted = asyncio.Event()
        """Set when somebody waits for that."""
        self._statuses: list[int] = []
        self._tasks: set[asyncio.Task[Any]] = set()
        self._keys = {header: value_of(variable) for header, variable in server.headers.items()}
        names = (*VARIABLES, *server.variables) if server.command else ()
        self._environment = {name: value for name in names if (value := value_of(name))}
        given = [*self._keys.values(), *[self._environment.get(name, "") for name in server.variables]]
        # Of "Bearer key" a server may quote the key alone.
        parts = [part for value in given for part in (value, value.rpartition(" ")[2])]
        self.hidden = [part for part in parts if len(part) >= hidden_chars_min]
        self.opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.task = self._begun(self._serve())
        self.task.add_done_callback(self._note_end)

    async def ask(self, request: Any, result_type: Any, seconds_max: float, seen: list[int]) -> Any:
        """The answer to a request. Raises what the SDK raises, and `TimeoutError`. `seen` gets the status of an answer over
        HTTP that is no success."""
        self._traffic.note_request()
        context = self._context()
        context.run(statuses.set, seen)
        asked = self._begun(self._session.send_request(request, result_type), context)
        try:
            done, _ = await asyncio.wait([asked], timeout=seconds_max)
        finally:
            asked.cancel()
        if not done:
            raise TimeoutError
        return asked.result()

    async def wait_until_fresh(self) -> None:
        """Wait until `tools` is what the server says now, or the connection has ended."""
        if not self._fresh.is_set():
            self._wanted.set()
            await self._fresh.wait()

    def probe(self) -> None:
        """End the connection if the server does not even say what its tools are."""

        def judge(probing: asyncio.Task[Any]) -> None:
            if probing.cancelled() or probing.exception() is not None:
                self.end()

        self._begun(self._listed(probe_seconds_max)).add_done_callback(judge)

    def end(self) -> None:
        """Begin to end the connection, which has failed."""
        if not self.has_ended:
            self._has_ended()
            self._on_end()

    async def close(self) -> None:
        """End the connection and wait until its process is gone."""
        self._has_ended()
        for _ in range(2):  # A server may hold up the cleaning. The second time nothing waits for it.
            self.task.cancel()
            await asyncio.wait([self.task], timeout=close_seconds_max)

    def _note_silence(self) -> None:
        """A server that falls silent while the connection is opened may yet be understood in another form."""
        if self.opened.done():
            self.end()

    def _has_ended(self) -> None:
        self.has_ended = True
        for event in (self._news, self._fresh, self._wanted):
            event.set()

    async def _serve(self) -> None:
        async with AsyncExitStack() as stack:
            async with asyncio.timeout(open_seconds_max):
                client = await self._client(stack)
                self._session = client.session
                await self._describe()
            self.opened.set_result(None)
            if self._notes.has_ended:
                self.end()
            if self.form == "auto":
                stack.callback(self._begun(self._listen(client)).cancel)
            await self._follow()

    async def _follow(self) -> None:
        """List the tools again when they may have changed, until the connection ends: ever more seldom, but for whoever
        wants to use them."""
        pause = relist_seconds_min
        while True:
            await self._news.wait()
            if self.has_ended:
                return
            await self._describe()
            self._wanted.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._wanted.wait(), pause)
            pause = min(2 * pause, relist_seconds_max)

    async def _client(self, stack: AsyncExitStack) -> Client:
        """A client that has agreed with the server on a version, in the form that the server understands."""
        # A second of work, in which others should get on.
        await asyncio.to_thread(import_module, "mcp.client.streamable_http")
        from mcp import Client, MCPError
        from mcp.types import Implementation

        while True:
            transport = self._transport()
            _silence()  # Only now: a transport imports what it needs, and a logger is there once its library is imported.
            client = Client(
                transport,
                mode="auto" if self.form == "auto" else "legacy",
                message_handler=self._hear,
                client_info=Implementation(name="glasshouse", version=installed_version()),
                cache=None,
            )
            try:
                await stack.enter_async_context(client)
            except (MCPError, ExceptionGroup):
                if not self._has_other_form():
                    raise
            else:
                if self.form == "auto" and client.session.initialize_result is not None:
                    self.form = "legacy"
                return client

    def _has_other_form(self) -> bool:
        """Whether a server that could not be spoken to may be of an older kind, which is then tried."""
        if self.server.command and self.form == "auto":  # Some old ones end when asked what they do not know.
            self.form = "legacy"
            self._notes = ProcessNotes()
            return True
        if self.server.url and self.form != "sse" and {*self._statuses} & _HAS_NO_POST:
            self.form = "sse"
            return True
        return False

    def _transport(self) -> AbstractAsyncContextManager[Any]:
        from mcp.client.sse import sse_client
        from mcp.client.streamable_http import streamable_http_client

        server = self.server
        if server.command:
            return process_streams(server, self._environment, self._traffic, self._notes, self._note_silence)
        keys = {header: checked_header(server, header, key) for header, key in self._keys.items()}
        http = http_client(server, keys)
        streams: AbstractAsyncContextManager[Any] = (
            sse_client(server.url, httpx_client_factory=lambda *_, **__: http)
            if self.form == "sse"
            else streamable_http_client(server.url, http_client=http, max_sse_event_size=message_bytes_max)
        )
        # The SSE transport opens and closes its client itself.
        return counted(
            nullcontext() if self.form == "sse" else http, streams, self._traffic, self._note_silence
        )

    async def _listed(self, seconds_max: float) -> list[Json]:
        """The definitions of all tools."""
        from mcp.types import PaginatedRequestParams

        definitions: list[Json] = []
        cursor: str | None = None
        async with asyncio.timeout(seconds_max):
            for _ in range(tool_pages_max):
                params = None if cursor is None else PaginatedRequestParams(cursor=cursor)
                self._traffic.note_request()
                page = await self._session.list_tools(params=params)
                definitions += [
                    tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in page.tools
                ]
                cursor = page.next_cursor
                if not cursor or len(definitions) > server_tools_max:
                    break
        if cursor or len(definitions) > server_tools_max:
            raise Refused(
                f"{self.server.name} lists more than {server_tools_max} tools, or too many pages of them."
            )
        return definitions

    async def _describe(self) -> None:
        self._news.clear()
        definitions = hid(await self._listed(list_seconds_max), self.hidden)
        self.tools = described(self.server.name, definitions)
        if not self._news.is_set():
            self._fresh.set()
        self._on_described(self.tools)

    async def _hear(self, message: Any) -> None:
        if getattr(message, "method", None) == "notifications/tools/list_changed":
            self._note_change()

    def _note_change(self) -> None:
        if not self.has_ended:
            self._fresh.clear()
            self._news.set()

    async def _listen(self, client: Client) -> None:
        """Ask a server of the newer protocol to tell of changes, again if it stops."""
        from mcp import MCPError
        from mcp.client.subscriptions import SubscriptionLost

        with suppress(MCPError):  # Not every server tells of changes.
            while True:
                with suppress(SubscriptionLost):
                    async with client.listen(tools_list_changed=True) as changes:
                        async for _ in changes:
                            self._note_change()
                await asyncio.sleep(relisten_seconds)
                self._note_change()

    def _note_end(self, task: asyncio.Task[None]) -> None:
        wrong = None if task.cancelled() else task.exception()
        (
            self._has_ended if task.cancelled() else self.end
        )()  # The end of a loop is no failure of the server.
        if not self.opened.done():
            self.opened.set_exception(self._why_not_opened(wrong))
            self.opened.exception()  # Nobody may be waiting any more.

    def _why_not_opened(self, wrong: BaseException | None) -> Refused:
        while isinstance(wrong, BaseExceptionGroup):
            wrong = wrong.exceptions[0]
        if isinstance(wrong, Refused):
            return wrong
        if isinstance(wrong, TimeoutError):
            reason = f"it did not answer within {open_seconds_max:g} seconds"
        elif self._statuses:
            reason = f"it answered with {status_in_words(self._statuses[-1])}"
        elif isinstance(wrong, ValueError) or getattr(wrong, "code", 0) == PARSE_ERROR:
            reason = "it answers in a way that the protocol does not allow"
        elif isinstance(wrong, OSError):
            reason = wrong.strerror or type(wrong).__name__
        else:
            reason = str(wrong or "the connection was closed").rstrip(".")
        said = self._notes.last_words.decode("utf-8", "replace").strip().splitlines()
        heard = f" The last it said: {said[-1]}" if said else ""
        words = f"The tool server {self.server.name} ({self.server.shown}) is not there: {reason}.{heard}"
        instead = (
            "Run its command by itself to see more." if self.server.command else "Start it, and try again."
        )
        return Refused(cut(safe_line(str(hid(words, self.hidden))), said_chars_max), instead)

    def _begun(self, work: Any, context: Context | None = None) -> asyncio.Task[Any]:
        # Its context is its own: it is no part of the act that may be played here. By hand, because a program's task factory need
        # not take a context.
        task = asyncio.Task(work, context=context or self._context())
        self._tasks.add(task)
        task.add_done_callback(self._forget)
        return task

    def _forget(self, task: asyncio.Task[Any]) -> None:
        """Nobody may wait for a task any more: asyncio would log what it raised, which may quote the server."""
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()

    def _context(self) -> Context:
        context = Context()
        context.run(_be_quiet)
        context.run(statuses.set, self._statuses)
        return context


def _be_quiet() -> None:
    """Drop what the SDK logs in this context, and give its spans a parent that is not recorded: they quote strangers."""
    _is_quiet.set(True)
    if not isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
        attach(trace.set_span_in_context(trace.NonRecordingSpan(trace.SpanContext(1, 1, is_remote=False))))


def _silence() -> None:
    """Have the loggers of the SDK drop what they log in a connection."""
    for name in [*logging.root.manager.loggerDict]:
        if name.partition(".")[0] in _LOGGERS:
            logging.getLogger(name).addFilter(_is_logged)
