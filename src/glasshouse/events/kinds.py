"""The kinds of events: the names that the core uses, and the pattern that every kind must match.

Always holds: a world may define kinds of its own. The manifest's `may_emit`, not the name of a kind, decides what a
creature may append. No manifest can grant a kind in `NEVER_GRANTED`. Ledgers hold these names, so a kind keeps its name
and its meaning; `CONTRIBUTING.md` says how to add one. The sets say how the engine treats each kind.
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import Final

from glasshouse.errors import BadEvent, UnknownName, in_brief

RUN_STARTED: Final = "run.started"
RUN_PAUSED: Final = "run.paused"
RUN_CONTINUED: Final = "run.continued"
RUN_FINISHED: Final = "run.finished"
TURN_STARTED: Final = "turn.started"
WORLD_OBSERVED: Final = "world.observed"
AGENT_SPOKE: Final = "agent.spoke"
AGENT_THOUGHT: Final = "agent.thought"
AGENT_REFLECTED: Final = "agent.reflected"
AGENT_PASSED: Final = "agent.passed"
AGENT_FAILED: Final = "agent.failed"
ACT_DISCARDED: Final = "act.discarded"
JUDGE_VERDICT: Final = "judge.verdict"
USER_INJECTED: Final = "user.injected"
TOOL_CALLED: Final = "tool.called"
TOOL_RETURNED: Final = "tool.returned"
LOOP_SUSPECTED: Final = "loop.suspected"
EDIT_PROPOSED: Final = "edit.proposed"
EDIT_DECIDED: Final = "edit.decided"

CREATURE_STARTED: Final = "creature.started"
CREATURE_STOPPED: Final = "creature.stopped"
CREATURE_RENAMED: Final = "creature.renamed"
CHANNEL_OPENED: Final = "channel.opened"
CHANNEL_CLOSED: Final = "channel.closed"
CHANNEL_RENAMED: Final = "channel.renamed"
CHANNEL_DESCRIBED: Final = "channel.described"
CHANNEL_JOINED: Final = "channel.joined"
CHANNEL_LEFT: Final = "channel.left"
OUTPUT_WIRE_ADDED: Final = "wire.added"
OUTPUT_WIRE_REMOVED: Final = "wire.removed"
PARENT_LINK_CHANGED: Final = "parent.changed"
TOPOLOGY_CHANGED: Final = "topology.changed"
SESSION_FORKED: Final = "session.forked"
SESSION_RESTATED: Final = "session.restated"
CREATURE_SESSION_ATTACHED: Final = "session.attached"
PRIVILEGE_GRANTED: Final = "privilege.granted"
PRIVILEGE_REVOKED: Final = "privilege.revoked"
TOOL_CHANGED: Final = "tool.changed"
TOOL_ACCEPTED: Final = "tool.accepted"

_OF_CREATURES: Final = frozenset(
    {CREATURE_STARTED, CREATURE_STOPPED, CREATURE_RENAMED, PRIVILEGE_GRANTED, PRIVILEGE_REVOKED}
)
OF_CHANNELS: Final = frozenset(
    {CHANNEL_OPENED, CHANNEL_CLOSED, CHANNEL_RENAMED, CHANNEL_DESCRIBED, CHANNEL_JOINED, CHANNEL_LEFT}
)
"""Kinds that change a channel."""
_OF_LINKS: Final = frozenset({OUTPUT_WIRE_ADDED, OUTPUT_WIRE_REMOVED, PARENT_LINK_CHANGED, TOPOLOGY_CHANGED})
_OF_SESSIONS: Final = frozenset({SESSION_FORKED, SESSION_RESTATED, CREATURE_SESSION_ATTACHED})

OF_GRAPHS: Final = frozenset({TOPOLOGY_CHANGED, SESSION_FORKED, CREATURE_SESSION_ATTACHED})
"""Kinds that change a graph as a whole, or its session. They name every creature that moves, and at most 1,000 that stay."""

_OF_TOOLS: Final = frozenset({TOOL_CHANGED, TOOL_ACCEPTED})

ENGINE: Final = _OF_CREATURES | OF_CHANNELS | _OF_LINKS | _OF_SESSIONS | _OF_TOOLS
"""Kinds that the engine writes about the shape of the world."""

MID_ACT: Final = frozenset({TOOL_CALLED, TOOL_RETURNED, EDIT_PROPOSED, EDIT_DECIDED})
"""Kinds that the engine writes during an act. Any other kind that a creature writes ends its act."""

OF_RUNS: Final = frozenset({RUN_STARTED, RUN_PAUSED, RUN_CONTINUED, RUN_FINISHED})
"""Kinds that begin a run or change its status."""

NEVER_GRANTED: Final = (
    ENGINE | MID_ACT | OF_RUNS | {TURN_STARTED, USER_INJECTED, ACT_DISCARDED, LOOP_SUSPECTED}
)
"""Kinds that only the engine, the conductor and the visitor write. No manifest can grant them to a creature."""

WITH_TEXT: Final = frozenset({AGENT_SPOKE, AGENT_THOUGHT, AGENT_REFLECTED, WORLD_OBSERVED})
"""Kinds whose payload must have a `text`."""

WITHOUT_A_LINE: Final = frozenset({AGENT_PASSED, AGENT_FAILED, ACT_DISCARDED, LOOP_SUSPECTED})
"""Kinds that end an act without a line. Output wires do not carry them."""

INNER: Final = frozenset({AGENT_THOUGHT, AGENT_REFLECTED})
"""Kinds that only their actor sees again. No other creature sees or answers them, and no spectator reads them."""

MINDS: Final = INNER | {AGENT_PASSED}
"""Kinds whose payload says what a creature thinks: no creature hears it, and a spectator does not read it."""

WITHOUT_WORDS: Final = WITHOUT_A_LINE | MID_ACT | OF_RUNS | {TURN_STARTED}
"""Kinds of a run that are not lines. No creature hears them."""

NO_LINES: Final = WITHOUT_WORDS | ENGINE
"""All kinds that are never a line to any creature."""

CORE: Final = NO_LINES | WITH_TEXT | {JUDGE_VERDICT, USER_INJECTED}
"""All kinds that the core knows. A world may have others."""

likeness_of_a_misspelling: Final = 0.85
kind_chars_max: Final = 64
"""A longer kind is refused (`BadEvent`)."""
_PATTERN: Final = re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+")
well_formed_cache: Final[set[str]] = set()
well_formed_cache_kinds_max: Final = 4096
"""Kinds known to be well formed; the others are checked each time."""


def check_kind(kind: object) -> None:
    """Raise `BadEvent` for a malformed kind."""
    if not isinstance(kind, str) or len(kind) > kind_chars_max or not _PATTERN.fullmatch(kind):
        raise BadEvent(
            f"{in_brief(kind)} is not an event kind.",
            f"Write two or more lower-case words joined by dots, {kind_chars_max} characters at most,"
            " such as 'agent.spoke' or 'weather.turned'.",
        )
    if len(well_formed_cache) < well_formed_cache_kinds_max:
        well_formed_cache.add(kind)


def check_may_exist(kind: str) -> None:
    """Refuse a kind that is malformed, or almost a kind of the core. Others may be kinds of a world."""
    check_kind(kind)
    if kind not in CORE and get_close_matches(kind, CORE, cutoff=likeness_of_a_misspelling):
        raise UnknownName(noun="kind", name=kind, known=CORE)
