"""Ids and names: how ids are made, which names are allowed, and what they stand for in a world.

Always holds: an id is a function of what it names, so the same story gives the same ids. A creature's id is never used
twice in one terrarium, even after the creature was removed (ADR 0008). An unknown name is refused with a suggestion.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from typing import TypeVar

from glasshouse.errors import Refused, UnknownName, in_brief
from glasshouse.events.event import RESERVED_ACTORS
from glasshouse.world.state import state
from glasshouse.world.state.state import GraphState, World

T = TypeVar("T")

name_chars_max = 64
"""A longer name of a creature, handle or channel is refused (`Refused`)."""
SPOKEN_FOR = frozenset({"world", "nobody"})
"""Words with a fixed meaning in prompts and verdicts. No creature and no team may be named so."""
text_chars_max = 16_384
"""A longer channel description, or visitor's line, is refused."""
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]*")
_RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_NUMBERED_NAME = re.compile(r"[a-z0-9][a-z0-9_-]*(~([2-9]|[1-9][0-9]{1,8}))?")


def short_hash(*parts: str) -> str:
    """A hash of these parts in this order: sixteen hexadecimal characters."""
    return blake2b("\x1f".join(parts).encode(), digest_size=8).hexdigest()


def session_id_for(origin: str, parents: Iterable[str], ordinal: int, house_id: str = "") -> str:
    """The id of a session: a hash of the operation that made it, its parents and its ordinal."""
    return "s-" + short_hash(origin, house_id, *parents, str(ordinal))


def free_session_id(world: World, origin: str, parents: Iterable[str], ordinal: int) -> str:
    """The id of a new session. If an imported session already has it, the id of the next ordinal."""
    # A root has no parents in its hash, so the house id keeps roots of two houses apart.
    house_id = world.house_id if origin == "root" else ""
    parents = tuple(parents)
    while (name := session_id_for(origin, parents, ordinal, house_id)) in world.sessions:
        ordinal += 1
    return name


def graph_id_for(session_id: str) -> str:
    """The id of the graph that begins with this session."""
    return "g-" + session_id.removeprefix("s-")


def channel_id_for(session_id: str, seq: int) -> str:
    """The id of the channel that this event opens."""
    return "c-" + short_hash("channel", session_id, str(seq))


def wire_id_for(source: str, target: str) -> str:
    """The id of the wire between two creatures. There is at most one wire in each direction."""
    return "w-" + short_hash("wire", source, target)


def check_name(noun: str, name: str) -> None:
    """Refuse a creature's name that could be mistaken for something else."""
    _check(noun, name, _NAME)
    _check_not_reserved(noun, name)


def name_made_of(text: str, otherwise: str) -> str:
    """A valid name that is as near to a text as can be; `otherwise` if nothing of the text can be kept."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    name = re.sub(r"[^a-z0-9_]+", "-", plain).strip("-_")[:name_chars_max] or otherwise
    return f"{name}-{otherwise}" if name in RESERVED_ACTORS else name


def check_handle(handle: str) -> None:
    """Refuse a handle that could be mistaken for something else. A number as in `ada~2` may follow."""
    _check("handle", handle, _NUMBERED_NAME)
    _check_not_reserved("handle", handle)
    check_not_spoken_for(handle)


def check_not_spoken_for(name: str) -> None:
    """Refuse a name that every prompt and every verdict uses for something else."""
    if name.partition("~")[0] in SPOKEN_FOR:
        raise Refused(f"{name!r} is reserved: it has a fixed meaning in every world.", "Choose another name.")


def _check_not_reserved(noun: str, name: str) -> None:
    if name.partition("~")[0] in RESERVED_ACTORS:
        raise Refused(f"{name!r} is reserved for the engine.", f"Choose another {noun}.")


def check_channel_name(name: str) -> None:
    """Refuse a malformed channel name."""
    _check("channel name", name, _NUMBERED_NAME)


def check_run_id(run_id: object) -> None:
    """Refuse a run id that is not one plain word."""
    if not isinstance(run_id, str) or not _RUN_ID.fullmatch(run_id):
        raise Refused(
            f"{run_id!r} is not a run id.", "Use letters, digits, '-', '_' and '.', 64 characters at most."
        )


def check_length(noun: str, text: object) -> None:
    """Refuse a text that would not fit into an event."""
    if isinstance(text, str) and len(text) > text_chars_max:
        raise Refused(f"The {noun} has {len(text):,} characters.", f"Write at most {text_chars_max:,}.")


def _check(noun: str, name: object, pattern: re.Pattern[str]) -> None:
    if (
        not isinstance(name, str)
        or len(name.partition("~")[0]) > name_chars_max
        or not pattern.fullmatch(name)
    ):
        raise Refused(
            f"{in_brief(name)} is not a {noun}.",
            f"Use lower-case letters, digits, '-' and '_', {name_chars_max} characters at most.",
        )


def free_creature_id(world: World, name: str) -> str:
    """The name itself if it was never used in this terrarium, else `name~2` and so on."""
    return next_creature_id({name: world.numbers_given.get(name, 0)}, name)


def next_creature_id(given: dict[str, int], name: str) -> str:
    """The same for several creatures, one after the other: `given` counts how often each name was used."""
    number = given[name] = given.get(name, 0) + 1
    return name if number == 1 else f"{name}~{number}"


def the_creature(world: World, creature_id: str) -> state.CreatureState:
    """A live creature by id, or a refusal."""
    return known("creature", creature_id, world.creatures)


def the_graph(world: World, graph_id: str) -> GraphState:
    """An open graph by id, or a refusal."""
    return known("open graph", graph_id, world.graphs)


def the_session(world: World, session_id: str) -> state.SessionState:
    """A session by id, or a refusal."""
    return known("session", session_id, world.sessions)


def the_run(world: World, run_id: str) -> state.RunFacts:
    """A run by id, or a refusal."""
    return known("run", run_id, world.runs)


def known(noun: str, name: str, entries: Mapping[str, T]) -> T:
    """The entry of this name, or a refusal that names a similar one."""
    entry = entries.get(name)
    if entry is None:
        raise UnknownName(noun=noun, name=name, known=entries)
    return entry


def the_channel(world: World, graph: GraphState, name: str) -> state.ChannelState:
    """A channel of a graph by name or id, or a refusal."""
    channel = world.channels.get(graph.channels.owners.get(name) or name)
    if channel is None or channel.graph_id != graph.id:
        raise UnknownName(noun=f"channel of graph {graph.name}", name=name, known=graph.channels.owners)
    return channel


def the_unfinished_run(world: World, run_id: str) -> state.RunFacts:
    """A run that has not finished, or a refusal."""
    run = the_run(world, run_id)
    if run.status == "finished":
        raise Refused(f"Run {run.id} has finished.", "Branch it to continue.")
    return run
