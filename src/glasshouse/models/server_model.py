"""`ServerModel`: what models of servers have in common: who answers, in which form, what was learned, and failures by name.

Always holds: whatever a request raises names the model. A remark is kept once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Mapping
from typing import Any, Final, TypeVar

from glasshouse.errors import ModelFailed, ModelMisconfigured, ModelUnreachable
from glasshouse.model_values import Form
from glasshouse.models.server import BadAnswer, Server
from glasshouse.reprs import repr_of
from glasshouse.runtime.ports import OnProgress, OnText, Probe
from glasshouse.turns.moment.prompt import Completion, Prompt

T = TypeVar("T")


class ServerModel(ABC):
    """A model behind a server."""

    __repr__ = repr_of("name", "backend", "form")
    streams = True
    """Whether answers are asked for in pieces. They always are, whether somebody looks on or not, because only so a call that is
    slow is told from one that hangs (ADR 0124)."""
    reports_progress: Final = True

    def __init__(
        self, server: Server, model: str, decoding: Mapping[str, Any] | None, reasoning_tokens_max: int
    ) -> None:
        self._server = server
        self.name = model
        self.backend = server.address
        self.form: Form = "schema"
        """The strongest form that the server honours for this model, as far as it is known."""
        self.remarks: tuple[str, ...] = ()
        """What was learned about the server and the model, in sentences."""
        self._decoding = dict(decoding or {})
        self._reasoning_tokens_max = reasoning_tokens_max

    @abstractmethod
    async def complete(
        self, prompt: Prompt, *, on_text: OnText | None = None, on_progress: OnProgress | None = None
    ) -> Completion:
        """The model's answer, by one request."""

    async def close(self) -> None:
        """Close the connections of this event loop."""
        await self._server.close_connections()

    async def _named(self, asking: Awaitable[T]) -> T:
        """The result of a request; what it raises, other than a bad answer, names the model."""
        try:
            return await asking
        except (ModelUnreachable, ModelFailed, ModelMisconfigured) as wrong:
            wrong.model = self.name
            raise

    async def _found_or_problem(self, looking: Awaitable[T]) -> T | Probe:
        """What was found out about the server, or the probe that says why nothing was."""
        try:
            return await looking
        except BadAnswer as bad:
            problem = str(self._server.error_of(bad, self.name))
            return Probe(is_reachable=True, model=self.name, problem=problem)
        except (ModelUnreachable, ModelFailed, ModelMisconfigured) as wrong:
            is_reachable = not isinstance(wrong, ModelUnreachable)
            return Probe(is_reachable=is_reachable, model=self.name, problem=str(wrong))

    def _learn(self, remark: str) -> None:
        if remark not in self.remarks:
            self.remarks = (*self.remarks, remark)
