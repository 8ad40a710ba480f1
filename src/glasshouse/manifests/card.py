"""The card of a world: what whoever chooses one is told, by the world itself or from its data.

Always holds: nothing is played and no file is read for it. It names nobody's secrets: what is dealt, and who wants what, is
not told.
"""

from __future__ import annotations

import re
from typing import Final, Literal, NamedTuple

from glasshouse.manifests.loading import LoadedWorld

about_chars_max: Final = 160
"""The sentence about a world is cut here."""
line_seconds: Final = 9.5
"""How long a line of the offline troupe is read, about: 4 to 8 minutes are 28 to 48 lines in the bundled worlds."""
silent_turns: Final = 3
"""Who only answers speaks about once in this many turns."""

Kind = Literal["several graphs", "teams", "contest", "growing cast", "story"]

_SHOWS: Final[dict[Kind, str]] = {
    "teams": "Two sides and a ruling",
    "contest": "A contest that is judged",
    "growing cast": "Creatures come and go",
    "story": "One graph, one story",
}


class Card(NamedTuple):
    """A world as a card shows it."""

    kind: Kind
    about: str
    shows: str
    minutes: int


def card_of(world: LoadedWorld) -> Card:
    """The card of a world. What the world does not say is told from its data."""
    card = world.scenario.card
    kind = _kind_of(world)
    shows = card.shows or _SHOWS.get(kind) or f"{len(world.scenario.stages)} graphs that may meet"
    return Card(
        kind, card.about or first_sentence(world.scenario.goal), shows, card.minutes or _minutes_of(world)
    )


def _kind_of(world: LoadedWorld) -> Kind:
    scenario = world.scenario
    competition = scenario.competition
    if len(scenario.stages) > 1:
        return "several graphs"
    if len(competition.teams) > 1:
        return "teams"
    if competition.kind != "none" or competition.referee is not None:
        return "contest"
    return "growing cast" if scenario.spawnable else "story"


def _minutes_of(world: LoadedWorld) -> int:
    """How long an offline play is read, about: from who acts how often, until a limit of turns or calls."""
    scenario = world.scenario
    governor = scenario.governor
    schedules = [world.manifests[name].schedule for name in scenario.cast_by_handle.values()]
    lines = sum(governor.max_turns / (schedule.tick_every or silent_turns) for schedule in schedules)
    return max(1, round(min(lines, governor.max_total_calls) * line_seconds / 60))


def first_sentence(text: str) -> str:
    """The first sentence of a text, cut at a clause if it is long."""
    sentence = re.split(r"(?<=[.!?])\s", text.strip(), maxsplit=1)[0]
    if len(sentence) > about_chars_max:
        sentence = re.split(r"[:;]\s", sentence, maxsplit=1)[0].rstrip(".") + "."
    return sentence if len(sentence) <= about_chars_max else f"{sentence[: about_chars_max - 1]}…"
