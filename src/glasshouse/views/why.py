"""Why something was said: the chain of causes from an event back to its beginning, as a value (ADR 0038, ADR 0133).

Always holds: the links go from the event to the oldest cause; each link is the cause of the one before it, or a line that
a verdict among them cites (`cited_by`). No event is listed twice. The value holds only what the role may read: the
audience reads thoughts, a director also prompts and replies.
"""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from glasshouse.events import kinds
from glasshouse.events.event import CONDUCTOR, TERRARIUM, VISITOR, Event, is_event_id, text_of
from glasshouse.events.payloads import copied_from, private_of
from glasshouse.events.redaction import Role
from glasshouse.events.shown import Section
from glasshouse.reprs import repr_of
from glasshouse.world.hearing.hearing import visible_to, wire_that_handed
from glasshouse.world.state.state import World

links_max: Final = 16
"""`why` follows at most this many causes; ask again about the last one."""
cited_events_max: Final = 16
"""`why` shows at most this many events that a line cites."""
cited_chains_max: Final = 8
"""From a verdict `why` goes on to at most this many of the lines that it cites, the newest: half of the links are left for
their causes."""

Came = Literal["turn", "channel", "graph", "wire", "tool", "asked"]
Missing = Literal["model", "prompt", "cause", "cast"]
Beginning = Literal["disturbance", "opening", "turn", "world", "outside", "further"]


class SeenLine(msgspec.Struct, frozen=True, gc=False):
    """A line that a model was shown: its event, and the section of the prompt that it was in."""

    __repr__ = repr_of("who", "text", "section")

    section: Section
    event_id: str
    who: str
    kind: str
    text: str


class ToolUse(msgspec.Struct, frozen=True):
    """A tool call during the act, and its result; none if it never returned."""

    __repr__ = repr_of("called", "returned")

    called: Event
    returned: Event | None = None


class Asked(msgspec.Struct, frozen=True):
    """The prompt of one model call. A text is none if it was pruned."""

    __repr__ = repr_of("model", "user")

    model: str
    system: str | None
    user: str | None


class Link(msgspec.Struct, frozen=True):
    """One event of the chain, and what led to it."""

    __repr__ = repr_of("who", "came", "event", "lines")

    event: Event
    who: str
    """The handle of its actor."""
    came: Came | None = None
    """How its cause reached its actor; none if it has no cause."""
    by: str = ""
    """What the cause came by: the id of the wire, or the name of the channel or tool."""
    cited_by: str = ""
    """The id of the verdict that cites it, if it is a link for that. Otherwise it is the cause of the link before it."""
    lines: tuple[SeenLine, ...] = ()
    """The lines that its last model call was shown."""
    tools: tuple[ToolUse, ...] = ()
    cites: tuple[Event, ...] = ()
    prompts: tuple[Asked, ...] = ()
    missing: tuple[Missing, ...] = ()
    """What is missing. `model`: an imported file left out its model calls. `prompt`: the lines of its prompt were
    pruned or not imported. `cause`: the event that caused it. `cast`: the creatures of its cast."""

    @property
    def thought(self) -> str:
        """What its actor thought; empty if the role may not read it."""
        return private_of(self.event.private).thought

    @property
    def mood(self) -> str:
        """The mood of its actor; empty if the role may not read it."""
        return private_of(self.event.private).mood


class Why(msgspec.Struct, frozen=True):
    """The answer to `why`: the links from the event back to its beginning, and from a verdict on to the lines that it cites."""

    __repr__ = repr_of("event_id", "began", "links")

    event_id: str
    role: Role
    links: tuple[Link, ...]
    began: Beginning
    """What began the chain; `further` if there are older causes that are not listed."""


def arrival(world: World, event: Event, cause: Event) -> tuple[Came, str]:
    """How a cause reached the creature that answered it, and by what, by the same rules of hearing as everywhere."""
    if cause.kind == kinds.TURN_STARTED:
        return "turn", ""
    if cause.kind in kinds.MID_ACT:
        return "tool", text_of(cause, "tool")
    creature = world.ever(event.actor)
    if creature is None:
        return "asked", ""
    facts = world.manifests.get(creature.manifest_digest)
    is_wanted = facts is not None and cause.kind in facts.subscribes_to
    wire = wire_that_handed(creature, cause)
    if wire is not None and not (is_wanted and visible_to(creature, cause)):
        return "wire", wire.id
    if not visible_to(creature, cause):
        return "asked", ""
    return ("graph", "") if cause.channel_id is None else ("channel", cause.channel or "")


def beginning(oldest: Event) -> Beginning:
    """What sort of beginning the oldest event of a chain is."""
    if oldest.caused_by is not None:
        return "further"
    if oldest.kind == kinds.USER_INJECTED or oldest.actor == VISITOR:
        return "disturbance"
    if oldest.kind == kinds.TURN_STARTED:
        return "turn"
    if oldest.turn == 0 and oldest.actor in (CONDUCTOR, TERRARIUM):
        return "opening"
    return "world" if oldest.actor == CONDUCTOR else "outside"


def cited_in(event: Event) -> list[str]:
    """The ids of the events that an event cites in its payload, each once."""
    copy_of = copied_from(event)  # It names the same words in another graph.
    fields = [value for value in event.payload.values() if is_cited(value) and value != copy_of]
    cited = [event_id for value in fields for event_id in (value if isinstance(value, list) else [value])]
    return list(dict.fromkeys(cited))[:cited_events_max]


def is_cited(value: object) -> bool:
    """Whether a field's value consists of event ids only."""
    parts = value if isinstance(value, list) else [value]
    return bool(parts) and all(is_event_id(part) for part in parts)
