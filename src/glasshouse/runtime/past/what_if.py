"""`WhatIf`: how a branch differs from the past it grows from.

Always holds: the changes are applied to a `Past`, which is a copy. If one of them is refused, nothing is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from pydantic import ValidationError

from glasshouse.errors import Refused, UnknownName
from glasshouse.events import kinds, payloads
from glasshouse.events.event import RESERVED_ACTORS, VISITOR, Event, Json
from glasshouse.events.payloads import BranchChange, BranchEdge, Governor, converted
from glasshouse.manifests.manifest import Manifest
from glasshouse.manifests.titles import check_titles
from glasshouse.reprs import repr_of
from glasshouse.runtime.past.past_world import Past
from glasshouse.turns.moment.prompt import PROFILES
from glasshouse.world.decisions.decision import Fact
from glasshouse.world.decisions.intents import AddCreature, Connect, Disconnect, RemoveCreature
from glasshouse.world.state.state import manifest_facts

Edge = tuple[str, str] | tuple[str, str, str]
"""Two handles, and optionally the name of a channel."""

IN_ALL_GRAPHS = "new disturbance"
SAID_ANEW_IN_ALL_GRAPHS = "new words of a disturbance"
"""The made-up keys in `copy_of` of what the visitor says in all graphs. The decision puts the first event's id there."""


@dataclass(frozen=True)
class WhatIf:
    """The changes that a branch makes to its past. Creatures are named by their handles."""

    __repr__ = repr_of()

    drop: bool = False
    """Leave out the line that the branch begins at; or the tool call, with all that its act did from there on."""
    replace: str | None = None
    """The text that replaces the line that the branch begins at."""
    disturb: str | None = None
    """What the visitor says at the start of the branch."""
    profiles: Mapping[str, str] = field(default_factory=dict)
    personas: Mapping[str, str] = field(default_factory=dict)
    add: tuple[Manifest, ...] = ()
    remove: tuple[str, ...] = ()
    connect: tuple[Edge, ...] = ()
    disconnect: tuple[Edge, ...] = ()
    limits: Governor | None = None

    @property
    def begins_before(self) -> bool:
        """Whether the branch begins right before the chosen event, not right after it."""
        return self.drop or self.replace is not None

    def recorded(self) -> BranchChange | None:
        """The changes as the ledger keeps them, or None if there are none."""
        connect, disconnect = [[BranchEdge(*e) for e in edges] for edges in (self.connect, self.disconnect)]
        parts = {"connect": connect, "disconnect": disconnect, "add": [each.as_json() for each in self.add]}
        fields = {**vars(self), **parts}
        change = converted(fields, BranchChange)
        return None if change == BranchChange() else change


def births_in(past: Past, what_if: WhatIf) -> list[AddCreature]:
    """The intents that add the new creatures of a branch."""
    run_id = _run_at(past)
    for each in what_if.add:
        check_titles(past.world, past.home, each)
    return [
        AddCreature(each.name, each.as_json(), each.digest, graph_id=past.home, run_id=run_id)
        for each in what_if.add
    ]


def changed(past: Past, what_if: WhatIf, births: Iterable[AddCreature]) -> tuple[Fact, ...]:
    """Apply the changes to a past, with these births, and return the lines that the branch begins with."""
    lines = _lines(past, what_if)
    run_id = _run_at(past)
    if what_if.disturb is not None:
        if not what_if.disturb.strip():
            raise Refused("The visitor says nothing.", "Write a sentence.")
        said = payloads.builtins_of(payloads.UserInjected(what_if.disturb, IN_ALL_GRAPHS))
        lines.append(Fact(kinds.USER_INJECTED, said, VISITOR, run_id=run_id))
    for handle, profile in what_if.profiles.items():
        if profile not in PROFILES:
            raise UnknownName(noun="profile", name=profile, known=PROFILES)
        _remake(past, handle, {"model_profile": profile})
    for handle, persona in what_if.personas.items():
        _remake(past, handle, {"persona": persona})
    for birth in births:
        past.change(birth)
    for edge in what_if.connect:
        past.change(Connect(*_edge(past, edge)))
    for edge in what_if.disconnect:
        past.change(Disconnect(*_edge(past, edge)))
    for handle in what_if.remove:
        past.change(RemoveCreature(_named(past, handle)))
    if not past.graph_ids:
        raise Refused("Nobody would be left in this branch.", "Leave somebody in it, or add somebody.")
    return tuple([line for line in lines if _can_be_said(past, line)])


def _can_be_said(past: Past, line: Fact) -> bool:
    """Whether a line is written: not if a removed creature would only pass. Refuses a line without its speaker."""
    if line.actor in RESERVED_ACTORS:
        return True
    speaker = past.world.creatures.get(line.actor)
    if speaker is None and line.kind == kinds.AGENT_PASSED:
        return False
    channel = past.world.channels.get(line.channel_id or "")
    graph_id = None if channel is None else channel.graph_id
    if speaker is None or (line.channel_id is not None and graph_id != speaker.graph_id):
        raise Refused(
            "Whoever says the line is not there to say it in this branch.",
            "Drop the line, or leave its speaker where it was.",
        )
    return True


def _lines(past: Past, what_if: WhatIf) -> list[Fact]:
    at = past.at
    if not what_if.begins_before:
        return []
    if what_if.drop and what_if.replace is not None:
        raise Refused("A line is dropped or replaced, not both.", "Choose one of the two.")
    check_line(at, is_dropped=what_if.drop)
    if what_if.replace is not None:
        if not what_if.replace.strip():
            raise Refused("The line is replaced by nothing.", "Write a sentence, or drop the line.")
        payload = {**at.payload, "text": what_if.replace}
        if past.is_said_in_all:
            payload["copy_of"] = SAID_ANEW_IN_ALL_GRAPHS
        return [_line(at, at.kind, payload)]
    if at.caused_by is None:
        return []
    # The cause of a dropped line still needs one event that ends its act. Otherwise the creature would act again.
    what = "call" if at.kind == kinds.TOOL_CALLED else "line"
    return [_line(at, kinds.AGENT_PASSED, {"reason": f"The {what} is left out in this branch."})]


def check_line(at: Event, *, is_dropped: bool) -> None:
    """Refuse to drop or replace an event that is not a line of a creature or the visitor. A tool call can be dropped, too."""
    is_line = at.actor == VISITOR or (at.actor not in RESERVED_ACTORS and at.ends_its_act)
    is_call = at.kind == kinds.TOOL_CALLED and is_dropped
    if not (is_line or is_call) or at.kind == kinds.ACT_DISCARDED:
        raise Refused(
            f"{at.id} is a {at.kind}, which nobody said.", "Choose a line of a creature or the visitor."
        )


def _line(at: Event, kind: str, payload: Json) -> Fact:
    channel = None if kind == kinds.AGENT_PASSED else at.channel_id
    return Fact(kind, payload, at.actor, channel, caused_by=at.caused_by, run_id=at.run_id)


def _run_at(past: Past) -> str | None:
    """The run of the event, or, if no creature of it is left, the run of the first creature in the home graph."""
    if past.at.run_id is not None and past.holds_run(past.at.run_id):
        return past.at.run_id
    graph = past.world.graphs[past.home]
    return next((past.world.creatures[name].run_id for name in graph.creatures), None)


def _remake(past: Past, handle: str, otherwise: Json) -> None:
    creature = past.world.creatures[_named(past, handle)]
    try:
        manifest = Manifest.model_validate({**past.world.facts_of(creature).manifest, **otherwise})
    except ValidationError as wrong:
        problems = "; ".join(str(error["msg"]) for error in wrong.errors())
        (what,) = otherwise
        raise Refused(
            f"{handle} cannot have that {what}: {problems}.", "See docs/reference/world-files.md."
        ) from wrong
    past.world.manifests.setdefault(manifest.digest, manifest_facts(manifest.as_json()))
    creature.manifest_digest = manifest.digest


def _named(past: Past, handle: str) -> str:
    """The id of a creature of this past, by its handle or its id."""
    known: dict[str, str] = {}
    for creature in past.creatures:
        known.setdefault(creature.handle, creature.id)
        known.setdefault(creature.id, creature.id)
    if handle not in known:
        raise UnknownName(noun="creature", name=handle, known=known)
    return known[handle]


def _edge(past: Past, edge: Edge) -> tuple[str, str, str | None]:
    return _named(past, edge[0]), _named(past, edge[1]), edge[2] if len(edge) > 2 else None
