"""`glasshouse models` lists which model plays each size; `glasshouse models pull` gets a missing one for Ollama, and
`glasshouse models price` proposes what a hosted one costs.

Which model is chosen is decided in `models`; here it is only printed.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from typing import Final

import typer
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from glasshouse.assembly import (
    PARAMETERS_B,
    Choice,
    NamedModels,
    ProposedPrice,
    hosted_model,
    in_words,
    missing_models,
    proposed_price,
    pull_model,
    why_not_chosen,
)
from glasshouse.cli import options
from glasshouse.cli.command_line import CommandLine, world_to_try
from glasshouse.cli.commands import add_command
from glasshouse.cli.drawing.screen import Screen, draw_table, facts_of, print_json
from glasshouse.cli.exits import CHECK_FAILED
from glasshouse.cli.model_choice import ModelChoice, agrees, is_asked, price_in_words, remarks_on, size_facts
from glasshouse.cli.options import argument
from glasshouse.cli.price_lines import PriceLines, price_lines
from glasshouse.cli.program import commands_to_paste, examples_to_paste, program_called
from glasshouse.cli.prose import say
from glasshouse.errors import GlasshouseError, Refused
from glasshouse.events.event import Json
from glasshouse.manifests.models_file import MODELS_FILE, ServerName, load_models_file
from glasshouse.runtime import event_loop
from glasshouse.settings import models_file

EXAMPLES: Final = """\b
Examples:
  glasshouse models --models ollama                    what plays each size, and what else Ollama has
  glasshouse models                                    the same for $GLASSHOUSE_MODELS or models.yaml
  glasshouse models --models local                     which model in a file here would play, and the others
  glasshouse models pull gemma3:4b                     get a model for Ollama
  glasshouse models price openai:gpt-5-mini            what a hosted model probably costs
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
    choice_made = ModelChoice(wanted, {}, env_file)
    named = choice_made.named()
    with suppress(GlasshouseError):  # What is wrong stands in the list.
        event_loop.run(named.look())
    choices = named.choices()
    if as_json:
        print_json(*[{"type": "size", **size_facts(choice)} for choice in choices], *_others(named))
    else:
        _draw(named, choices, choice_made)
    if any(choice.problem for choice in choices):
        raise typer.Exit(CHECK_FAILED)


def _draw(named: NamedModels, choices: list[Choice], choice_made: ModelChoice) -> None:
    screen = Screen()
    rows = [_row(choice) for choice in choices if not choice.problem]
    if rows:
        headings = ("size", "model", "server", "parameters", "context", "price")
        draw_table(screen, headings, rows, loose=("model", "server"), spare=("price", "parameters"))
    problems = {choice.problem: None for choice in choices if choice.problem}
    screen.draw(*map(commands_to_paste, problems), *remarks_on(named))
    others = [
        f"{about['model']} ({about['why_not']})" if about["why_not"] else about["model"]
        for about in _others(named)
    ]
    if others:
        more = f" and {len(others) - others_shown_max} more" if len(others) > others_shown_max else ""
        screen.draw("", f"Installed: {', '.join(others[:others_shown_max])}{more}.")
    sizes = [f"{size} below {in_words(most)}" for size, most in PARAMETERS_B.items()]
    screen.draw("", f"The sizes, by parameters: {', '.join(sizes)}. Judges ask for balanced or strong.")
    commands = [choice_made.words(named)] if not problems else [["--models", text] for text in named.texts()]
    call = CommandLine(program_called()).call
    if commands:
        screen.draw(
            "",
            "Play:",
            *[f"  {call('play', world_to_try(), *words)}" for words in commands[:others_shown_max]],
        )


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
            f"{model} is installed. Play: {CommandLine(program_called()).call('play', world_to_try(), '--models', f'{url}#{model}')}"
        )


def _check_agreed(model: str, size: int, *, is_agreed: bool, as_json: bool) -> None:
    question = f"{model} is {size / 1e9:.1f} GB." if size >= 1e8 else f"{model} is {size / 1e6:.0f} MB."
    if is_agreed:
        return
    if as_json or not is_asked():
        raise Refused(question, "Agree to the download with --yes.")
    if not agrees(f"{question} Download it?"):
        raise Refused("Nothing was downloaded.")


def price(
    name: str = argument("SERVER:MODEL", "A model of a hosted server, such as openai:gpt-5-mini."),
    *,
    as_json: options.JsonOption = False,
) -> None:
    """Propose a price for a hosted model, as lines for models.yaml. Exit 1 if nobody knows it.

    The list comes with the extra `prices`; nothing is asked of the network. A price counts only once it stands in models.yaml.

    \b
    Examples:
      glasshouse models price openai:gpt-5-mini        what it probably costs, and the lines to paste
      glasshouse models price openai --json            the usual model of a server, for machines
    """
    server, model = hosted_model(name)
    proposal = proposed_price(server, model, datetime.now(UTC).date())
    written = None if proposal is None else _lines_for(server, model, proposal)
    if as_json:
        print_json(_price_facts(server, model, proposal, written))
    elif proposal is None or written is None:
        print(
            f"Nobody knows what {model} costs: the list has no such model. Look up its price, and write it into models.yaml."
        )
    else:
        _draw_price(model, proposal, written)
    if proposal is None:
        raise typer.Exit(CHECK_FAILED)


def _lines_for(server: ServerName, model: str, proposal: ProposedPrice) -> PriceLines:
    path = models_file()
    file = None if path is None else load_models_file(path)
    return price_lines(file, str(path or MODELS_FILE), server, model, proposal.price, _remark_on(proposal))


def _remark_on(proposal: ProposedPrice) -> str:
    until = f", prices until {proposal.known_until}" if proposal.known_until else ", of unknown date"
    return f"{proposal.source}{until}"


def _draw_price(model: str, proposal: ProposedPrice, written: PriceLines) -> None:
    listed_as = "" if proposal.listed_as == model else f", listed as {proposal.listed_as}"
    look = f" Compare it with {proposal.address}" if proposal.address else ""
    say(
        f"{model}{listed_as}: probably {price_in_words(proposal.price)} ({_remark_on(proposal)}).{look}",
        *proposal.remarks,
        f"It counts only once it stands in models.yaml. Write {written.where}:",
        "",
    )
    print(*written.lines, sep="\n")


def _price_facts(server: str, model: str, proposal: ProposedPrice | None, written: PriceLines | None) -> Json:
    known = proposal and proposal.price
    names = ("input", "output", "cache_read", "cache_write")
    return {
        "type": "price",
        "server": server,
        "model": model,
        "listed_as": proposal and proposal.listed_as,
        "usd_per_million": known and facts_of(known, *names),
        "source": proposal and proposal.source,
        "known_until": proposal and proposal.known_until and proposal.known_until.isoformat(),
        "remarks": [] if proposal is None else [*proposal.remarks],
        "where": written and written.where,
        "lines": [] if written is None else written.lines,
    }


add_command(models, "price", "Propose the price of a hosted model.", price)
add_command(models, "pull", "Get a model for Ollama.", pull)
