"""Which group tools a privileged creature is offered now, and with which words and names.

Always holds: nothing is offered to whoever is not privileged, and nothing that policy or the world would refuse whatever
is written. Names are those of living creatures, nearest first, and so many at most.
"""

from __future__ import annotations

from itertools import islice
from typing import Any, Final

from glasshouse.events.event import Json
from glasshouse.runtime.folded import Folded
from glasshouse.tools.group.names import names_of_others, nearest
from glasshouse.tools.group.requests import (
    ADD_NODE,
    CHANNEL,
    REMOVE_NODE,
    START_NODE,
    STATUS,
    STOP_NODE,
    WIRE,
)
from glasshouse.tools.group.words import names_in_words_max
from glasshouse.turns.moment.tools import ToolOffer
from glasshouse.turns.runs.policy import is_protected, refusal_of_birth, refusal_of_edit
from glasshouse.world.state.state import CreatureState, World

names_offered_max: Final = 32
strangers_offered_max: Final = 16
channels_offered_max: Final = 16

DESCRIPTIONS: Final = {
    ADD_NODE: "Bring a creature to life: a worker that you speak with on a channel of your own.",
    REMOVE_NODE: "Take a creature away for good; what hung on it alone comes apart.",
    START_NODE: "Let a creature that rests run again.",
    STOP_NODE: "Let a creature rest; it stays where it is and hears what it missed later.",
    CHANNEL: "Open or close a channel; let a creature join or leave one. Joining one of another graph makes both one.",
    WIRE: "Hand what one creature says straight to another, or cease to.",
    STATUS: "See who is there, how they are joined, and what you may do.",
}

_DRY_RUN: Final[Json] = {"type": "boolean", "description": "true: only say what would happen"}
_TEXT: Final[Json] = {"type": "string"}


def offers_for(folded: Folded, caller: CreatureState) -> tuple[ToolOffer, ...]:
    """The group tools that would succeed now, each with its arguments."""
    if not caller.is_privileged or caller.id not in folded.world.creatures:
        return ()
    status = _offer(STATUS, {"scope": {"enum": ["graph", "terrarium"]}}, ())
    if refusal_of_edit(folded.runs, caller) is not None:
        return (status,)
    crowd = Crowd(folded.world, caller)
    offers = [*_birth(folded, caller), *_of_one(folded, crowd)]
    offers += [_channel(folded, caller, crowd), *_wire(folded.world, caller, crowd), status]
    return tuple(offers)


class Crowd:
    """Those around a creature who can be named in an argument."""

    def __init__(self, world: World, caller: CreatureState) -> None:
        self.nearest = nearest(world, caller)
        self.is_whole = len(world.graphs[caller.graph_id].creatures) - 1 <= len(self.nearest)
        """Whether these are all there are."""

    def choice(self, creatures: list[CreatureState], strangers: list[str] | None = None) -> Json:
        """One of these handles; where they are too many to be listed, any, with the nearest for an example."""
        if self.is_whole and len(creatures) <= names_offered_max:
            return {"enum": [*[one.handle for one in creatures], *(strangers or [])]}
        some = [one.handle for one in creatures[:names_in_words_max]] + (strangers or [])
        return {
            "type": "string",
            "description": f"a handle, such as {', '.join(some)}" if some else "a handle",
        }


def _offer(tool: str, properties: dict[str, Any], required: tuple[str, ...]) -> ToolOffer:
    parameters: Json = {
        "type": "object",
        "properties": {**properties, "dry_run": _DRY_RUN},
        "required": list(required),
    }
    return ToolOffer(tool, DESCRIPTIONS[tool], parameters)


def _birth(folded: Folded, caller: CreatureState) -> list[ToolOffer]:
    purse = folded.runs.purses.get(caller.run_id or "")
    if purse is None or not purse.spawnable:
        return []
    if refusal_of_birth(folded.world, folded.runs, caller) is not None:
        return []
    properties: dict[str, Any] = {
        "use": {"enum": list(islice(purse.spawnable, names_offered_max))},
        "handle": {"type": "string", "description": "a name for it, in small letters"},
    }
    if len(purse.profiles) > 1:
        properties["profile"] = {"enum": list(purse.profiles)}
    return [_offer(ADD_NODE, properties, ("use",))]


def _of_one(folded: Folded, crowd: Crowd) -> list[ToolOffer]:
    workers = [one for one in crowd.nearest if not one.is_privileged]
    loose = [one for one in workers if not is_protected(folded.runs, one)]
    sorts = (
        (REMOVE_NODE, loose),
        (START_NODE, [one for one in workers if not one.is_running]),
        (STOP_NODE, [one for one in loose if one.is_running]),
    )
    return [
        _offer(tool, {"creature": crowd.choice(some)}, ("creature",))
        for tool, some in sorts
        if some or not crowd.is_whole
    ]


def _channel(folded: Folded, caller: CreatureState, crowd: Crowd) -> ToolOffer:
    world = folded.world
    channels = _channel_names(world, caller)
    strangers = names_of_others(folded, caller, strangers_offered_max)
    actions = ["open"]
    if channels or strangers:
        actions += ["close", "join", "leave"] if channels else ["join"]
    known = f"open now: {', '.join(channels)}" if channels else "none is open"
    properties = {
        "action": {"enum": actions},
        "channel": {"type": "string", "description": f"its name; {known}; to open one, a new name"},
        "creature": crowd.choice([caller, *crowd.nearest], strangers),
        "direction": {"enum": ["listen", "send", "both"]},
        "description": {"type": "string", "description": "what a new channel is for"},
    }
    return _offer(CHANNEL, properties, ("action",))


def _channel_names(world: World, caller: CreatureState) -> list[str]:
    """The channels of the caller first, then others of its graph."""
    mine = [world.channels[name].name for name in world.topology.channels_of.get(caller.id, ())]
    others = islice(world.graphs[caller.graph_id].channels, channels_offered_max)
    return list(dict.fromkeys([*mine, *others]))[:channels_offered_max]


def _wire(world: World, caller: CreatureState, crowd: Crowd) -> list[ToolOffer]:
    if not crowd.nearest:
        return []
    ends = crowd.choice([caller, *crowd.nearest])
    is_wired = any(one.id in world.wires_of for one in (caller, *crowd.nearest))
    properties = {
        "action": {"enum": ["add", "remove"] if is_wired or not crowd.is_whole else ["add"]},
        "source": ends,
        "target": ends,
        "with_content": {"type": "boolean"},
        "prompt": _TEXT,
        "when": _TEXT,
    }
    return [_offer(WIRE, properties, ("action", "source", "target"))]
