"""Tools of servers, described when they are granted (ADR 0089).

Always holds: a creature is added with what its servers say of the tools that its manifest grants, so that offers and
prompts come from the ledger alone. If a server is not there or has no such tool, nothing is added.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from glasshouse.events.described_tool import DescribedTool, GrantedTool, is_of_server
from glasshouse.events.event import Json
from glasshouse.events.recorded_fields import fields_of
from glasshouse.runtime.ports import ToolServers
from glasshouse.turns.moment.playbill import ServerPlan, playbill_of
from glasshouse.turns.runs.purses import Runs
from glasshouse.world.decisions.intents import AddCreature, Member, OpenRun

Grants = Mapping[str, GrantedTool]
"""Name -> the tool as it was granted."""


def server_tools_of(manifest: Json) -> list[str]:
    """The tools of servers that a manifest grants, each once."""
    return [name for name in dict.fromkeys(fields_of(manifest).tools) if is_of_server(name)]


async def birth_granted(servers: ToolServers | None, intent: AddCreature, runs: Runs) -> AddCreature:
    """The intent with the tools that the new creature is granted, as their servers describe them now."""
    wanted = server_tools_of(intent.manifest)
    if not wanted or servers is None:
        return intent
    purse = runs.purses.get(intent.run_id or "")
    plans: Mapping[str, ServerPlan] = {} if purse is None else purse.playbill.tool_servers
    described = await servers.describe(wanted, plans, None if purse is None else purse.folder)
    return replace(intent, granted=_granted(wanted, {}, described))


async def opening_granted(
    servers: ToolServers | None, opening: OpenRun, before: Sequence[Grants] | None = None
) -> OpenRun:
    """The opening with the tools that its members are granted. `before` has, for each member in order, what the creature
    was granted whose past it continues; that stays as it is."""
    members = [member for troupe in opening.troupes for member in troupe.members]
    known = before or [{}] * len(members)
    wanted = [server_tools_of(member.manifest) for member in members]
    if not any(wanted) or servers is None:
        return opening
    unknown = dict.fromkeys(
        name for names, kept in zip(wanted, known, strict=True) for name in names if name not in kept
    )
    described: Mapping[str, DescribedTool] = {}
    if unknown:
        started = opening.started
        plans = playbill_of(started.scenario).tool_servers
        folder = None if started.recipe is None else started.recipe.path
        described = await servers.describe(unknown, plans, folder)
    granted = iter([_granted(*each, described) for each in zip(wanted, known, strict=True)])

    def with_grants(member: Member) -> Member:
        return replace(member, granted=next(granted))

    troupes = [replace(troupe, members=tuple(map(with_grants, troupe.members))) for troupe in opening.troupes]
    return replace(opening, troupes=tuple(troupes))


def _granted(
    wanted: Iterable[str], kept: Grants, described: Mapping[str, DescribedTool]
) -> tuple[GrantedTool, ...]:
    return tuple([kept.get(name) or GrantedTool(described[name]) for name in wanted])
