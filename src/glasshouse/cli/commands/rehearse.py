"""`glasshouse rehearse` lets models play the beginning of a world in each form, and says how well they manage.

What is measured is counted in `contests/measures.py`; here it is started and shown.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from enum import StrEnum
from typing import Final

import typer
from msgspec import to_builtins

from glasshouse.assembly import NamedModels
from glasshouse.cli.drawing.screen import Screen, print_json
from glasshouse.cli.expected_cost import check_agreed, is_priced
from glasshouse.cli.model_choice import ModelChoice
from glasshouse.cli.options import EnvFileOption, JsonOption, WorldArgument, YesOption, option
from glasshouse.cli.tool_servers import servers_here, servers_of_world, tool_names
from glasshouse.contests.expected_cost import expected_of_world
from glasshouse.contests.measures import Measure
from glasshouse.contests.rehearsal import FORMS, Plan, Rehearsal, turns_usual
from glasshouse.contests.rehearsal import rehearse as rehearse_form
from glasshouse.events.event import Json
from glasshouse.manifests.loading import load_world
from glasshouse.model_values import Form
from glasshouse.runtime import event_loop

_MODELS = "The models to rehearse, such as ollama:qwen3:8b,ollama:gemma3:4b, or offline."
_FORMS = "The forms to rehearse: schema, json, prose. All of them if left out."
_IN_PERCENT: Final = frozenset(
    {
        "valid at first try",
        "repaired",
        "cut by length",
        "fenced",
        "refused",
        "passed",
        "near-duplicate",
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


class FormName(StrEnum):
    """The forms as the option takes them."""

    SCHEMA = "schema"
    JSON = "json"
    PROSE = "prose"


def rehearse(
    world: WorldArgument,
    *,
    models: str = option("A,B", _MODELS, "offline"),
    rounds: int = option("N", "How often each model plays in each form.", 3, min=1),
    turns: int = option(
        "N", "How many turns a round has; a visitor speaks in its middle.", turns_usual, min=2
    ),
    form: list[FormName] | None = typer.Option(None, help=_FORMS),
    rng_seed: int = option("N", "Seed of the random numbers of the first round; each round adds one.", 0),
    env_file: EnvFileOption = None,
    yes: YesOption = False,
    as_json: JsonOption = False,
) -> None:
    """Measure how models manage a world: valid replies, repetition, hearing, speed and cost, for each form.

    Every figure has its 95 % interval and its sample size n. Nothing is written to a store. The table is Markdown: paste it
    where you like.

    \b
    Examples:
      glasshouse rehearse mystery-roots --models ollama                             what Ollama would play with
      glasshouse rehearse mystery-roots --models ollama:qwen3:8b,ollama:gemma3:4b   two models side by side
      glasshouse rehearse mystery-roots --models ollama --form prose --rounds 10    one form, narrower intervals
      glasshouse rehearse mystery-roots --models openrouter:NAME --yes --json       for machines
    """
    names = [*filter(None, [name.strip() for name in models.split(",")])]
    forms: list[Form] = [known for known in FORMS if not form or known in form]
    servers = servers_here()
    plan = Plan(load_world(world, tools=tool_names(servers)), rounds, turns, rng_seed, servers)
    servers_of_world(plan.world).say(servers, as_json=as_json)
    for name in names:
        results = event_loop.run(
            _rehearse(plan, ModelChoice(name, {}, env_file, yes), forms, as_json=as_json)
        )
        if as_json:
            print_json(*[_facts(result) for result in results])
        else:
            Screen().draw(_table(results))


async def _rehearse(plan: Plan, choice: ModelChoice, forms: list[Form], *, as_json: bool) -> list[Rehearsal]:
    """One model in all forms."""
    named = choice.named()
    await named.open()
    try:
        if is_priced(named):
            expected = expected_of_world(named, plan.world, None, plan.rng_seed, plan.turns)
            check_agreed(
                expected.times(plan.rounds * len(forms)), is_agreed=choice.is_agreed, as_json=as_json
            )
        return [await _in_form(named, plan, form, is_told=not as_json) for form in forms]
    finally:
        await named.close()


async def _in_form(named: NamedModels, plan: Plan, form: Form, *, is_told: bool) -> Rehearsal:
    model = named.route("fast").name

    def tell(number: int) -> None:
        if is_told and sys.stderr.isatty():
            print(
                f"\r\x1b[K{model}, {form}: round {number} of {plan.rounds} ",
                end="",
                file=sys.stderr,
                flush=True,
            )

    result = await rehearse_form(named, plan, model, form, tell)
    if is_told and sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)
    return result


def _facts(result: Rehearsal) -> Json:
    named = ((name.replace(" ", "_").replace("-", "_"), measure) for name, measure in result.measures.items())
    measures = {name: to_builtins(measure) for name, measure in named}
    return {"type": "rehearsal", "model": result.model, "form": result.form, "measures": measures}


def _table(results: Sequence[Rehearsal]) -> str:
    """A Markdown table, a column for each form. Its lines are aligned, so it reads well unrendered, too."""
    rows = [[results[0].model, *[result.form for result in results]]]
    rows += [
        [name, *[_cell(name, result.measures[name]) for result in results]] for name in results[0].measures
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
