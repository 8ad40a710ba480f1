"""What a model and a router can do, as values. A model may be any object with `complete`, a router any object with `route`:
whatever else they have is optional, and is looked for here and nowhere else (ADR 0116).

Always holds: an object without an attribute has the default that its field names.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from math import inf
from typing import Literal, NamedTuple, TypeAlias

from glasshouse.model_values import Form
from glasshouse.runtime.ports import Model, Router

Pacing: TypeAlias = Literal["lockstep", "free"]
"""How the graphs of a drive take turns: one step each, or each at its own pace."""

PinOf: TypeAlias = Callable[[str, Mapping[str, tuple[str, ...]], str | None], str | None]
"""The name of the model that a router pins a creature to, from its handle, the teams, and the name that its run binds."""

WithScript: TypeAlias = Callable[[str], Model]
"""The model that plays from a script, which is given as its text."""


async def nothing_to_do() -> None:
    """What opens or closes an object that has no connections."""


def nothing_named() -> list[str]:
    """The names that a router knows that knows none."""
    return []


class ModelCapabilities(NamedTuple):
    """What a model can do, now: its form and its slots may change when it learns about its server. So it is read for each
    act."""

    name: str
    """Without one, the name of its class."""
    is_free: bool = False
    """Whether its calls cost nothing. Otherwise the price is unknown, unless its route names one."""
    backend: str = ""
    """The server behind it. Models with the same one share a queue and a circuit."""
    max_parallel: float = inf
    """How many calls that server takes at once."""
    answers_at_once: bool = False
    """Whether it needs no queue, no circuit and no bound in time. It is asked once, whatever happens."""
    streams: bool = False
    """Whether its `complete` takes `on_text`."""
    load_seconds_max: float = 0.0
    """How much longer a call may take because the server loads the model first."""
    form: Form = "schema"
    """The strongest form of replies that its server honours, as far as it is known."""
    with_script: WithScript | None = None
    """The same model in a world that has a script, which is given as its text. None: it plays from no script."""


def capabilities_of(model: Model) -> ModelCapabilities:
    """What a model can do, by its optional attributes."""
    return ModelCapabilities(
        str(getattr(model, "name", type(model).__name__)),
        bool(getattr(model, "is_free", False)),
        getattr(model, "backend", ""),
        getattr(model, "max_parallel", inf),
        getattr(model, "answers_at_once", False),
        getattr(model, "streams", False),
        getattr(model, "load_seconds_max", 0.0),
        getattr(model, "form", "schema"),
        getattr(model, "with_script", None),
    )


def reports_progress(model: Model) -> bool:
    """Whether the `complete` of a model takes `on_progress`. It is asked only of models that stream, because the acts of others
    need not pay for it."""
    return bool(getattr(model, "reports_progress", False))


async def open_model(model: Model) -> None:
    """Let a model find out what it must know of its server before it is asked, if it has `open`."""
    open_it: Callable[[], Awaitable[None]] = getattr(model, "open", nothing_to_do)
    await open_it()


async def close_model(model: Model) -> None:
    """Close the connections of a model, if it has `close`. A model that is asked again opens a new one."""
    close: Callable[[], Awaitable[None]] = getattr(model, "close", nothing_to_do)
    await close()


class RouterCapabilities(NamedTuple):
    """What a router can do. It is read once, when the router is given."""

    pacing: Pacing = "lockstep"
    """How graphs are paced unless somebody says otherwise."""
    recorded: str = ""
    """The text that a run records, so that it can ask for the same models again."""
    pin_of: PinOf | None = None
    open: Callable[[], Awaitable[None]] = nothing_to_do
    """Looks up what the servers have, before the first route is asked for."""
    close: Callable[[], Awaitable[None]] = nothing_to_do
    """Closes the connections of its models."""
    names: Callable[[], list[str]] = nothing_named
    """The models that a run may ask for by name."""
    start: Callable[[], Awaitable[None]] = nothing_to_do
    """Starts what must run on this machine before its models answer. It is called before anything is played, and before a
    paused run continues: what has ended meanwhile is started again."""


def capabilities_of_router(router: Router) -> RouterCapabilities:
    """What a router can do, by its optional attributes."""
    usual = RouterCapabilities()
    return RouterCapabilities(*[getattr(router, name, getattr(usual, name)) for name in usual._fields])
