"""The group tools: how a privileged creature changes its own graph from inside its act.

Always holds: they make the same intents as the API, so the same rules apply and the same events are written. Policy is
checked first. A change and the answer to its call are one batch. `dry_run` makes the same decision without the commit.
Only privilege grants these tools; no manifest can. ADR 0035. The size of an answer is bounded, however large the graph
is. Answers name living creatures by handle, because ids differ between stores and answers go into prompts.
"""

from __future__ import annotations

from glasshouse.errors import Refused
from glasshouse.events.event import Json
from glasshouse.runtime.folded import Folded
from glasshouse.runtime.ports import Approver
from glasshouse.runtime.tool_context import ToolContext
from glasshouse.tools.approval import Approval
from glasshouse.tools.group.approval_reasons import approval_reasons
from glasshouse.tools.group.lookup import names_in_results_max, names_in_words_max
from glasshouse.tools.group.offers import offers_for
from glasshouse.tools.group.requests import ARGUMENTS, Look, Request, arguments_of, request_of
from glasshouse.tools.group.status import status_of
from glasshouse.turns.moment.line_text import and_more
from glasshouse.turns.moment.tools import ToolAnswer, ToolCall, ToolOffer
from glasshouse.world.decisions.acts import check_may_act
from glasshouse.world.decisions.decide import decide
from glasshouse.world.decisions.intents import Spawn
from glasshouse.world.state.state import CreatureState, World
from glasshouse.world.state.values import Change


class GroupTools:
    """Offers the group tools to privileged creatures, and carries them out."""

    def __init__(self, approver: Approver | None = None) -> None:
        self._approval = Approval(approver)

    def offers(self, folded: Folded, creature: CreatureState) -> tuple[ToolOffer, ...]:
        """The group tools that this creature may use now; none unless it is privileged."""
        return offers_for(folded, creature)

    def has(self, tool: str) -> bool:
        """Whether this is a group tool."""
        return tool in ARGUMENTS

    def names(self) -> frozenset[str]:
        """The names that a manifest may grant: none, because only privilege grants these tools."""
        return frozenset()

    async def use(self, call: ToolCall, context: ToolContext) -> ToolAnswer:
        """Run a call. A refusal becomes an answer that says what is wrong and what would work."""
        try:
            return await self._used(call, context)
        except Refused as refusal:
            return ToolAnswer(False, str(refusal), is_engine=True)

    async def _used(self, call: ToolCall, context: ToolContext) -> ToolAnswer:
        _privileged(context, call)
        given = arguments_of(call.tool, call.arguments)
        await context.wait_for_room()
        # The caller may have been removed or its run finished during the wait, so this is checked again.
        caller = _privileged(context, call)
        if isinstance(given, Look):
            return status_of(context.folded, caller, is_wide=given.scope == "terrarium")
        request = request_of(context.folded, caller, call.tool, given)
        decision = decide(context.folded.world, request.intent)
        if not decision.writes:
            return _unchanged(request)
        if given.dry_run:
            return _forecast(context.folded.world, request, decision.change)
        if reasons := approval_reasons(context, caller, request):
            await self._approval.check(context, caller, call, request.deed, reasons)
            await context.wait_for_room()
            request = _same(request, request_of(context.folded, _privileged(context, call), call.tool, given))
        return await context.edit(
            request.intent, lambda change, subject: _done(context.folded.world, request, change, subject)
        )


def _same(allowed: Request, now: Request) -> Request:
    """The request in the world as it is now, or a refusal if its intent is no longer the approved one."""
    if now.intent != allowed.intent:
        raise Refused(
            f"Who or what is meant has changed while somebody was asked: it was allowed to {allowed.deed}.",
            "Look with group_status, and ask again.",
        )
    return now


def _privileged(context: ToolContext, call: ToolCall) -> CreatureState:
    """The caller, or a refusal if it was removed, is not privileged, or its run has finished."""
    caller = context.creature
    if caller is None:
        raise Refused(f"{context.creature_id} was removed in the middle of its act.", "Let the act end here.")
    if not caller.is_privileged:
        raise Refused(
            f"{call.tool} is for privileged creatures, and {caller.handle} is none.",
            "Ask one of them, or answer without it.",
        )
    check_may_act(context.folded.world, caller)
    return caller


def _unchanged(request: Request) -> ToolAnswer:
    """The answer when nothing had to be done."""
    text = f"{request.done} already. Nothing has changed."
    return ToolAnswer(True, text, {"change": "nothing"}, is_engine=True)


def _forecast(world: World, request: Request, change: Change) -> ToolAnswer:
    """The answer to a dry run: what the request would change in the current world."""
    shape = ""
    if change.kind == "merge":
        count = sum(len(world.graphs[graph_id].creatures) for graph_id in change.old_graph_ids)
        shape = f" Two graphs would become one, of {count} creatures."
    elif change.kind == "split":
        shape = f" The graph would split into {len(change.new_graph_ids)}: {_moved(world, change)} would go apart."
    asked = " Somebody outside must say yes first." if request.meets_other_run else ""
    text = f"You could {request.deed}.{shape}{asked} Nothing has changed yet."
    return ToolAnswer(True, text, {"is_forecast": True, **_result(world, change)}, is_engine=True)


def _done(world: World, request: Request, change: Change, subject: str) -> ToolAnswer:
    """The answer to a request that was carried out, read from the world right after it."""
    result = _result(world, change)
    text = f"{request.done}."
    if isinstance(request.intent, Spawn):
        born = world.creatures[subject]
        channel = world.channels[next(iter(world.topology.channels_of[born.id]))].name
        result |= {"creature": born.handle, "channel": channel, "graph": born.graph_id}
        text = f"{born.handle} is born. You speak with each other on the channel {channel}."
    elif subject in world.channels:
        result["channel"] = world.channels[subject].name
        if request.stranger is not None:
            text = f"You and {world.creatures[request.stranger].handle} are both on {result['channel']}."
    elif subject in world.wires:
        result["edge"] = subject
    elif subject in world.creatures:
        result["creature"] = world.creatures[subject].handle
    if change.kind == "merge":
        count = len(world.graphs[change.new_graph_ids[0]].creatures)
        text += f" Two graphs are one now, of {count} creatures: group_status tells you who is there."
    elif change.kind == "split":
        text += f" The graph is in {len(change.new_graph_ids)} parts now: {_moved(world, change)} went apart."
    return ToolAnswer(True, text, result, is_engine=True)


def _result(world: World, change: Change) -> Json:
    result: Json = {"change": change.kind, "graphs": len(change.new_graph_ids)}
    if change.kind != "nothing":
        moved = _handles(world, change, names_in_results_max)
        result |= {"moved": moved, "moved_count": len(change.affected_creatures)}
    return result


def _moved(world: World, change: Change) -> str:
    return and_more(_handles(world, change, names_in_words_max), len(change.affected_creatures))


def _handles(world: World, change: Change, names_max: int) -> list[str]:
    some = change.affected_creatures[:names_max]
    return [world.creatures[name].handle if name in world.creatures else name for name in some]
