"""`glasshouse models` lists which model plays each size; `glasshouse models pull` gets a missing one for Ollama.

Which model is chosen is decided in `models`; here it is only printed.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Final

import typer
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from glasshouse.assembly import (
    PARAMETERS_B,
    Choice,
    NamedModels,
    in_words,
    missing_models,
    pull_model,
    why_not_chosen,
)
from glasshouse.cli import options
from glasshouse.cli.command_line import CommandLine
from glasshouse.cli.commands import add_command
from glasshouse.cli.drawing.screen import Screen, draw_table, print_json
from glasshouse.cli.exits import CHECK_FAILED
from glasshouse.cli.model_choice import ModelChoice, agrees, is_asked, price_in_words, remarks_on, size_facts
from glasshouse.cli.program import examples_to_paste, program_called
from glasshouse.errors import GlasshouseError, Refused
from glasshouse.events.event import Json
from glasshouse.runtime import event_loop

EXAMPLES: Final = """\b
Examples:
  glasshouse models --models ollama                    what plays each size, and what else Ollama has
  glasshouse models                                    the same for $GLASSHOUSE_MODELS or models.yaml
  glasshouse models --models local                     which model in a file here would play, and the others
  glasshouse models pull gemma3:4b                     get a model for Ollama
  glasshouse models --models openrouter --json         for machines"""
others_shown_max: Final = 12
"""`glasshouse models` names this many of the models that are installed, and counts the rest."""

models = typer.Typer(
    invoke_without_command=True,
    add_completion=False,
    rich_markup_mode=None,
    epilog=examples_to_paste(EXAMPLES),
)


@models.callback()
def list_models(
    context: typer.Context,
    *,
    wanted: options.ModelsOption = None,
    env_file: options.EnvFileOption = None,
    as_json: options.JsonOption = False,
) -> None:
    """List which model plays each size, and what else its server has. Exit 1 if a size has no model."""
    if context.invoked_subcommand is not None:
        return
    named = ModelChoice(wanted, {}, env_file).named()
    with suppress(GlasshouseError):  # What is wrong stands in the list.
        event_loop.run(named.look())
    choices = named.choices()
    if as_json:
        print_json(*[{"type": "size", **size_facts(choice)} for choice in choices], *_others(named))
    else:
        _draw(named, choices)
    if any(choice.problem for choice in choices):
        raise typer.Exit(CHECK_FAILED)


def _draw(named: NamedModels, choices: list[Choice]) -> None:
    screen = Screen()
    rows = [_row(choice) for choice in choices if not choice.problem]
    if rows:
        headings = ("size", "model", "server", "parameters", "context", "price")
        draw_table(screen, headings, rows, loose=("model", "server"), spare=("price", "parameters"))
    problems = {choice.problem: None for choice in choices if choice.problem}
    screen.draw(*problems, *remarks_on(named))
    others = [
        f"{about['model']} ({about['why_not']})" if about["why_not"] else about["model"]
        for about in _others(named)
    ]
    if others:
        more = f" and {len(others) - others_shown_max} more" if len(others) > others_shown_max else ""
        screen.draw("", f"Installed: {', '.join(others[:others_shown_max])}{more}.")
    sizes = [f"{size} below {in_words(most)}" for size, most in PARAMETERS_B.items()]
    screen.draw("", f"The sizes, by parameters: {', '.join(sizes)}. Judges ask for balanced or strong.")
    call = CommandLine(program_called()).call
    screen.draw("", f"Play: {call('play', 'WORLD', '--models', named.wanted)}")


def _row(choice: Choice) -> list[str]:
    installed = choice.installed
    route = choice.route
    parameters = "" if installed is None or installed.parameters is None else in_words(installed.parameters)
    context = "" if route is None else f"{route.context_tokens_max:,}"
    price = "" if route is None else price_in_words(route.price)
    return [choice.size, choice.model, choice.endpoint.title, parameters, context, price]


def _others(named: NamedModels) -> list[Json]:
    """Every model that a server lists."""
    return [
        {
            "type": "model",
            "server": endpoint.server,
            "url": endpoint.url,
            "model": model.name,
            "parameters_b": model.parameters,
            "quantization": model.quantization or None,
            "digest": model.digest or None,
            "why_not": why_not_chosen(model) or None,
        }
        for endpoint, listed in named.endpoints().items()
        if isinstance(listed, list)
        for model in listed
    ]


def pull(
    name: str | None = typer.Argument(
        None, metavar="MODEL", help="The model. Default: the ones that are missing."
    ),
    *,
    wanted: options.ModelsOption = None,
    yes: bool = options.flag("--yes", "Download without being asked."),
    as_json: options.JsonOption = False,
) -> None:
    """Get a model for Ollama. Its size is shown first, and you are asked.

    \b
    Examples:
      glasshouse models pull gemma3:4b                 this one
      glasshouse models pull                           those that models.yaml names and that are missing
      glasshouse models pull gemma3:4b --yes           without being asked
    """
    named = ModelChoice(wanted or ("ollama" if name else None), {}, None).named()
    with suppress(GlasshouseError):  # That a model is missing is no reason to stop here.
        event_loop.run(named.look())
    missing = missing_models(named, name)
    if not missing and not as_json:
        print("Nothing is missing.")
    for url, model in missing:
        _pull(url, model, is_agreed=yes, as_json=as_json)


def _pull(url: str, model: str, *, is_agreed: bool, as_json: bool) -> None:
    """Download a model. The server says how large it is when it begins; a no then ends the download."""
    bar = Progress(TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    task = bar.add_task(model, total=None)
    layers = dict[str, tuple[int, int]]()

    def show(step: str, done: int, total: int) -> None:
        if total and not layers:
            _check_agreed(model, total, is_agreed=is_agreed, as_json=as_json)
            if not as_json:
                bar.start()
        if total:
            layers[step] = done, total
        all_done, all_of_it = (sum(counts) for counts in zip((0, 0), *layers.values(), strict=True))
        bar.update(task, total=all_of_it or None, completed=all_done)

    try:
        event_loop.run(pull_model(url, model, show))
    finally:
        bar.stop()
    if as_json:
        print_json({"pulled": model, "url": url})
    else:
        print(
            f"{model} is installed. Play: {CommandLine(program_called()).call('play', 'WORLD', '--models', 'ollama')}"
        )


def _check_agreed(model: str, size: int, *, is_agreed: bool, as_json: bool) -> None:
    question = f"{model} is {size / 1e9:.1f} GB." if size >= 1e8 else f"{model} is {size / 1e6:.0f} MB."
    if is_agreed:
        return
    if as_json or not is_asked():
        raise Refused(question, "Agree to the download with --yes.")
    if not agrees(f"{question} Download it?"):
        raise Refused("Nothing was downloaded.")


add_command(models, "pull", "Get a model for Ollama.", pull)
