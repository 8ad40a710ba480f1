"""Houses for pure tests: worlds whose every fold (agenda, runs, tables) moves along, without tasks or a store."""

from __future__ import annotations

import random
from collections.abc import Iterable

from glasshouse.errors import Refused
from glasshouse.events import kinds
from glasshouse.events.event import Draft, Event
from glasshouse.events.model_use import ModelUse
from glasshouse.events.payloads import Governor, RunFinished, RunStarted
from glasshouse.manifests.manifest import Manifest, Schedule
from glasshouse.runtime.folded import Folded
from glasshouse.runtime.ledger.folds import fold
from glasshouse.turns.heard.recent_lines import heard_by, places_of
from glasshouse.turns.moment.moment import Recent
from glasshouse.turns.runs.schedule import Due, next_act, next_turn, shown_at
from glasshouse.world.decisions.intents import (
    BeginRun,
    ChannelPlan,
    EndAct,
    Inject,
    Member,
    MoveRun,
    OpenRun,
    Say,
    StartTurn,
    Troupe,
    WirePlan,
)
from glasshouse.world.state.state import CreatureState
from tests.rules.worlds_by_hand import HandWorld

TALK = (kinds.AGENT_SPOKE, kinds.AGENT_THOUGHT)


class House(HandWorld):
    """A world with everything that is folded beside it."""

    def __init__(self, house_id: str = "") -> None:
        super().__init__(house_id)
        self.folded = Folded(self.world, self.agenda)
        self.runs, self.tables = self.folded.runs, self.folded.tables

    def _fold(self, event: Event) -> None:
        fold(self.folded, event)

    def begin_run(self, run_id: str, graph: str, limits: Governor | None = None) -> None:
        self.do(BeginRun(run_id, graph, RunStarted(limits=(limits or Governor()))))

    def finish_run(self, run_id: str) -> Event:
        return self.do(MoveRun(run_id, RunFinished("stopped", 0, 0, 0, 0.0))).events[0]

    def heard_by(self, creature: CreatureState, upto: int | None = None) -> tuple[Recent, int]:
        """The newest lines that a creature may see, and how many it heard before these."""
        places = places_of(self.tables, self.world, creature)
        return heard_by(self.tables, self.world, creature, places, upto)

    def inject(self, graph: str, text: str = "hello") -> Event:
        return self.do(Inject(graph, text)).events[0]

    def turn(self, graph: str) -> int | None:
        """Begin the next turn of a graph in which anything is due; its number."""
        state = self.world.graphs[graph]
        number = next_turn(self.world, self.agenda, self.runs, state)
        if number is not None:
            self.do(StartTurn(graph, number, shown_at(self.world, self.runs, state, number)))
        return number

    def due(self, graph: str) -> Due | None:
        return next_act(self.world, self.agenda, self.world.graphs[graph], self.runs)

    def act(self, due: Due, text: str = "hm", model: ModelUse | None = None) -> Event:
        """Let the creature whose act is due say something."""
        creature = self.world.creatures[due.creature]
        session = self.world.graphs[creature.graph_id].session_id
        draft = Draft(kind=kinds.AGENT_SPOKE, payload={"text": text})
        intent = EndAct(due.creature, due.cause, session, draft, run_id=creature.run_id, model=model)
        return self.do(intent).events[0]

    def play_turn(self, graph: str, acts_max: int = 50) -> list[str]:
        """One turn of a graph: who acted, in order."""
        acted: list[str] = []
        if self.turn(graph) is None:
            return acted
        while (due := self.due(graph)) is not None and len(acted) < acts_max:
            acted.append(due.creature)
            self.act(due)
        return acted

    def tick(self, name: str, every: int = 1, *, together: bool = False, **more: str | None) -> str:
        """A new creature that acts unasked and hears nothing; its id."""
        return self._born(Manifest(name=name, schedule=Schedule(tick_every=every, together=together)), **more)

    def _born(self, manifest: Manifest, run_id: str | None = None, graph: str | None = None) -> str:
        from glasshouse.world.decisions.intents import AddCreature

        intent = AddCreature(
            manifest.name, manifest.as_json(), manifest.digest, graph_id=graph, run_id=run_id
        )
        return self.do(intent).subject


def member(
    name: str,
    handle: str | None = None,
    *,
    on: Iterable[str] = ("stage",),
    wires: Iterable[str] = (),
    is_root: bool = False,
) -> Member:
    """One of a cast, on these channels both ways."""
    manifest = Manifest(name=name, subscribes_to=(kinds.AGENT_SPOKE,))
    manifest = manifest.as_root() if is_root else manifest
    channels = tuple(on)
    return Member(
        name,
        manifest.as_json(),
        manifest.digest,
        handle or name,
        listens=channels,
        sends=channels,
        wires=tuple(WirePlan(to) for to in wires),
        is_privileged=is_root,
        is_root=is_root,
    )


def opening(run_id: str, *members: Member, channels: Iterable[str] = ("stage",), text: str = "") -> OpenRun:
    """The opening of one troupe."""
    troupe = Troupe(tuple(members), tuple(ChannelPlan(name) for name in channels))
    return OpenRun(run_id, RunStarted(limits=Governor()), (troupe,), text)


NAMES = ("ada", "bo", "cy", "dee", "eve")
CHANNELS = (None, "talk", "den")


def random_step(house: House, dice: random.Random) -> None:
    """One random change or line; what is refused changes nothing."""
    alive = list(house.world.creatures)
    if len(alive) < 3:
        house.add(dice.choice(NAMES), emits=TALK)
        return
    first, other, channel = dice.choice(alive), dice.choice(alive), dice.choice(CHANNELS)
    graph = house.graph_of(first)
    edges = [house.world.channels[c].name for c in house.world.topology.channels_of.get(first, {})]
    spoken = dice.choice([*edges, None])
    try:
        match dice.randrange(16):
            case 0:
                house.add(dice.choice(NAMES), emits=TALK, graph=dice.choice([graph, None]))
            case 1:
                house.open(graph, dice.choice(("talk", "den", "hall")), dice.choice(("full", "since_joined")))
            case 2 | 3:
                house.connect(first, other, channel, both=dice.random() < 0.5)
            case 4:
                house.disconnect(first, other, channel)
            case 5:
                house.close(graph, dice.choice(("talk", "den", "hall")))
            case 6 if dice.random() < 0.3:
                house.remove(first)
            case 7:
                house.stop(first) if house.creature(first).is_running else house.start(first)
            case 8:
                house.inject(graph)
            case 9:
                house.do(Say(first, (Draft(kind=kinds.AGENT_THOUGHT, payload={"text": "hm"}),)))
            case _:
                house.say(first, f"line {len(house.ledger)}", channel=spoken)
    except Refused:
        return
