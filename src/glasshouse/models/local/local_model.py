"""`LocalModel`: a model in a file of this machine, answered by llama.cpp as a child process.

Always holds: whatever is said of it names the file without its folder. If the child ends, calls raise `ModelUnreachable`, so
that runs pause; `start` starts it again, on another port and with another key.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec.structs import replace

from glasshouse.errors import GlasshouseError, ModelFailed, ModelUnreachable
from glasshouse.model_values import Form
from glasshouse.models.local.llama_child import Address, LlamaChild, OnLoading, load_seconds_max
from glasshouse.models.openai_compatible import OpenAICompatible
from glasshouse.reprs import repr_of
from glasshouse.runtime.call_time import USUAL_BOUNDS, CallBounds
from glasshouse.runtime.ports import OnProbe, OnProgress, OnText, Probe
from glasshouse.turns.moment.prompt import Completion, Prompt


class LocalModel:
    """A model in a file."""

    __repr__ = repr_of("name", "form")
    streams: Final = True
    reports_progress: Final = True
    is_free: Final = True
    max_parallel: Final = 1
    load_seconds_max: Final = load_seconds_max
    """How much longer a call may take because the child is started first."""

    def __init__(
        self,
        child: LlamaChild,
        digest: str,
        *,
        decoding: Mapping[str, Any] | None = None,
        reasoning_tokens_max: int = 0,
        bounds: CallBounds = USUAL_BOUNDS,
    ) -> None:
        self.name = child.file.name
        self.backend = f"local:{self.name}"
        self._child = child
        self._digest = digest
        self._is_user = False
        self._given: dict[str, Any] = {
            "decoding": decoding,
            "reasoning_tokens_max": reasoning_tokens_max,
            "call_seconds_max": bounds.call_seconds,
            "first_token_seconds_max": bounds.first_token_seconds,
            "token_seconds_max": bounds.token_seconds,
        }
        self._asked_at: tuple[Address, OpenAICompatible] | None = None
        """Where the child answers now, and what asks it there."""

    @property
    def form(self) -> Form:
        """The strongest form that llama.cpp honours for it, as far as it is known."""
        return "schema" if self._asked_at is None else self._asked_at[1].form

    @property
    def remarks(self) -> tuple[str, ...]:
        """What was learned about it, in sentences."""
        return () if self._asked_at is None else self._asked_at[1].remarks

    async def start(self, on_loading: OnLoading | None = None) -> None:
        """Start the child unless it runs, also if it has ended. Raises `ModelMisconfigured` if that fails."""
        self._join()
        await self._child.started(on_loading)

    async def complete(
        self, prompt: Prompt, *, on_text: OnText | None = None, on_progress: OnProgress | None = None
    ) -> Completion:
        """The model's answer, by one request."""
        self._join()
        address = await self._child.address()
        try:
            return await self._asking(address).complete(prompt, on_text=on_text, on_progress=on_progress)
        except (ModelUnreachable, ModelFailed) as wrong:
            why = await self._child.why_ended(address)
            if not why:
                raise
            raise self._child.has_ended_error(why) from wrong

    async def probe(self, *, deep: bool = False, on_probe: OnProbe | None = None) -> Probe:
        """What llama.cpp says about itself and the model; with `deep`, also what a few calls show."""
        try:
            await self.start()
            address = await self._child.address()
        except GlasshouseError as wrong:
            return Probe(is_reachable=False, model=self.name, problem=str(wrong))
        probe = await self._asking(address).probe(deep=deep, on_probe=on_probe)
        return replace(probe, digest=self._digest)

    async def close(self) -> None:
        """Close the connections of this event loop. The child stays for others."""
        if self._asked_at is not None:
            await self._asked_at[1].close()

    async def leave(self) -> None:
        """Use the child no more. It ends if nobody else does."""
        if self._is_user:
            self._is_user = False
            await self._child.leave()

    def _join(self) -> None:
        if not self._is_user:
            self._is_user = True
            self._child.join()

    def _asking(self, address: Address) -> OpenAICompatible:
        """What asks the child where it answers now. A child that was started again answers elsewhere."""
        if self._asked_at is None or self._asked_at[0] != address:
            asking = OpenAICompatible(
                self.name,
                address.url,
                server="llama.cpp",
                key=address.key,
                context_tokens=self._child.room.context_tokens,
                max_parallel=1,
                **self._given,
            )
            self._asked_at = address, asking
        return self._asked_at[1]
