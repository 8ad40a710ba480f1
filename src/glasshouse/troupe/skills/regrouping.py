"""Regrouping: changes to one's own circle by the tools for it, when the talk and the manifest's directions call for them.

Chosen by branches whose tool changes a group. Always holds: somebody is sent for only if what was said calls for them,
and sent home only when they say that their work is done or a direction says so; before strangers are joined, one asks
who is about; what was refused or done in this act is not tried again in it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from glasshouse.troupe import data_files as shelf
from glasshouse.troupe.directions import Direction, directions_of, met_best
from glasshouse.troupe.reactions import acts
from glasshouse.troupe.reading import Reading, ToolSaid
from glasshouse.troupe.skills import branches as replies
from glasshouse.troupe.skills.branches import Branch, Reply
from glasshouse.troupe.skills.choosing import akin
from glasshouse.troupe.speaking import Speaker, name_of
from glasshouse.troupe.surroundings import Circle, bare_name, circle_of
from glasshouse.troupe.vocabulary import stem, stems_of

calls_in_act_max: Final = 6
"""After so many calls in one act it is time to say something."""

_PREFIX: Final = "group_"
_ADD = "group_add_node"
_REMOVE = "group_remove_node"
_CHANNEL = "group_channel"
_WIRE = "group_wire"
_STATUS = "group_status"


class Call(NamedTuple):
    """A tool to use, with its arguments, and what is meant by it."""

    tool: str
    arguments: dict[str, Any]
    aim: str


class Desk(NamedTuple):
    """Everything a change is decided from."""

    reading: Reading
    circle: Circle
    tools: Mapping[str, Branch]

    def words(self, tool: str, field: str) -> list[str]:
        """What a field of a tool may be; none if the tool is not offered or the field takes any word."""
        return self.tools[tool].words_of(field) if tool in self.tools else []

    def used(self, tool: str) -> list[ToolSaid]:
        """The calls of a tool in this act."""
        return [said for said in self.reading.tools_said if said.tool == tool]


def is_group_tool(branch: Branch) -> bool:
    """Whether a branch is a tool that changes or shows a group."""
    return branch.tool.startswith(_PREFIX)


def regrouped(speaker: Speaker, branches: Sequence[Branch]) -> Reply | None:
    """The change that is called for now; none if none is."""
    tools = {branch.tool: branch for branch in branches if is_group_tool(branch)}
    said = speaker.reading.tools_said
    if not tools or len(said) >= calls_in_act_max:
        return None
    desk = Desk(speaker.reading, circle_of(speaker.reading), tools)
    for decide in _CHANGES:
        call = decide(desk)
        if call is not None and not any(_is_same(call, earlier) for earlier in said):
            return replies.call(tools[call.tool], call.arguments, speaker.thought(acts()["offer"], call.aim))
    return None


def _is_same(call: Call, said: ToolSaid) -> bool:
    return call.tool == said.tool and call.arguments == said.arguments


# What may be done, in this order


def _sent_home(desk: Desk) -> Call | None:
    """Whoever says that the work is done, if there is a direction to send such a one home."""
    if not any(direction.is_to("dismiss") for direction in directions_of(desk.reading.me)):
        return None
    around = desk.words(_REMOVE, "creature")
    for line in desk.reading.fresh:
        if line.handle in around and says_it_is_done(line.kind) and line.handle not in _gone(desk):
            return Call(
                _REMOVE, {"creature": line.handle}, f"{name_of(line.handle)} has done the work and may go"
            )
    return None


def _released(desk: Desk) -> Call | None:
    """Whoever a direction names, when its hour has come; if it says to weigh it, after a look at what would come of it."""
    direction = met_best(desk.reading, "dismiss")
    if direction is None:
        return None
    here = (handle for handle in desk.words(_REMOVE, "creature") if handle not in _gone(desk))
    named = [handle for handle in here if direction.names(handle)]
    if not named:
        return None
    arguments: dict[str, Any] = {"creature": named[0]}
    if "weigh" in direction.deed and "dry_run" in desk.tools[_REMOVE].fields and not desk.used(_REMOVE):
        return Call(
            _REMOVE,
            {**arguments, "dry_run": True},
            f"I want to know what it costs if {name_of(named[0])} goes",
        )
    return Call(_REMOVE, {**arguments}, f"{name_of(named[0])} has asked enough and shall go")


def _sent_for(desk: Desk) -> Call | None:
    """The one that the newest talk calls for most, one in an act."""
    if desk.used(_ADD):
        return None
    heard = _said_by_others(desk)
    best: tuple[int, str] | None = None
    for use in desk.words(_ADD, "use"):
        score = _called_for(desk, use, heard)
        is_needed = score and not _is_here(desk, use) and use not in _gone(desk)
        if is_needed and (best is None or score > best[0]):
            best = (score, use)
    if best is None:
        return None
    return Call(_ADD, {"use": best[1]}, f"for that there is {name_of(best[1])}")


def _written(desk: Desk) -> Call | None:
    """Somebody nobody wrote, whom a direction sends for, where a new creature may be written."""
    if desk.used(_ADD) or _ADD not in desk.tools or not desk.tools[_ADD].takes_text("persona"):
        return None
    direction = met_best(desk.reading, "spawn")
    name = None if direction is None else direction.sent_for
    listed = [use for use in desk.words(_ADD, "use") if direction is not None and direction.names(use)]
    if name is None or listed or _is_here(desk, name):
        return None
    plain = name.replace("-", " ")
    me = desk.reading.me.handle
    arguments = {
        "handle": name,
        "role": plain,
        "persona": f"Knows what a {plain} knows, and says it plainly.",
        "wants": f"To tell {me} what a {plain} would do.",
    }
    return Call(_ADD, arguments, f"nobody here is a {plain}, so there shall be one")


def _said_by_others(desk: Desk) -> frozenset[str]:
    """The stems of what is new and was not said by anybody who was sent for."""
    uses = desk.words(_ADD, "use")
    reading = desk.reading
    lines = [*reading.fresh, *([] if reading.cause is None else [reading.cause])]
    texts = [line.text for line in lines if line.handle.split("~", maxsplit=1)[0] not in uses]
    return frozenset[str]().union(*map(stems_of, texts))


def _called_for(desk: Desk, use: str, heard: frozenset[str]) -> int:
    """How much of what was heard is what a direction, or its own name, says it is for."""
    spawning = (direction for direction in directions_of(desk.reading.me) if direction.is_to("spawn"))
    scores = [len(direction.cue & heard) for direction in spawning if direction.names(use)]
    return max(scores) if scores else akin(use, heard)


def _is_here(desk: Desk, use: str) -> bool:
    return any(name.split("~", maxsplit=1)[0] == use for name in desk.circle.channels_of)


def _wired(desk: Desk) -> Call | None:
    """My own lines to whoever was just sent for, where a direction or a want says to hand them on."""
    new = [handle for handle in _born(desk, _WIRE, "target") if handle not in desk.circle.handed_to]
    me = desk.reading.me
    manifest = _manifest_text(desk)
    is_meant = " wire " in manifest or " hand " in manifest
    if not new or me.handle not in desk.words(_WIRE, "source") or not is_meant:
        return None
    arguments = {"action": "add", "source": me.handle, "target": new[-1]}
    return Call(_WIRE, arguments, f"{name_of(new[-1])} must hear what I say")


def _put_on_channel(desk: Desk) -> Call | None:
    """Whoever was just sent for, on the channel of mine that my manifest says to put them on: `put them on the deck`."""
    manifest = _manifest_text(desk)
    for channel in desk.circle.speaks_on:
        new = [
            handle
            for handle in _born(desk, _CHANNEL, "creature")
            if channel not in desk.circle.channels_of.get(handle, ())
        ]
        if new and f" put them on the {channel} " in manifest:
            arguments = {"action": "join", "channel": channel, "creature": new[-1]}
            return Call(_CHANNEL, arguments | _both_ways(desk), f"everybody must hear {name_of(new[-1])}")
    return None


def _born(desk: Desk, tool: str, field: str) -> list[str]:
    """Those among the names that a tool offers who were sent for in this act."""
    added = [said.arguments for said in desk.used(_ADD) if said.is_ok]
    born = [str(arguments.get("use") or arguments.get("handle")) for arguments in added]
    return [handle for handle in desk.words(tool, field) if handle.split("~", maxsplit=1)[0] in born]


def _manifest_text(desk: Desk) -> str:
    """What my manifest says I want and am, as words between blanks."""
    me = desk.reading.me
    return f" {me.wants} {me.persona} ".lower().replace(".", " ").replace(",", " ")


def _joined(desk: Desk) -> Call | None:
    """Strangers that a direction says to join: first who is about, then those it names, or one."""
    direction = met_best(desk.reading, "join")
    if direction is None or "join" not in desk.words(_CHANNEL, "action") or not desk.circle.speaks_on:
        return None
    if any(said.arguments.get("action") == "leave" for said in desk.used(_CHANNEL)):
        return None
    wanted = _wanted(desk, direction)
    asked = desk.used(_STATUS)
    if not asked and "terrarium" in desk.words(_STATUS, "scope"):
        is_settled = bool(desk.circle.guests) and not wanted
        return None if is_settled else Call(_STATUS, {"scope": "terrarium"}, "I must know who else is about")
    if not wanted:
        return None
    arguments = {"action": "join", "channel": desk.circle.speaks_on[0], "creature": wanted[0]}
    return Call(
        _CHANNEL, arguments | _both_ways(desk), f"{name_of(bare_name(wanted[0]))} must be with us now"
    )


def _wanted(desk: Desk, direction: Direction) -> list[str]:
    """Whom to join that is not with me yet and was not tried in this act."""
    tried = {said.arguments.get("creature") for said in desk.used(_CHANNEL)}
    known = desk.words(_CHANNEL, "creature") or _names_told(desk)
    newest = {bare_name(name): name for name in known}
    strangers = [name for name in newest.values() if not desk.circle.is_on_mine(name) and name not in tried]
    named = [name for name in strangers if direction.names(name)]
    if named or any(direction.names(name) for name in (*known, *desk.circle.channels_of)):
        return named
    around = {*desk.circle.channels_of, desk.reading.me.handle}
    outside = [name for name in strangers if bare_name(name) not in around]
    return [] if desk.circle.guests or tried else outside[:1]


def _names_told(desk: Desk) -> list[str]:
    """The names in what the tools said of others, where no list of them is offered."""
    text = " ".join(said.text for said in desk.used(_STATUS))
    me = desk.reading.me
    words = dict.fromkeys(part.strip("\"'.,;:()[]{}") for part in text.replace(",", " ").split())
    directions = directions_of(me)
    return [word for word in words if word != me.handle and any(known.names(word) for known in directions)]


def _both_ways(desk: Desk) -> dict[str, str]:
    return {"direction": "both"} if "both" in desk.words(_CHANNEL, "direction") else {}


def _parted(desk: Desk) -> Call | None:
    """Guests of my channels leave them when a direction says so; whoever was named the winner stays."""
    direction = met_best(desk.reading, "part")
    if direction is None or "leave" not in desk.words(_CHANNEL, "action"):
        return None
    winners = {line.fields.get("winner") for line in desk.reading.fresh}
    gone = {said.arguments.get("creature") for said in desk.used(_CHANNEL)}
    for guest in desk.circle.guests:
        if guest not in winners | gone:
            channels = desk.circle.channels_of[guest]
            channel = next(channel for channel in channels if channel in desk.circle.speaks_on)
            arguments = {"action": "leave", "channel": channel, "creature": guest}
            return Call(_CHANNEL, arguments, f"it is time that {name_of(guest)} and we part")
    return None


def _gone(desk: Desk) -> set[str]:
    calls = [said.arguments for said in desk.used(_REMOVE)]
    return {str(arguments.get("creature")) for arguments in calls if not arguments.get("dry_run")}


def says_it_is_done(kind: str) -> bool:
    """Whether a kind's own name says that some work is over."""
    return stem(kind.rsplit(".", maxsplit=1)[-1]) in {
        stem(word) for word in shelf.words_listed("circles.txt", "over")
    }


_CHANGES: Final[tuple[Callable[[Desk], Call | None], ...]] = (
    _sent_home,
    _released,
    _sent_for,
    _written,
    _wired,
    _put_on_channel,
    _parted,
    _joined,
)
