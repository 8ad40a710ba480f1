"""Edits of a world before its start: who plays, who they are, when they act, and who judges (ADR 0137).

Always holds: an edited world has passed the same checks as one from files. It knows the digest of the world that was edited, and
its decks are part of its scenario as far as they are small, so that a run of it can be continued from its record alone.
Edits bring no code along: none of their fields can name a file, a tool or a class.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

import msgspec
from pydantic import Field

from glasshouse.errors import BadWorld
from glasshouse.events import kinds
from glasshouse.manifests.checked_world import CheckedWorld
from glasshouse.manifests.checks import complaints_about
from glasshouse.manifests.decks import Deck
from glasshouse.manifests.fields import Strict, list_items_max
from glasshouse.manifests.loading import LoadedWorld
from glasshouse.manifests.manifest import Manifest
from glasshouse.manifests.problem import At, Complaint, Problem, unknown
from glasshouse.manifests.scenario import CastEntry, Scenario, Troupe
from glasshouse.manifests.validation import valid_or_complaints
from glasshouse.manifests.world_folders import folder_of
from glasshouse.reprs import repr_of

deck_inlined_bytes_max: Final = 16_384
"""A larger deck stays the name of its file: the start of a run has 64 KiB for everything."""
NOBODY: Final = ""
"""The judge of a world in which nobody judges."""
_FIELDS: Final = frozenset({"persona", "wants", "schedule", "model_profile"})


class ScheduleEdit(Strict):
    """When a creature acts by itself. Without `tick_every`: never."""

    tick_every: int | None = None
    together: bool = False


class CreatureEdits(Strict):
    """What is changed of a creature. Left out: as its file says."""

    __repr__ = repr_of("persona", "wants", "schedule", "model_profile")

    persona: str | None = None
    wants: str | None = None
    schedule: ScheduleEdit | None = None
    model_profile: str | None = None


class WorldEdits(Strict):
    """What is changed of a world before its start. Left out: as its files say."""

    __repr__ = repr_of("off", "creatures", "judge")

    off: tuple[str, ...] = Field(default=(), max_length=list_items_max, strict=False)
    """The handles of those who do not play."""
    creatures: dict[str, CreatureEdits] = Field(default_factory=dict, max_length=list_items_max)
    """What is changed of creatures, by handle."""
    judge: str | None = None
    """The handle of whoever judges. It takes over the duties of the judge there was. Empty: nobody judges."""


class EditProblem(NamedTuple):
    """One mistake in edits, and the field that it is shown beside."""

    handle: str
    """Whose field it is; empty: the world's."""
    field: str
    """persona, wants, schedule, model_profile, cast, judge or limits; empty: none of them."""
    text: str


def edited_world(
    world: LoadedWorld, edits: WorldEdits, *, tools: frozenset[str] | None = None
) -> LoadedWorld:
    """The world with these edits, or `BadWorld` with everything that is wrong with them."""
    edited, problems = world_and_problems(world, edits, tools=tools)
    if edited is None:
        raise BadWorld(
            [
                Problem(f"creature {p.handle}" if p.handle else "world", 0, 0, p.field, p.text)
                for p in problems
            ]
        )
    return edited


def world_and_problems(
    world: LoadedWorld, edits: WorldEdits, *, tools: frozenset[str] | None = None
) -> tuple[LoadedWorld | None, list[EditProblem]]:
    """The world with these edits if it is sound, and what is wrong with it. Without a change: the world itself."""
    wrong = _unknown_names(world.scenario, edits)
    if wrong:
        return None, wrong
    draft = _Draft.of(world, edits)
    if draft.problems:
        return None, draft.problems
    if draft.scenario == world.scenario and draft.manifests == world.manifests:
        return world, []
    scenario, faults = valid_or_complaints(
        draft.scenario.model_dump(mode="json", by_alias=True, exclude_defaults=True), Scenario
    )
    if scenario is None:
        return None, _placed(faults, draft.scenario, edits)
    decks = {key: world.decks[key] for key in scenario.deal}
    scenario = with_decks(scenario, decks).model_copy(update={"card": world.scenario.card})
    folder = None if world.path is None else folder_of(world.path)
    checked = CheckedWorld(scenario, draft.manifests, tuple(draft.manifests), folder=folder, tools=tools)
    faults = complaints_about(checked)
    if faults:
        return None, _placed(faults, scenario, edits)
    known_by = world.edited_from or world.digest
    return replace(world, scenario=scenario, manifests=checked.played, decks=decks, edited_from=known_by), []


def judges_of(world: LoadedWorld) -> list[str]:
    """The handles of those who judge, in the order of the cast."""
    cast = world.scenario.cast_by_handle
    return [handle for handle, name in cast.items() if world.manifests[name].role == "judge"]


def _unknown_names(scenario: Scenario, edits: WorldEdits) -> list[EditProblem]:
    known = scenario.cast_by_handle
    named = [("cast", handle) for handle in (*edits.off, *edits.creatures)]
    named += [("judge", edits.judge)] if edits.judge else []
    noun = "creature of the cast"
    return [EditProblem("", field, unknown(noun, name, known)) for field, name in named if name not in known]


@dataclass(frozen=True)
class _Draft:
    """A world while it is edited."""

    scenario: Scenario
    manifests: Mapping[str, Manifest]
    problems: list[EditProblem]

    @classmethod
    def of(cls, world: LoadedWorld, edits: WorldEdits) -> _Draft:
        """The world with edits that are valid by themselves, and what is wrong with the others."""
        scenario = _without(world.scenario, frozenset(edits.off)) if edits.off else world.scenario
        if not scenario.cast and not scenario.troupes:
            nobody = EditProblem("", "cast", "nobody plays any more. Leave at least one creature in.")
            return cls(world.scenario, world.manifests, [nobody])
        cast = scenario.cast_by_handle
        if edits.judge and edits.judge not in cast:
            absent = EditProblem(
                "", "judge", f"{edits.judge!r} does not play, so it cannot judge. Choose another."
            )
            return cls(scenario, world.manifests, [absent])
        # Also those who are left out: whoever judges now takes over from a judge that no longer plays.
        by_handle = {handle: world.manifests[name] for handle, name in world.scenario.cast_by_handle.items()}
        problems: list[EditProblem] = []
        for handle, changes in edits.creatures.items():
            manifest, faults = valid_or_complaints(_changed(by_handle[handle], changes), Manifest)
            if handle in cast:
                problems += [EditProblem(handle, _field_of(fault.at), fault.text) for fault in faults]
            by_handle[handle] = manifest or by_handle[handle]
        if edits.judge is not None:
            by_handle = _judged_by(by_handle, edits.judge)
        scenario, manifests = _named(scenario, world.manifests, by_handle)
        return cls(scenario, manifests, problems)


def _changed(manifest: Manifest, changes: CreatureEdits) -> dict[str, Any]:
    """A manifest as plain data, with changes that are still to be checked."""
    plain = {**manifest.as_json(), **changes.model_dump(exclude_none=True)}
    if changes.schedule is not None and not plain["subscribes_to"]:
        del plain[
            "subscribes_to"
        ]  # Who neither ticks nor hears anything would never act: then it hears lines.
    return plain


def _judged_by(by_handle: dict[str, Manifest], judge: str) -> dict[str, Manifest]:
    """The manifests when this creature judges: it changes duties with the judge there was, and both stay who they are."""
    before = next((handle for handle, manifest in by_handle.items() if manifest.role == "judge"), None)
    if judge == before or (judge == NOBODY and before is None):
        return by_handle
    if before is None:
        manifest = by_handle[judge]
        emitted = tuple(dict.fromkeys((*manifest.may_emit, kinds.JUDGE_VERDICT)))
        return {**by_handle, judge: manifest.model_copy(update={"role": "judge", "may_emit": emitted})}
    duties = ("role", "may_emit", "subscribes_to", "schedule")
    old = by_handle[before]
    if judge == NOBODY:
        emitted = tuple(kind for kind in old.may_emit if kind != kinds.JUDGE_VERDICT) or (kinds.AGENT_SPOKE,)
        return {**by_handle, before: old.model_copy(update={"role": "worker", "may_emit": emitted})}
    new = by_handle[judge]
    swapped = [{name: getattr(other, name) for name in duties} for other in (old, new)]
    return {
        **by_handle,
        judge: new.model_copy(update=swapped[0]),
        before: old.model_copy(update=swapped[1]),
    }


def _named(
    scenario: Scenario, before: Mapping[str, Manifest], by_handle: Mapping[str, Manifest]
) -> tuple[Scenario, dict[str, Manifest]]:
    """The scenario and its manifests by name. Where seats that share a creature differ now, each gets its own."""
    cast = scenario.cast_by_handle
    manifests = dict(before)
    renamed: dict[str, str] = {}
    for handle, name in cast.items():
        manifest = by_handle[handle]
        if manifest == before[name]:
            continue
        is_shared = any(other != handle and used == name for other, used in cast.items()) or (
            name in scenario.spawnable
        )
        if is_shared:
            renamed[handle] = _free_name(handle, manifests)
            manifest = manifest.model_copy(update={"name": renamed[handle]})
        manifests[renamed.get(handle, name)] = manifest

    def seated(entry: CastEntry) -> CastEntry:
        if entry.name not in renamed:
            return entry
        return entry.model_copy(update={"use": renamed[entry.name], "handle": entry.name})

    return _with_casts(scenario, lambda cast: tuple(map(seated, cast))), manifests


def _free_name(handle: str, taken: Iterable[str]) -> str:
    names = {*taken}
    candidates = [handle, *(f"{handle}-{n}" for n in range(2, list_items_max + 2))]
    return next(name for name in candidates if name not in names)


def _with_casts(
    scenario: Scenario, changed: Callable[[tuple[CastEntry, ...]], tuple[CastEntry, ...]]
) -> Scenario:
    """The scenario with each of its casts as a function changes it. A troupe without a member is left out."""
    if not scenario.troupes:
        return scenario.model_copy(update={"cast": changed(scenario.cast)})
    casts = {name: changed(troupe.cast) for name, troupe in scenario.troupes.items()}
    troupes = {
        name: troupe.model_copy(update={"cast": casts[name]})
        for name, troupe in scenario.troupes.items()
        if casts[name]
    }
    return scenario.model_copy(update={"troupes": troupes})


def _without(scenario: Scenario, off: frozenset[str]) -> Scenario:
    """The scenario without some of its cast, and without what is said of them: wires, teams, deals, beats of their own."""

    def playing(cast: tuple[CastEntry, ...]) -> tuple[CastEntry, ...]:
        entries = [entry for entry in cast if entry.name not in off]
        wires = [tuple(wire for wire in entry.wires if wire.to not in off) for entry in entries]
        return tuple(
            entry.model_copy(update={"wires": kept}) for entry, kept in zip(entries, wires, strict=True)
        )

    def left(handles: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(handle for handle in handles if handle not in off)

    rest = _with_casts(scenario, playing)
    competition = rest.competition
    teams = {team: left(members) for team, members in competition.teams.items() if left(members)}
    deals = {
        key: deal.model_copy(update={"to": left(deal.to)}) for key, deal in rest.deal.items() if left(deal.to)
    }
    contest = competition.model_copy(update={"teams": teams, "contestants": left(competition.contestants)})
    troupes = {name: _rooted(troupe, off) for name, troupe in rest.troupes.items()}
    return rest.model_copy(
        update={
            "troupes": troupes,
            "root": None if rest.root in off else rest.root,
            "competition": contest,
            "deal": deals,
            "policy": rest.policy.model_copy(update={"protected": left(rest.policy.protected)}),
            "beats": tuple(beat for beat in rest.beats if beat.at not in off),
        }
    )


def _rooted(troupe: Troupe, off: frozenset[str]) -> Troupe:
    return troupe.model_copy(update={"root": None}) if troupe.root in off else troupe


def with_decks(scenario: Scenario, decks: Mapping[str, Deck]) -> Scenario:
    """The scenario with the cards of its small decks instead of the names of their files."""
    small = {
        key: deck for key, deck in decks.items() if len(msgspec.json.encode(deck)) <= deck_inlined_bytes_max
    }
    deals = {
        key: deal.model_copy(update={"source": small.get(key, deal.source)})
        for key, deal in scenario.deal.items()
    }
    return scenario.model_copy(update={"deal": deals})


def _field_of(at: At) -> str:
    return str(at[0]) if at and at[0] in _FIELDS else ""


def _placed(faults: list[Complaint], scenario: Scenario, edits: WorldEdits) -> list[EditProblem]:
    """Complaints about an edited world, each beside the field whose edit it is about."""
    handles = {name: handle for handle, name in reversed(scenario.cast_by_handle.items())}
    placed = []
    for fault in faults:
        if fault.creature is not None:
            handle = handles.get(fault.creature, "")
            placed.append(EditProblem(handle, _field_of(fault.at), fault.text))
        else:
            placed.append(EditProblem("", _field_of_world(fault, edits), fault.text))
    return list(dict.fromkeys(placed))


def _field_of_world(fault: Complaint, edits: WorldEdits) -> str:
    top = str(fault.at[0]) if fault.at else ""
    if top in ("governor", "beats"):
        return "limits"
    is_judging = kinds.JUDGE_VERDICT in fault.text or top == "ends_when"
    if is_judging and edits.judge is not None:
        return "judge"
    return "cast" if top in ("cast", "troupes", "root", "competition", "deal", "ends_when", "policy") else ""
