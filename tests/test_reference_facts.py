"""What a reader looks up is still there, however short a page is: exit codes, options with their defaults and choices, and the
values that fields may have. All of it is asked of the program."""

from enum import Enum
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

import pytest
from pydantic import BaseModel
from typer.main import get_command

import glasshouse.cli.app
from glasshouse.cli import exits
from glasshouse.events import kinds
from glasshouse.manifests.manifest import Manifest
from glasshouse.manifests.models_file import ModelsFile
from glasshouse.manifests.scenario import Scenario
from glasshouse.manifests.tools_file import ToolsFile
from tests.pages import page_text, sections
from tests.what_is_offered import models_within

SHARED = {"--help", "--json", "--store", "--telemetry", "--no-telemetry", "--log", "--log-level"}
"""Options that the section on all commands explains once."""
AS_PLAY = {"--models", "--model", "--env-file", "--tools", "--yes", "--pace", "--minds", "--turns", "--as"}
"""Options that `play` or the section on all commands explains for the others."""
LIMITS = {
    "--hourly-budget-usd",
    *(f"--max-{name}" for name in ("turns", "calls", "tokens", "usd", "wall-minutes")),
}
LIMITS |= {"--max-calls-per-turn", *(f"--max-total-{name}" for name in ("calls", "tokens", "usd"))}
"""Options that `play` explains for `branch`."""


def commands() -> dict[str, Any]:
    """Every command with options of its own, by the words that call it."""
    listed: dict[str, Any] = {}

    def walk(command: Any, words: str) -> None:
        children = getattr(command, "commands", {})
        for name in children:
            walk(children[name], f"{words} {name}")
        if not children and not command.hidden:
            listed[words] = command

    walk(get_command(glasshouse.cli.app.app), "glasshouse")
    return listed


def section_of(words: str) -> str:
    """The part of the page on a command: its own section with those below it, else that of its group."""
    page = page_text("docs/reference/cli.md").split("\n## ")
    named = [part for part in page if part.partition("\n")[0] == words]
    return named[0] if named else section_of(words.rpartition(" ")[0])


def own_options(command: Any) -> list[Any]:
    """The options of a command that its own section must tell."""
    return [
        option
        for option in command.params
        if any(name.startswith("--") for name in option.opts) and not {*option.opts} & (SHARED | AS_PLAY)
    ]


def default_of(option: Any) -> str:
    """The default of an option as the page writes it."""
    return f"{option.default:g}" if isinstance(option.default, int | float) else str(option.default)


def choices_of(annotation: Any) -> set[str]:
    """The texts that a field may have, if it may have only some."""
    if get_origin(annotation) is Literal:
        return {choice for choice in get_args(annotation) if isinstance(choice, str) and choice}
    if get_origin(annotation) in (Union, UnionType):
        return set().union(*(choices_of(part) for part in get_args(annotation)))
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return {str(choice.value) for choice in annotation}
    return set()


FIELDS_WITH_CHOICES = [
    pytest.param(page, model, name, choices, id=f"{model.__name__}.{name}")
    for page, top in (
        ("world-files", Scenario),
        ("world-files", Manifest),
        ("models-file", ModelsFile),
        ("tools-file", ToolsFile),
    )
    for model in models_within(top)
    for name, field in model.model_fields.items()
    if (choices := choices_of(field.annotation))
]


def test_every_exit_code_is_told_once() -> None:
    codes = {value for name, value in vars(exits).items() if name.isupper() and isinstance(value, int)} | {
        0,
        2,
    }
    listed = sections(page_text("docs/reference/cli.md"))["Exit codes"]

    assert {code for code in codes if listed.count(f"\n| {code} |") != 1} == set()


@pytest.mark.parametrize("words", commands())
def test_the_section_of_a_command_tells_its_own_options(words: str) -> None:
    text = section_of(words)
    as_play = LIMITS if words == "glasshouse branch" else set[str]()

    missing = [
        option.opts
        for option in own_options(commands()[words])
        if not any(name in text for name in option.opts) and not {*option.opts} & as_play
    ]
    assert missing == []


@pytest.mark.parametrize("words", commands())
def test_the_section_of_a_command_tells_the_defaults_of_its_own_options(words: str) -> None:
    rows = [line for line in section_of(words).splitlines() if "--" in line]
    untold = [
        (option.opts, option.default)
        for option in own_options(commands()[words])
        if isinstance(option.default, int | float | str)
        and not isinstance(option.default, bool)
        and option.default != ""
        if not any(default_of(option) in row for row in rows if option.opts[0] in row)
    ]

    assert untold == []


@pytest.mark.parametrize(("page", "model", "field", "choices"), FIELDS_WITH_CHOICES)
def test_the_page_on_a_file_tells_every_choice_of_a_field(
    page: str, model: type[BaseModel], field: str, choices: set[str]
) -> None:
    text = page_text(f"docs/reference/{page}.md")

    assert {choice for choice in choices if f"`{choice}`" not in text} == set()


def test_the_page_on_events_names_every_constant_that_is_not_called_like_its_kind() -> None:
    page = page_text("docs/reference/events.md")
    constants = {name: kind for name, kind in vars(kinds).items() if name.isupper() and isinstance(kind, str)}
    others = {name: kind for name, kind in constants.items() if name != kind.upper().replace(".", "_")}

    assert "WIRE_ADDED" not in constants
    assert {
        name for name, kind in others.items() if f"`{name}`" not in page or f"`{kind}`" not in page
    } == set()
