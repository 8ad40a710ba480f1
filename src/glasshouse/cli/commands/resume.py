"""`glasshouse resume` continues a closed, imported or edited world, each creature with its own past."""

from __future__ import annotations

from pathlib import Path

from glasshouse.cli import options
from glasshouse.cli.live.live_play import LiveRequest, play_on
from glasshouse.cli.live.open_runs import Resumption
from glasshouse.cli.model_choice import ModelChoice
from glasshouse.cli.options import flag, option

_WORLD = "Where the world lies now, if it has moved. Where several scenarios had met, once for each that has."


def resume(
    name: options.RunOrSessionArgument = "last",
    *,
    as_was: bool = flag("--as-was", "In the very shape it had, creatures and wires that came later too."),
    world: list[Path] | None = option("PATH", _WORLD),
    turns: options.TurnsOption = None,
    pace: options.PaceOption = None,
    minds: options.MindsOption = False,
    models: options.ModelsOption = None,
    model: options.ModelOption = None,
    env_file: options.EnvFileOption = None,
    yes: options.YesOption = False,
    store: options.StoreOption = None,
    as_json: options.EventsOption = False,
) -> None:
    """Continue a run, each creature with its own past.

    A run that was interrupted continues in place. If its world was edited since, or if the run was over, a child of it is
    played from the scenario as it is on disk now: a creature that is new there starts without a past, one that is no longer
    there is gone. Where several scenarios had met in one session, all of them continue.

    \b
    Examples:
      glasshouse resume                            continue the last run
      glasshouse resume r-1a2b --turns 4           another one, four turns of it
      glasshouse resume last --as-was              in the very shape it had, whatever the files say now
      glasshouse resume s-1a2b --world ../mine     a session whose world lies elsewhere now
    """
    opener = Resumption(name, as_was, tuple([str(path) for path in world or ()]))
    choice = ModelChoice.of(models, model, env_file, yes)
    request = LiveRequest(store, pace, turns=turns, has_minds=minds, as_json=as_json, models=choice)
    play_on(request, opener.open, name)
