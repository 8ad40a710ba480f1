"""The time that one model call may take: by its progress, and in all (ADR 0124).

Always holds: a call whose answer comes in pieces ends if it makes no progress for a while: first until its first token, then
between two tokens. What shows progress is new: a token, or more of the prompt read. A sign of life alone, such as a comment in
a stream, shows none. A call whose answer comes in one piece shows nothing until it is over, so only its total is bounded.
"""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Final, Literal, NamedTuple, Self

first_token_seconds_max: Final = 240.0
"""How long a call may show no progress before its first token: less than an act may take, and enough for a processor that reads
nine tokens a second to read the 2,048 after which llama.cpp tells how far it is."""
token_seconds_max: Final = 120.0
"""How long a call may show no progress after its first token. A machine that swaps writes a token in a minute, and works still."""
streamed_call_seconds_max: Final = 3_600.0
"""How long a call may take whose answer comes in pieces, whatever progress it makes."""
call_seconds_max: Final = 120.0
"""How long a call may take whose answer comes in one piece, unless its route says otherwise."""


class CallBounds(NamedTuple):
    """How long a call may take, and how long without progress."""

    call_seconds: float | None = None
    """In all. None: `streamed_call_seconds_max` or `call_seconds_max`, by how its answer comes."""
    first_token_seconds: float = first_token_seconds_max
    token_seconds: float = token_seconds_max

    def total_seconds(self, *, is_streamed: bool) -> float:
        """How long a call may take in all."""
        if self.call_seconds is not None:
            return self.call_seconds
        return streamed_call_seconds_max if is_streamed else call_seconds_max


USUAL_BOUNDS: Final = CallBounds()


class CallTime:
    """Bounds the code inside it, like `asyncio.timeout`. Raises `TimeoutError`; then `late` and `advice` say in words what
    took too long and what to do."""

    def __init__(self, bounds: CallBounds, *, is_streamed: bool, load_seconds: float = 0.0) -> None:
        """`load_seconds` is what a server gets in addition until its first sign, because it loads a model first."""
        self.is_streamed = is_streamed
        self.load_seconds = load_seconds
        self._total_seconds = bounds.total_seconds(is_streamed=is_streamed)
        self._token_seconds = bounds.token_seconds
        self._quiet_seconds = bounds.first_token_seconds if is_streamed else self._total_seconds
        """How long nothing may come from now on."""
        self._has_token = False
        self._timeout = asyncio.timeout(None)
        self._is_open = False
        self._ends_at = 0.0
        self._quiet_until = 0.0

    async def __aenter__(self) -> Self:
        await self._timeout.__aenter__()
        self._is_open = True
        self._begin(self.load_seconds)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._is_open = False
        await self._timeout.__aexit__(kind, raised, trace)

    def _begin(self, load_seconds: float) -> None:
        self._ends_at = asyncio.get_running_loop().time() + self._total_seconds + load_seconds
        self._wait(load_seconds)

    def _wait(self, load_seconds: float = 0.0) -> None:
        if not self._is_open or self.is_over:
            return  # A piece that comes from another task may come too late.
        now = asyncio.get_running_loop().time()
        self._quiet_until = now + self._quiet_seconds + load_seconds
        self._timeout.reschedule(min(self._ends_at, self._quiet_until))

    def note_begun(self) -> None:
        """The server has begun its answer: it loads no more. Its time begins now."""
        if self.load_seconds:
            self.load_seconds = 0.0
            self._begin(0.0)

    def note_read(self) -> None:
        """More of the prompt was read."""
        self.note_begun()
        self._wait()

    def note_token(self) -> None:
        """A token came, or several."""
        self.note_begun()
        self._has_token = True
        if self.is_streamed:
            self._quiet_seconds = self._token_seconds
        self._wait()

    @property
    def is_over(self) -> bool:
        """Whether the time has run out."""
        return self._timeout.expired()

    @property
    def late(self) -> str:
        """What took too long: what a sentence says of the server."""
        match self._bound:
            case "call_seconds":
                return f"did not answer within {self._total_seconds + self.load_seconds:g} seconds"
            case "token_seconds":
                return f"sent no further token within {self._quiet_seconds:g} seconds"
            case "first_token_seconds":
                return f"sent no first token within {self._quiet_seconds + self.load_seconds:g} seconds"

    @property
    def advice(self) -> str:
        """What to do about it, as a sentence."""
        return f"Give its profile or route more {self._bound}, or take a smaller model."

    @property
    def _bound(self) -> Literal["call_seconds", "first_token_seconds", "token_seconds"]:
        """The bound that comes first, by its name in a models.yaml."""
        if self._ends_at <= self._quiet_until:
            return "call_seconds"
        return "token_seconds" if self._has_token else "first_token_seconds"
