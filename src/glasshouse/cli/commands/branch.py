"""`glasshouse branch` branches from any event of a run, with a change.

Reads the options into a `WhatIf`; the branch itself is made by the terrarium.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from glasshouse.cli import options
from glasshouse.cli.live.live_play import LiveRequest, play_on
from glasshouse.cli.live.open_runs import Branching, creatures, edges
from glasshouse.cli.model_choice import ModelChoice
from glasshouse.cli.options import flag, option, pairs
from glasshouse.runtime.past.what_if import WhatIf

_AT = f"Where it begins: an event's {options.EVENT_NAMES} Default: the end."
Texts = list[str] | None


@options.takes_limits
def branch(
    name: options.RunOrSessionArgument,
    *,
    at: str | None = option("K|EVENT", _AT),
    drop: bool = flag("--drop", "The line named by --at was never said."),
    replace: str | None = option("TEXT", "The line named by --at was this instead."),
    disturb: str | None = option("TEXT", "The visitor says this first."),
    profile: Texts = option("HANDLE=PROFILE", "A creature thinks with another size of model."),
    persona: Texts = option("HANDLE=TEXT", "A creature is somebody else."),
    add: list[Path] | None = option("FILE", "A creature's file: it is there, too.", readable=False),
    remove: Texts = option("HANDLE", "A creature is gone."),
    connect: Texts = option("A:B[:CHANNEL]", "B hears A, on that channel or one of their own."),
    disconnect: Texts = option("A:B[:CHANNEL]", "B no longer hears A, there or anywhere."),
    limits: Mapping[str, float],
    turns: options.TurnsOption = None,
    no_play: bool = flag("--no-play", "Only make it, and play nothing."),
    pace: options.PaceOption = None,
    minds: options.MindsOption = False,
    models: options.ModelsOption = None,
    model: options.ModelOption = None,
    env_file: options.EnvFileOption = None,
    yes: options.YesOption = False,
    store: options.StoreOption = None,
    as_json: options.EventsOption = False,
) -> None:
    """Branch from any event of a run, with a change. The run it branches from does not change.

    Everybody remembers what they had heard until then. Where nothing differs, answers come from the record and no model is
    asked; so a branch without a change has the digest of its parent.

    \b
    Examples:
      glasshouse branch last --disturb "A hen walks in."      from the end of the last run
      glasshouse branch last --at 34 --drop                   as if event 34 had never been said
      glasshouse branch r-1a2b --at 34 --replace "No."        as if it had been something else
      glasshouse branch last --at 20 --persona ada="..."      with somebody else in its place
      glasshouse branch last --max-turns 40                   with room to continue
    """
    who = (pairs("--profile", "PROFILE", profile), pairs("--persona", "TEXT", persona), creatures(add))
    edited = (edges("--connect", connect), edges("--disconnect", disconnect))
    what_if = WhatIf(drop, replace, disturb, *who, tuple(remove or ()), *edited)
    opener = Branching(name, at, what_if, limits)
    choice = ModelChoice.of(models, model, env_file, yes)
    request = LiveRequest(store, pace, turns=turns, has_minds=minds, as_json=as_json, models=choice)
    play_on(request, opener.open, name, is_played=not no_play, limits=limits)
