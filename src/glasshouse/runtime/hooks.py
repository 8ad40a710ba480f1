"""Hooks: the named points at which somebody may look on while the engine takes a step.

Telemetry is who does (`telemetry/span_hooks.py`). A hook named `around_…` is given the coroutine of a step and awaits it, so it
sees when the step begins and how it ends. The other hooks are told what has happened.

Always holds: a hook returns what the step returned and raises what the step raised. It decides nothing and writes nothing.
Without hooks, a step costs one more look at None (ADR 0116).
"""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeAlias, TypeVar

from glasshouse.events.event import Event
from glasshouse.events.model_use import Call
from glasshouse.runtime.ports import Route
from glasshouse.runtime.tool_context import ToolContext
from glasshouse.turns.moment.prompt import Completion, Prompt
from glasshouse.turns.moment.tools import ToolAnswer, ToolCall
from glasshouse.turns.runs.schedule import Due
from glasshouse.world.decisions.intents import Intent
from glasshouse.world.state.values import Change

T = TypeVar("T")
Running: TypeAlias = Coroutine[Any, Any, T]
"""A step under way: what a hook awaits, and returns the result of."""


class EditMade(Protocol):
    """What a hook is shown of an edit of a graph."""

    @property
    def change(self) -> Change:
        """What has changed."""

    @property
    def events(self) -> list[Event]:
        """The events of the edit, as stored."""


class Thought(Protocol):
    """What a hook is shown of an act that was thought."""

    @property
    def act(self) -> tuple[str, str]:
        """The ids of its creature and its cause."""

    @property
    def end(self) -> object:
        """The intent that will end it; None if it was stopped and stays due."""

    @property
    def stopped_by(self) -> BaseException | None:
        """The limit or the failure that stopped it, if one did."""


class Payer(Protocol):
    """Who pays for a model call."""

    run_id: str
    creature_id: str


class Asker(Protocol):
    """The act that makes a model call."""

    calls: list[Call]
    """Its calls so far that no event records yet."""

    @property
    def mine(self) -> Payer:
        """Who pays for them."""


EditT = TypeVar("EditT", bound=EditMade)
ThoughtT = TypeVar("ThoughtT", bound=Thought)


class Hooks(Protocol):
    """All hooks of one terrarium."""

    # Acts

    def around_act(self, due: Due, thinking: Running[ThoughtT | None]) -> Running[ThoughtT | None]:
        """A creature thinks. The result is None if it was removed, or if its act was no longer owed."""

    def act_written(self, act: tuple[str, str], event: Event | None) -> None:
        """An act that was thought was staged, as this event; None if it could not be."""

    # Model calls

    def around_attempt(
        self, route: Route, prompt: Prompt, act: Asker, asking: Running[Completion]
    ) -> Running[Completion]:
        """A model is asked once. When `asking` ends, the record of the call is the last of the act's `calls`, unless no call
        was made."""

    def around_waiting(self, server: str) -> AbstractContextManager[None]:
        """A call waits in the queue of a server."""

    def own_call_ended(self, act: Asker, call: Call) -> None:
        """An agent has made a call by its own means, in `moment.spending`."""

    # Tools

    def around_tool(
        self, call: ToolCall, context: ToolContext, using: Running[ToolAnswer]
    ) -> Running[ToolAnswer]:
        """A tool is called."""

    # The ledger

    def around_edit(self, intent: Intent, changing: Running[EditT]) -> Running[EditT]:
        """A graph is edited, by a program or by a creature's tool."""

    def around_commit(self, events: int, committing: Running[None]) -> Running[None]:
        """A group of so many events is committed, or refused."""

    def durable(self, events: Sequence[Event]) -> None:
        """These events are durable. Those who wait for them have not gone on yet."""

    def closed(self) -> None:
        """The ledger has been closed. Nothing comes after this."""
