"""For tournaments against solo: the world that one creature plays alone, and the world in which both plays are judged.

Always holds: both are made only from a world's data and are checked like any other. The solo has the kinds, tools and
secrets of all parts, and the same goal, scenes and beats. The assessor does not know which account is whose.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Final, get_args

from glasshouse.events import kinds
from glasshouse.events.described_tool import is_of_server
from glasshouse.manifests.fields import list_items_max
from glasshouse.manifests.loading import LoadedWorld
from glasshouse.manifests.manifest import Manifest, Memory, Profile, Schedule, Voice
from glasshouse.manifests.scenario import CORE_KINDS, Scenario

SOLO: Final = "solo"
TROUPE: Final = "troupe"
ASSESSOR: Final = "assessor"

part_told_chars_max: Final = 300
"""The solo's persona holds at most this much of each part's persona."""
assessor_turns_max: Final = 3
"""The assessor has this many turns to reach a verdict."""


def players_of(world: LoadedWorld) -> dict[str, Manifest]:
    """The manifests of everybody in the cast except judges, by handle."""
    cast = {handle: world.manifests[name] for handle, name in world.scenario.cast_by_handle.items()}
    return {handle: manifest for handle, manifest in cast.items() if manifest.role != "judge"}


def solo_world(world: LoadedWorld, *, acts: int, turns: int) -> LoadedWorld:
    """The same world for one creature that acts once a turn, as often as the troupe acted in its turns."""
    scenario = world.scenario
    solo = _solo(world)
    ends = scenario.ends_when
    beats = [
        # Without `at`: the solo sees every beat, whoever it was meant for.
        {"turn": turn, "text": beat.text, "title": beat.title}
        for beat in scenario.beats
        if (turn := max(1, beat.turn * acts // max(1, turns))) <= acts
    ]
    alone = _scenario(
        world,
        SOLO,
        cast=[SOLO],
        opening=scenario.opening or " ".join(stage.opening for stage in scenario.stages.values()),
        seeds=list(scenario.seeds),
        deal={key: {"to": SOLO, "from": list(deck[:1])} for key, deck in world.decks.items()},
        beats=beats,
        governor={**scenario.governor.model_dump(), "max_turns": max(1, acts)},
        ends_when=ends.model_dump() if ends is not None and ends.kind in solo.may_emit else None,
        tool_servers={name: plan.model_dump() for name, plan in scenario.tool_servers.items()},
    )
    made = LoadedWorld.of(alone, [solo], decks=world.decks, documents=world.documents)
    needs_folder = bool(world.documents) or any(":" in tool or is_of_server(tool) for tool in solo.tools)
    return replace(made, path=world.path) if needs_folder else made


def reading_world(world: LoadedWorld, order: Sequence[str], said: Iterable[str]) -> LoadedWorld:
    """A world in which two plays are read out, in this order of seats, to an assessor."""
    readers = [Manifest(name=name, may_emit=tuple(said), subscribes_to=(), schedule=_NEVER) for name in order]
    reading = _scenario(
        world,
        "reading",
        cast=[*order, ASSESSOR],
        opening="The same goal was gone after twice, with the same purse. Both are read out now, line by line.",
        competition={"kind": "judged", "contestants": list(order)},
        ends_when={"kind": kinds.JUDGE_VERDICT},
        governor={"max_turns": assessor_turns_max},
    )
    return LoadedWorld.of(reading, [*readers, _assessor(world)])


_NEVER: Final = Schedule(tick_every=1_000_000)
"""A reader never acts: its lines are appended by the tournament."""


def _scenario(world: LoadedWorld, what: str, **fields: Any) -> Scenario:
    """A scenario with the title, goal, kinds and language of a world, and with these fields."""
    plain = world.scenario.as_json()
    shared = {name: plain[name] for name in ("title", "goal", "kinds", "language")}
    return Scenario(name=f"{plain['name'][: 64 - len(what) - 1]}-{what}", **shared, **fields)


def _solo(world: LoadedWorld) -> Manifest:
    players = players_of(world)
    manifests = players.values()
    parts = [f"{handle}: {part.persona.strip()[:part_told_chars_max]}" for handle, part in players.items()]
    emitted = _each_once(part.may_emit for part in manifests)
    own = tuple(kind for kind in emitted if kind not in CORE_KINDS or kind == kinds.AGENT_SPOKE)
    return Manifest(
        name=SOLO,
        persona="You are alone here, and do what others do together. The parts, all yours: "
        + " / ".join(parts),
        wants="To reach the goal alone, part by part, as well as all of them could.",
        cares_about=_each_once(part.cares_about for part in manifests),
        voice=Voice(say_words_max=max([part.voice.say_words_max for part in manifests], default=40)),
        subscribes_to=(),
        may_emit=own or (kinds.AGENT_SPOKE,),
        schedule=Schedule(tick_every=1),
        model_profile=_strongest(part.model_profile for part in manifests),
        memory=Memory(window=_widest(part.memory.window for part in manifests)),
        tools=_each_once(part.tools for part in manifests),
        documents=_each_once([world.scenario.documents, *(part.documents for part in manifests)]),
    )


def _assessor(world: LoadedWorld) -> Manifest:
    judges = [manifest for manifest in world.manifests.values() if manifest.role == "judge"]
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
        model_profile=_strongest(judge.model_profile for judge in judges),
    )


def _each_once(lists: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(item for items in lists for item in items))[:list_items_max]


def _widest(windows: Iterable[int | None]) -> int | None:
    """The widest window that a part has; none if no part says one, so that it follows the size of the model."""
    return max([window for window in windows if window is not None], default=None)


def _strongest(profiles: Iterable[str]) -> Any:
    return max(profiles, key=get_args(Profile).index, default="fast")
