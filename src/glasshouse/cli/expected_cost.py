"""What the rest of a run will probably cost, and the question before a play with priced models starts.

Always holds: for a run that continues, the calls and the price of a turn are the average of its turns so far.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import Final

from msgspec.structs import replace

from glasshouse.assembly import PROVIDER_IDS, NamedModels, has_price_list
from glasshouse.cli.command_line import CommandLine
from glasshouse.cli.model_choice import agrees, is_asked
from glasshouse.cli.program import program_called
from glasshouse.cli.store_reader import Story
from glasshouse.contests.expected_cost import Expected, asked_in, usd_of
from glasshouse.errors import Refused
from glasshouse.events.model_use import FREE

_WRITE_IT: Final = "Write its price into models.yaml, in dollars for a million tokens"
_DOLLARS: Final = "input: IN, output: OUT"
usd_unasked_max: Final = 0.5
"""A play that will probably cost more needs a yes."""


def is_priced(models: NamedModels, names: Iterable[str] = ()) -> bool:
    """Whether any model that may play costs something, or may; also those that a run will name."""
    routes = [choice.route for choice in models.choices()]
    routes += [models.route("fast", name) for name in (*models.pins.values(), *names)]
    return any(route is not None and route.price != FREE for route in routes)


def expected_of_rest(
    models: NamedModels, story: Story, turns: int | None, given: Mapping[str, float]
) -> Expected:
    """For the rest of a run, if it is given these limits in place of its own."""
    run = story.run
    if run is None:
        return Expected(0, None)
    limits = replace(run.governor, **given)
    if not run.turns or not run.calls:
        return Expected(limits.max_total_calls or 0, None)
    turns_left = [turns, None if limits.max_turns is None else limits.max_turns - run.turns]
    most = min([count for count in turns_left if count is not None], default=run.turns)
    calls = max(1, math.ceil(run.calls / run.turns * most))
    if limits.max_total_calls is not None:
        calls = max(1, min(calls, limits.max_total_calls - run.calls))
    usd = usd_of(models, *asked_in(story.events), {})
    return Expected(calls, None if usd is None else usd / run.calls * calls).within(limits, run.usd or 0.0)


def how_to_price(models: NamedModels) -> list[str]:
    """If nobody knows what a model costs: a sentence that says so, and the line to write into a models.yaml."""
    unpriced = [
        choice for choice in models.choices() if choice.route is not None and choice.route.price is None
    ]
    if not unpriced:
        return []
    (size, _, endpoint, model, *_) = unpriced[0]
    route = unpriced[0].route
    price = f"price: {{{_DOLLARS}}}"
    server = endpoint.server
    if route is None or (models.wanted != server and not models.wanted.startswith(f"{server}:")):
        return [f"Nobody knows what {model} costs. {_WRITE_IT}:", f"  {price}"]
    profile = (
        f"backend: {server}, model: {json.dumps(model)}, context_tokens: {route.context_tokens_max}, {price}"
    )
    lines = [f"Nobody knows what {model} costs. {_WRITE_IT}:", f"  profiles: {{{size}: {{{profile}}}}}"]
    if server in PROVIDER_IDS and has_price_list():
        command = CommandLine(program_called()).call("models", "price", f"{server}:{model}")
        lines += ["A price to begin with is proposed by:", f"  {command}"]
    return lines


def check_agreed(expected: Expected, *, is_agreed: bool, as_json: bool) -> None:
    """Ask whether to play if it will probably cost much, or nobody knows how much. Refused without a yes."""
    if is_agreed or (expected.usd_at_most is not None and expected.usd_at_most <= usd_unasked_max):
        return
    reason = f"This will probably take {expected}."
    if as_json or not is_asked():
        priced = f" {_WRITE_IT}: price: {{{_DOLLARS}}}." if expected.usd is None else ""
        raise Refused(
            reason, f"Agree with --yes, or bound it with --turns, --max-usd or a limit of the world.{priced}"
        )
    if not agrees(f"{reason} Play?"):
        raise Refused("Nothing was played.", "To play without cost: --models offline")
