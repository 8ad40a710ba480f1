"""A server that imitates those that people use, on a real socket, with their lies, faults and ill manners.

    with imitating_server("ollama", "drops the schema", say=lambda prompt: "Hello.") as server:
        server.next("fences", faults.status(429, retry_after="3"), "fine")  # the next three completions, in order
        ...
        server.url, server.usage, server.requests, server.completions

Always holds: whatever an answer reports is in `usage` before its first byte is sent; what the model worked for and could not
report is in `unreported`.
"""

import asyncio
import ssl
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal

from tests.servers.answers import Answer, Call, Lie, Manner, Player, Usage
from tests.servers.certificates import Authority
from tests.servers.faults import Fault
from tests.servers.imitations import IMITATIONS, MODELS, Personality, ServedModel, Unwilling
from tests.servers.small_model import Say, prompt_tokens_in
from tests.servers.wire import Connection, Reply, Request, WireServer, json_reply

Behaviour = Lie | Manner | Fault | Literal["fine"]
"""What a completion can be spoilt by; the word `fine` stands for one that is not spoilt."""

UNREPORTED: frozenset[str] = frozenset({"no usage", "error in 200", "error in the stream", "invalid UTF-8"})
LEFT_EARLY: frozenset[str] = frozenset({"whitespace loop"})
"""What nobody reads to its end, where the usage of a stream stands."""


class ImitatingServer:
    """What a test sees of the server: where it is, what it was asked, what it counted."""

    def __init__(
        self,
        personality: Personality,
        always: Sequence[Behaviour],
        models: Sequence[ServedModel],
        player: Player,
        *,
        key: str,
        host: str,
        tls: ssl.SSLContext | None,
        redirects_to: str,
        delay_seconds: float,
    ) -> None:
        self.always: list[Behaviour] = [*always]
        self.requests: list[Request] = []
        self.usage = Usage()
        self.unreported = Usage()
        self.completions: Counter[str] = Counter()
        """How many completions ended how: `fine`, the name of a fault, `refused 400` …"""
        self.in_flight_most = 0
        """How many completions were under way at once, at most."""
        self.delay_seconds = delay_seconds
        self.imitation: Any = IMITATIONS[personality](models)
        self.model = models[0].name
        self._player = player
        self._key = key
        self._redirects_to = redirects_to
        self._next: deque[Behaviour] = deque()
        self._last_prompt = b""
        self._in_flight = 0
        self._wire = WireServer(self._handle, host, tls)
        self._wire.start()
        self.root_url = (
            f"{'https' if tls else 'http'}://{f'[{host}]' if ':' in host else host}:{self._wire.port}"
        )
        self.url = self.root_url + self.imitation.root
        """What a user would write down: with `/v1` where the server has that."""

    def next(self, *behaviours: Behaviour) -> None:
        """Spoil the next completions, one each; `fine` spoils nothing. Afterwards everything is as before."""
        self._next.extend(behaviours)

    def asked(self, path: str) -> list[Request]:
        """The requests for one path, in order."""
        return [request for request in self.requests if request.path == path]

    @property
    def calls(self) -> list[Request]:
        """The requests for completions, in order."""
        return [request for request in self.requests if request.path in self.imitation.completions]

    @property
    def prompts(self) -> list[str]:
        """What the models were asked, all messages of a call joined."""
        return ["\n\n".join(part["content"] for part in call.json()["messages"]) for call in self.calls]

    def begin_bodies_with(self, mark: bytes) -> None:
        """Begin the body of every answer with these bytes, also those of lists and errors."""
        self._wire.before_bodies = mark

    def close(self) -> None:
        """Close every connection and stop."""
        self._wire.stop()

    async def _handle(self, request: Request, connection: Connection) -> None:
        self.requests.append(request)
        if request.path not in self.imitation.completions:
            await connection.send(self._other(request))
            return
        self._in_flight += 1
        self.in_flight_most = max(self.in_flight_most, self._in_flight)
        try:
            await self._complete(request, connection)
        finally:
            self._in_flight -= 1

    def _other(self, request: Request) -> Reply:
        try:
            self._check_key(request)
            reply: Reply = self.imitation.other(request)
        except Unwilling as refusal:
            return json_reply(refusal.status, refusal.body)
        return reply

    async def _complete(self, request: Request, connection: Connection) -> None:
        spoilt = [*self.always, *([self._next.popleft()] if self._next else [])]
        faults = [behaviour for behaviour in spoilt if isinstance(behaviour, Fault)]
        behaviours = frozenset(behaviour for behaviour in spoilt if isinstance(behaviour, str))
        if "redirects" in behaviours:
            self.completions["redirected"] += 1
            await connection.send(
                Reply(307, [b""], headers={"Location": self._redirects_to + request.target})
            )
            return
        if faults and not faults[0].generates:
            self.completions[faults[0].name] += 1
            await faults[0].send(connection, Reply(200, [b""]))
            return
        try:
            self._check_key(request)
            call: Call = self.imitation.call(request, behaviours)
            self._check_length(call)
        except Unwilling as refusal:
            self.completions[f"refused {refusal.status}"] += 1
            await connection.send(json_reply(refusal.status, refusal.body))
            return
        answer = self._player.answer(call, self._cached(call.prompt), behaviours)
        is_left_early = call.is_streamed and (not call.wants_usage or behaviours & LEFT_EARLY)
        if faults or behaviours & UNREPORTED or is_left_early:
            self.unreported = self.unreported.plus(answer.usage)
        else:
            self.usage = self.usage.plus(answer.usage)
        self.completions[
            faults[0].name if faults else ", ".join(sorted(behaviours - {"fine"})) or "fine"
        ] += 1
        reply = self._reply(call, answer, behaviours)
        await asyncio.sleep(self.delay_seconds)
        if faults:
            await faults[0].send(connection, reply)
        else:
            await connection.send(reply)

    def _check_length(self, call: Call) -> None:
        asked = prompt_tokens_in(call.messages)
        if call.context_tokens is not None and asked > call.context_tokens:
            raise self.imitation.too_long(asked, call.context_tokens)

    def _reply(self, call: Call, answer: Answer, behaviours: frozenset[str]) -> Reply:
        if "invalid UTF-8" in behaviours:
            message = "The model produced output that does not match the expected peg-native format"
            return json_reply(500, {"error": {"code": 500, "message": message, "type": "server_error"}})
        reply: Reply = self.imitation.reply(call, answer, len(self.requests), behaviours)
        return reply

    def _check_key(self, request: Request) -> None:
        if self._key and request.headers.get("authorization") != f"Bearer {self._key}":
            raise Unwilling(
                401, self.imitation.error(401, "Incorrect API key provided.", code="invalid_api_key")
            )

    def _cached(self, prompt: str) -> int:
        """How many tokens at the beginning are those of the call before."""
        now, before = prompt.encode(), self._last_prompt
        self._last_prompt = now
        same = next(
            (at for at, (a, b) in enumerate(zip(now, before, strict=False)) if a != b),
            min(len(now), len(before)),
        )
        return same // 4


@contextmanager
def imitating_server(
    personality: Personality,
    *always: Behaviour,
    models: Sequence[ServedModel] = (),
    say: Say | None = None,
    kinds: Sequence[str] = (),
    sealed_word: str = "nightingale",
    key: str = "",
    host: str = "127.0.0.1",
    authority: Authority | None = None,
    redirects_to: str = "",
    delay_seconds: float = 0.0,
    truncated_to_tokens: int = 256,
) -> Iterator[ImitatingServer]:
    """A server that is up until the block ends. `always` spoils every completion; with an authority it speaks HTTPS."""
    served = [*models] or [MODELS[personality]]
    player = Player(
        say=say,
        kinds=kinds,
        sealed_word=sealed_word,
        thinks="thinking" in served[0].capabilities,
        truncated_to_tokens=truncated_to_tokens,
        usd_per_million=served[0].usd_per_million,
    )
    server = ImitatingServer(
        personality,
        always,
        served,
        player,
        key=key,
        host=host,
        tls=authority.server_context() if authority else None,
        redirects_to=redirects_to,
        delay_seconds=delay_seconds,
    )
    try:
        yield server
    finally:
        server.close()
