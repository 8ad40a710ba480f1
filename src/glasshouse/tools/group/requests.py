"""What a call of a group tool asks for: its arguments read, the names in it looked up, the policy asked.

Always holds: nothing is changed here. A request comes to one intent of the world, the same that the API makes, or to a
refusal that names the call or the wait that would work.
"""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

import msgspec

from glasshouse.errors import Refused, UnknownName
from glasshouse.events.event import Json
from glasshouse.events.payloads import Direction
from glasshouse.runtime.folded import Folded
from glasshouse.tools.group.names import channel_called, creature_called, creature_called_anywhere
from glasshouse.turns.runs.policy import (
    Deed,
    is_protected,
    refusal_of_birth,
    refusal_of_edit,
    refusal_to_touch,
)
from glasshouse.world.decisions.intents import (
    AddChannel,
    AddWire,
    Connect,
    Intent,
    JoinChannel,
    LeaveChannel,
    RemoveChannel,
    RemoveCreature,
    RemoveWire,
    Spawn,
    StartCreature,
    StopCreature,
)
from glasshouse.world.state.state import CreatureState

ADD_NODE: Final = "group_add_node"
REMOVE_NODE: Final = "group_remove_node"
START_NODE: Final = "group_start_node"
STOP_NODE: Final = "group_stop_node"
CHANNEL: Final = "group_channel"
WIRE: Final = "group_wire"
STATUS: Final = "group_status"

ChannelAction = Literal["open", "close", "join", "leave"]
Ways = Literal["listen", "send", "both"]

_BOTH: Final[tuple[Direction, ...]] = ("listen", "send")


class Arguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What the arguments of every group tool share."""

    dry_run: bool = False


class AddNode(Arguments, frozen=True, kw_only=True):
    """`group_add_node`."""

    use: str
    handle: str | None = None
    profile: str | None = None


class OneNode(Arguments, frozen=True, kw_only=True):
    """`group_remove_node`, `group_start_node`, `group_stop_node`."""

    creature: str


class ChannelEdit(Arguments, frozen=True, kw_only=True):
    """`group_channel`."""

    action: ChannelAction
    channel: str | None = None
    creature: str | None = None
    direction: Ways = "both"
    description: str = ""


class WireEdit(Arguments, frozen=True, kw_only=True):
    """`group_wire`."""

    action: Literal["add", "remove"]
    source: str
    target: str
    with_content: bool = True
    prompt: str | None = None
    when: str | None = None


class Look(Arguments, frozen=True, kw_only=True):
    """`group_status`."""

    scope: Literal["graph", "terrarium"] = "graph"


AnyArguments: TypeAlias = AddNode | OneNode | ChannelEdit | WireEdit | Look

ARGUMENTS: Final[dict[str, type[AnyArguments]]] = {
    ADD_NODE: AddNode,
    REMOVE_NODE: OneNode,
    START_NODE: OneNode,
    STOP_NODE: OneNode,
    CHANNEL: ChannelEdit,
    WIRE: WireEdit,
    STATUS: Look,
}
"""The group tools, each with what it takes."""


class Request(msgspec.Struct, frozen=True):
    """What a call comes to."""

    intent: Intent
    deed: str
    """What it does, as in 'remove moth'."""
    done: str
    """The same when it is done, as in 'moth is removed'."""
    is_risky: bool = False
    """Whether it takes something away or lets others in: then it must not come from words of strangers."""
    stranger: str | None = None
    """Who of another graph is joined."""


def arguments_of(tool: str, given: Json) -> AnyArguments:
    """The arguments of a call, or a refusal that lists them. What is empty counts as left out."""
    wanted = ARGUMENTS[tool]
    told = {name: value for name, value in given.items() if value is not None and value != ""}
    try:
        return msgspec.convert(told, wanted)
    except msgspec.ValidationError as wrong:
        raise Refused(f"{tool} cannot be called so: {wrong}.", f"It takes {_fields(wanted)}.") from wrong


def _fields(wanted: type[AnyArguments]) -> str:
    told = [f"{one.name} (required)" if one.required else one.name for one in msgspec.structs.fields(wanted)]
    return ", ".join(sorted(told, key=lambda name: "(required)" not in name))


def request_of(folded: Folded, caller: CreatureState, tool: str, given: AnyArguments) -> Request:
    """What a call asks of the world as it is now, or a refusal."""
    refusal = refusal_of_edit(folded.runs, caller)
    if refusal is not None:
        raise refusal
    match given:
        case AddNode():
            return _birth(folded, caller, given)
        case OneNode():
            return _of_one(folded, caller, tool, given.creature)
        case ChannelEdit():
            return _CHANNEL_REQUESTS[given.action](folded, caller, given)
        case WireEdit():
            return _of_wire(folded, caller, given)
        case Look():
            raise Refused(f"{tool} changes nothing.", "Use it without asking first.")


def _birth(folded: Folded, caller: CreatureState, given: AddNode) -> Request:
    purse = folded.runs.purses.get(caller.run_id or "")
    spawnable = {} if purse is None else purse.spawnable
    if not spawnable:
        raise Refused(
            "Nobody can be born in this run: its scenario lists nothing under spawnable.",
            "Use who is there: group_status tells you.",
        )
    if given.use not in spawnable:
        raise UnknownName(noun="creature that may be born", name=given.use, known=spawnable)
    profiles = [] if purse is None else purse.profiles
    if given.profile is not None and given.profile not in profiles:
        raise UnknownName(noun="profile of this run", name=given.profile, known=profiles)
    refusal = refusal_of_birth(folded.world, folded.runs, caller)
    if refusal is not None:
        raise refusal
    intent = Spawn(caller.id, given.use, spawnable[given.use], given.handle, given.profile)
    return Request(intent, f"bring a {given.use} to life", f"A {given.use} is born")


def _of_one(folded: Folded, caller: CreatureState, tool: str, name: str) -> Request:
    creature = creature_called(folded.world, caller, name)
    if tool == REMOVE_NODE:
        _check_touch(folded, caller, creature, "removed")
        return Request(
            RemoveCreature(creature.id),
            f"remove {creature.handle}",
            f"{creature.handle} is removed",
            is_risky=True,
        )
    if tool == STOP_NODE:
        _check_touch(folded, caller, creature, "stopped")
        return Request(
            StopCreature(creature.id), f"stop {creature.handle}", f"{creature.handle} rests", is_risky=True
        )
    _check_touch(folded, caller, creature, "started")
    return Request(StartCreature(creature.id), f"start {creature.handle}", f"{creature.handle} runs")


def _check_touch(folded: Folded, caller: CreatureState, target: CreatureState, deed: Deed) -> None:
    refusal = refusal_to_touch(folded.runs, caller, target, deed)
    if refusal is not None:
        raise refusal


def _open(_folded: Folded, caller: CreatureState, given: ChannelEdit) -> Request:
    name = _the_channel_named(given)
    intent = AddChannel(caller.graph_id, name, given.description)
    return Request(intent, f"open the channel {name}", f"The channel {name} is open, and nobody is on it yet")


def _close(folded: Folded, caller: CreatureState, given: ChannelEdit) -> Request:
    channel = channel_called(folded.world, caller, _the_channel_named(given))
    for name in folded.world.topology.members_of.get(channel.id, ()):
        member = folded.world.creatures[name]
        if is_protected(folded.runs, member):
            _check_touch(folded, caller, member, "taken off a channel")
    intent = RemoveChannel(caller.graph_id, channel.id)
    return Request(
        intent, f"close the channel {channel.name}", f"The channel {channel.name} is closed", is_risky=True
    )


def _join(folded: Folded, caller: CreatureState, given: ChannelEdit) -> Request:
    creature = caller
    if given.creature is not None:
        creature = creature_called_anywhere(folded, caller, given.creature)
    if creature.graph_id != caller.graph_id:
        return _merge(folded, caller, creature, given)
    channel = channel_called(folded.world, caller, _the_channel_named(given))
    intent = JoinChannel(creature.id, channel.id, _directions(given.direction))
    return Request(
        intent, f"put {creature.handle} on {channel.name}", f"{creature.handle} is on {channel.name}"
    )


def _merge(folded: Folded, caller: CreatureState, stranger: CreatureState, given: ChannelEdit) -> Request:
    """Somebody of another graph: the caller meets it on the channel, on which both are then."""
    channel_id = None
    if given.channel is not None:
        channel_id = channel_called(folded.world, caller, given.channel).id
    source, target = (stranger, caller) if given.direction == "send" else (caller, stranger)
    intent = Connect(source.id, target.id, channel_id, both=given.direction == "both")
    deed, done = f"join {stranger.handle}'s graph", f"You are one graph with {stranger.handle}"
    return Request(intent, deed, done, is_risky=True, stranger=stranger.id)


def _leave(folded: Folded, caller: CreatureState, given: ChannelEdit) -> Request:
    creature = caller if given.creature is None else creature_called(folded.world, caller, given.creature)
    channel = channel_called(folded.world, caller, _the_channel_named(given))
    _check_touch(folded, caller, creature, "taken off a channel")
    intent = LeaveChannel(creature.id, channel.id, _directions(given.direction))
    return Request(
        intent,
        f"take {creature.handle} off {channel.name}",
        f"{creature.handle} is off {channel.name}",
        is_risky=True,
    )


_CHANNEL_REQUESTS: Final = {"open": _open, "close": _close, "join": _join, "leave": _leave}


def _the_channel_named(given: ChannelEdit) -> str:
    if given.channel is None:
        raise Refused(f"To {given.action} a channel takes its name.", "Give channel.")
    return given.channel


def _directions(ways: Ways) -> tuple[Direction, ...]:
    return _BOTH if ways == "both" else (ways,)


def _of_wire(folded: Folded, caller: CreatureState, given: WireEdit) -> Request:
    source = creature_called(folded.world, caller, given.source)
    target = creature_called(folded.world, caller, given.target)
    if given.action == "remove":
        return Request(
            RemoveWire(source.id, target.id),
            f"unwire {source.handle} from {target.handle}",
            f"{source.handle} is no longer wired to {target.handle}",
        )
    intent = AddWire(source.id, target.id, given.with_content, given.prompt, given.when)
    return Request(
        intent,
        f"wire {source.handle} to {target.handle}",
        f"What {source.handle} says is handed to {target.handle}",
    )
