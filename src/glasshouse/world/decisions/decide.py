"""The only way to change the world: a pure function from the world and an intent to a decision or a refusal.

Always holds: nothing here changes the world. A refusal is raised as `Refused` and says what would work.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from glasshouse.world.decisions import acts, creatures, edges, intents, restate, runs, server_tools, split
from glasshouse.world.decisions.decision import Decision
from glasshouse.world.state.state import World

DECISIONS: Final[Mapping[type[intents.Intent], Callable[[World, Any], Decision]]] = {
    intents.Say: acts.said,
    intents.EndAct: acts.act_ended,
    intents.CallTool: acts.tool_called,
    intents.FollowCall: acts.call_followed,
    intents.StartTurn: acts.turn_started,
    intents.AddCreature: creatures.creature_added,
    intents.Spawn: creatures.creature_spawned,
    intents.RemoveCreature: split.creature_removed,
    intents.StartCreature: creatures.creature_started,
    intents.StopCreature: creatures.creature_stopped,
    intents.AddChannel: edges.channel_added,
    intents.RemoveChannel: split.channel_removed,
    intents.RenameChannel: edges.channel_renamed,
    intents.DescribeChannel: edges.channel_described,
    intents.JoinChannel: edges.channel_joined,
    intents.LeaveChannel: split.channel_left,
    intents.CloseGraph: split.graph_closed,
    intents.Connect: edges.connected,
    intents.Disconnect: split.disconnected,
    intents.AddWire: edges.wire_added,
    intents.RemoveWire: edges.wire_removed,
    intents.SetParent: creatures.parent_set,
    intents.GrantPrivilege: creatures.privilege_granted,
    intents.RevokePrivilege: creatures.privilege_revoked,
    intents.ChangeTool: server_tools.tool_changed,
    intents.AcceptTool: server_tools.tool_accepted,
    intents.Fork: restate.session_forked,
    intents.Restate: restate.restated,
    intents.Inject: acts.injected,
    intents.OpenRun: runs.run_opened,
    intents.BeginRun: runs.run_begun,
    intents.MoveRun: runs.run_moved,
}
"""The function that decides each type of intent."""


def decide(world: World, intent: intents.Intent) -> Decision:
    """The decision about an intent in this world."""
    return DECISIONS[type(intent)](world, intent)
