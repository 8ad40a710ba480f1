"""Which group tools a privileged creature is offered now, with their descriptions and the names to choose from.

Always holds: a creature without privilege is offered nothing. A tool that policy or the world would refuse with any
arguments is not offered. There is one exception: in a graph that is too large to look at every creature, a tool may be
offered that fits none of them. Names are those of living creatures: of the caller's graph first, nearest first, then
of other graphs of its run. Their number is bounded.
"""

from __future__ import annotations

from functools import cache
from itertools import islice
from typing import Final

from msgspec.structs import fields, replace

from glasshouse.events.event import Json
from glasshouse.runtime.folded import Folded
from glasshouse.tools.group import requests
from glasshouse.tools.group.lookup import channels_near, names_in_words_max, names_of_others, nearest
from glasshouse.turns.moment.tools import ToolOffer
from glasshouse.turns.runs.policy import (
    is_protected,
    policy_of,
    profiles_for,
    refusal_of_birth,
    refusal_of_edit,
    spawnable_by,
)
from glasshouse.world.state.state import CreatureState, World

names_offered_max: Final = 32
"""If there are more names, an argument takes any handle and shows the nearest as examples."""
strangers_offered_max: Final = 16
"""At most this many creatures of other graphs are offered for joining."""

DESCRIPTIONS: Final = {
    requests.ADD_NODE: "Bring a creature to life: a worker that you speak with on a channel of your own.",
    requests.REMOVE_NODE: "Take a creature away for good; what hung on it alone comes apart.",
    requests.START_NODE: "Let a creature that rests run again.",
    requests.STOP_NODE: "Let a creature rest; it stays where it is and hears what it missed later.",
    requests.CHANNEL: "Open, close, rename or describe a channel; let a creature join or leave one. Joining one of another graph makes both"
    " one.",
    requests.WIRE: "Hand what one creature says straight to another, or cease to (add, remove); make one the parent of another, or cease"
    " to (adopt, release).",
    requests.STATUS: "See who is there, how they are joined, and what you may do.",
}

_DRY_RUN: Final[Json] = {"type": "boolean", "description": "true: only say what would happen"}
_TEXT: Final[Json] = {"type": "string"}
_WRITTEN: Final = {
    "role": "what it is, in a few words",
    "persona": "who it is, written by you; give handle too",
    "wants": "what it wants",
}
"""The fields of a creature that the caller writes itself."""


def offers_for(folded: Folded, caller: CreatureState) -> tuple[ToolOffer, ...]:
    """The group tools that can succeed now, each with its arguments."""
    if not caller.is_privileged or caller.id not in folded.world.creatures:
        return ()
    status = _offer(requests.STATUS, {"scope": {"enum": ["graph", "terrarium"]}})
    if refusal_of_edit(folded.runs, caller) is not None:
        return (status,)
    crowd = Crowd(folded.world, caller)
    offers = [*_birth(folded, caller), *_of_one(folded, crowd)]
    offers += [_channel(folded, caller, crowd), *_wire(folded, caller, crowd), status]
    return tuple(offers)


class Crowd:
    """The creatures around the caller that an argument can name."""

    def __init__(self, world: World, caller: CreatureState) -> None:
        self.nearest = nearest(world, caller)
        self.is_whole = len(world.graphs[caller.graph_id].creatures) - 1 <= len(self.nearest)
        """Whether `nearest` holds every other creature of the graph."""

    def choice(
        self, creatures: list[CreatureState], strangers: list[str] | None = None, *, is_open: bool = False
    ) -> Json:
        """The schema of a handle: a choice of these. If they are too many, or if others may be named too, any text with
        the nearest as examples."""
        if self.is_whole and len(creatures) <= names_offered_max and not is_open:
            return {"enum": [*[creature.handle for creature in creatures], *(strangers or [])]}
        some = [creature.handle for creature in creatures[:names_in_words_max]] + (strangers or [])
        return _text(f"a handle, such as {', '.join(some)}" if some else "a handle")


def _text(description: str) -> Json:
    return {"type": "string", "description": description}


def _offer(tool: str, properties: Json, *open_arguments: str) -> ToolOffer:
    properties = {**properties, "dry_run": _DRY_RUN}
    parameters = {"type": "object", "properties": properties, "required": [*_required(tool)]}
    return ToolOffer(tool, DESCRIPTIONS[tool], parameters, frozenset(open_arguments))


@cache
def _required(tool: str) -> tuple[str, ...]:
    """The required arguments of a group tool. Kept, because asking a struct for its fields compiles its annotations."""
    return tuple([field.name for field in fields(requests.ARGUMENTS[tool]) if field.required])


def _birth(folded: Folded, caller: CreatureState) -> list[ToolOffer]:
    runs = folded.runs
    listed = spawnable_by(runs, caller)
    is_written = policy_of(runs, caller).spawn == "written"
    if not (listed or is_written) or refusal_of_birth(folded.world, runs, caller):
        return []
    properties: Json = {"use": {"enum": [*islice(listed, names_offered_max)]}} if listed else {}
    properties["handle"] = _text("a name for it, in small letters")
    profiles = profiles_for(runs, caller)
    if len(profiles) > 1:
        properties["profile"] = {"enum": profiles}
    required = ["use"] if listed else ["handle", "persona"]
    if is_written:
        instead = "instead of use: " if listed else ""
        properties |= {
            name: {**_text(f"{instead}{what}"), "maxLength": requests.WRITTEN_CHARS_MAX[name]}
            for name, what in _WRITTEN.items()
        }
        required = [] if listed else required
    offer = _offer(requests.ADD_NODE, properties)
    return [replace(offer, parameters={**offer.parameters, "required": required})]


def _loose(folded: Folded, crowd: Crowd) -> list[CreatureState]:
    """The creatures that are neither privileged nor protected."""
    workers = [creature for creature in crowd.nearest if not creature.is_privileged]
    return [worker for worker in workers if not is_protected(folded.runs, worker)]


def _of_one(folded: Folded, crowd: Crowd) -> list[ToolOffer]:
    workers = [creature for creature in crowd.nearest if not creature.is_privileged]
    loose = _loose(folded, crowd)
    sorts = {
        requests.REMOVE_NODE: loose,
        requests.START_NODE: [creature for creature in workers if not creature.is_running],
        requests.STOP_NODE: [creature for creature in loose if creature.is_running],
    }
    offered = [(tool, some) for tool, some in sorts.items() if some or not crowd.is_whole]
    return [_offer(tool, {"creature": crowd.choice(some)}) for tool, some in offered]


def _channel(folded: Folded, caller: CreatureState, crowd: Crowd) -> ToolOffer:
    channels = [channel.name for channel in channels_near(folded.world, [caller])]
    strangers = names_of_others(folded, caller, strangers_offered_max)
    # A server that enforces the schema must let a creature of another run be named.
    meets_others = policy_of(folded.runs, caller).other_runs == "allow"
    actions = ["open"]
    if channels:
        actions += ["close", "join", "leave", "rename", "describe"]
    elif strangers or meets_others:
        actions += ["join"]
    known = f"open now: {', '.join(channels)}" if channels else "none is open"
    properties = {
        "action": {"enum": actions},
        "channel": _text(f"its name; {known}; to open one, a new name"),
        "creature": crowd.choice([caller, *crowd.nearest], strangers, is_open=meets_others),
        "direction": {"enum": ["listen", "send", "both"]},
        "name": _text("to rename: the new name"),
        "description": _text("what the channel is for"),
    }
    # Creatures of other runs are not listed, because no prompt may depend on what else is played. They can be joined.
    return _offer(requests.CHANNEL, properties, "action", "creature")


def _wire(folded: Folded, caller: CreatureState, crowd: Crowd) -> list[ToolOffer]:
    if not crowd.nearest:
        return []
    ends = crowd.choice([caller, *crowd.nearest])
    loose = _loose(folded, crowd)
    is_possible = {
        "remove": any(creature.id in folded.world.wires_of for creature in (caller, *crowd.nearest)),
        "adopt": bool(loose),
        "release": any(creature.parent is not None for creature in loose),
    }
    actions = ["add", *[action for action, is_now in is_possible.items() if is_now or not crowd.is_whole]]
    properties = {
        "action": {"enum": actions},
        "source": ends,
        "target": ends,
        "with_content": {"type": "boolean"},
        "prompt": _TEXT,
        "when": _TEXT,
    }
    return [_offer(requests.WIRE, properties)]
