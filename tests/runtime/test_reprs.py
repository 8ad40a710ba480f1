"""The repr of every public object is short, on one line, and identifies the object."""

import asyncio
from functools import cache

import pytest

from glasshouse import (
    Draft,
    EventFilter,
    Governor,
    Manifest,
    MemoryStore,
    ModelRouter,
    Observer,
    Policy,
    SqliteStore,
    Terrarium,
    Toolbox,
    WhatIf,
    play,
    tool,
    verify,
)
from glasshouse.contests import Match, MatchPlayed, Measure, Plan, Rehearsal, Ruling, Tournament
from glasshouse.events import PromptDigests, RunPaused, Tokens, Usage
from glasshouse.events.described_tool import DescribedTool
from glasshouse.manifests import Memory, Schedule, Voice, load_world
from glasshouse.models import (
    Completion,
    OllamaModel,
    OpenAICompatible,
    Price,
    Probe,
    ProbeCheck,
    Prompt,
    ProviderModel,
    Route,
)
from glasshouse.reprs import repr_chars_max
from glasshouse.runtime.minds.minds import Agent
from glasshouse.testing import CountingModel, ScriptedModel
from glasshouse.tools import Proposal, ToolAnswer, ToolServer, Verdict
from glasshouse.turns.moment.moment import Moment
from glasshouse.views import Thinking, ToolAsked, ToolOfRun, ToolUse, ToolUsed, Waiting
from tests.rules.test_public_face import PUBLIC

NOT_MADE_HERE = {
    "Approver",
    "BudgetExceeded",
    "EngineEvent",
    "Model",
    "Router",
    "Agent",
    "ManifestAgent",
    "Refused",
}
"""Types for hints, errors, another name of `Event`, and what users derive from."""


@tool
def double(number: int) -> int:
    """Double a number."""
    return 2 * number


class Keeps(Agent):
    """Keeps the moment that it was given."""

    def __init__(self) -> None:
        self.moments: list[Moment] = []

    async def act(self, moment: Moment) -> Draft | None:
        self.moments.append(moment)
        return Draft(kind="agent.spoke", payload={"text": "A long line. " * 40, "cites": ["a", "b"]})


async def _things() -> list[object]:
    mind, values = Keeps(), list[object]()
    async with Terrarium() as t:
        run = await t.open_world("twenty-sprouts")
        observer = Observer(run_id=run.id, role="director")
        values += [t, run, observer, t.observe(observer), t.subscribe(EventFilter(kinds={"agent.spoke"}))]
        ada = await t.add_creature(Manifest(name="ada", schedule={"tick_every": 1}), agent=mind)
        bo = await t.add_creature(Manifest(name="bo", persona="A patient heron. " * 30))
        values += [ada, bo, ada.manifest, await t.connect(ada, bo, channel="talk"), await t.wire(ada, bo)]
        values += [await t.step(3), t.run_of(run.id), *t.due(run.id), *t.runs(), *mind.moments]
        values += [t.append_nowait(ada, Draft(kind="agent.spoke", payload={"text": "hello " * 50}))]
        await t.run(run.id)
        values += [t.run_of(run.id), t.run_of(run.id).finished, *t.leaderboard(), await verify(t, run.id)]
        comparison = await t.compare(run.id, t.default_run_id)
        values += [comparison, comparison.first]
        for graph in t.graphs():
            environment = t.environment(graph.id)
            values += [
                graph,
                environment,
                *environment.channels,
                t.session(graph.session_id),
                t.lineage(graph.session_id),
            ]
        values.append(await t.share(run.id))
        values += [value for shape in await t.shapes() for value in (shape, *shape.members)]
        events = await t.run_events(run.id)
        why, knew = await t.why(events[-2].id, role="director"), await t.who_knew(events[-2].id)
        values += [*events, why, *why.links, *why.links[0].lines, *why.links[0].prompts, knew, *knew.knowers]
        values += [event.model for event in events if event.model is not None]
        values += [call for event in events for call in event.calls]
        for event in events:
            diff = observer.consume(event)
            values += [diff, *diff.patch]
        view = observer.view
        values += [view, view.counters, *view.agent_notes, *view.cast.values(), *view.runs.values()]
        world = load_world("twenty-sprouts")
        values += [world, world.scenario, Tournament(t, world, ["offline", "offline:hasty"])]
    return values


def _made() -> list[object]:
    played = play("thousand-token-wood", turns=2)
    long = "A very long text. " * 100
    return [
        *(played, *played.lines, played.events[0], ToolUse(played.events[0], None)),
        *(
            MemoryStore(),
            SqliteStore("show.glasshouse"),
            ModelRouter(),
            ModelRouter({"fast": ScriptedModel("x")}),
        ),
        *(
            Toolbox(double),
            ToolServer("weather", command=["python", long]),
            double,
            ToolAnswer(True, long),
            Governor(max_turns=3),
        ),
        *(
            Usage(calls=3),
            Thinking("ada", "ada", "r-1", "m", 3.5, text=long),
            RunPaused(long, is_outage=True),
            WhatIf(disturb=long).recorded(),
            WhatIf(disturb=long, add=(Manifest(name="cy"),)),
            Draft(kind="agent.spoke", payload={"text": long}),
        ),
        *(Voice(examples=(long,)), Schedule(tick_every=2), Memory(), Tokens(3, 4), PromptDigests("a", "b")),
        *(Measure(0.5, 0.4, 0.6, 9), Plan(load_world("mystery-roots"), 3), Rehearsal("m", "prose", {})),
        *(Price(0.5, 1.5), Probe(is_reachable=True, model="m"), ProbeCheck(long, advice=long)),
        *(
            OllamaModel("m"),
            OpenAICompatible("m", "http://localhost:1"),
            ProviderModel("m", "anthropic", key="k"),
        ),
        *(Prompt(long, long), Completion(long, "m"), Route(ScriptedModel("x"), "m", 4096, 512)),
        *(ScriptedModel(long), CountingModel(), EventFilter(kinds={"a.b"}), Ruling("ada", long)),
        (described := DescribedTool("weather/forecast", long, {}, True, long)),
        ToolOfRun(described, None, (long,)),
        *(Proposal("ada", "ada", None, "stop", {"text": long}, long), Verdict(True, "me", long)),
        *(
            Policy(protected=(long, long), population_max=3),
            Waiting("ada", "ada", "Gardener", "r-1", "s-1.2"),
            Match(None, {}, {}),
            ToolAsked("calculator", {"sum": long}),
            ToolUsed("calculator", {"sum": long}, "answered"),
            MatchPlayed(1, 2, "r-1", {"a": "x"}, None, long, {}),
        ),
    ]


@cache
def everything() -> dict[str, list[object]]:
    by_class: dict[str, list[object]] = {}
    for thing in [*asyncio.run(_things()), *_made()]:
        # An agent gets an `OwnMoment`, which shows itself as what it is documented as.
        by_class.setdefault(type(thing).__name__.removeprefix("Own"), []).append(thing)
    return by_class


PUBLIC_CLASSES = sorted(
    {
        name
        for module in PUBLIC
        for name in module.__all__
        if isinstance(getattr(module, name), type) and name not in NOT_MADE_HERE
    }
)


@pytest.mark.parametrize("name", PUBLIC_CLASSES)
def test_a_public_value_shows_itself_on_one_short_line(name: str) -> None:
    shown = [repr(thing) for thing in everything().get(name, [])]

    assert shown, f"make a {name} in this test"
    assert [text for text in shown if not text.startswith(f"{name}(")] == []
    assert [text for text in shown if len(text) > repr_chars_max or "\n" in text] == []
