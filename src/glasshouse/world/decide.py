"""The one door for change: an intent and the world in, a decision or a refusal out. Pure.

Always holds: nothing here changes the world. A refusal is raised as `Refused` and says what would work.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from glasshouse.world import acts, creatures, edges, joining, parting, restating, runs, sessions, speaking
from glasshouse.world.decision import Decision
from glasshouse.world.intents import (
    AddChannel,
    AddCreature,
    AddWire,
    AnyIntent,
    BeginRun,
    CallTool,
    CloseGraph,
    Connect,
    DecideEdit,
    Disconnect,
    EndAct,
    Fork,
    GrantPrivilege,
    Inject,
    Intent,
    JoinChannel,
    LeaveChannel,
    MoveRun,
    OpenRun,
    ProposeEdit,
    RemoveChannel,
    RemoveCreature,
    RemoveWire,
    Restate,
    ReturnTool,
    Say,
    Spawn,
    StartCreature,
    StartTurn,
    StopCreature,
)
from glasshouse.world.state import World


def _said(world: World, intent: Say) -> Decision:
    return Decision(speaking.said(world, intent))


def _act_ended(world: World, intent: EndAct) -> Decision:
    return Decision(acts.act_ended(world, intent), subject=intent.creature)


DECISIONS: Final[Mapping[type[Intent], Callable[[World, Any], Decision]]] = {
    Say: _said,
    EndAct: _act_ended,
    CallTool: acts.tool_called,
    ReturnTool: acts.tool_returned,
    StartTurn: acts.turn_started,
    AddCreature: creatures.creature_added,
    Spawn: creatures.creature_spawned,
    RemoveCreature: parting.creature_removed,
    StartCreature: creatures.creature_started,
    StopCreature: creatures.creature_stopped,
    AddChannel: edges.channel_added,
    RemoveChannel: parting.channel_removed,
    JoinChannel: edges.channel_joined,
    LeaveChannel: parting.channel_left,
    CloseGraph: parting.graph_closed,
    Connect: joining.connected,
    Disconnect: parting.disconnected,
    AddWire: edges.wire_added,
    RemoveWire: edges.wire_removed,
    GrantPrivilege: creatures.privilege_granted,
    Fork: sessions.session_forked,
    Restate: restating.restated,
    ProposeEdit: acts.edit_proposed,
    DecideEdit: acts.edit_decided,
    Inject: speaking.injected,
    OpenRun: runs.run_opened,
    BeginRun: runs.run_begun,
    MoveRun: runs.run_moved,
}
"""How each sort of intent is decided."""


def decide(world: World, intent: AnyIntent) -> Decision:
    """What the intent leads to in this world."""
    return DECISIONS[type(intent)](world, intent)
