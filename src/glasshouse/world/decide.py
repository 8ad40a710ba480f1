"""The one door for change: an intent and the world in, a decision or a refusal out. Pure.

Always holds: nothing here changes the world. A refusal is raised as `Refused` and says what would work.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from glasshouse.world import (
    acting,
    births,
    joining,
    membership,
    opening,
    parting,
    proposing,
    restating,
    spawning,
    speaking,
    tooling,
)
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
    return Decision(acting.act_ended(world, intent), subject=intent.creature)


DECISIONS: Final[Mapping[type[Intent], Callable[[World, Any], Decision]]] = {
    Say: _said,
    EndAct: _act_ended,
    CallTool: tooling.tool_called,
    ReturnTool: tooling.tool_returned,
    StartTurn: acting.turn_started,
    AddCreature: births.creature_added,
    Spawn: spawning.creature_spawned,
    RemoveCreature: parting.creature_removed,
    StartCreature: membership.creature_started,
    StopCreature: membership.creature_stopped,
    AddChannel: membership.channel_added,
    RemoveChannel: parting.channel_removed,
    JoinChannel: joining.channel_joined,
    LeaveChannel: parting.channel_left,
    CloseGraph: parting.graph_closed,
    Connect: joining.connected,
    Disconnect: parting.disconnected,
    AddWire: membership.wire_added,
    RemoveWire: membership.wire_removed,
    GrantPrivilege: membership.privilege_granted,
    Fork: membership.session_forked,
    Restate: restating.restated,
    ProposeEdit: proposing.edit_proposed,
    DecideEdit: proposing.edit_decided,
    Inject: acting.injected,
    OpenRun: opening.run_opened,
    BeginRun: opening.run_begun,
    MoveRun: acting.run_moved,
}
"""How each sort of intent is decided."""


def decide(world: World, intent: AnyIntent) -> Decision:
    """What the intent leads to in this world."""
    return DECISIONS[type(intent)](world, intent)
