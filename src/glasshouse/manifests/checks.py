"""The checks across a world's files: whether names exist, and whether the world can be played.

Always holds: every public function but the last is a check. It yields complaints and changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from inspect import isfunction
from string import Formatter

from glasshouse.errors import Refused
from glasshouse.events import kinds
from glasshouse.manifests.checked_world import BUILT_IN_REFEREES, DEALS_OF_REFEREES, CheckedWorld
from glasshouse.manifests.problem import At, Complaint, likely, meant, names_listed_max, shown, unknown
from glasshouse.manifests.scenario import (
    CORE_KINDS,
    FIELDS_OF_EVERY_REPLY,
    STAGE,
    CastEntry,
    ChannelPlan,
    WirePlan,
)
from glasshouse.world.hearing.conditions import EXAMPLE, KIND, condition_of
from glasshouse.world.hearing.wires import ALWAYS_KNOWN, check_wire, placeholders_of

turns_examined_max = 10_000

WRITTEN_BY_CREATURES = frozenset(
    {
        kinds.AGENT_SPOKE,
        kinds.AGENT_THOUGHT,
        kinds.AGENT_REFLECTED,
        kinds.AGENT_PASSED,
        kinds.JUDGE_VERDICT,
        kinds.WORLD_OBSERVED,
    }
)
"""The core kinds that an act may end in."""

_TEAMS = ("competition", "teams")
_REFEREE = ("competition", "referee")
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
    known, fields = CORE_KINDS | set(world.scenario.kinds), _fields(world)
    for at, wire in _wires(world):
        try:
            clauses = () if wire.when is None else condition_of(wire.when)
        except Refused as refusal:
            yield Complaint((*at, "when"), _as_complaint(refusal))
            continue
        for clause in clauses if "kinds" not in world.damaged else ():
            if clause.name == KIND:
                if clause.verb == "is" and clause.value not in known:
                    yield Complaint((*at, "when"), unknown("kind", clause.value, sorted(known)))
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
    scenario, cast = world.scenario, world.cast
    lists: list[tuple[At, tuple[str, ...]]] = [
        *((("deal", key, "to"), deal.to) for key, deal in scenario.deal.items()),
        (("policy", "protected"), scenario.policy.protected),
    ]
    places = [*_contestants(world)]
    places += [((*at, n), name) for at, names in lists for n, name in enumerate(names)]
    places += [(("beats", n, "at"), beat.at) for n, beat in enumerate(scenario.beats) if beat.at]
    for at, name in places:
        if name not in cast:
            yield Complaint(at, unknown("creature of the cast", name, cast))


def _contestants(world: CheckedWorld) -> Iterator[tuple[At, str]]:
    """Everybody who could win, and where that is written."""
    competition = world.scenario.competition
    for team, members in competition.teams.items():
        yield from (((*_TEAMS, team, n), name) for n, name in enumerate(members))
    yield from ((("competition", "contestants", n), name) for n, name in enumerate(competition.contestants))


def cast_over_population(world: CheckedWorld) -> Iterator[Complaint]:
    """A cast larger than the policy's limit on the population."""
    limit = world.scenario.policy.population_max
    count = sum(len(stage.cast) for stage in world.scenario.stages.values())
    if limit is not None and count > limit:
        text = f"the cast alone has {count} creatures. Write {count} or more."
        yield Complaint(("policy", "population_max"), text)


def redeclared_kinds(world: CheckedWorld) -> Iterator[Complaint]:
    """Declared kinds that belong to the engine, and declared fields that every reply has."""
    for kind, fields in world.scenario.kinds.items():
        if kind in CORE_KINDS:
            text = "this kind belongs to the engine and has fixed fields. Choose another name."
            yield Complaint(("kinds", kind), text, at_key=True)
        for name in [name for name in fields if name in FIELDS_OF_EVERY_REPLY]:
            text = f"every reply already has a field {name!r}. Choose another name."
            yield Complaint(("kinds", kind, name), text, at_key=True)


def undeclared_kinds(world: CheckedWorld) -> Iterator[Complaint]:
    """Kinds that a creature writes or hears and that the scenario does not declare."""
    own = world.scenario.kinds
    for name in world.used if "kinds" not in world.damaged else ():
        if name not in world.manifests:
            continue
        manifest = world.manifests[name]
        for n, kind in enumerate(manifest.may_emit):
            if kind in CORE_KINDS - WRITTEN_BY_CREATURES:
                text = f"only the engine writes {kind}. Remove it."
                yield Complaint(("may_emit", n), text, creature=name)
            elif kind not in CORE_KINDS and kind not in own:
                text = _unknown_kind(kind, [*sorted(WRITTEN_BY_CREATURES), *own])
                yield Complaint(("may_emit", n), text, creature=name)
        for n, kind in enumerate(manifest.subscribes_to):
            if kind not in CORE_KINDS and kind not in own:
                text = _unknown_kind(kind, [*sorted(CORE_KINDS), *own])
                yield Complaint(("subscribes_to", n), text, creature=name)


def _unknown_kind(kind: str, known: list[str]) -> str:
    advice = meant(kind, known) or "Declare it under 'kinds' of the scenario."
    return f"no kind is called {kind!r}. {advice}"


def ending_without_cause(world: CheckedWorld) -> Iterator[Complaint]:
    """An ending by a kind of event that nobody may write."""
    ends, used = world.scenario.ends_when, world.used
    is_complete = world.cast_is_complete and "spawnable" not in world.damaged
    if ends is None or ends.kind is None or not is_complete or not world.manifests.keys() >= set(used):
        return
    emitted = {kind for name in used for kind in world.manifests[name].may_emit}
    if ends.kind not in emitted | {kinds.USER_INJECTED, kinds.AGENT_PASSED}:
        text = f"nobody here may emit {ends.kind!r}. {likely(ends.kind, sorted(emitted))}"
        yield Complaint(("ends_when", "kind"), text)


def turns_too_full(world: CheckedWorld) -> Iterator[Complaint]:
    """A turn in which more creatures tick than may call a model. A visitor calls no model."""
    governor = world.scenario.governor
    if governor.on_turn_limit == "defer" or "governor" in world.damaged:
        return
    limit = governor.max_calls_per_turn
    for stage in world.scenario.stages.values():
        manifests = [world.manifests[entry.use] for entry in stage.cast if entry.use in world.manifests]
        ticks = [manifest.schedule.tick_every for manifest in manifests if manifest.played_by != "visitor"]
        intervals = [every for every in ticks if every is not None]
        if len(intervals) <= limit:
            continue
        for turn in range(1, min(governor.max_turns, turns_examined_max) + 1):
            due = sum(turn % every == 0 for every in intervals)
            if due > limit:
                text = (
                    f"in turn {turn}, {due} creatures tick, but only {limit} calls are allowed."
                    f" Write max_calls_per_turn: {due} or more, or on_turn_limit: defer."
                )
                yield Complaint(("governor", "max_calls_per_turn"), text)
                break


def beats_after_the_end(world: CheckedWorld) -> Iterator[Complaint]:
    """Beats that no run can reach."""
    last = world.scenario.governor.max_turns
    for n, beat in enumerate(world.scenario.beats):
        if beat.turn > last and "governor" not in world.damaged:
            text = (
                f"the run ends at turn {last} (governor.max_turns), before this beat. Change one of the two."
            )
            yield Complaint(("beats", n, "turn"), text)


def bad_opening_placeholders(world: CheckedWorld) -> Iterator[Complaint]:
    """Placeholders other than {seed} in an opening, and {seed} without seeds."""
    openings: list[tuple[At, str]] = [(("opening",), world.scenario.opening)]
    openings += [(("troupes", name, "opening"), t.opening) for name, t in world.scenario.troupes.items()]
    for at, opening in openings:
        try:
            placeholders = [part for part in Formatter().parse(opening) if part[1] is not None]
        except ValueError:
            yield Complaint(at, "there is a single '{' or '}'. Only {seed} may be in braces.")
            continue
        for _, name, spec, conversion in placeholders:
            if name != "seed" or spec or conversion:
                yield Complaint(at, f"there is no placeholder {{{name}}}. Only {{seed}} is filled in.")
        has_seed = any(part[1] == "seed" for part in placeholders)
        if has_seed and not world.scenario.seeds and "seeds" not in world.damaged:
            yield Complaint(at, "there are no seeds for {seed}. List one under 'seeds'.")


def versus_without_teams(world: CheckedWorld) -> Iterator[Complaint]:
    """A `versus` competition with fewer than two teams."""
    competition = world.scenario.competition
    if competition.kind == "versus" and len(competition.teams) < 2 and "competition" not in world.damaged:
        there = "is one" if competition.teams else "is none"
        text = f"'versus' needs at least two teams, and there {there}. List them under 'teams'."
        yield Complaint(("competition", "kind"), text)


def overlapping_teams(world: CheckedWorld) -> Iterator[Complaint]:
    """Creatures that play for two teams, or twice for one."""
    team_of: dict[str, str] = {}
    for team, members in world.scenario.competition.teams.items():
        for n, name in enumerate(members):
            if name in team_of:
                text = f"{name!r} already plays for {team_of[name]!r}. Nobody plays twice: remove one."
                yield Complaint((*_TEAMS, team, n), text)
            team_of.setdefault(name, team)


def contestants_who_judge(world: CheckedWorld) -> Iterator[Complaint]:
    """Contestants that could name the winner themselves."""
    for at, name in _contestants(world):
        manifest = world.manifests.get(world.cast.get(name, ""))
        if manifest is not None and kinds.JUDGE_VERDICT in manifest.may_emit:
            text = (
                f"{name!r} may emit {kinds.JUDGE_VERDICT}, but contestants must not judge. Let another judge."
            )
            yield Complaint(at, text)


def teams_named_like_creatures(world: CheckedWorld) -> Iterator[Complaint]:
    """Teams with the name of a creature."""
    for team in world.scenario.competition.teams:
        if team in world.cast or team in world.known:
            text = f"a creature is also called {team!r}. Give the team another name."
            yield Complaint((*_TEAMS, team), text, at_key=True)


def unknown_referee(world: CheckedWorld) -> Iterator[Complaint]:
    """A referee that is neither built in nor a function in a file beside the world."""
    referee = world.scenario.competition.referee
    if referee is None or referee in BUILT_IN_REFEREES:
        return
    if ":" in referee:
        text = world.fault_of_function("referee", referee, may_be_async=False)
    else:
        text = f"{unknown('referee', referee, sorted(BUILT_IN_REFEREES))} Your own is 'file.py:function'."
    if text:
        yield Complaint(_REFEREE, text)


def missing_referee(world: CheckedWorld) -> Iterator[Complaint]:
    """A play that a referee should end, without a referee."""
    ends, referee = world.scenario.ends_when, world.scenario.competition.referee
    if ends and ends.referee and referee is None and "competition" not in world.damaged:
        yield Complaint(("ends_when", "referee"), "there is no referee. Name one in competition.referee.")


def referee_without_its_deal(world: CheckedWorld) -> Iterator[Complaint]:
    """A built-in referee that could never rule, because its deal or its teams are missing."""
    competition, deals = world.scenario.competition, world.scenario.deal
    needed = DEALS_OF_REFEREES.get(competition.referee or "")
    if needed is None:
        return
    if needed not in deals and "deal" not in world.damaged:
        names = ", ".join(map(shown, [*deals][:names_listed_max]))
        there = f"there is {names}" if deals else "nothing is dealt"
        text = f"{competition.referee} needs a deal called {needed!r}, and {there}. Add it under 'deal'."
        yield Complaint(_REFEREE, text)
    if len(competition.teams) < 2 and competition.kind != "versus" and "competition" not in world.damaged:
        yield Complaint(_REFEREE, f"{competition.referee} needs two teams. List them under 'teams'.")


def unknown_tools(world: CheckedWorld) -> Iterator[Complaint]:
    """Granted tools that exist neither by name nor as a function in a file beside the world."""
    for name, manifest in world.manifests.items():
        if world.tools is None or name not in world.used:
            continue
        for n, tool in enumerate(manifest.tools):
            if tool in world.tools:
                continue
            if ":" in tool:
                text = world.fault_of_function("tool", tool, may_be_async=True)
            elif tool.startswith("group_"):
                text = f"{tool} comes with privilege and cannot be granted. Remove it, and write privileged: true in the cast."
            else:
                text = f"{unknown('tool', tool, sorted(world.tools))} Your own is 'file.py:function'."
            if text:
                yield Complaint(("tools", n), text, creature=name)


def tools_with_prose(world: CheckedWorld) -> Iterator[Complaint]:
    """Creatures that are granted tools but reply in prose, in which no tool can be called."""
    for name, manifest in world.manifests.items():
        if manifest.tools and manifest.reply == "prose":
            yield Complaint(("tools",), "tools need JSON replies. Write reply: json.", creature=name)


CHECKS = [
    function
    for name, function in list(globals().items())
    if isfunction(function) and function.__module__ == __name__ and not name.startswith("_")
]


def complaints_about(world: CheckedWorld) -> list[Complaint]:
    """Everything the checks find."""
    return [complaint for check in CHECKS for complaint in check(world)]
