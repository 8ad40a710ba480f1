"""The one door for change: an intent and the world in, a decision or a refusal out. Pure.

Always holds: nothing here changes the world. A refusal is raised as `Refused` and says what would work.
"""

from __future__ import annotations

from typing import assert_never

from glasshouse.world import (
    acting,
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


def decide(world: World, intent: AnyIntent) -> Decision:  # noqa: PLR0912 (one line an intent)
    """What the intent leads to in this world."""
    match intent:
        case Say():
            return Decision(speaking.said(world, intent))
        case EndAct():
            return Decision(acting.act_ended(world, intent), subject=intent.creature)
        case CallTool():
            return tooling.tool_called(world, intent)
        case ReturnTool():
            return tooling.tool_returned(world, intent)
        case StartTurn():
            return acting.turn_started(world, intent)
        case AddCreature():
            return membership.creature_added(world, intent)
        case Spawn():
            return spawning.creature_spawned(world, intent)
        case RemoveCreature():
            return parting.creature_removed(world, intent)
        case StartCreature():
            return membership.creature_started(world, intent)
        case StopCreature():
            return membership.creature_stopped(world, intent)
        case AddChannel():
            return membership.channel_added(world, intent)
        case RemoveChannel():
            return parting.channel_removed(world, intent)
        case JoinChannel():
            return joining.channel_joined(world, intent)
        case LeaveChannel():
            return parting.channel_left(world, intent)
        case CloseGraph():
            return parting.graph_closed(world, intent)
        case Connect():
            return joining.connected(world, intent)
        case Disconnect():
            return parting.disconnected(world, intent)
        case AddWire():
            return membership.wire_added(world, intent)
        case RemoveWire():
            return membership.wire_removed(world, intent)
        case GrantPrivilege():
            return membership.privilege_granted(world, intent)
        case Fork():
            return membership.session_forked(world, intent)
        case Restate():
            return restating.restated(world, intent)
        case ProposeEdit():
            return proposing.edit_proposed(world, intent)
        case DecideEdit():
            return proposing.edit_decided(world, intent)
        case Inject():
            return acting.injected(world, intent)
        case OpenRun():
            return opening.run_opened(world, intent)
        case BeginRun():
            return opening.run_begun(world, intent)
        case MoveRun():
            return acting.run_moved(world, intent)
        case _:
            assert_never(intent)
