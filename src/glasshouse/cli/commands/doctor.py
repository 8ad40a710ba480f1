"""`glasshouse doctor` checks Python, packages, settings, store, models, terminal and worlds.

Each check is a function in `cli.health`.
"""

from __future__ import annotations

import typer

from glasshouse.cli.drawing.screen import print_json
from glasshouse.cli.exits import CHECK_FAILED
from glasshouse.cli.health import Finding, Waiting, doctor_minutes_max, draw, examine
from glasshouse.cli.live.progress_lines import ProgressLines
from glasshouse.cli.model_choice import ModelChoice
from glasshouse.cli.options import EnvFileOption, JsonOption, ModelsOption, StoreOption, flag, option

_MINUTES = "Ask servers for at most this many minutes, and tell what was found until then."


def doctor(
    *,
    models: ModelsOption = None,
    env_file: EnvFileOption = None,
    yes: bool = flag("--yes", "Ask models that cost something, too: a few calls each."),
    max_minutes: float = option("X", _MINUTES, doctor_minutes_max, min=0.01),
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Look at Python, packages, settings, store, models, terminal and worlds. Exit 1 if something is broken.

    The models are those of --models, of $GLASSHOUSE_MODELS or of a models.yaml. Each server is asked what it really does. What is
    asked stands on standard error before the answer.

    \b
    Examples:
      glasshouse doctor                            is everything here as it should be?
      glasshouse doctor --store other.glasshouse   with another store
      glasshouse doctor --models ollama            and the models of a server
      glasshouse doctor --json                     one finding a line
    """
    progress = ProgressLines()
    states: set[str] = set()

    def report(finding: Finding) -> None:
        states.add(finding.state)
        progress.clear()
        if as_json:
            print_json(finding._asdict())
        else:
            draw(finding)

    examine(store, ModelChoice(models, {}, env_file, yes), report, Waiting(progress, max_minutes))
    if "broken" in states:
        raise typer.Exit(CHECK_FAILED)
