"""The kinds of events: the core's own names, and the one pattern that every kind must match.

Kinds are open: a world may define its own. The manifest's `may_emit`, not the name of a kind, decides what a creature
may append. The kinds in `ENGINE` are never granted.
"""

from __future__ import annotations

import re
from typing import Final

from glasshouse.errors import BadEvent, in_brief

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

ENGINE: Final = frozenset(
    {
        CREATURE_STARTED,
        CREATURE_STOPPED,
        CREATURE_RENAMED,
        CHANNEL_OPENED,
        CHANNEL_CLOSED,
        CHANNEL_RENAMED,
        CHANNEL_JOINED,
        CHANNEL_LEFT,
        OUTPUT_WIRE_ADDED,
        OUTPUT_WIRE_REMOVED,
        PARENT_LINK_CHANGED,
        TOPOLOGY_CHANGED,
        SESSION_FORKED,
        SESSION_RESTATED,
        CREATURE_SESSION_ATTACHED,
        PRIVILEGE_GRANTED,
    }
)

MID_ACT: Final = frozenset({TOOL_CALLED, TOOL_RETURNED, EDIT_PROPOSED, EDIT_DECIDED})
"""Kinds that the engine writes on an act's way; every other kind of a creature ends its act."""

_OF_RUNS: Final = frozenset({RUN_STARTED, RUN_PAUSED, RUN_CONTINUED, RUN_FINISHED, TURN_STARTED})

NEVER_GRANTED: Final = ENGINE | MID_ACT | _OF_RUNS | {USER_INJECTED, ACT_DISCARDED}
"""Kinds that the engine, the conductor and the visitor write: no manifest can give them to a creature."""

WITHOUT_A_LINE: Final = frozenset({AGENT_PASSED, AGENT_FAILED, ACT_DISCARDED})
"""Kinds that end an act with nothing to hand on: output wires do not carry them."""

INNER: Final = frozenset({AGENT_THOUGHT, AGENT_REFLECTED})
"""Kinds that only their own actor reads back: no other creature sees or answers them."""

WITHOUT_WORDS: Final = WITHOUT_A_LINE | MID_ACT | _OF_RUNS
"""Kinds of a show that are no lines: nobody hears them said."""

NO_LINES: Final = WITHOUT_WORDS | ENGINE
"""All kinds that no creature ever reads as a line."""

kind_chars_max: Final = 64
_PATTERN: Final = re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+")
well_formed_cache: Final[set[str]] = set()
well_formed_cache_kinds_max: Final = 4096


def check_kind(kind: object) -> None:
    """Refuse a malformed kind, in words."""
    if not isinstance(kind, str) or len(kind) > kind_chars_max or not _PATTERN.fullmatch(kind):
        raise BadEvent(
            f"{in_brief(kind)} is not an event kind.",
            f"Write two or more lower-case words joined by dots, {kind_chars_max} characters at most,"
            " such as 'agent.spoke' or 'weather.turned'.",
        )
    if len(well_formed_cache) < well_formed_cache_kinds_max:
        well_formed_cache.add(kind)
