"""The repr of every public object is short, on one line, and identifies the object."""

import asyncio
import dataclasses
from copy import copy
from functools import cache
from typing import Any, get_args, get_type_hints

import msgspec
import pytest
from msgspec.structs import force_setattr
from pydantic import BaseModel

from glasshouse import (
    Draft,
    EventFilter,
    Governor,
    Grid,
    Manifest,
    MemoryStore,
    ModelRouter,
    Observer,
    PostgresStore,
    SqliteStore,
    Terrarium,
    Toolbox,
    WhatIf,
    play,
    tool,
    verify,
)
from glasshouse.contests import Match, MatchPlayed, Measure, Plan, Rehearsal, Ruling, Tournament
from glasshouse.errors import BadWorld, Refused, UnknownName
from glasshouse.events import PromptDigests, RunPaused, Tokens, Usage
from glasshouse.events.described_tool import DescribedTool
from glasshouse.grids import Cell, Figure, GridTable, Progress, Row
from glasshouse.manifests import (
    CreatureEdits,
    ManifestAgent,
    Memory,
    Schedule,
    Voice,
    WorldEdits,
    load_world,
)
from glasshouse.models import (
    CallProgress,
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
from glasshouse.tools import Policy, Proposal, ToolAnswer, ToolServer, Verdict
from glasshouse.turns.moment.moment import Moment
from glasshouse.views import Thinking, ToolAsked, ToolOfRun, ToolUse, ToolUsed, Waiting
from tests.rules.test_public_face import PUBLIC

NOT_MADE_HERE = {
    "Approver",
    "BudgetExceeded",
    "EngineEvent",
    "Model",
    "Router",
    "Refused",
    "MomentChatClient",
    "MomentChatModel",
    "MomentModel",
    "ModelContract",
    "StoreContract",
}
"""Types for hints, errors, another name of `Event`, models of other frameworks, which show themselves as theirs do, and suites of checks,
of which pytest makes classes of its own."""


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
        *(ManifestAgent(), Keeps()),
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
            CallProgress(4_096, 9_999, tokens=12),
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
        *(
            (row := Row(cell=long, world=long, what_if=long, models=long, rng_seed=1, repeat=1, error=long)),
            GridTable([row]),
            Cell(long, long, long, long, 1, 1),
            Figure(long, long, long, long, Measure(0.5, 0.4, 0.6, 9)),
            Progress(9, 1, 1, None),
            Grid("mystery-roots"),
            PostgresStore("postgresql://ada:secret@localhost/glass", house="main"),
            (edits := CreatureEdits(persona=long)),
            WorldEdits(off=(long,), creatures={"ada": edits}),
        ),
    ]


@cache
def everything() -> dict[str, list[object]]:
    by_class: dict[str, list[object]] = {}
    for thing in [*asyncio.run(_things()), *_made()]:
        # An agent gets an `OwnMoment`, which shows itself as what it is documented as.
        by_class.setdefault(type(thing).__name__.removeprefix("Own"), []).append(thing)
    by_class["Agent"] = [type("Agent", (Keeps,), {})()]
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


MANY: Any = [f"{number} {'x' * 500}" for number in range(100)]


def filled(value: Any) -> Any:
    """A copy of a value with long texts, long lists and every number that it may have; others are as they are."""
    write: Any = object.__setattr__
    if isinstance(value, BaseModel):
        names = list(type(value).model_fields)
    elif isinstance(value, msgspec.Struct):
        names, write = list(value.__struct_fields__), force_setattr
    elif dataclasses.is_dataclass(value):
        names = [field.name for field in dataclasses.fields(value)]
    else:
        return value
    full, hints = copy(value), hints_of(type(value))
    for name in names:
        now, allowed = getattr(value, name), [hints.get(name), *get_args(hints.get(name))]
        if isinstance(now, str) or (str in allowed and now is None):
            write(full, name, MANY[0])
        elif isinstance(now, list | tuple):
            write(full, name, type(now)([*now, *now] * 50 or MANY))
        elif isinstance(now, dict):
            values = [*now.values(), *([MANY[0]] if get_args(hints.get(name))[-1:] == (str,) else [])]
            # Of what an empty one of another type would hold, nothing is known.
            write(full, name, {**now, **dict.fromkeys(MANY, values[0])} if values else now)
        elif now in (None, msgspec.UNSET) and (int in allowed or float in allowed):
            write(full, name, 123_456)
    return full


def hints_of(value_class: type) -> dict[str, Any]:
    try:
        return get_type_hints(value_class)
    except NameError:  # A name that only type checkers import.
        return dict.fromkeys(getattr(value_class, "__annotations__", {}))


@pytest.mark.parametrize("name", PUBLIC_CLASSES)
def test_a_public_value_full_of_long_texts_is_cut_with_its_quotation_marks(name: str) -> None:
    shown = [repr(filled(thing)) for thing in everything().get(name, [])[:20]]

    assert [text for text in shown if len(text) > repr_chars_max or "\n" in text or "UNSET" in text] == []
    cut = [text for text in shown if "'0 xxx" in text and '"' not in text]
    assert [text for text in cut if text.count("'") % 2] == []


def test_limits_that_are_left_out_are_not_shown() -> None:
    every = dict.fromkeys(
        [name for name in Governor.__struct_fields__ if not name.startswith("on_")], 123_456
    )

    assert repr(Governor(max_turns=3)).startswith("Governor(max_turns=3, max_total_calls=500, ")
    assert len(repr(Governor(**every, on_budget="pause", on_turn_limit="finish"))) <= repr_chars_max


@pytest.mark.parametrize(
    "error",
    [BadWorld(MANY), Refused(MANY[0], MANY[0]), UnknownName(noun="creature", name=MANY[0], known=MANY)],
    ids=lambda error: type(error).__name__,
)
def test_an_error_shows_itself_on_one_short_line(error: Exception) -> None:
    shown = repr(error)

    assert shown.startswith(f"{type(error).__name__}(")
    assert len(shown) <= repr_chars_max
    assert "\n" not in shown
    assert shown[-2:] in ("')", '")')
