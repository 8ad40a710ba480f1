"""Checks of the cast: creatures, handles, channels, wires, and every other place that names a creature.

Always holds: every public function is a check. It yields complaints and changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from glasshouse.errors import Refused
from glasshouse.manifests.checked_world import CheckedWorld
from glasshouse.manifests.problem import At, Complaint, likely, unknown
from glasshouse.manifests.scenario import CORE_KINDS, STAGE, CastEntry, ChannelPlan, WirePlan
from glasshouse.world.hearing.conditions import EXAMPLE, KIND, condition_of
from glasshouse.world.hearing.wires import ALWAYS_KNOWN, check_wire, placeholders_of

CORE_FIELDS = frozenset({"text", "title", "winner", "cites", "rests_on"})
"""The fields that lines of core kinds may have."""


def creatures_without_a_file(world: CheckedWorld) -> Iterator[Complaint]:
    """Names in the cast and in `spawnable` that no creature has."""
    spawnable = ((("spawnable", n), name) for n, name in enumerate(world.scenario.spawnable))
    for at, name in [*((at, entry.use) for at, entry in world.entries), *spawnable]:
        if name not in world.known:
            yield Complaint(at, unknown("creature", name, world.known))


def unknown_roots(world: CheckedWorld) -> Iterator[Complaint]:
    """A root that is neither in its cast nor a creature that could be added to it, or that is in another troupe."""
    if not world.cast_is_complete:
        return
    scenario = world.scenario
    troupes_of = {
        handle: [name for name, troupe in scenario.troupes.items() if handle in _handles(troupe.cast)]
        for handle in {scenario.root, *(troupe.root for _, troupe in world.troupes)} - {None}
    }
    if scenario.root is not None and scenario.troupes:
        homes = troupes_of[scenario.root]
        if not homes:
            handles = [entry.name for _, entry in world.entries]
            yield Complaint(("root",), unknown("creature", scenario.root, handles))
        elif all(scenario.troupes[name].root not in (None, scenario.root) for name in homes):
            other = scenario.troupes[homes[0]].root
            text = f"{scenario.root!r} plays in troupe {homes[0]!r}, whose root is {other!r}. Keep one of the two."
            yield Complaint(("root",), text)
    for at, troupe in world.troupes:
        root, handles = troupe.root, _handles(troupe.cast)
        if root is None or root in handles:
            continue
        if troupes_of[root]:
            text = (
                f"{root!r} plays in troupe {troupes_of[root][0]!r}, but a root must be in its own troupe."
                f" {likely(root, handles)} If you want a second one, list it in this cast too."
            )
            yield Complaint((*at, "root"), text)
        elif root not in world.known:
            yield Complaint((*at, "root"), unknown("creature", root, [*handles, *world.known]))


def _handles(cast: Iterable[CastEntry]) -> list[str]:
    return [entry.name for entry in cast]


def duplicate_handles(world: CheckedWorld) -> Iterator[Complaint]:
    """Two creatures of one cast with the same handle."""
    for at, troupe in world.troupes:
        taken: set[str] = set()
        for n, entry in enumerate(troupe.cast):
            if entry.name in taken:
                text = f"two creatures have the handle {entry.name!r}. Rename one: {{use: {entry.use}, handle: ...}}."
                yield Complaint((*at, "cast", n), text)
            taken.add(entry.name)


def unknown_channels(world: CheckedWorld) -> Iterator[Complaint]:
    """Channels that a cast entry names and that are not declared."""
    if world.damaged & {"channels", "troupes"}:
        return
    for at, troupe in world.troupes:
        opened = troupe.channels or world.scenario.channels or {STAGE: ChannelPlan()}
        for n, entry in enumerate(troupe.cast):
            joined = {} if entry.channels is None else entry.channels.model_dump()
            for direction, names in joined.items():
                for m, name in enumerate(names):
                    if name not in opened:
                        where = (*at, "cast", n, "channels", direction, m)
                        yield Complaint(where, unknown("channel", name, opened))


def unknown_wire_targets(world: CheckedWorld) -> Iterator[Complaint]:
    """Wires to a creature that is not in the same cast, or to their own source."""
    for (at, troupe), stage in zip(world.troupes, world.scenario.stages.values(), strict=True):
        handles = _handles(stage.cast)
        for n, entry in enumerate(troupe.cast):
            for m, wire in enumerate(entry.wires):
                where = (*at, "cast", n, "wires", m)
                if wire.to == entry.name:
                    yield Complaint(where, f"{wire.to!r} is wired to itself. Name another creature.")
                elif wire.to not in handles and world.cast_is_complete:
                    yield Complaint(where, unknown("creature of this cast", wire.to, handles))


def bad_wire_conditions(world: CheckedWorld) -> Iterator[Complaint]:
    """Conditions with a syntax error, and those on kinds and fields that no line in this world has."""
    kinds, fields = CORE_KINDS | set(world.scenario.kinds), _fields(world)
    for at, wire in _wires(world):
        try:
            clauses = () if wire.when is None else condition_of(wire.when)
        except Refused as refusal:
            yield Complaint((*at, "when"), _as_complaint(refusal))
            continue
        for clause in clauses if "kinds" not in world.damaged else ():
            if clause.name == KIND:
                if clause.verb == "is" and clause.value not in kinds:
                    yield Complaint((*at, "when"), unknown("kind", clause.value, sorted(kinds)))
            elif clause.name not in fields:
                text = f"no line in this world has a field {clause.name!r}. {likely(clause.name, sorted(fields))}"
                yield Complaint((*at, "when"), f"{text} {EXAMPLE}")


def bad_wire_prompts(world: CheckedWorld) -> Iterator[Complaint]:
    """Prompts with unknown placeholders, or with words that the wire does not carry."""
    known = _fields(world) | ALWAYS_KNOWN
    for at, wire in _wires(world):
        if wire.prompt is None:
            continue
        try:
            check_wire(with_content=wire.with_content, prompt=wire.prompt, when=None)
        except Refused as refusal:
            yield Complaint((*at, "prompt"), _as_complaint(refusal))
            continue
        for name in placeholders_of(wire.prompt) if "kinds" not in world.damaged else ():
            if name not in known:
                text = f"there is no placeholder {{{name}}}. {likely(name, sorted(known))}"
                yield Complaint((*at, "prompt"), text)


def _as_complaint(refusal: Refused) -> str:
    return f"{refusal.reason[:1].lower()}{refusal.reason[1:]} {refusal.instead}"


def _wires(world: CheckedWorld) -> Iterator[tuple[At, WirePlan]]:
    for at, entry in world.entries:
        yield from (((*at, "wires", n), wire) for n, wire in enumerate(entry.wires))


def _fields(world: CheckedWorld) -> frozenset[str]:
    return CORE_FIELDS.union(*world.scenario.kinds.values())


def unknown_handles(world: CheckedWorld) -> Iterator[Complaint]:
    """Teams, contestants, deals, protections and beats that name nobody in the cast."""
    if not world.cast_is_complete:
        return
    scenario, competition, cast = world.scenario, world.scenario.competition, world.cast
    lists: list[tuple[At, tuple[str, ...]]] = [
        *((("competition", "teams", team), members) for team, members in competition.teams.items()),
        (("competition", "contestants"), competition.contestants),
        *((("deal", key, "to"), deal.to) for key, deal in scenario.deal.items()),
        (("policy", "protected"), scenario.policy.protected),
    ]
    places: list[tuple[At, str]] = [((*at, n), name) for at, names in lists for n, name in enumerate(names)]
    places += [(("beats", n, "at"), beat.at) for n, beat in enumerate(scenario.beats) if beat.at]
    for at, name in places:
        if name not in cast:
            yield Complaint(at, unknown("creature of the cast", name, cast))


def cast_over_population(world: CheckedWorld) -> Iterator[Complaint]:
    """A cast larger than the policy's limit on the population."""
    limit = world.scenario.policy.population_max
    count = sum(len(stage.cast) for stage in world.scenario.stages.values())
    if limit is not None and count > limit:
        text = f"the cast alone has {count} creatures. Write {count} or more."
        yield Complaint(("policy", "population_max"), text)
