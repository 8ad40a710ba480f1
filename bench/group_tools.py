"""What a change by a group tool costs in a large graph, and what an act costs as a leader's party grows. CPU time."""

from __future__ import annotations

import gc
from time import process_time

from bench.acts import ENDLESS, AnswersAtOnce
from bench.result import Result, judged, middle
from glasshouse import Agent, Draft, Manifest, MemoryStore, ModelRouter, Terrarium, kinds
from glasshouse.manifests.loading import LoadedWorld
from glasshouse.manifests.manifest import Schedule
from glasshouse.manifests.scenario import Scenario
from glasshouse.runtime import event_loop
from glasshouse.turns.moment.moment import Moment

creatures_edited = 1_000
teams = (20, 200)
walkers = 4
"""So many speak beside the leader; the others listen."""
edits = 60
rounds = 80

LEAD = Manifest(name="lead", persona="Leads the party.", schedule=Schedule(tick_every=1))
WALKER = Manifest(name="walker", persona="Walks and tells.", schedule=Schedule(tick_every=1))
SCOUT = Manifest(name="scout", persona="Looks around.", subscribes_to=(kinds.JUDGE_VERDICT,))
CALLS: tuple[tuple[str, dict[str, object]], ...] = (
    ("group_add_node", {"use": "scout"}),
    ("group_stop_node", {"creature": "scout~%d"}),
    ("group_start_node", {"creature": "scout~%d"}),
    ("group_wire", {"action": "add", "source": "lead", "target": "scout~%d"}),
    ("group_channel", {"action": "leave", "channel": "stage", "creature": "scout~%d", "direction": "listen"}),
    ("group_remove_node", {"creature": "scout~%d"}),
)


class Rebuilding(Agent):
    """Uses one group tool after another, and notes what each cost."""

    def __init__(self) -> None:
        self.spent: list[float] = []
        self._number = 1

    async def act(self, moment: Moment) -> Draft | None:
        """One change of each kind, to one scout after another."""
        self._number += 1
        for tool, arguments in CALLS:
            named = {key: _filled(value, self._number) for key, value in arguments.items()}
            before = process_time()
            answer = await moment.use(tool, **named)
            self.spent.append(process_time() - before)
            if not answer.is_ok:
                raise RuntimeError(answer.text)
        return None


def run() -> list[Result]:
    """The cost of an edit, and how that of an act grows."""
    small, large = event_loop.run(_acts())
    edit = event_loop.run(_edit())
    return [
        judged(f"group-tool edit, {creatures_edited:,} creatures", edit * 1e3, "ms", "≤", 1),
        judged(
            f"an act of a leader's party, {teams[1]} creatures against {teams[0]}",
            large / small,
            "×",
            "≤",
            1.5,
            f"{small * 1e3:.2f} ms",
        ),
    ]


def _filled(value: object, number: int) -> object:
    return value % number if isinstance(value, str) and "%d" in value else value


def _party(count: int) -> LoadedWorld:
    cast: list[object] = [{"use": "lead", "privileged": True}, "scout"]
    cast += [{"use": "walker", "handle": f"walker-{n}"} for n in range(walkers)]
    cast += [{"use": "scout", "handle": f"scout~{n}"} for n in range(2, min(count, 250) - walkers)]
    scenario = Scenario.model_validate(
        {"name": "party", "cast": cast, "spawnable": ["scout"], "policy": {"population_max": 2 * count}}
    )
    return LoadedWorld.of(scenario, [LEAD, WALKER, SCOUT])


async def _grown(t: Terrarium, count: int) -> None:
    """A party on one stage: the cast, and so many more that came later."""
    run = await t.open_world(_party(count), governor=ENDLESS)
    for n in range(250 - walkers, count - walkers):
        born = await t.add_creature(SCOUT, handle=f"scout~{n}", run=run.id)
        await t.connect("lead", born.id, channel="stage", both=True)


async def _edit() -> float:
    mind = Rebuilding()
    async with Terrarium(MemoryStore(), models=ModelRouter(AnswersAtOnce())) as t:
        await _grown(t, creatures_edited)
        t._parts.minds.give("lead", mind)
        gc.collect()
        gc.freeze()
        while len(mind.spent) < edits:
            event = await t.step_one()
            if event is None or event.kind == kinds.AGENT_FAILED:
                raise RuntimeError(f"No edit was measured: {event}.")
        gc.unfreeze()
    return middle(mind.spent)


async def _acts() -> tuple[float, float]:
    """What an act costs in a small party and in a large one, a round of each in turn: whatever disturbs, disturbs both."""
    few, many = teams
    models = ModelRouter(AnswersAtOnce())
    async with (
        Terrarium(MemoryStore(), models=models) as t,
        Terrarium(MemoryStore(), models=models) as other,
    ):
        await _grown(t, few)
        await _grown(other, many)
        gc.collect()
        gc.freeze()
        spent = [(await _round(t), await _round(other)) for _ in range(rounds)]
        gc.unfreeze()
    return middle([small for small, _ in spent]), middle([large for _, large in spent])


async def _round(t: Terrarium) -> float:
    before = process_time()
    for _ in range(1 + walkers):
        await t.step_one()
    return (process_time() - before) / (1 + walkers)
