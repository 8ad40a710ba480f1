"""Cross checks of the cast: creatures, handles, channels, wires, and whoever else is named.

Always holds: each check yields what is wrong and changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from glasshouse.manifests.problem import At, Complaint, likely, nobody_called
from glasshouse.manifests.rehearsal import Rehearsal
from glasshouse.manifests.scenario import STAGE, CastEntry, ChannelPlan


def creatures_without_a_file(world: Rehearsal) -> Iterator[Complaint]:
    """Names in the cast and among the spawnable that no creature has."""
    for at, entry in world.entries:
        if entry.use not in world.known:
            yield Complaint(at, nobody_called("creature", entry.use, world.known))
    for n, name in enumerate(world.scenario.spawnable):
        if name not in world.known:
            yield Complaint(("spawnable", n), nobody_called("creature", name, world.known))


def root_is_somebody(world: Rehearsal) -> Iterator[Complaint]:
    """A root that is neither in its cast nor a creature that could be added to it, or that plays in another troupe."""
    if not world.cast_is_whole:
        return
    yield from _root_of_all(world)
    for at, troupe in world.troupes:
        root, handles = troupe.root, [entry.name for entry in troupe.cast]
        if root is None or root in handles:
            continue
        elsewhere = _troupes_with(world, root)
        if elsewhere:
            words = f"{root!r} plays in troupe {elsewhere[0]!r}, and a root is one of its own troupe."
            advice = f"{likely(root, handles)} For a second one, list it in this cast too."
            yield Complaint((*at, "root"), f"{words} {advice}")
        elif root not in world.known:
            yield Complaint((*at, "root"), nobody_called("creature", root, [*handles, *world.known]))


def _root_of_all(world: Rehearsal) -> Iterator[Complaint]:
    """The scenario's own root beside troupes: somebody of theirs, in a troupe that has no other."""
    scenario, root = world.scenario, world.scenario.root
    if root is None or not scenario.troupes:
        return
    homes = _troupes_with(world, root)
    if not homes:
        handles = [entry.name for _, entry in world.entries]
        yield Complaint(("root",), nobody_called("creature", root, handles))
    elif all(scenario.troupes[name].root not in (None, root) for name in homes):
        other = scenario.troupes[homes[0]].root
        words = f"{root!r} plays in troupe {homes[0]!r}, whose root is {other!r}. Keep one of the two."
        yield Complaint(("root",), words)


def _troupes_with(world: Rehearsal, handle: str) -> list[str]:
    """The troupes in whose casts somebody has this handle."""
    troupes = world.scenario.troupes.items()
    return [name for name, troupe in troupes if any(entry.name == handle for entry in troupe.cast)]


def handles_given_twice(world: Rehearsal) -> Iterator[Complaint]:
    """Two of one cast with one handle."""
    for at, troupe in world.troupes:
        taken: set[str] = set()
        for n, entry in enumerate(troupe.cast):
            if entry.name in taken:
                words = f"{entry.name!r} is there twice. Give one another handle: {{use: {entry.use}, handle: ...}}."
                yield Complaint((*at, "cast", n), words)
            taken.add(entry.name)


def channels_that_are_not_open(world: Rehearsal) -> Iterator[Complaint]:
    """Channels that somebody is on and that nobody opens."""
    for at, troupe in world.troupes:
        opened = troupe.channels or world.scenario.channels or {STAGE: ChannelPlan()}
        if world.hurt & {"channels", "troupes"}:
            continue
        for n, entry in enumerate(troupe.cast):
            for direction, m, name in _joined(entry):
                if name not in opened:
                    where = (*at, "cast", n, "channels", direction, m)
                    yield Complaint(where, nobody_called("channel", name, opened))


def _joined(entry: CastEntry) -> Iterator[tuple[str, int, str]]:
    if entry.channels is not None:
        yield from (("listen", n, name) for n, name in enumerate(entry.channels.listen))
        yield from (("send", n, name) for n, name in enumerate(entry.channels.send))


def wires_to_nobody(world: Rehearsal) -> Iterator[Complaint]:
    """Wires that end at somebody who is not in the same cast, or where they begin."""
    for (at, troupe), stage in zip(world.troupes, world.scenario.stages.values(), strict=True):
        handles = [entry.name for entry in stage.cast]
        for n, entry in enumerate(troupe.cast):
            for m, wire in enumerate(entry.wires):
                where = (*at, "cast", n, "wires", m)
                if wire.to == entry.name:
                    yield Complaint(where, f"{wire.to!r} is wired to itself. Name another.")
                elif wire.to not in handles and world.cast_is_whole:
                    yield Complaint(where, nobody_called("creature of this cast", wire.to, handles))


def names_of_nobody(world: Rehearsal) -> Iterator[Complaint]:
    """Teams, contestants, deals, protections and beats that name nobody in the cast."""
    if not world.cast_is_whole:
        return
    for at, name in _named(world):
        if name not in world.handles:
            yield Complaint(at, nobody_called("creature of the cast", name, world.handles))


def _named(world: Rehearsal) -> Iterator[tuple[At, str]]:
    scenario = world.scenario
    for team, members in scenario.competition.teams.items():
        yield from ((("competition", "teams", team, n), name) for n, name in enumerate(members))
    contestants = enumerate(scenario.competition.contestants)
    yield from ((("competition", "contestants", n), name) for n, name in contestants)
    for key, deal in scenario.deal.items():
        yield from ((("deal", key, "to", n), name) for n, name in enumerate(deal.to))
    yield from ((("policy", "protected", n), name) for n, name in enumerate(scenario.policy.protected))
    yield from ((("beats", n, "at"), beat.at) for n, beat in enumerate(scenario.beats) if beat.at)


def too_many_for_the_population(world: Rehearsal) -> Iterator[Complaint]:
    """A cast larger than the policy's bound on the population."""
    most = world.scenario.policy.population_max
    count = sum(len(stage.cast) for stage in world.scenario.stages.values())
    if most is not None and count > most:
        words = f"the cast alone has {count} creatures. Write {count} or more."
        yield Complaint(("policy", "population_max"), words)
