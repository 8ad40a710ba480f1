"""Taking up a run that another process began: what stands beside its world is brought again.

Always holds: code beside a world is run only when somebody goes on playing it, never when a store is looked at.
"""

from __future__ import annotations

from glasshouse.errors import Refused
from glasshouse.events.event import Event
from glasshouse.events.payloads import payload_of
from glasshouse.events.run_payloads import RunStarted
from glasshouse.manifests.loading import load_world
from glasshouse.runtime.referee_files import referees_of
from glasshouse.turns.referees import REFEREES, Referee


def referees_brought_again(started: Event) -> dict[str, Referee]:
    """The referee of a run, by its name, unless it is built in or there is none; from where the world was opened."""
    told = payload_of(started, RunStarted)
    name = told.competition.get("referee")
    if name is None or name in REFEREES:
        return {}
    if told.recipe is None:
        raise Refused(
            f"The referee {name} was given in Python, and is not in the store.", "Go on where it was given."
        )
    return referees_of(load_world(told.recipe.path))
