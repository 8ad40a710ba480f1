"""Against solo: the world that one creature plays alone, and the world in which two plays of it are read and judged.

Always holds: both are made from a world's data alone and are checked like any other. The solo has every part's kinds,
tools and secrets, and the same goal, scenes and beats; whoever judges the reading is told nothing of who read what.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final

from glasshouse.events import kinds
from glasshouse.manifests.fields import list_items_max
from glasshouse.manifests.loading import LoadedWorld
from glasshouse.manifests.manifest import Manifest, Memory, Schedule, Voice
from glasshouse.manifests.scenario import CORE_KINDS, BeatPlan, Scenario

SOLO: Final = "solo"
TROUPE: Final = "troupe"
ASSESSOR: Final = "assessor"

part_told_chars_max: Final = 300
assessor_turns_max: Final = 3
_PROFILES: Final = ("tiny", "fast", "balanced", "strong")


def players_of(world: LoadedWorld) -> dict[str, Manifest]:
    """Everybody of the cast who plays and does not judge, by handle."""
    entries = [entry for stage in world.scenario.stages.values() for entry in stage.cast]
    cast = {entry.name: world.manifest_of(entry) for entry in entries}
    return {handle: manifest for handle, manifest in cast.items() if manifest.role != "judge"}


def solo_world(world: LoadedWorld, *, acts: int, turns: int) -> LoadedWorld:
    """The same world for one creature that acts once a turn, for so many acts as the troupe had in so many turns."""
    scenario, solo = world.scenario, _solo(world)
    ends = scenario.ends_when
    is_ended_by_solo = ends is not None and ends.kind in solo.may_emit
    beats = [(max(1, beat.turn * acts // max(1, turns)), beat) for beat in scenario.beats]
    alone = Scenario.model_validate(
        {
            **_shared(world, SOLO),
            "cast": [SOLO],
            "opening": scenario.opening or " ".join(stage.opening for stage in scenario.stages.values()),
            "seeds": list(scenario.seeds),
            "deal": {key: {"to": SOLO, "from": list(deck[:1])} for key, deck in world.decks.items()},
            "beats": [{**_for_all(beat), "turn": at} for at, beat in beats if at <= acts],
            "governor": {**scenario.governor.model_dump(), "max_turns": max(1, acts)},
            "ends_when": ends.model_dump() if ends is not None and is_ended_by_solo else None,
        }
    )
    made = LoadedWorld.of(alone, [solo], decks=world.decks)
    has_own_tools = any(":" in tool for tool in solo.tools)
    return replace(made, path=world.path) if has_own_tools else made


def reading_world(world: LoadedWorld, order: Iterable[str], said: Iterable[str]) -> LoadedWorld:
    """A stage on which two plays are read out, in this order of seats, before one who judges them."""
    readers = [Manifest(name=name, may_emit=tuple(said), subscribes_to=(), schedule=_NEVER) for name in order]
    names = [reader.name for reader in readers]
    reading = Scenario.model_validate(
        {
            **_shared(world, "reading"),
            "cast": [*names, ASSESSOR],
            "opening": "The same goal was gone after twice, with the same purse. Both are read out now, line by line.",
            "competition": {"kind": "judged", "contestants": names},
            "ends_when": {"kind": kinds.JUDGE_VERDICT},
            "governor": {"max_turns": assessor_turns_max},
        }
    )
    return LoadedWorld.of(reading, [*readers, _assessor(world)])


_NEVER: Final = Schedule(tick_every=1_000_000)
"""A reader has no mind: what it reads is put into its mouth."""


def _shared(world: LoadedWorld, what: str) -> dict[str, Any]:
    scenario = world.scenario
    own = {
        name: {field: _plain(sort) for field, sort in fields.items()}
        for name, fields in scenario.kinds.items()
    }
    return {
        "name": f"{scenario.name[: 64 - len(what) - 1]}-{what}",
        "title": scenario.title,
        "goal": scenario.goal,
        "kinds": own,
        "language": scenario.language,
    }


def _for_all(beat: BeatPlan) -> dict[str, Any]:
    """A beat as one who plays alone is shown it, whoever it was meant for."""
    return beat.model_dump(include={"text", "title"})


def _plain(sort: str | tuple[str, ...]) -> str | list[str]:
    return list(sort) if isinstance(sort, tuple) else sort


def _solo(world: LoadedWorld) -> Manifest:
    players = players_of(world)
    parts = [f"{handle}: {one.persona.strip()[:part_told_chars_max]}" for handle, one in players.items()]
    return Manifest(
        name=SOLO,
        persona="You are alone here, and do what others do together. The parts, all yours: "
        + " / ".join(parts),
        wants="To reach the goal alone, part by part, as well as all of them could.",
        cares_about=_each_once(one.cares_about for one in players.values()),
        voice=Voice(say_words_max=max([one.voice.say_words_max for one in players.values()], default=40)),
        subscribes_to=(),
        may_emit=_kinds_of(players.values()),
        schedule=Schedule(tick_every=1),
        model_profile=_strongest(one.model_profile for one in players.values()),
        memory=Memory(window=max([one.memory.window for one in players.values()], default=8)),
        tools=_each_once(one.tools for one in players.values()),
    )


def _assessor(world: LoadedWorld) -> Manifest:
    judges = [one for one in world.manifests.values() if one.role == "judge"]
    return Manifest(
        name=ASSESSOR,
        role="judge",
        persona=(
            "A reader who weighs two accounts of the same evening and was at neither. What counts is how well each"
            " served the goal: what it found, made or decided, and whether its lines hold together."
        ),
        wants="To name the account that served the goal better, and the lines that show it; nobody, if neither did.",
        temper="even, exact",
        may_emit=(kinds.JUDGE_VERDICT,),
        schedule=Schedule(tick_every=1),
        model_profile=_strongest(one.model_profile for one in judges),
    )


def _kinds_of(manifests: Iterable[Manifest]) -> tuple[str, ...]:
    found = _each_once(one.may_emit for one in manifests)
    return tuple(kind for kind in found if kind not in CORE_KINDS or kind == kinds.AGENT_SPOKE) or (
        kinds.AGENT_SPOKE,
    )


def _each_once(lists: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one for some in lists for one in some))[:list_items_max]


def _strongest(profiles: Iterable[str]) -> Any:
    return max(profiles, key=_PROFILES.index, default="fast")
