"""What a creature did with a group tool, in a plain sentence without its subject: `hires bo`.

Always holds: a call that is no group tool has no deed. Names are the handles that the call and its answer name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

GROUP_TOOLS: Final = frozenset(
    {
        "group_add_node",
        "group_remove_node",
        "group_start_node",
        "group_stop_node",
        "group_channel",
        "group_wire",
        "group_status",
    }
)
names_moved_max: Final = 6
"""A deed names at most this many creatures that came within hearing or went out of it."""


class Deed(NamedTuple):
    """What was done, in words, and whether somebody came, went, or hears others than before."""

    words: str
    moves_somebody: bool


def deed_of(tool: str, arguments: Mapping[str, str], result: Any, *, refusal: str | None) -> Deed | None:
    """The deed of a call that was answered, or refused for a reason; none if it is no group tool."""
    if tool not in GROUP_TOOLS:
        return None
    given = {name: value.partition("@")[0] for name, value in arguments.items()}
    answer = result if isinstance(result, dict) else {}
    does, to_do, what = _phrase(tool, given, answer)
    what = f" {what}" if what else ""
    if refusal is not None:
        return Deed(f"cannot {to_do}{what}: {refusal}", moves_somebody=False)
    if answer.get("is_forecast"):
        return Deed(f"considers whether to {to_do}{what}", moves_somebody=False)
    change = answer.get("change")
    moves = tool in _WHO_IS_THERE or change in ("merge", "split")
    return Deed(f"{does}{what}{_moved(change, answer)}", moves_somebody=moves)


_WHO_IS_THERE: Final = ("group_add_node", "group_remove_node", "group_start_node", "group_stop_node")


def _phrase(tool: str, given: Mapping[str, str], answer: Mapping[str, Any]) -> tuple[str, str, str]:
    """What it does, the same after "to", and the rest of the sentence."""
    who = given.get("creature", "")
    match tool, given.get("action"):
        case "group_add_node", _:
            born = answer.get("creature") or given.get("handle") or given.get("use") or "somebody"
            return "hires", "hire", str(born)
        case "group_remove_node", _:
            return "sends", "send", f"{who} away"
        case "group_start_node", _:
            return "wakes", "wake", who
        case "group_stop_node", _:
            return "puts", "put", f"{who} to rest"
        case "group_status", _:
            return "looks", "look", "round"
        case "group_channel", action:
            return _channel_phrase(action or "", who, given)
        case _, action:
            return _wire_phrase(action or "", given.get("source", ""), given.get("target", ""))


def _channel_phrase(action: str, who: str, given: Mapping[str, str]) -> tuple[str, str, str]:
    channel = given.get("channel") or given.get("name") or "a channel"
    match action:
        case "open":
            return "opens", "open", f"the channel {given.get('name') or channel}"
        case "close":
            return "closes", "close", f"the channel {channel}"
        case "join":
            return ("brings", "bring", f"{who} to {channel}") if who else ("joins", "join", channel)
        case "leave":
            return ("takes", "take", f"{who} off {channel}") if who else ("leaves", "leave", channel)
        case "rename":
            return "renames", "rename", f"the channel {channel} to {given.get('name', '')}".rstrip()
        case _:
            return "describes", "describe", f"the channel {channel}"


def _wire_phrase(action: str, source: str, target: str) -> tuple[str, str, str]:
    match action:
        case "add":
            return "hands", "hand", f"what {source} says to {target}"
        case "remove":
            return "no longer hands", "no longer hand", f"what {source} says to {target}"
        case "adopt":
            return "makes", "make", f"{target} a child of {source}"
        case _:
            return "lets", "let", f"{target} have no parent"


def _moved(change: object, answer: Mapping[str, Any]) -> str:
    """Who came within hearing, or went out of it."""
    moved = [str(name) for name in answer.get("moved") or ()]
    if change not in ("merge", "split") or not moved:
        return ""
    count = max(len(moved), int(answer.get("moved_count") or 0))
    named = moved[:names_moved_max]
    more = [f"{count - len(named)} more"] if count > len(named) else []
    *before, last = [*named, *more]
    names = f"{', '.join(before)} and {last}" if before else last
    is_one = count == 1
    if change == "merge":
        return f", and {names} {'comes' if is_one else 'come'} within hearing"
    return f", and {names} {'goes' if is_one else 'go'} out of hearing"
