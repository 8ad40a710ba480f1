"""`glasshouse rehearse` lets models play the beginning of a world in each form, and says how well they manage.

What is measured is counted in `contests/measures.py`; here it is started, bounded in time and shown. Every form plays its
first round before any plays its second: whenever it ends, each form has been measured.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from contextlib import suppress
from enum import StrEnum
from functools import partial
from typing import Final, NamedTuple

import typer
from msgspec import to_builtins

from glasshouse.assembly import NamedModels, StoreAddress
from glasshouse.cli.command_line import store_path
from glasshouse.cli.drawing.screen import Screen, counted, print_json
from glasshouse.cli.expected_cost import check_agreed, is_priced
from glasshouse.cli.interrupts import run_until_interrupted
from glasshouse.cli.live.progress_lines import ProgressLines
from glasshouse.cli.model_choice import ModelChoice
from glasshouse.cli.options import EnvFileOption, JsonOption, StoreOption, YesOption, argument, option
from glasshouse.cli.store_reader import open_reader
from glasshouse.cli.tool_servers import servers_here, servers_of_world, tool_names
from glasshouse.cli.world_path import check_world
from glasshouse.contests.expected_cost import expected_of_world
from glasshouse.contests.measures import Measure
from glasshouse.contests.recorded_plays import measured_plays, prompting_now
from glasshouse.contests.rehearsal import FORMS, FormRehearsal, Plan, Rehearsal, turns_usual
from glasshouse.errors import Refused
from glasshouse.events.event import Json
from glasshouse.manifests.loading import load_world
from glasshouse.model_values import Form

minutes_usual: Final = 15.0
"""How long a model rehearses at most, unless somebody says otherwise."""
worlds_max: Final = 4
"""More worlds do not fit side by side."""

_WORLDS = "A world by its name, the folder it is in, or its scenario file. Another one is measured beside it."
_MODELS = "The models to rehearse, such as ollama:qwen3:8b,ollama:gemma3:4b, or offline."
_FORMS = "The forms to rehearse: schema, json, prose. All of them if left out."
_MINUTES = "Stop a model after this many minutes, and measure what it has played until then."
_PROMPTING = "Numbers of prompts to measure side by side. One that this version does not write is taken from the plays in --store."
_IN_PERCENT: Final = frozenset(
    {
        "valid at first try",
        "repaired",
        "cut by length",
        "fenced",
        "refused",
        "passed",
        "near-duplicate",
        "recited",
        "echoed",
        "prompt text",
        "placeholder",
        "uptake",
        "citation accuracy",
        "speaks for others",
        "leaks",
        "language",
        "cached share",
    }
)
_DIGITS: Final = {"new words a line": 1, "prompt tokens": 0, "usd a turn": 5}
_DIGITS_USUAL: Final = 2
_SAID_WHILE_IT_RUNS: Final = ("valid at first try", "recited", "echoed", "placeholder", "prompt text")


class FormName(StrEnum):
    """The forms as the option takes them."""

    SCHEMA = "schema"
    JSON = "json"
    PROSE = "prose"


class Column(NamedTuple):
    """One column of the table."""

    world: str
    prompting: int
    is_recorded: bool
    rehearsal: Rehearsal

    def title(self, *, with_world: bool, with_prompting: bool) -> str:
        """What stands above it."""
        form = f"recorded, {self.rehearsal.form}" if self.is_recorded else self.rehearsal.form
        parts = [self.world] if with_world else []
        parts += [f"prompting {self.prompting}"] if with_prompting else []
        return ", ".join([*parts, form])


class Rehearsing(NamedTuple):
    """What one call of the command rehearses."""

    plans: dict[str, Plan]
    """World as it was named -> what is rehearsed of it."""
    forms: list[Form]
    rounds: int
    prompting: list[int]
    store: str | None
    minutes: float
    as_json: bool


def rehearse(
    worlds: list[str] = argument("WORLD|PATH...", _WORLDS),
    *,
    models: str = option("A,B", _MODELS, "offline"),
    rounds: int = option("N", "How often each model plays in each form.", 3, min=1),
    turns: int = option(
        "N", "How many turns a round has; a visitor speaks in its middle.", turns_usual, min=2
    ),
    form: list[FormName] | None = typer.Option(None, help=_FORMS),
    prompting: str | None = option("N,M", _PROMPTING),
    max_minutes: float = option("X", _MINUTES, minutes_usual, min=0.01),
    rng_seed: int = option("N", "Seed of the random numbers of the first round; each round adds one.", 0),
    env_file: EnvFileOption = None,
    yes: YesOption = False,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Measure how models manage a world: valid replies, reciting, repetition, hearing, speed and cost, for each form.

    Every figure has its 95 % interval and its sample size n. Nothing is written to a store. Progress and the figures so far
    go to standard error. The table is Markdown: paste it where you like.

    \b
    Examples:
      glasshouse rehearse mystery-roots --models ollama                             what Ollama would play with
      glasshouse rehearse mystery-roots --models ollama:qwen3:8b,ollama:gemma3:4b   two models, one after the other
      glasshouse rehearse mystery-roots worlds/mine --models ollama                 two versions of a world side by side
      glasshouse rehearse mystery-roots --models ollama --prompting 1,2             with plays of other prompts in the store
      glasshouse rehearse mystery-roots --models ollama --form prose --rounds 10    one form, narrower intervals
      glasshouse rehearse mystery-roots --models openrouter:qwen/qwen3-8b --yes --json   for machines
    """
    names = [*filter(None, [name.strip() for name in models.split(",")])]
    forms: list[Form] = [known for known in FORMS if not form or known in form]
    if len(worlds) > worlds_max:
        raise Refused(f"{len(worlds)} worlds do not fit side by side.", f"Name at most {worlds_max}.")
    servers = servers_here()
    for world in worlds:
        check_world(world)
    plans = {
        world: Plan(load_world(world, tools=tool_names(servers)), rounds, turns, rng_seed, servers)
        for world in worlds
    }
    for plan in plans.values():
        servers_of_world(plan.world).say(servers, as_json=as_json)
    asked = Rehearsing(plans, forms, rounds, _numbers(prompting), store, max_minutes, as_json)
    for name in names:
        choice = ModelChoice(name, {}, env_file, yes)
        run_until_interrupted(partial(_rehearse, asked, choice))


def _numbers(given: str | None) -> list[int]:
    """The prompting numbers that the option names; this version's if it names none."""
    words = [*filter(None, [word.strip() for word in (given or "").split(",")])]
    if not all(word.isdecimal() and int(word) > 0 for word in words):
        raise Refused(f"--prompting {given} is not valid.", "Write numbers, such as --prompting 1,2.")
    return sorted({int(word) for word in words}) or [prompting_now()]


async def _rehearse(asked: Rehearsing, choice: ModelChoice) -> None:
    """One model in all worlds and forms. If it is stopped, what was measured until then is shown as well."""
    progress = ProgressLines()
    async with progress.watching(lambda: f"Rehearsal: looking for {choice.wanted}."):
        named = choice.named()
        await named.open()
    columns: list[Column] = []
    rehearsals: list[tuple[str, FormRehearsal]] = []
    try:
        await named.start()
        model = named.route("fast").name
        columns += await _recorded(asked, model)
        if prompting_now() in asked.prompting:
            _check_agreed(asked, named, choice)
            rehearsals += [
                (world, FormRehearsal(named, plan, model, form))
                for world, plan in asked.plans.items()
                for form in asked.forms
            ]
            await _play(asked, rehearsals, progress)
    finally:
        columns += [_column(world, rehearsal) for world, rehearsal in rehearsals if rehearsal.rounds]
        _show(columns, asked)
        await named.close()


def _check_agreed(asked: Rehearsing, named: NamedModels, choice: ModelChoice) -> None:
    if is_priced(named):
        for plan in asked.plans.values():
            expected = expected_of_world(named, plan.world, None, plan.rng_seed, plan.turns)
            times = plan.rounds * len(asked.forms)
            check_agreed(expected.times(times), is_agreed=choice.is_agreed, as_json=asked.as_json)


async def _play(
    asked: Rehearsing, rehearsals: Sequence[tuple[str, FormRehearsal]], progress: ProgressLines
) -> None:
    """Play all rounds, or as many as there is time for. It is bounded by the time alone: no call is waited for any longer."""
    begun = time.monotonic()
    ends = begun + asked.minutes * 60
    rounds = asked.rounds
    for number in range(1, rounds + 1):
        for world, rehearsal in rehearsals:
            if time.monotonic() >= ends:
                break
            title = f"{rehearsal.model}, {_named(world, rehearsal.form, asked)}: round {number} of {rounds}"

            def words(title: str = title, rehearsal: FormRehearsal = rehearsal) -> str:
                seconds = time.monotonic() - begun
                return f"{title}, {counted(rehearsal.calls, 'call')} in {seconds:.0f} seconds"

            # An act that would outlast the time is cut, and leaves no event: a slow model may need minutes for one.
            async with progress.watching(words):
                with suppress(TimeoutError):
                    async with asyncio.timeout(ends - time.monotonic()):
                        await rehearsal.play_round(lambda: time.monotonic() < ends)
            column = _column(world, rehearsal)
            progress.say(f"{title}: {_so_far(column.rehearsal)}.")
            if asked.as_json and number < rounds:
                print_json(_facts(column, is_partial=True))
    if time.monotonic() >= ends:
        played = sum(rehearsal.rounds for _, rehearsal in rehearsals)
        progress.say(
            f"Stopped after {asked.minutes:g} minutes, in round {played} of {rounds * len(rehearsals)}. "
            "For more: --max-minutes."
        )


async def _recorded(asked: Rehearsing, model: str) -> list[Column]:
    """A column for each prompting number that this version does not write, from the plays in the store."""
    numbers = [number for number in asked.prompting if number != prompting_now()]
    if not numbers:
        return []
    path = store_path(asked.store)
    recorded: dict[tuple[str, int], Rehearsal | None] = {}
    if path.exists():
        async with open_reader(path) as reader:
            terrarium = reader.terrarium
            run_ids = [*terrarium.imported_runs(), *[run.id for run in terrarium.runs()]]
            plays = [await terrarium.run_events(run_id) for run_id in run_ids]
            for world, plan in asked.plans.items():
                for number in numbers:
                    measured = await measured_plays(plays, reader.store.prompt, plan, model, number)
                    recorded[world, number] = measured
    columns = []
    for world, plan in asked.plans.items():
        for number in numbers:
            rehearsal = recorded.get((world, number))
            if rehearsal is None:
                raise _not_recorded(number, plan.world.scenario.name, model, path)
            columns.append(Column(world, number, is_recorded=True, rehearsal=rehearsal))
    return columns


def _not_recorded(number: int, world: str, model: str, path: StoreAddress) -> Refused:
    return Refused(
        f"This version writes prompts of number {prompting_now()}, not {number}, and {path} has no play of {world} by "
        f"{model} under number {number}.",
        "Name a store that has one with --store, play it there with the version of Glasshouse that writes these prompts, "
        f"or leave {number} out of --prompting.",
    )


def _column(world: str, rehearsal: FormRehearsal) -> Column:
    return Column(world, prompting_now(), is_recorded=False, rehearsal=rehearsal.result())


def _named(world: str, form: Form, asked: Rehearsing) -> str:
    return f"{world}, {form}" if len(asked.plans) > 1 else form


def _so_far(rehearsal: Rehearsal) -> str:
    """The most telling figures of a rehearsal in words."""
    figures = [
        f"{name} {_cell(name, rehearsal.measures[name])}"
        for name in _SAID_WHILE_IT_RUNS
        if rehearsal.measures[name].n
    ]
    return ", ".join(figures) or "nothing to count yet"


def _show(columns: Sequence[Column], asked: Rehearsing) -> None:
    if asked.as_json:
        print_json(*[_facts(column, is_partial=False) for column in columns])
    elif columns:
        Screen().draw(_table(columns, asked))


def _facts(column: Column, *, is_partial: bool) -> Json:
    rehearsal = column.rehearsal
    named = (
        (name.replace(" ", "_").replace("-", "_"), measure) for name, measure in rehearsal.measures.items()
    )
    return {
        "type": "rehearsal",
        "model": rehearsal.model,
        "world": column.world,
        "form": rehearsal.form,
        "prompting": column.prompting,
        "is_recorded": column.is_recorded,
        "rounds": rehearsal.rounds,
        "is_partial": is_partial,
        "measures": {name: to_builtins(measure) for name, measure in named},
    }


def _table(columns: Sequence[Column], asked: Rehearsing) -> str:
    """A Markdown table. Its lines are aligned, so it reads well unrendered, too."""
    titles = [
        column.title(with_world=len(asked.plans) > 1, with_prompting=asked.prompting != [prompting_now()])
        for column in columns
    ]
    first = columns[0].rehearsal
    rows = [[first.model, *titles]]
    rows += [
        [name, *[_cell(name, column.rehearsal.measures[name]) for column in columns]]
        for name in first.measures
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["| " + " | ".join(map(str.ljust, row, widths)) + " |" for row in rows]
    return "\n".join([lines[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *lines[1:], ""])


def _cell(name: str, measure: Measure) -> str:
    """A figure with its interval and n, such as `83% (61-94, n 12)`."""
    if measure.value is None:
        return "unknown" if measure.n else "nothing to count"
    scale, digits = (100.0, 0) if name in _IN_PERCENT else (1.0, _DIGITS.get(name, _DIGITS_USUAL))
    shown = [
        f"{value * scale:,.{digits}f}"
        for value in (measure.value, measure.low, measure.high)
        if value is not None
    ]
    sign = "%" if name in _IN_PERCENT else ""
    interval = f"{shown[1]}-{shown[2]}, " if len(shown) == 3 else ""
    return f"{shown[0]}{sign} ({interval}n {measure.n:,})"
