"""`Server`: the HTTP server of a model. It sends one request and reads the answer within bounds.

Always holds: every event loop has a client of its own. The key is sent to this server only, because redirects are not
followed, and no message or repr contains it. Loopback addresses are never asked through a proxy. A request that did
not reach the server whole raises `ModelUnreachable`; one that was sent and not answered raises `ModelFailed`.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
import ssl
from codecs import BOM_UTF8
from collections.abc import AsyncIterable, AsyncIterator, Callable, Mapping
from contextlib import suppress
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

import msgspec

from glasshouse.errors import (
    GlasshouseError,
    ModelFailed,
    ModelMisconfigured,
    ModelUnreachable,
    Refused,
    in_brief,
)
from glasshouse.events.event import Json
from glasshouse.reprs import repr_of
from glasshouse.runtime.call_time import USUAL_BOUNDS, CallBounds, CallTime

if TYPE_CHECKING:
    import httpx2

body_bytes_max: Final = 8 * 1024 * 1024
"""An answer with a longer body is not read to its end."""
line_bytes_max: Final = 1024 * 1024
"""One line of a streamed answer is at most this long."""
error_body_bytes_max: Final = 64 * 1024
"""A longer error is not read."""
error_chars_max: Final = 300
"""A message quotes at most this much of what a server said."""
connect_seconds_max: Final = 10.0
"""A server that does not take a connection by then was not reached."""
list_seconds_max: Final = 15.0
"""A question about the server itself, such as which models it has, waits at most this long."""
load_seconds_max: Final = 300.0
"""A server that loads models inside a call gets this much more time until its first byte."""
end_seconds_max: Final = 1.0
"""How long the end of a stream is waited for after its last part."""
retry_seconds_max: Final = 60.0
"""A busy server is asked again after this time at the latest."""
retry_seconds_default: Final = 2.0
"""How long to wait for a busy server that does not say when to come back."""
idle_connections_max: Final = 64
"""More connections to one server are closed when they are idle."""
idle_seconds_max: Final = 3.0
"""An older connection is not used again: servers close theirs after 5 seconds, perhaps while a request is on its way."""

_BUSY: Final = frozenset({408, 425, 429, 503, 529})

TakePart = Callable[[Json], bool]
"""Gets each JSON object of an answer; true if the rest need not be read."""


class BadAnswer(Exception):
    """The server answered with an error: by its status, or inside an answer of status 200."""

    def __init__(self, status: int, words: str, *, name: str = "", retry_after: float | None = None) -> None:
        super().__init__(words)
        self.status = status
        self.words = words
        self.name = name
        """The code of the error and the parameter it is about, as far as the server names them."""
        self.retry_after = retry_after

    def says(self, *words: str) -> bool:
        """Whether the error contains one of these words."""
        text = f"{self.words} {self.name}".lower()
        return any(word in text for word in words)

    def names(self, parameter: str) -> bool:
        """Whether the error is about this parameter of the request."""
        text = f"{self.words} {self.name}"
        return re.search(rf"\b{re.escape(parameter)}\b", text, re.IGNORECASE) is not None


class Server:
    """The HTTP server at one address."""

    __repr__ = repr_of("address")

    def __init__(
        self,
        url: str,
        *,
        key: str = "",
        key_variable: str = "",
        bounds: CallBounds = USUAL_BOUNDS,
        load_seconds: float = 0.0,
    ) -> None:
        """`bounds` are those of requests for completions. `load_seconds` is the time that it may take to load a model before its first byte."""
        self.url, self.address, self.is_loopback = _address(url)
        self.key_variable = key_variable
        self.bounds = bounds
        self._load_seconds = load_seconds
        self._key = key
        self._headers = {"content-type": "application/json"}
        if key:
            self._headers["authorization"] = f"Bearer {key}"
        # Each client has one connection. A client with many looks at all of them for every request.
        self._idle: WeakKeyDictionary[asyncio.AbstractEventLoop, list[httpx2.AsyncClient]] = (
            WeakKeyDictionary()
        )
        self._certificates_read: ssl.SSLContext | None = None

    def call_time(self, *, is_streamed: bool) -> CallTime:
        """The time of a request for a completion. Whoever reads the answer tells it of progress."""
        return CallTime(self.bounds, is_streamed=is_streamed, load_seconds=self._load_seconds)

    async def ask(self, path: str, body: Json, take: TakePart, time: CallTime) -> None:
        """Send a request for a completion. `take` gets the answer, or each part of a streamed one."""
        try:
            await self._exchange("POST", path, msgspec.json.encode(body), take, time)
        except TimeoutError:
            raise ModelFailed(f"{self.address} {time.late}. {time.advice}") from None

    async def read(self, path: str, body: Json | None = None) -> Json:
        """The answer to a question about the server itself, or an empty object if it does not know the path."""
        answer: Json = {}

        def take(part: Json) -> bool:
            answer.update(part)
            return True

        method, content = ("GET", b"") if body is None else ("POST", msgspec.json.encode(body))
        time = CallTime(CallBounds(list_seconds_max), is_streamed=False)
        try:
            await self._exchange(method, path, content, take, time)
        except TimeoutError:
            raise self._failed(time.late) from None
        except BadAnswer as bad:
            is_unknown = bad.status in {404, 405, 501} or bad.says("unexpected endpoint")
            if not is_unknown:  # LM Studio says "unexpected endpoint" with status 200.
                raise
        return answer

    async def close_connections(self) -> None:
        """Close the connections of this event loop. Other loops close theirs."""
        for client in self._idle.pop(asyncio.get_running_loop(), ()):
            await client.aclose()

    def new_client(self) -> httpx2.AsyncClient:
        """A client that sends no key by itself, follows no redirect, and asks loopback addresses without a proxy."""
        import httpx2

        return httpx2.AsyncClient(
            headers={"accept-encoding": "identity"},
            # Reading is bounded by the time of the whole exchange.
            timeout=httpx2.Timeout(None, connect=connect_seconds_max),
            limits=httpx2.Limits(keepalive_expiry=idle_seconds_max),
            trust_env=not self.is_loopback,
            verify=self._certificates(),
            follow_redirects=False,
        )

    async def _exchange(self, method: str, path: str, content: bytes, take: TakePart, time: CallTime) -> None:
        """Send a request and have its answer taken. Raises `TimeoutError` if its time is over."""
        import httpx2

        loop = asyncio.get_running_loop()
        idle = self._idle.setdefault(loop, [])
        client = idle.pop() if idle else self.new_client()
        is_sent = False
        is_reusable = False
        request = client.build_request(
            method, f"{self.url}{path}", content=content or None, headers=self._headers
        )
        try:
            async with time:
                response = await client.send(request, stream=True)
                try:
                    is_sent = True
                    time.note_begun()
                    if response.status_code != 200:
                        raise await self._bad_status(response)
                    await self._read(response, take)
                    is_reusable = not _is_closed_unsaid(request, response)
                    if not is_reusable:
                        self._headers["connection"] = "close"  # So the next one is not left half open.
                finally:
                    await response.aclose()
        except httpx2.HTTPError as wrong:
            raise self._transport_error(wrong, is_sent=is_sent) from None
        finally:
            # A broken answer may have left something on the connection. And it may have been closed meanwhile.
            if is_reusable and len(idle) < idle_connections_max and self._idle.get(loop) is idle:
                idle.append(client)
            else:
                await client.aclose()

    async def _read(self, response: httpx2.Response, take: TakePart) -> None:
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind not in {"text/event-stream", "application/x-ndjson"}:
            take(self._decoded(await self._body(response, body_bytes_max)))
            return
        lines = self._lines(response)
        async for line in lines:
            start, _, value = line.partition(b":")
            if kind == "application/x-ndjson":
                value = line
            elif start == b"error":  # Older llama.cpp servers.
                value = b'{"error":%s}' % value
            elif start != b"data":
                continue
            value = value.strip()
            if value == b"[DONE]":
                break
            if value and take(self._decoded(value)):
                return
        # Only a connection whose answer was read to its end can be used again.
        with suppress(TimeoutError):
            async with asyncio.timeout(end_seconds_max):
                async for _ in lines:
                    pass

    async def _body(self, response: httpx2.Response, bytes_max: int) -> bytes:
        chunks = []
        size = 0
        async for chunk in without_mark(response.aiter_bytes()):
            size += len(chunk)
            if size > bytes_max:
                raise self._failed(f"sent more than {bytes_max:,} bytes")
            chunks.append(chunk)
        return chunks[0] if len(chunks) == 1 else b"".join(chunks)

    async def _lines(self, response: httpx2.Response) -> AsyncIterator[bytes]:
        rest = b""
        size = 0
        async for chunk in without_mark(response.aiter_bytes()):
            size += len(chunk)
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                yield line
            if size > body_bytes_max or len(rest) > line_bytes_max:
                raise self._failed(f"sent more than {min(size, body_bytes_max):,} bytes")
        if rest:
            yield rest

    def _decoded(self, content: bytes) -> Json:
        try:
            value = msgspec.json.decode(content)
        except (msgspec.DecodeError, RecursionError) as wrong:
            raise self._failed(f"sent something that is not JSON ({wrong})") from None
        if not isinstance(value, dict):
            raise self._failed("sent JSON of an unknown shape")
        if value.get("error"):
            raise bad_answer(value["error"], 500, self.clean)
        return value

    async def _bad_status(self, response: httpx2.Response) -> Exception:
        status = response.status_code
        if 300 <= status < 400:
            there = in_brief(str(response.headers.get("location", "")))
            return ModelMisconfigured(
                f"{self.address} redirects to {there}, and requests are not redirected, since a key would go there.",
                "Write the address that answers itself.",
            )
        try:
            body = await self._body(response, error_body_bytes_max)
            value = msgspec.json.decode(body)
        except (ModelFailed, msgspec.DecodeError, RecursionError):
            value = {}
        error = value.get("error", value) if isinstance(value, dict) else value
        return bad_answer(error, status, self.clean, _retry_after(response.headers))

    def _certificates(self) -> ssl.SSLContext:
        """Those that SSL_CERT_FILE or SSL_CERT_DIR name, else those of the system; on loopback addresses too."""
        import httpx2

        if self._certificates_read is not None:
            return self._certificates_read
        try:
            is_plain = self.url.startswith("http:")
            read = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if is_plain else httpx2.create_ssl_context()
        except OSError as wrong:
            raise ModelMisconfigured(
                f"The certificates that SSL_CERT_FILE or SSL_CERT_DIR names cannot be read ({wrong}).",
                "Correct the variable, or take it away.",
            ) from None
        self._certificates_read = read
        return read

    def _transport_error(self, wrong: httpx2.HTTPError, *, is_sent: bool) -> GlasshouseError:
        import httpx2

        words = self.clean(str(wrong)) or type(wrong).__name__
        if "CERTIFICATE_VERIFY_FAILED" in words:
            return ModelMisconfigured(
                f"The certificate of {self.address} is not trusted here.",
                "Set SSL_CERT_FILE to the file with the certificates of your organisation.",
            )
        match wrong:
            case (
                httpx2.ConnectError()
                | httpx2.ConnectTimeout()
                | httpx2.ProxyError()
                | httpx2.UnsupportedProtocol()
            ):
                return ModelUnreachable(f"{self.address} was not reached ({words}).")
            case httpx2.WriteError() | httpx2.WriteTimeout() | httpx2.PoolTimeout():
                return ModelUnreachable(f"{self.address} did not take the request ({words}).")
            case _:
                return self._failed(f"broke off its answer ({words})" if is_sent else f"hung up ({words})")

    def _failed(self, what: str) -> ModelFailed:
        return ModelFailed(f"{self.address} {what}.")

    def clean(self, words: str) -> str:
        """What a server said, on one short line and without the key."""
        if self._key:
            words = words.replace(self._key, "***")
        words = " ".join("".join(char if char.isprintable() else " " for char in words).split())
        return words if len(words) <= error_chars_max else f"{words[: error_chars_max - 3]}..."

    def error_of(self, bad: BadAnswer, model: str, instead: str = "") -> GlasshouseError:
        """The error to raise for a bad answer. `instead` is what to do about a model that the server does not have."""
        said = f": {bad.words}" if bad.words else "."
        reason = f"{self.address} refused the request for {model} (status {bad.status}){said}"
        is_out_of_credit = bad.says("insufficient_quota", "credit balance")
        if bad.status in _BUSY and not is_out_of_credit:
            wait = retry_seconds_default if bad.retry_after is None else bad.retry_after
            return ModelUnreachable(f"{self.address} is busy{said}", model, wait)
        if bad.status == 402 or is_out_of_credit:
            reason = f"{self.address} says that the account has no credit left for {model}."
            return ModelMisconfigured(reason, "Add credit, or bind another model.", model)
        if bad.status in {401, 403}:  # What it said may contain a part of the key.
            key = f"the key in {self.key_variable}" if self.key_variable else "its key"
            fault = f"does not accept {key}" if self._key else "wants a key, and none was given,"
            name = self.key_variable or "the environment variable that its binding names"
            reason = f"{self.address} {fault} for {model} (status {bad.status})."
            return ModelMisconfigured(reason, f"Put a valid key into {name}.", model)
        if 400 <= bad.status < 500:
            return ModelMisconfigured(reason, instead or "Correct its binding, or bind another model.", model)
        return ModelFailed(f"{self.address} failed with status {bad.status}{said}", model)


def _is_closed_unsaid(request: httpx2.Request, response: httpx2.Response) -> bool:
    """Whether the server closes the connection after this answer although nobody said so. llama.cpp does after each stream; a
    request that comes before the end of the connection does, would be lost and charged."""
    is_stream = "transfer-encoding" in response.headers
    is_said = request.headers.get("connection") == "close"
    return is_stream and not is_said and response.headers.get("server") == "llama.cpp"


async def without_mark(chunks: AsyncIterable[bytes]) -> AsyncIterator[bytes]:
    """The body of an answer without the byte order mark that some servers and proxies put before it."""
    start: bytes | None = b""
    async for chunk in chunks:
        if start is None:
            yield chunk
            continue
        start += chunk
        if not BOM_UTF8.startswith(start):  # It may come in pieces.
            yield start.removeprefix(BOM_UTF8)
            start = None
    if start and start != BOM_UTF8:
        yield start


def bad_answer(
    error: Any, status: int, clean: Callable[[str], str], retry_after: float | None = None
) -> BadAnswer:
    """The error that a server's answer contains, in any of the shapes that servers use."""
    if not isinstance(error, Mapping):
        return BadAnswer(status, clean(str(error or "")), retry_after=retry_after)
    code = error.get("code")
    if isinstance(code, int | str) and str(code).isdecimal() and 400 <= int(code) < 600:
        status = int(code) if status in {200, 500} else status
    words = error.get("message") or error.get("error") or error.get("detail") or ""
    metadata = error.get("metadata")
    raw = metadata.get("raw") if isinstance(metadata, Mapping) else None  # What OpenRouter's upstream said.
    words = f"{words} ({raw})" if raw else str(words)
    name = f"{code or ''} {error.get('type') or ''} {error.get('param') or ''}"
    return BadAnswer(status, clean(words), name=clean(name), retry_after=retry_after)


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds to wait, from the header; at most `retry_seconds_max`."""
    text = headers.get("retry-after", "")
    try:
        seconds = float(text) if text.replace(".", "", 1).isdecimal() else _seconds_until(text)
    except (ValueError, TypeError):
        return None
    return min(max(seconds, 0.0), retry_seconds_max)


def _seconds_until(date: str) -> float:
    from datetime import UTC, datetime

    return (parsedate_to_datetime(date) - datetime.now(UTC)).total_seconds()


def _address(url: str) -> tuple[str, str, bool]:
    """The URL to which paths are added, the address as messages show it, and whether it is a loopback address."""
    whole = url if "://" in url else f"http://{url}"
    try:
        parts = urlsplit(whole)
        host = parts.hostname or ""
        port = parts.port
    except ValueError:
        parts = urlsplit("")
        host = ""
        port = None
    if parts.scheme not in {"http", "https"} or not host:
        raise Refused(
            f"{in_brief(url)} is not the address of a server.", "Write it like http://localhost:8080."
        )
    if parts.username or parts.password:
        raise Refused(
            f"The address of {host} contains a user name or a password.",
            "Put the key into an environment variable, and name that in the binding.",
        )
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - where servers listen, not where they are
    shown = f"[{host}]" if ":" in host else host
    address = f"{parts.scheme}://{shown}{f':{port}' if port else ''}"
    return f"{address}{parts.path.rstrip('/')}", address, _is_loopback(host)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
