"""Requests of group tools: a call's arguments are read, its names are looked up, and the policy is checked.

Always holds: nothing changes here. A call becomes one intent, the same that the API makes, or a refusal that says what
would work. ADR 0035.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Final, Literal, TypeAlias

import msgspec

from glasshouse.errors import Refused, UnknownName
from glasshouse.events import redaction
from glasshouse.events.event import Json
from glasshouse.events.payloads import Direction
from glasshouse.manifests.manifest import Manifest
from glasshouse.runtime.folded import Folded
from glasshouse.tools.group.lookup import (
    channel_called,
    creature_called,
    creature_called_anywhere,
    names_in_words_max,
)
from glasshouse.turns.moment.line_text import one_line
from glasshouse.turns.runs import policy
from glasshouse.world.decisions import intents
from glasshouse.world.state.ids import check_handle
from glasshouse.world.state.state import CreatureState, World

ADD_NODE: Final = redaction.ADD_NODE
REMOVE_NODE: Final = "group_remove_node"
START_NODE: Final = "group_start_node"
STOP_NODE: Final = "group_stop_node"
CHANNEL: Final = "group_channel"
WIRE: Final = "group_wire"
STATUS: Final = "group_status"

role_chars_max: Final = 80
"""A longer role of a creature that a model writes is refused."""
persona_chars_max: Final = 1_000
"""A longer persona of a creature that a model writes is refused."""
wants_chars_max: Final = 400
"""A longer text of what a creature that a model writes wants is refused."""

WRITTEN_CHARS_MAX: Final = {"role": role_chars_max, "persona": persona_chars_max, "wants": wants_chars_max}
"""What a model may write of a creature, and how much."""

_DIRECTIONS: Final[dict[str, tuple[Direction, ...]]] = {
    "listen": ("listen",),
    "send": ("send",),
    "both": ("listen", "send"),
}
_RISKY: Final = (
    intents.Connect,
    intents.LeaveChannel,
    intents.RemoveChannel,
    intents.RemoveCreature,
    intents.StopCreature,
)
"""Intents that remove something or let others in. They need approval if strangers' words may have caused them."""


class Arguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The arguments that every group tool has."""

    dry_run: bool = False


class AddNode(Arguments, frozen=True, kw_only=True):
    """`group_add_node`."""

    use: str | None = None
    handle: str | None = None
    profile: str | None = None
    role: str | None = None
    persona: str | None = None
    wants: str | None = None


class OneNode(Arguments, frozen=True, kw_only=True):
    """`group_remove_node`, `group_start_node`, `group_stop_node`."""

    creature: str


class ChannelEdit(Arguments, frozen=True, kw_only=True):
    """`group_channel`."""

    action: Literal["open", "close", "join", "leave", "rename", "describe"]
    channel: str | None = None
    name: str | None = None
    creature: str | None = None
    direction: Literal["listen", "send", "both"] = "both"
    description: str = ""


class WireEdit(Arguments, frozen=True, kw_only=True):
    """`group_wire`."""

    action: Literal["add", "remove", "adopt", "release"]
    source: str
    target: str
    with_content: bool = True
    prompt: str | None = None
    when: str | None = None


class Look(Arguments, frozen=True, kw_only=True):
    """`group_status`."""

    scope: Literal["graph", "terrarium"] = "graph"


Edit: TypeAlias = AddNode | OneNode | ChannelEdit | WireEdit

ARGUMENTS: Final[dict[str, type[Edit | Look]]] = {
    ADD_NODE: AddNode,
    REMOVE_NODE: OneNode,
    START_NODE: OneNode,
    STOP_NODE: OneNode,
    CHANNEL: ChannelEdit,
    WIRE: WireEdit,
    STATUS: Look,
}
"""The group tools, each with the type of its arguments."""


class Request(msgspec.Struct, frozen=True):
    """One call as an intent, with the words that describe it."""

    intent: intents.Intent
    deed: str
    """What it does, as in 'remove moth'."""
    done: str
    """The same when it is done, as in 'moth is removed'."""
    stranger: str | None = None
    """The creature of another graph that the caller connects to."""
    meets_other_run: bool = False
    """Whether policy wants a yes from outside because the other graph holds creatures of another run."""
    is_written: bool = False
    """Whether it adds a creature that a model wrote."""
    is_join_within_run: bool = False
    """Whether it joins two graphs in which only creatures of the caller's run are."""

    @property
    def is_risky(self) -> bool:
        """Whether it needs approval if strangers' words may have caused it."""
        return self.is_written or isinstance(self.intent, _RISKY)


def arguments_of(tool: str, given: Json) -> Edit | Look:
    """The arguments of a call, or a refusal that lists them. Empty values are ignored."""
    wanted = ARGUMENTS[tool]
    try:
        return msgspec.convert({name: part for name, part in given.items() if part not in (None, "")}, wanted)
    except msgspec.ValidationError as wrong:
        fields = sorted(msgspec.structs.fields(wanted), key=lambda field: not field.required)
        names = ", ".join([f"{field.name} (required)" if field.required else field.name for field in fields])
        raise Refused(f"{tool} cannot be called so: {wrong}.", f"It takes {names}.") from wrong


def request_of(folded: Folded, caller: CreatureState, tool: str, given: Edit) -> Request:
    """The request of a call in the current world, or a refusal."""
    _raise(policy.refusal_of_edit(folded.runs, caller))
    match given:
        case AddNode():
            return _birth(folded, caller, given)
        case OneNode():
            return _node(folded, caller, tool, given)
        case ChannelEdit():
            return _CHANNEL_REQUESTS[given.action](folded, caller, given)
        case WireEdit():
            return _wire(folded, caller, given)


def _raise(refusal: Refused | None) -> None:
    if refusal is not None:
        raise refusal


def _nobody_spawnable(folded: Folded, caller: CreatureState) -> Refused:
    """The refusal of a birth where nothing is listed. Who reads it can list somebody: in the scenario, or where code
    adds creatures."""
    purse = folded.runs.purses.get(caller.run_id or "")
    if purse is None or not purse.playbill.name:
        return Refused(
            f"Nobody can be born here: this run has no scenario, and {caller.handle} was added without may_spawn.",
            "Use who is there: group_status tells you. Who adds it may list creatures: add_creature(…, may_spawn=[…]).",
        )
    return Refused(
        "Nobody can be born in this run: its scenario lists nothing under spawnable.",
        "Use who is there: group_status tells you.",
    )


def _birth(folded: Folded, caller: CreatureState, given: AddNode) -> Request:
    listed = policy.spawnable_by(folded.runs, caller)
    may_write = policy.policy_of(folded.runs, caller).spawn == "written"
    if not listed and not may_write:
        raise _nobody_spawnable(folded, caller)
    profiles = policy.profiles_for(folded.runs, caller)
    if given.profile is not None and given.profile not in profiles:
        raise UnknownName(noun="profile of this run", name=given.profile, known=profiles)
    written = [name for name in WRITTEN_CHARS_MAX if getattr(given, name) is not None]
    if written and not may_write:
        raise Refused(
            f"The policy of this run lets nobody write a creature, and {written[0]} was given.",
            f"Use one that is listed: {', '.join(islice(listed, names_in_words_max))}.",
        )
    if written and given.use is not None:
        raise Refused(f"{given.use} is written already.", f"Leave out use, or leave out {written[0]}.")
    _raise(policy.refusal_of_birth(folded.world, folded.runs, caller))
    if given.use is None and may_write:
        return _written(folded.world, caller, given, listed)
    if given.use is None:
        raise Refused("Nobody is named who shall be born.", f"Give use: one of {', '.join(listed)}.")
    if given.use not in listed:
        raise UnknownName(noun="creature that may be born", name=given.use, known=listed)
    intent = intents.Spawn(caller.id, given.use, listed[given.use], given.handle, given.profile)
    return Request(intent, f"bring a {given.use} to life", f"A {given.use} is born")


def _written(world: World, caller: CreatureState, given: AddNode, listed: Json) -> Request:
    """Add a creature that the caller's model wrote: text only, in bounds, without tools and rights (ADR 0057)."""
    texts = {name: one_line(getattr(given, name) or "") for name in WRITTEN_CHARS_MAX}
    if not given.handle or not texts["persona"]:
        raise Refused("A creature that you write needs a handle and a persona.", "Give both.")
    for name, chars_max in WRITTEN_CHARS_MAX.items():
        if len(texts[name]) > chars_max:
            raise Refused(
                f"{name} has {len(texts[name]):,} characters, and at most {chars_max:,} are taken.",
                "Write it shorter.",
            )
    check_handle(given.handle)
    name = given.handle.partition("~")[0]
    if name in listed:
        raise Refused(f"{name} is written already.", f"Give use: {name}, or another handle.")
    role = f"You are the {texts['role']}. " if texts["role"] else ""
    persona = f"{role}{texts['persona']}"
    manifest = Manifest(name=name, bio=texts["role"], persona=persona, wants=texts["wants"]).as_json()
    profile = given.profile or world.facts_of(caller).model_profile
    intent = intents.Spawn(caller.id, name, manifest, given.handle, profile)
    deed = f"write the new creature {given.handle}"
    return Request(intent, deed, f"{given.handle} is born", is_written=True)


def _node(folded: Folded, caller: CreatureState, tool: str, given: OneNode) -> Request:
    intent_type, verb, deed, done = _NODE_EDITS[tool]
    creature = creature_called(folded.world, caller, given.creature)
    _raise(policy.refusal_to_touch(folded.runs, caller, creature, deed))
    return Request(intent_type(creature.id), f"{verb} {creature.handle}", f"{creature.handle} {done}")


_NODE_EDITS: Final[dict[str, tuple[Callable[[str], intents.Intent], str, policy.Deed, str]]] = {
    REMOVE_NODE: (intents.RemoveCreature, "remove", "removed", "is removed"),
    START_NODE: (intents.StartCreature, "start", "started", "runs"),
    STOP_NODE: (intents.StopCreature, "stop", "stopped", "rests"),
}


def _open(_folded: Folded, caller: CreatureState, given: ChannelEdit) -> Request:
    name = _channel_name(given)
    intent = intents.AddChannel(caller.graph_id, name, given.description)
    return Request(intent, f"open the channel {name}", f"The channel {name} is open, and nobody is on it yet")


def _close(folded: Folded, caller: CreatureState, given: ChannelEdit) -> Request:
    channel = channel_called(folded.world, caller, _channel_name(given))
    for creature_id in folded.world.topology.members_of.get(channel.id, ()):
        member = folded.world.creatures[creature_id]
        if policy.is_protected(folded.runs, member):
            _raise(policy.refusal_to_touch(folded.runs, caller, member, "taken off a channel"))
    intent = intents.RemoveChannel(caller.graph_id, channel.id)
    return Request(intent, f"close the channel {channel.name}", f"The channel {channel.name} is closed")


def _join(folded: Folded, caller: CreatureState, given: ChannelEdit) -> Request:
    creature = caller if given.creature is None else creature_called_anywhere(folded, caller, given.creature)
    if creature.graph_id != caller.graph_id:
        return _merge(folded, caller, creature, given)
    channel = channel_called(folded.world, caller, _channel_name(given))
    intent = intents.JoinChannel(creature.id, channel.id, _DIRECTIONS[given.direction])
    handle = creature.handle
    name = channel.name
    return Request(intent, f"put {handle} on {name}", f"{handle} is on {name}")


def _merge(folded: Folded, caller: CreatureState, stranger: CreatureState, given: ChannelEdit) -> Request:
    """Connect the caller to a creature of another graph; then both are on the channel."""
    graph = folded.world.graphs[stranger.graph_id]
    rule = policy.rule_of_joining(folded.world, folded.runs, caller, graph)
    if rule == "refuse":
        raise Refused(
            f"Creatures of another run are in {stranger.handle}'s graph, and policy refuses to join them.",
            "Work with the creatures of your own run.",
        )
    channel_id = None if given.channel is None else channel_called(folded.world, caller, given.channel).id
    source, target = (stranger, caller) if given.direction == "send" else (caller, stranger)
    intent = intents.Connect(source.id, target.id, channel_id, both=given.direction == "both")
    deed = f"join {stranger.handle}'s graph"
    done = f"You are one graph with {stranger.handle}"
    is_within_run = policy.is_join_within_run(folded.world, caller, graph)
    return Request(
        intent,
        deed,
        done,
        stranger.id,
        meets_other_run=rule == "ask",
        is_join_within_run=is_within_run,
    )


def _leave(folded: Folded, caller: CreatureState, given: ChannelEdit) -> Request:
    creature = caller if given.creature is None else creature_called(folded.world, caller, given.creature)
    channel = channel_called(folded.world, caller, _channel_name(given))
    _raise(policy.refusal_to_touch(folded.runs, caller, creature, "taken off a channel"))
    intent = intents.LeaveChannel(creature.id, channel.id, _DIRECTIONS[given.direction])
    handle = creature.handle
    name = channel.name
    return Request(intent, f"take {handle} off {name}", f"{handle} is off {name}")


def _rename(folded: Folded, caller: CreatureState, given: ChannelEdit) -> Request:
    channel = channel_called(folded.world, caller, _channel_name(given))
    if given.name is None:
        raise Refused("To rename a channel takes its new name too.", "Give name.")
    intent = intents.RenameChannel(caller.graph_id, channel.id, given.name)
    done = f"The channel {channel.name} is called {given.name}"
    return Request(intent, f"rename the channel {channel.name} to {given.name}", done)


def _describe(folded: Folded, caller: CreatureState, given: ChannelEdit) -> Request:
    channel = channel_called(folded.world, caller, _channel_name(given))
    intent = intents.DescribeChannel(caller.graph_id, channel.id, given.description)
    return Request(
        intent, f"describe the channel {channel.name}", f"The channel {channel.name} is described so"
    )


_CHANNEL_REQUESTS: Final = {
    "open": _open,
    "close": _close,
    "join": _join,
    "leave": _leave,
    "rename": _rename,
    "describe": _describe,
}


def _channel_name(given: ChannelEdit) -> str:
    if given.channel is None:
        raise Refused(f"To {given.action} a channel takes its name.", "Give channel.")
    return given.channel


def _wire(folded: Folded, caller: CreatureState, given: WireEdit) -> Request:
    source = creature_called(folded.world, caller, given.source)
    target = creature_called(folded.world, caller, given.target)
    speaker = source.handle
    listener = target.handle
    if given.action in ("adopt", "release"):
        return _parent(folded, caller, source, target, given)
    if given.action == "remove":
        done = f"{speaker} is no longer wired to {listener}"
        return Request(intents.RemoveWire(source.id, target.id), f"unwire {speaker} from {listener}", done)
    intent = intents.AddWire(source.id, target.id, given.with_content, given.prompt, given.when)
    done = f"What {speaker} says is handed to {listener}"
    return Request(intent, f"wire {speaker} to {listener}", done)


def _parent(
    folded: Folded, caller: CreatureState, source: CreatureState, target: CreatureState, given: WireEdit
) -> Request:
    """Make `source` the parent of `target`, or end that."""
    _raise(policy.refusal_to_touch(folded.runs, caller, target, "given another parent"))
    parent = source.handle
    child = target.handle
    if given.action == "adopt":
        intent = intents.SetParent(target.id, source.id)
        return Request(intent, f"make {child} a child of {parent}", f"{child} is a child of {parent}")
    if target.parent != source.id:
        raise Refused(
            f"{parent} is not the parent of {child}.", "See with group_status who its children are."
        )
    return Request(intents.SetParent(target.id), f"let {child} have no parent", f"{child} has no parent")
