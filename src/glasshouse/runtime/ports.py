"""Ports: what the runtime needs from outside: models, tools, an approver, a clock and a source of ids. The adapters are in
`models` and `tools`; the clocks and ids are in `runtime/clock.py`. The port of stores is `runtime/store_port.py`.

Always holds: nothing here does anything. A port says what is asked of whoever implements it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, Protocol

import msgspec

from glasshouse.events.described_tool import DescribedTool
from glasshouse.events.event import Json
from glasshouse.events.model_use import Price
from glasshouse.model_values import Form, Size
from glasshouse.reprs import repr_of, shown
from glasshouse.runtime.call_time import CallBounds, first_token_seconds_max, token_seconds_max
from glasshouse.runtime.folded import Folded
from glasshouse.runtime.tool_context import ToolContext
from glasshouse.turns.moment.playbill import ServerPlan
from glasshouse.turns.moment.prompt import Completion, Prompt
from glasshouse.turns.moment.tools import ToolAnswer, ToolCall, ToolOffer
from glasshouse.world.state.state import CreatureState

OnText = Callable[[str], None]
"""Is given each piece of a reply's raw text as it comes."""


class CallProgress(NamedTuple):
    """How far a call is."""

    prompt_tokens_read: int = 0
    prompt_tokens: int = 0
    """How long the prompt is; 0 if the server does not tell."""
    tokens: int = 0
    """About how many tokens of the reply have come, those of its reasoning included."""


OnProgress = Callable[[CallProgress], None]
"""Is told each time that a call has made progress."""


class Model(Protocol):
    """Answers prompts. It sees only the prompt.

    It makes one request for each call, and raises `ModelUnreachable`, `ModelFailed` or `ModelMisconfigured`; asking
    again is up to the caller. It may have more attributes, which say what it can do: `capabilities.py` lists them. If it has
    `async probe()`, that returns a `Probe`.
    """

    async def complete(self, prompt: Prompt) -> Completion:
        """The model's answer to a prompt."""


class StreamingModel(Model, Protocol):
    """A model that can give its text as it comes."""

    async def complete(self, prompt: Prompt, *, on_text: OnText | None = None) -> Completion:
        """The model's answer to a prompt; pieces of its text go to `on_text` as they come."""


class ProgressingModel(Model, Protocol):
    """A model that can also tell how far it is before its first token: it has `reports_progress`."""

    async def complete(
        self, prompt: Prompt, *, on_text: OnText | None = None, on_progress: OnProgress | None = None
    ) -> Completion:
        """The model's answer to a prompt. `on_progress` is told of the prompt as it is read and of tokens as they come."""


class ProbeCheck(msgspec.Struct, frozen=True):
    """One thing that a probe looked at."""

    __repr__ = repr_of("what", "is_good", "advice")

    what: str
    is_good: bool | None = None
    """None: it could not be found out."""
    advice: str = ""


class ProbeStep(msgspec.Struct, frozen=True):
    """What a probe tries next."""

    __repr__ = repr_of("what", "seconds_max")

    what: str
    seconds_max: float


OnProbe = Callable[[ProbeStep | ProbeCheck], None]
"""Is given each step of a deep probe before it is tried, and each check as soon as it is known."""


class Probe(msgspec.Struct, frozen=True, kw_only=True):
    """What a model found out about its server and itself. None: unknown."""

    __repr__ = repr_of("is_reachable", "model", "problem")

    is_reachable: bool
    model: str = ""
    digest: str = ""
    context_tokens: int | None = None
    """How much the server takes now; often less than the model was trained for."""
    parameters_b: float | None = None
    """The size of the model in thousand millions of parameters."""
    quantization: str = ""
    slots: int | None = None
    """How many calls the server answers at the same time."""
    problem: str = ""
    advice: str = ""
    checks: tuple[ProbeCheck, ...] = ()


class Route(NamedTuple):
    """The concrete model behind a profile, and how it is asked."""

    model: Model
    name: str
    context_tokens_max: int
    reply_tokens_max: int
    price: Price | None = None
    """None: unknown."""
    form: Form | Literal["auto"] = "auto"
    """How it is asked to reply, unless a manifest says otherwise; `auto`: as its backend can."""
    decoding: Mapping[str, Any] = MappingProxyType({})
    """Settings of the sampling that are sent and recorded. Empty: the server's own."""
    reasoning_tokens_max: int = 0
    """How many tokens it may think before it replies."""
    call_seconds_max: float | None = None
    """How long one call may take in all. None: 3,600 seconds if its answer comes in pieces, otherwise 120."""
    is_local: bool = False
    """Whether it runs on this machine, so that it costs nothing."""
    fallbacks: tuple[Route, ...] = ()
    """The routes to ask, in order, if this one cannot answer."""
    digest: str = ""
    """The digest of the model's weights, if its server tells one."""
    size: Size | Literal[""] = ""
    """The size of the model, one of the profiles. Its prompts are as deep as suits that; empty: as the creature's profile."""
    first_token_seconds_max: float = first_token_seconds_max
    """How long one call may show no progress before its first token, if its answer comes in pieces."""
    token_seconds_max: float = token_seconds_max
    """How long one call may show no progress after that."""

    @property
    def bounds(self) -> CallBounds:
        """How long one call may take, and how long without progress."""
        return CallBounds(self.call_seconds_max, self.first_token_seconds_max, self.token_seconds_max)

    def __repr__(self) -> str:
        return shown(self, name=self.name, context_tokens_max=self.context_tokens_max)


class Router(Protocol):
    """Turns the profile that a manifest names into a concrete model. It may have more attributes, which say what else it can do:
    `capabilities.py` lists them."""

    def route(self, profile: str, model: str | None = None, /) -> Route:
        """The model behind a profile, or the model of this name if a run names one. Raises `Refused` if there is
        none."""


class Toolbox(Protocol):
    """Offers tools to creatures, and carries them out."""

    def offers(self, folded: Folded, creature: CreatureState) -> tuple[ToolOffer, ...]:
        """The tools that this creature may use now."""

    def has(self, tool: str) -> bool:
        """Whether this toolbox carries out tools of this name."""

    def names(self) -> frozenset[str]:
        """The names that a manifest may grant."""

    async def use(self, call: ToolCall, context: ToolContext) -> ToolAnswer:
        """Carry out a call. An error of the tool becomes its answer; raises only if cancelled, or if the store
        fails."""


class ToolServers(Protocol):
    """Describes tools of servers when they are granted, and tells a ledger when they change."""

    async def describe(
        self, tools: Collection[str], plans: Mapping[str, ServerPlan], folder: str | None, /
    ) -> Mapping[str, DescribedTool]:
        """What servers say of these tools now. `plans` are the servers that the world in this folder declares. Raises
        `Refused` if a server is not there, or a tool cannot be used."""

    def watch(self, ledger: Any, /) -> None:
        """Tell this ledger from now on what servers describe otherwise than it was granted."""

    async def close(self) -> None:
        """End all connections."""


class Proposal(msgspec.Struct, frozen=True):
    """A change by a tool, or a call of a server's tool, that needs approval from outside."""

    __repr__ = repr_of("handle", "tool", "why")

    creature: str
    """The id of the creature that asks for it."""
    handle: str
    run_id: str | None
    tool: str
    arguments: Json
    why: str
    """What would be done, and why approval is needed."""


class Verdict(msgspec.Struct, frozen=True):
    """The decision on a proposal."""

    __repr__ = repr_of("is_approved", "by", "reason")

    is_approved: bool
    by: str
    reason: str = ""


Approver = Callable[[Proposal], Awaitable["bool | Verdict | None"]]
"""Asks somebody outside whether a change may be made. It returns None if nobody is there to decide."""


class Clock(Protocol):
    """Gives the wall time. Events record it, but it never decides their order."""

    def now(self) -> datetime:
        """The time now, with a time zone."""

    async def sleep(self, seconds: float) -> None:
        """Wait until this much time has passed."""


class Ids(Protocol):
    """Makes the ids that do not follow from the ledger: those of new stores and of new runs."""

    def new(self) -> str:
        """Sixteen hexadecimal characters."""
