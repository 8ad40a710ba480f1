"""`EventFilter`: which events a reader wants.

Always holds: a field is a set, or None for anything; an empty set matches nothing. An event must match every field that is set.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from glasshouse.events.event import Event
from glasshouse.events.kinds import OF_CHANNELS, check_may_exist
from glasshouse.events.payloads import creatures_named_in


class HasId(Protocol):
    """Anything with an id, such as a creature."""

    @property
    def id(self) -> str:
        """Its id."""


class EventFilter:
    """Matches kinds, graphs, channels (by id or name) and creatures (as actor, or named in an engine event).

    A filter is data. A subscription adds what the event alone does not say: which graph its creatures are in, and which
    channels have the wanted names.
    """

    __slots__ = ("channels", "creature_ids", "graph_ids", "kinds")

    def __init__(
        self,
        kinds: Iterable[str] | None = None,
        creature_ids: Iterable[str | HasId] | None = None,
        graph_ids: Iterable[str] | None = None,
        channels: Iterable[str] | None = None,
    ) -> None:
        self.kinds = _names("kinds", kinds)
        for kind in self.kinds or ():
            check_may_exist(kind)
        self.creature_ids = _names("creature_ids", creature_ids)
        self.graph_ids = _names("graph_ids", graph_ids)
        self.channels = _names("channels", channels)

    def matches(self, event: Event) -> bool:
        """Whether the event passes every field that is set."""
        return self.takes(event, is_of_graph=False, is_of_channel=False)

    def takes(self, event: Event, *, is_of_graph: bool, is_of_channel: bool) -> bool:
        """The same, for an event that is known to change the graph of a wanted creature, or a wanted channel."""
        return (
            (self.kinds is None or event.kind in self.kinds)
            and (self.graph_ids is None or event.graph_id in self.graph_ids)
            and (self.channels is None or is_of_channel or not self.channels.isdisjoint(_channels_of(event)))
            and (
                self.creature_ids is None
                or is_of_graph
                or event.actor in self.creature_ids
                or not self.creature_ids.isdisjoint(creatures_named_in(event))
            )
        )

    def __repr__(self) -> str:
        shown = (f"{name}={sorted(v)}" for name in self.__slots__ if (v := getattr(self, name)) is not None)
        return f"EventFilter({', '.join(shown)})"


def _channels_of(event: Event) -> Iterable[object]:
    """The channel that an event was said on, or that it opens, closes, renames or describes: its id and names."""
    if event.kind not in OF_CHANNELS:
        return (event.channel_id, event.channel)
    return [event.payload.get(field) for field in ("channel_id", "name", "old_name")]


def _names(field: str, names: Iterable[str | HasId] | None) -> frozenset[str] | None:
    if isinstance(names, str):
        raise TypeError(f"EventFilter({field}=...) takes a set of names. Write {{{names!r}}}.")
    return None if names is None else frozenset([n if isinstance(n, str) else n.id for n in names])


EVERYTHING = EventFilter()
