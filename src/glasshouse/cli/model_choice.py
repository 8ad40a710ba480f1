"""`ModelChoice`: the models that a command plays with, what is said about them, and what happens if there are none.

Always holds: whoever plays with real models reads which ones before the first line. Nobody is asked anything without a
terminal: then what would need an answer is refused in words.
"""

from __future__ import annotations

import select
import signal
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import Final, TypeAlias

from glasshouse.assembly import PARAMETERS_B, Choice, ModelRouter, NamedModels, in_words, models_named
from glasshouse.cli.command_line import checked_settings
from glasshouse.cli.loading_line import LoadingLine
from glasshouse.cli.options import pairs
from glasshouse.cli.program import commands_to_paste
from glasshouse.cli.standard_output import standard_output
from glasshouse.events.event import Json
from glasshouse.events.model_use import FREE, Price
from glasshouse.settings import models_file

OFFLINE = "offline"
look_seconds: Final = 0.2
"""How often a question looks whether it was interrupted."""

PLAY_OFFLINE = "To play offline: --models offline"

AnyModels: TypeAlias = ModelRouter | NamedModels


@dataclass(frozen=True)
class ModelChoice:
    """What the options of a command say about models."""

    wanted: str | None = None
    pins: Mapping[str, str] = field(default_factory=dict)
    """Handle or team -> model."""
    env_file: Path | None = None
    is_agreed: bool = False
    """Whether the user agreed beforehand to what it costs."""

    @classmethod
    def of(cls, wanted: str | None, pins: list[str] | None, env_file: Path | None, yes: bool) -> ModelChoice:
        """As the options were given."""
        return cls(wanted, pairs("--model", "NAME", pins), env_file, yes)

    def models(self, recorded: str = "") -> AnyModels:
        """The models: as given, else as the run that continues was begun with, else as the settings or a models.yaml
        say, else the offline troupe."""
        named = self.named(recorded)
        return ModelRouter() if named.wanted == OFFLINE and not self.pins else named

    def named(self, recorded: str = "") -> NamedModels:
        """The same, by name also if the offline troupe plays."""
        text = self.wanted or recorded or checked_settings().models or str(models_file() or OFFLINE)
        named = models_named(text, pins=self.pins, env_file=self.env_file)
        named.on_loading = LoadingLine()
        return named

    def words(self, models: NamedModels) -> list[str]:
        """The options that name the same models in another command, with the file that holds their keys."""
        return ["--models", models.wanted, *(["--env-file", str(self.env_file)] if self.env_file else [])]

    def offline(self) -> ModelChoice:
        """The same without a server."""
        return replace(self, wanted=OFFLINE, pins={})


def is_asked() -> bool:
    """Whether somebody sits at a terminal and can answer."""
    return sys.stdin is not None and sys.stdin.isatty() and standard_output().isatty()


def agrees(question: str) -> bool:
    """Ask at the terminal; anything but a yes is a no."""
    return answer_to(f"{question} [y/N] ").strip().lower() in {"y", "yes"}


def answer_to(question: str) -> str:
    """The line that somebody types, with its end; empty if no more lines come. Ctrl-C stops at once, also where an event loop
    would wait."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        print(question, end="", flush=True)
        # `input()` would miss a Ctrl-C that comes just before it begins to read, and wait for a key for ever.
        while not select.select([sys.stdin], [], [], look_seconds)[0]:
            pass
        return sys.stdin.readline()
    finally:
        signal.signal(signal.SIGINT, before)


def heading(models: NamedModels) -> list[str]:
    """What plays, and how to change it."""
    choices = models.choices()
    lines = []
    for model, same in groupby(choices, key=lambda choice: choice.problem or choice.model):
        mine = [*same]
        sizes = "every size" if len(mine) == len(choices) else _listed(choice.size for choice in mine)
        lines.append(
            f"{sizes}: {commands_to_paste(model)}"
            if mine[0].problem
            else f"{model} plays {sizes}{about(mine[0])}."
        )
    lines += [f"{name} plays {_listed(handles)}." for name, handles in _by_name(models.pins).items()]
    lines += remarks_on(models)
    by_name = f"{models.wanted.partition(':')[0]}:NAME" if models.names_server else ""
    if models.wanted.startswith(("http:", "https:")):
        by_name = f"{models.wanted.partition('#')[0]}#NAME"
    other = f"Another: --models {by_name}; for one creature:" if by_name else "For one creature another:"
    return [f"Models: {lines[0]}", *lines[1:], f"{other} --model HANDLE=NAME. What there is:"]


def remarks_on(models: NamedModels) -> list[str]:
    """Sizes that another one plays, and models that are larger than their size; each once."""
    return [*filter(None, dict.fromkeys(choice.remark for choice in models.choices()))]


def about(choice: Choice) -> str:
    """In brackets: its server, its parameters, its quantization, its context and its price."""
    installed = choice.installed
    route = choice.route
    facts = [choice.endpoint.title] if choice.endpoint.server != OFFLINE else []
    if installed is not None and installed.parameters is not None:
        facts.append(in_words(installed.parameters))
    if installed is not None and installed.quantization:
        facts.append(installed.quantization)
    if facts and route is not None:
        facts.append(f"context {route.context_tokens_max:,} tokens")
        facts += [] if route.price == FREE else [price_in_words(route.price)]
    return f" ({', '.join(facts)})" if facts else ""


def price_in_words(price: Price | None) -> str:
    """A price in words."""
    if price is None:
        return "price unknown"
    return "free" if price == FREE else f"${price.input:g} in and ${price.output:g} out for a million tokens"


def _by_name(pins: Mapping[str, str]) -> dict[str, list[str]]:
    names: dict[str, list[str]] = {}
    for handle, name in pins.items():
        names.setdefault(name, []).append(handle)
    return names


def _listed(words: Iterable[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def facts(models: NamedModels, expected: Json | None = None) -> Json:
    """The same for machines."""
    sizes = [size_facts(choice) for choice in models.choices()]
    return {"wanted": models.wanted, "sizes": sizes, "pins": dict(models.pins), "expected": expected}


def size_facts(choice: Choice) -> Json:
    """What plays a size, for machines."""
    installed = choice.installed
    route = choice.route
    return {
        "size": choice.size,
        "size_below_b": PARAMETERS_B[choice.size],
        "played_as": choice.played_as,
        "model": choice.model or None,
        "server": choice.endpoint.server,
        "url": choice.endpoint.url or None,
        "digest": (route and route.digest) or None,
        "parameters_b": installed and installed.parameters,
        "quantization": (installed and installed.quantization) or None,
        "context_tokens": route and route.context_tokens_max,
        "usd_per_million": route
        and route.price
        and {"input": route.price.input, "output": route.price.output},
        "is_local": route and route.is_local,
        "problem": commands_to_paste(choice.problem) or None,
    }
