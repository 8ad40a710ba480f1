"""`Parts`: constructs the four parts of a terrarium over one store (ADR 0045).

Always holds: only this module knows how the parts are connected. The terrarium and a replay both construct them here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from glasshouse.events.payloads import Governor
from glasshouse.runtime.acts.act import Acts
from glasshouse.runtime.acts.asking import ModelAccess
from glasshouse.runtime.acts.long_memory import LongMemory
from glasshouse.runtime.acts.recorded_answers import BranchAnswers, RecordedAnswers
from glasshouse.runtime.acts.reservations import Reservations
from glasshouse.runtime.acts.routes import Routes
from glasshouse.runtime.acts.tool_use import ToolAccess
from glasshouse.runtime.acts.warm_lines import BatchWorlds, WarmLines
from glasshouse.runtime.archive import Archive
from glasshouse.runtime.capabilities import Pacing, capabilities_of_router
from glasshouse.runtime.conducting.conductor import Conductor
from glasshouse.runtime.conducting.endings import Endings
from glasshouse.runtime.graph_edits import GraphEdits
from glasshouse.runtime.hooks import Hooks
from glasshouse.runtime.house import House
from glasshouse.runtime.inbox.guest import Guest
from glasshouse.runtime.ledger.ledger import Ledger
from glasshouse.runtime.minds.minds import Agent, AgentFor, Minds
from glasshouse.runtime.ports import Clock, Ids, Router, Toolbox
from glasshouse.runtime.stage import Stage
from glasshouse.runtime.store_port import Store
from glasshouse.turns.moment.playbill import Policy, policy_as_json

if TYPE_CHECKING:
    from glasshouse.runtime.telemetry.telemetry import Telemetry


class Parts:
    """House, graph edits, stage and archive, with the agents and tools that they share."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        ids: Ids,
        router: Router,
        agent_for: AgentFor,
        tools: Toolbox,
        *,
        governor: Governor | None = None,
        policy: Policy | None = None,
        pacing: Pacing = "lockstep",
        answers: RecordedAnswers | None = None,
        act_seconds_max: float | None = None,
        strict: bool = False,
        offline: Router | None = None,
        agents: Mapping[str, Agent] | None = None,
        telemetry: Telemetry | None = None,
    ) -> None:
        self.telemetry = telemetry
        """It knows the spans in which events were written, if this program traces."""
        self.house = house = House(store, clock, ids)
        hooks = _hooks_for(telemetry, house.ledger)
        self.guest = _guest_in(house, store, clock)
        self.minds = Minds(lambda: house.ledger.world, agent_for, agents)
        self.tools = tools
        self.router = router
        self.router_can = router_can = capabilities_of_router(router)
        ledger = house.ledger
        event = house.history.event
        answers = answers or BranchAnswers(ledger, house.history)
        self.routes = routes = Routes(router, router_can, offline or router, ledger)
        warm_lines = WarmLines(house.store, ledger)
        reservations = Reservations(ledger, clock, is_limited=not answers.knows_limits)
        self.model_access = models = ModelAccess(reservations, clock, ledger, hooks)
        acts = Acts(
            ledger,
            models,
            routes.route_of,
            self.minds.of,
            ToolAccess(ledger, tools, answers, event, warm_lines, reservations, hooks, is_strict=strict),
            answers,
            BatchWorlds(house.store, event),
            LongMemory(house.store, ledger, event),
            act_seconds_max,
            is_strict=strict,
        )
        endings = Endings(ledger)
        limits = governor or Governor()
        rules = None if policy is None else policy_as_json(policy)
        self.conductor = conductor = Conductor(
            ledger, acts, clock, endings, event, limits, warm_lines, answers, routes, self.minds, rules
        )
        self.edits = GraphEdits(house, self.minds, self.tools, routes)
        self.stage = Stage(
            house, self.minds, routes, conductor, answers, self.tools, pacing, self.edits.make, models
        )
        self.archive = Archive(house, routes, self.tools, self.minds, self.stage.run_of)


def _guest_in(house: House, store: Store, clock: Clock) -> Guest | None:
    """The guest through which this house asks for changes, if another process plays it."""
    if store.role != "guest":
        return None
    guest = Guest(store, house.ledger, clock)
    house.ledger.asks = guest.change
    return guest


def _hooks_for(telemetry: Telemetry | None, ledger: Ledger) -> Hooks | None:
    """The hooks that make spans, shown what the ledger does; none if this program does not trace."""
    if telemetry is None:
        return None
    # Imported here: whoever does not trace loads nothing of OpenTelemetry (ADR 0088).
    from glasshouse.runtime.telemetry.span_hooks import SpanHooks

    hooks = SpanHooks(telemetry, ledger)
    ledger.show(hooks)
    return hooks
