"""Options and arguments that commands share, so that every command names and explains them the same way."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any

import typer

from glasshouse.cli import completion
from glasshouse.cli.pace import Pace
from glasshouse.errors import Refused


def flag(name: str, help_text: str) -> Any:
    """An option without a value."""
    return typer.Option(False, name, help=help_text)


def option(metavar: str, help_text: str, default: Any = None, *names: str, **checks: Any) -> Any:
    """An option with a value. Without `names`, it is called like its parameter."""
    return typer.Option(default, *names, metavar=metavar, help=help_text, **checks)


def argument(metavar: str, help_text: str, **checks: Any) -> Any:
    """An argument that must be given."""
    return typer.Argument(metavar=metavar, help=help_text, **checks)


RUN_NAMES = "its id, the beginning of its id, or `last` for the last run."
_NAMED_RUN = f"A run, or a session: {RUN_NAMES}"

_STORE = (
    "The store: a file, or postgresql://HOST/DB#HOUSE. Default: $GLASSHOUSE_STORE, else show.glasshouse here."
)
# A text: a path would take one of the two slashes out of an address.
StoreOption = Annotated[str | None, typer.Option("--store", metavar="STORE", help=_STORE)]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object a line instead.")]
EventsOption = Annotated[
    bool,
    typer.Option("--json", help="Print one event a line, as the audience or the role named may read it."),
]
NumbersOption = Annotated[
    bool, typer.Option("--numbers", help="Print the number of its event before each line, as `why` takes it.")
]
PaceOption = Annotated[
    Pace | None, typer.Option(help="How fast to go. Default: reading on a terminal, fast in a pipe.")
]
MindsOption = Annotated[bool, typer.Option("--minds", help="Show thoughts, moods and who passed, too.")]
TurnsOption = Annotated[
    int | None,
    typer.Option(min=1, metavar="N", help="Play at most N turns, empty ones too, and leave the run open."),
]
SeedOption = Annotated[
    str | None, typer.Option(metavar="TEXT", help="What the world grows from. Default: its first seed.")
]
_WORLD = typer.Argument(
    metavar="WORLD|PATH",
    help="A world by its name, the folder it is in, or its scenario file.",
    autocompletion=completion.worlds,
)
WorldArgument = Annotated[str, _WORLD]
OptionalWorldArgument = Annotated[str | None, _WORLD]
RunArgument = Annotated[str, typer.Argument(metavar="RUN", help=_NAMED_RUN, autocompletion=completion.runs)]
_RUN_OR_SESSION = typer.Argument(
    metavar="RUN|SESSION", help=_NAMED_RUN, show_default=False, autocompletion=completion.runs
)
RunOrSessionArgument = Annotated[str, _RUN_OR_SESSION]
EVENT_NAMES = "number in the run, its id, the beginning of its id, or `last` for the last line."
EventArgument = Annotated[str, typer.Argument(metavar="EVENT", help=f"An event: its {EVENT_NAMES}")]
InRunOption = Annotated[
    str | None,
    typer.Option(
        "--run",
        metavar="RUN",
        help="The run to count in. Default: the last one.",
        autocompletion=completion.runs,
    ),
]

_MODELS = "ollama, llama.cpp, lmstudio, vllm, openai, openrouter, anthropic, gemini, mistral, each also as SERVER:MODEL; "
ModelsOption = Annotated[
    str | None,
    typer.Option(
        "--models",
        metavar="SERVER",
        autocompletion=completion.models,
        help=f"What plays: {_MODELS}an address; a models.yaml; or offline. Default: $GLASSHOUSE_MODELS, else models.yaml "
        "here or in the config folder, else offline.",
    ),
]
ModelOption = Annotated[
    list[str] | None,
    typer.Option(
        "--model", metavar="HANDLE=MODEL", help="Another model for a creature or a team. Repeatable."
    ),
]
EnvFileOption = Annotated[
    Path | None,
    typer.Option("--env-file", metavar="FILE", help="A file with keys of models, as lines NAME=KEY."),
]
ToolsOption = Annotated[
    Path | None,
    typer.Option(
        "--tools",
        metavar="FILE",
        help="The tools.yaml with servers of tools. Default: $GLASSHOUSE_TOOLS, else tools.yaml here or in the config "
        "folder.",
    ),
]
YesOption = Annotated[
    bool, typer.Option("--yes", help="Agree to what it will probably cost, without being asked.")
]


def _limit(help_text: str, *names: str, is_count: bool = True) -> Any:
    least, metavar = (1, "N") if is_count else (0, "X")
    chosen = typer.Option(*names, min=least, metavar=metavar, help=f"Another limit: {help_text}.")
    return Annotated[(int if is_count else float) | None, chosen]


_LIMIT_OPTIONS = {
    "max_turns": _limit("turns", "--max-turns"),
    "max_calls_per_turn": _limit("model calls in one turn", "--max-calls-per-turn"),
    "max_total_calls": _limit("model calls in all", "--max-total-calls", "--max-calls"),
    "max_total_tokens": _limit("tokens in all", "--max-total-tokens", "--max-tokens"),
    "max_total_usd": _limit("US dollars in all", "--max-total-usd", "--max-usd", is_count=False),
    "hourly_budget_usd": _limit("US dollars in any hour", "--hourly-budget-usd", is_count=False),
    "max_wall_minutes": _limit("minutes from start to end", "--max-wall-minutes", is_count=False),
}
"""The option of each limit of a run, by the limit's name."""


def takes_limits(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command an option for each limit. It gets those that were given as one mapping, `limits`."""
    parameters: list[Parameter] = []
    for parameter in signature(command, eval_str=True).parameters.values():
        if parameter.name == "limits":
            parameters += [
                Parameter(axis, Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
                for axis, annotation in _LIMIT_OPTIONS.items()
            ]
        else:
            parameters.append(parameter)

    @wraps(command)
    def with_limits(*given: Any, **named: Any) -> None:
        limits = {axis: named.pop(axis, None) for axis in _LIMIT_OPTIONS}
        command(*given, limits={axis: most for axis, most in limits.items() if most is not None}, **named)

    with_limits.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    with_limits.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return with_limits


def pairs(option: str, noun: str, given: list[str] | None) -> dict[str, str]:
    """Options of the form HANDLE=VALUE."""
    read = {}
    for words in given or ():
        handle, _, value = words.partition("=")
        if not handle or not value:
            raise Refused(f"{option} {words!r} is not valid.", f"Write {option} HANDLE={noun}.")
        read[handle] = value
    return read


class RoleName(StrEnum):
    """Who looks on, and so what is shown."""

    SPECTATOR = "spectator"
    AUDIENCE = "audience"
    DIRECTOR = "director"


RoleOption = Annotated[
    RoleName,
    typer.Option("--as", help="Role to show events for: the audience sees thoughts, a director everything."),
]
