"""Cross checks of tools: whether those that a creature is granted are there, and whether it can call them.

Always holds: each check yields what is wrong and changes nothing. Code beside a world is read, never run.
"""

from __future__ import annotations

from collections.abc import Iterator

from glasshouse.manifests.functions_beside import fault_of_function
from glasshouse.manifests.problem import Complaint, nobody_called
from glasshouse.manifests.rehearsal import Rehearsal

_OF_THE_ENGINE = "group_"


def tools_unknown(world: Rehearsal) -> Iterator[Complaint]:
    """Tools that nobody has: neither by name, nor as a function in a file beside the world."""
    if world.tools is None:
        return
    for name, manifest in world.manifests.items():
        if name in world.used:
            for n, tool in enumerate(manifest.tools):
                words = _fault_of_tool(tool, world.tools, world)
                if words:
                    yield Complaint(("tools", n), words, creature=name)


def _fault_of_tool(tool: str, tools: frozenset[str], world: Rehearsal) -> str | None:
    if tool in tools:
        return None
    if ":" not in tool:
        if tool.startswith(_OF_THE_ENGINE):
            return f"{tool} comes with privilege, not by grant. Take it out, and write privileged: true in the cast."
        return f"{nobody_called('tool', tool, sorted(tools))} One of your own is 'file.py:function'."
    return fault_of_function("tool", tool, world.tools_in)


def tools_in_prose(world: Rehearsal) -> Iterator[Complaint]:
    """Creatures that are granted tools and answer in prose, in which no tool can be called."""
    for name, manifest in world.manifests.items():
        if manifest.tools and manifest.reply == "prose":
            yield Complaint(("tools",), "tools are called in JSON. Write reply: json.", creature=name)
