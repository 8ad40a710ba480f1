"""`Parts`: the four parts of a terrarium, put together over one house.

Always holds: this is the only place that knows how they are joined. The public face and a replay both begin here.
"""

from __future__ import annotations

from glasshouse.events.limits import Governor
from glasshouse.runtime.acts.answers import Answers
from glasshouse.runtime.acts.no_tools import NoTools
from glasshouse.runtime.archive import Archive
from glasshouse.runtime.conducting.order import Pacing
from glasshouse.runtime.conducting.show import Show
from glasshouse.runtime.graph_edits import GraphEdits
from glasshouse.runtime.house import House
from glasshouse.runtime.minds.minds import AgentFor, Minds
from glasshouse.runtime.ports import Clock, Ids, Router, Store, Toolbox
from glasshouse.runtime.stage import Stage


class Parts:
    """House, graph edits, stage and archive, with the minds that they share."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        ids: Ids,
        router: Router,
        agent_for: AgentFor,
        *,
        tools: Toolbox | None = None,
        governor: Governor | None = None,
        pacing: Pacing = "lockstep",
        answers: Answers | None = None,
    ) -> None:
        self.house = house = House(store, clock, ids)
        self.minds = Minds(lambda: house.ledger.world, agent_for)
        self.tools: Toolbox = tools or NoTools()
        self.show = Show(
            store,
            house.ledger,
            clock,
            house.history,
            router,
            self.minds.of,
            lambda: f"r-{ids.new()}",
            tools=self.tools,
            governor=governor or Governor(),
            answers=answers,
        )
        self.edits = GraphEdits(house, self.minds, self.tools)
        self.stage = Stage(house, self.minds, self.show, self.tools, pacing)
        self.archive = Archive(house, self.show, self.tools)
