"""`glasshouse doctor` checks Python, packages, settings, store, models, terminal and worlds.

Each check is a function in `cli.health`.
"""

from __future__ import annotations

import typer

from glasshouse.cli.drawing.screen import print_json
from glasshouse.cli.exits import CHECK_FAILED
from glasshouse.cli.health import draw, findings
from glasshouse.cli.model_choice import ModelChoice
from glasshouse.cli.options import EnvFileOption, JsonOption, ModelsOption, StoreOption, flag


def doctor(
    *,
    models: ModelsOption = None,
    env_file: EnvFileOption = None,
    yes: bool = flag("--yes", "Ask models that cost something, too: a few calls each."),
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Look at Python, packages, settings, store, models, terminal and worlds. Exit 1 if something is broken.

    The models are those of --models, of $GLASSHOUSE_MODELS or of a models.yaml. Each server is asked what it really does.

    \b
    Examples:
      glasshouse doctor                            is everything here as it should be?
      glasshouse doctor --store other.glasshouse   with another store
      glasshouse doctor --models ollama            and the models of a server
      glasshouse doctor --json                     one finding a line
    """
    listed = findings(store, ModelChoice(models, {}, env_file, yes))
    if as_json:
        print_json(*[finding._asdict() for finding in listed])
    else:
        draw(listed)
    if any(finding.state == "broken" for finding in listed):
        raise typer.Exit(CHECK_FAILED)
