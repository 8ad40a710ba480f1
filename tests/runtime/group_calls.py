"""Group tools called by hand: a small expedition with a privileged leader, and calls on its behalf as an act makes them."""

from __future__ import annotations

from typing import Any

from glasshouse import Manifest
from glasshouse.events.event import Event
from glasshouse.runtime.ports import Errand
from glasshouse.runtime.run import Run
from glasshouse.runtime.terrarium import Terrarium
from glasshouse.tools.group import GroupTools
from glasshouse.turns.tools import ToolAnswer, ToolCall, ToolOffer
from glasshouse.world.intents import CallTool, ReturnTool
from tests.runtime.stage_crew import hearing, ledger_of, ticking, world_of

LEADER = ticking("lead", role="root")
WORKERS = ("moth", "owl", "fern")


async def expedition(
    t: Terrarium, *, leader: Manifest = LEADER, cast: tuple[str, ...] = WORKERS, **fields: Any
) -> Run:
    """A leader who may change its graph, workers on one stage, and two who may be born."""
    born = (
        hearing("cartographer", tools=("compass",)),
        Manifest(name="botanist", model_profile="tiny"),
    )
    given: dict[str, Any] = {
        "cast": [{"use": leader.name, "privileged": True}, *cast],
        "spawnable": ["cartographer", "botanist"],
        **fields,
    }
    return await t.play(world_of(leader, *(hearing(name) for name in cast), *born, **given))


async def errand_for(
    t: Terrarium, creature: str, tool: str, arguments: dict[str, Any], *, is_untrusted: bool = False
) -> Errand:
    """A call that is durable and not yet carried out."""
    cause = (await ledger_of(t))[0]
    receipt = await t._ledger.change(CallTool(creature, cause.id, tool, arguments, 1))
    return Errand(t._ledger, creature, cause, receipt.events[0], is_untrusted=is_untrusted)


async def use(
    t: Terrarium,
    tool: str,
    *,
    by: str = "lead",
    box: GroupTools | None = None,
    is_untrusted: bool = False,
    **arguments: Any,
) -> ToolAnswer:
    """What a creature is told when it calls a group tool."""
    errand = await errand_for(t, by, tool, arguments, is_untrusted=is_untrusted)
    answer = await (box or GroupTools()).use(ToolCall(tool, arguments), errand)
    if errand.returned is None:
        await t._ledger.change(returning(errand, answer))
    return answer


def returning(errand: Errand, answer: ToolAnswer) -> ReturnTool:
    return errand.returning(answer)


def offered(t: Terrarium, creature: str) -> dict[str, ToolOffer]:
    """The group tools that a creature is offered now, by name."""
    folded = t._ledger.folded
    return {offer.name: offer for offer in GroupTools().offers(folded, folded.world.creatures[creature])}


def choices(offer: ToolOffer, argument: str) -> list[str]:
    """What an argument may be."""
    names: list[str] = offer.parameters["properties"][argument]["enum"]
    return names


async def events_after(t: Terrarium, position: int) -> list[Event]:
    """What was written since."""
    return (await ledger_of(t))[position:]
