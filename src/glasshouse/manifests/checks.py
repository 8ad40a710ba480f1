"""The checks across a world's files: whether names exist, and whether the world can be played.

Always holds: every public function before `CHECKS` is a check. It yields complaints and changes nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from inspect import isfunction
from string import Formatter

from glasshouse.errors import Refused, names_shown_max
from glasshouse.events import kinds
from glasshouse.events.described_tool import LOOK_UP, RECALL
from glasshouse.manifests.advice import turns_with_more_ticks
from glasshouse.manifests.checked_world import BUILT_IN_REFEREES, DEALS_OF_REFEREES, CheckedWorld
from glasshouse.manifests.problem import At, Complaint, items_at, likely, shown, unknown
from glasshouse.manifests.scenario import CORE_KINDS, FIELDS_OF_EVERY_REPLY, STAGE, WirePlan
from glasshouse.manifests.titles import complaints_about_titles
from glasshouse.world.hearing.conditions import EXAMPLE, KIND, condition_of
from glasshouse.world.hearing.wires import ALWAYS_KNOWN, check_wire, placeholders_of

WRITTEN_BY_CREATURES = CORE_KINDS - kinds.NEVER_GRANTED - {kinds.AGENT_FAILED}
"""The core kinds that an act may end in."""

_TEAMS = ("competition", "teams")
_REFEREE = ("competition", "referee")
CORE_FIELDS = frozenset({"text", "title", "winner", "cites", "rests_on"})
"""The fields that lines of core kinds may have."""


def creatures_without_a_file(world: CheckedWorld) -> Iterator[Complaint]:
    """Names in the cast and in `spawnable` that no creature has."""
    cast = [(at, entry.use) for at, entry in world.entries]
    for at, name in [*cast, *items_at(("spawnable",), world.scenario.spawnable)]:
        if name not in world.known:
            yield Complaint(at, unknown("creature", name, world.known))


def unknown_roots(world: CheckedWorld) -> Iterator[Complaint]:
    """A root that is neither in its cast nor a creature that could be added to it, or that is in another troupe."""
    if not world.cast_is_complete:
        return
    scenario = world.scenario

    def homes_of(handle: str) -> list[str]:
        return [name for name, troupe in scenario.troupes.items() if handle in troupe.handles]

    if scenario.root is not None and scenario.troupes:
        homes = homes_of(scenario.root)
        if not homes:
            handles = [entry.name for _, entry in world.entries]
            yield Complaint(("root",), unknown("creature", scenario.root, handles))
        elif all(scenario.troupes[name].root not in (None, scenario.root) for name in homes):
            other = scenario.troupes[homes[0]].root
            text = f"{scenario.root!r} plays in troupe {homes[0]!r}, whose root is {other!r}. Keep one of the two."
            yield Complaint(("root",), text)
    for at, troupe in world.troupes:
        root = troupe.root
        if root is None or root in troupe.handles:
            continue
        if homes := homes_of(root):
            text = f"{root!r} plays in troupe {homes[0]!r}, but a root must be in its own troupe."
            advice = f"{likely(root, troupe.handles)} If you want a second one, list it in this cast too."
            yield Complaint((*at, "root"), f"{text} {advice}")
        elif root not in world.known:
            yield Complaint((*at, "root"), unknown("creature", root, [*troupe.handles, *world.known]))


def duplicate_handles(world: CheckedWorld) -> Iterator[Complaint]:
    """Two creatures of one cast with the same handle."""
    for at, troupe in world.troupes:
        handles = troupe.handles
        for n, entry in enumerate(troupe.cast):
            if entry.name in handles[:n]:
                text = f"two creatures have the handle {entry.name!r}. Rename one: {{use: {entry.use}, handle: ...}}."
                yield Complaint((*at, "cast", n), text)


def doubled_pasts(world: CheckedWorld) -> Iterator[Complaint]:
    """Two creatures of one cast that would continue the past of the same creature."""
    for at, troupe in world.troupes:
        own = [entry.was or entry.name for entry in troupe.cast]
        for n, entry in enumerate(troupe.cast):
            others = [other.name for m, other in enumerate(troupe.cast) if m != n and own[m] == entry.was]
            if others:
                text = f"the past of {entry.was!r} goes to {others[0]!r} too, and only one can have it. Correct one."
                yield Complaint((*at, "cast", n, "was"), text)


def unknown_channels(world: CheckedWorld) -> Iterator[Complaint]:
    """Channels that a cast entry names and that are not declared."""
    if world.damaged & {"channels", "troupes"}:
        return
    for at, troupe in world.troupes:
        opened: Collection[str] = troupe.channels or world.scenario.channels or (STAGE,)
        for n, entry in enumerate(troupe.cast):
            for direction, names in entry.channels or ():
                for where, name in items_at((*at, "cast", n, "channels", direction), names):
                    if name not in opened:
                        yield Complaint(where, unknown("channel", name, opened))


def unknown_wire_targets(world: CheckedWorld) -> Iterator[Complaint]:
    """Wires to a creature that is not in the same cast, or to their own source."""
    for (at, troupe), stage in zip(world.troupes, world.scenario.stages.values(), strict=True):
        for n, entry in enumerate(troupe.cast):
            for where, wire in items_at((*at, "cast", n, "wires"), entry.wires):
                if wire.to == entry.name:
                    yield Complaint(where, f"{wire.to!r} is wired to itself. Name another creature.")
                elif wire.to not in stage.handles and world.cast_is_complete:
                    yield Complaint(where, unknown("creature of this cast", wire.to, stage.handles))


def bad_wires(world: CheckedWorld) -> Iterator[Complaint]:
    """Conditions and prompts that cannot be parsed, or that name what no line in this world has."""
    known = CORE_KINDS.union(world.scenario.kinds)
    fields = CORE_FIELDS.union(*world.scenario.kinds.values())
    wires = [wire for at, entry in world.entries for wire in items_at((*at, "wires"), entry.wires)]
    for at, wire in wires:
        for field, faults_of in (("when", _faults_of_condition), ("prompt", _faults_of_prompt)):
            try:
                faults = [text for text in faults_of(wire, known, fields) if "kinds" not in world.damaged]
            except Refused as refusal:
                faults = [f"{refusal.reason[:1].lower()}{refusal.reason[1:]} {refusal.instead}"]
            yield from (Complaint((*at, field), text) for text in faults)


def _faults_of_condition(wire: WirePlan, known: frozenset[str], fields: frozenset[str]) -> Iterator[str]:
    for clause in () if wire.when is None else condition_of(wire.when):
        if clause.name == KIND:
            if clause.verb == "is" and clause.value not in known:
                yield unknown("kind", clause.value, sorted(known))
        elif clause.name not in fields:
            advice = f"{likely(clause.name, sorted(fields))} {EXAMPLE}"
            yield f"no line in this world has a field {clause.name!r}. {advice}"


def _faults_of_prompt(wire: WirePlan, _: frozenset[str], fields: frozenset[str]) -> Iterator[str]:
    check_wire(with_content=wire.with_content, prompt=wire.prompt, when=None)
    for name in placeholders_of(wire.prompt or ""):
        if name not in fields | ALWAYS_KNOWN:
            yield f"there is no placeholder {{{name}}}. {likely(name, sorted(fields | ALWAYS_KNOWN))}"


def unknown_handles(world: CheckedWorld) -> Iterator[Complaint]:
    """Teams, contestants, deals, protections and beats that name nobody in the cast."""
    if not world.cast_is_complete:
        return
    scenario = world.scenario
    cast = world.scenario.cast_by_handle
    places = [
        *_contestants(world),
        *(name for key, deal in scenario.deal.items() for name in items_at(("deal", key, "to"), deal.to)),
        *items_at(("policy", "protected"), scenario.policy.protected),
        *((("beats", n, "at"), beat.at) for n, beat in enumerate(scenario.beats) if beat.at),
    ]
    for at, name in places:
        if name not in cast:
            yield Complaint(at, unknown("creature of the cast", name, cast))


def _contestants(world: CheckedWorld) -> Iterator[tuple[At, str]]:
    """Everybody who could win, and where that is written."""
    competition = world.scenario.competition
    for team, members in competition.teams.items():
        yield from items_at((*_TEAMS, team), members)
    yield from items_at(("competition", "contestants"), competition.contestants)


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
    declare = "Declare it under 'kinds' of the scenario."
    for name, manifest in world.played.items() if "kinds" not in world.damaged else ():
        for field, known in (("may_emit", WRITTEN_BY_CREATURES), ("subscribes_to", CORE_KINDS)):
            for at, kind in items_at((field,), getattr(manifest, field)):
                if kind in CORE_KINDS - known:
                    yield Complaint(at, f"only the engine writes {kind}. Remove it.", name)
                elif kind not in CORE_KINDS and kind not in own:
                    yield Complaint(at, unknown("kind", kind, [*sorted(known), *own], declare), name)


def facts_said_in_unknown_kinds(world: CheckedWorld) -> Iterator[Complaint]:
    """Dealt facts that may be said in a kind of line that nobody writes."""
    own = world.scenario.kinds
    for fact, deal in world.scenario.deal.items() if "kinds" not in world.damaged else ():
        if isinstance(deal.may_say, bool):
            continue
        for at, kind in items_at(("deal", fact, "may_say"), deal.may_say):
            if kind not in own and kind not in WRITTEN_BY_CREATURES:
                text = unknown(
                    "kind", kind, [*own, *sorted(WRITTEN_BY_CREATURES)], "Declare it under 'kinds'."
                )
                yield Complaint(at, text)


def ending_without_cause(world: CheckedWorld) -> Iterator[Complaint]:
    """An ending by a kind of event that nobody may write."""
    ends = world.scenario.ends_when
    played = world.played
    is_complete = world.cast_is_complete and len(played) == len(world.used)
    if ends is None or ends.kind is None or not is_complete or "spawnable" in world.damaged:
        return
    emitted = {kind for manifest in played.values() for kind in manifest.may_emit}
    if emitted - CORE_KINDS.union(world.scenario.kinds):
        return  # A creature emits an unknown kind. To say here that it was meant would contradict the complaint there.
    if ends.kind not in emitted | {kinds.USER_INJECTED, kinds.AGENT_PASSED}:
        text = f"nobody here may emit {ends.kind!r}. {likely(ends.kind, sorted(emitted))}"
        yield Complaint(("ends_when", "kind"), text)


def nobody_who_acts(world: CheckedWorld) -> Iterator[Complaint]:
    """A world in which nobody acts first: nobody ticks, and nobody hears what the world shows or a visitor says.

    In a world that was built in Python, code may speak for its creatures.
    """
    if world.folder is None or not world.cast_is_complete or len(world.played) < len(world.used):
        return
    scenario = world.scenario
    first = {kinds.WORLD_OBSERVED, kinds.USER_INJECTED}
    manifests = [world.manifests[name] for name in scenario.cast_by_handle.values()]
    ticks = [manifest for manifest in manifests if manifest.schedule.tick_every is not None]
    answers = [manifest for manifest in manifests if not first.isdisjoint(manifest.subscribes_to)]
    roots = [stage.root for stage in scenario.stages.values() if stage.root is not None]
    if not (ticks or answers or roots):
        text = "nobody here ever acts: nobody ticks, and nobody hears what the world shows or a visitor says."
        at: At = ("troupes",) if scenario.troupes else ("cast",)
        yield Complaint(at, f"{text} Write schedule: {{tick_every: 1}} in a creature's file.")


def turns_too_full(world: CheckedWorld) -> Iterator[Complaint]:
    """A turn in which more creatures tick than may call a model. A visitor calls no model."""
    governor = world.scenario.governor
    if governor.on_turn_limit == "defer" or "governor" in world.damaged:
        return
    limit = world.scenario.limits.max_calls_per_turn
    assert isinstance(limit, int), "a scenario has a limit of calls per turn"
    for turn, due in turns_with_more_ticks(world.scenario, world.manifests, limit):
        text = f"in turn {turn}, {due} creatures tick, but only {limit} calls are allowed."
        advice = f"Write max_calls_per_turn: {due} or more, or on_turn_limit: defer."
        yield Complaint(("governor", "max_calls_per_turn"), f"{text} {advice}")


def beats_after_the_end(world: CheckedWorld) -> Iterator[Complaint]:
    """Beats that no run can reach."""
    last = world.scenario.governor.max_turns
    beats = enumerate(world.scenario.beats) if "governor" not in world.damaged else ()
    for n in [n for n, beat in beats if beat.turn > last]:
        text = f"the run ends at turn {last} (governor.max_turns), before this beat. Change one of the two."
        yield Complaint(("beats", n, "turn"), text)


def bad_opening_placeholders(world: CheckedWorld) -> Iterator[Complaint]:
    """Placeholders other than {seed} in an opening, and {seed} without seeds."""
    openings: dict[At, str] = {("opening",): world.scenario.opening}
    openings |= {(*at, "opening"): troupe.opening for at, troupe in world.troupes}
    for at, opening in openings.items():
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
    kind = world.scenario.competition.kind
    teams = world.scenario.competition.teams
    if kind == "versus" and len(teams) < 2 and "competition" not in world.damaged:
        count = "one" if teams else "none"
        text = f"'versus' needs at least two teams, and there is {count}. List them under 'teams'."
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
    cast = world.scenario.cast_by_handle
    for at, name in _contestants(world):
        manifest = world.manifests.get(cast.get(name, ""))
        if manifest is not None and kinds.JUDGE_VERDICT in manifest.may_emit:
            ruling = f"{name!r} may emit {kinds.JUDGE_VERDICT}, but contestants must not judge."
            yield Complaint(at, f"{ruling} Let another judge.")


def teams_named_like_creatures(world: CheckedWorld) -> Iterator[Complaint]:
    """Teams with the name of a creature."""
    taken = {*world.scenario.cast_by_handle, *world.known}
    for team in world.scenario.competition.teams:
        if team in taken:
            text = f"a creature is also called {team!r}. Give the team another name."
            yield Complaint((*_TEAMS, team), text, at_key=True)


def bad_referee(world: CheckedWorld) -> Iterator[Complaint]:
    """A referee that should end the play but is not named, that does not exist, or that could never rule."""
    ends = world.scenario.ends_when
    competition = world.scenario.competition
    deals = world.scenario.deal
    referee = competition.referee
    is_complete = "competition" not in world.damaged
    if referee is None:
        if ends and ends.referee and is_complete:
            yield Complaint(("ends_when", "referee"), "there is no referee. Name one in competition.referee.")
        return
    if text := world.fault_of_reference("referee", referee, BUILT_IN_REFEREES):
        yield Complaint(_REFEREE, text)
    needed = DEALS_OF_REFEREES.get(referee)
    if needed and needed not in deals and "deal" not in world.damaged:
        names = ", ".join(map(shown, [*deals][:names_shown_max]))
        there = f"there is {names}" if deals else "nothing is dealt"
        text = f"{referee} needs a deal called {needed!r}, and {there}. Add it under 'deal'."
        yield Complaint(_REFEREE, text)
    if needed and len(competition.teams) < 2 and competition.kind != "versus" and is_complete:
        yield Complaint(_REFEREE, f"{referee} needs two teams. List them under 'teams'.")


def unknown_tools(world: CheckedWorld) -> Iterator[Complaint]:
    """Granted tools that exist neither by name nor as a function in a file beside the world."""
    tools = world.tools or frozenset()
    for name, manifest in world.played.items() if world.tools is not None else ():
        for at, tool in items_at(("tools",), manifest.tools):
            text = world.fault_of_reference("tool", tool, tools)
            if text and tool.startswith("group_") and ":" not in tool:
                text = f"{tool} comes with privilege and cannot be granted. Remove it, and write privileged: true in the cast."
            if text:
                yield Complaint(at, text, name)


def recall_without_long_memory(world: CheckedWorld) -> Iterator[Complaint]:
    """Creatures that are granted the tool that searches long memory, and have none."""
    for name, manifest in world.played.items():
        if RECALL in manifest.tools and not manifest.memory.long:
            text = f"{RECALL} searches long memory, and {name} has none. Write memory: {{long: true}}, or remove the tool."
            yield Complaint(("tools", manifest.tools.index(RECALL)), text, name)


def documents_nobody_reads(world: CheckedWorld) -> Iterator[Complaint]:
    """Documents of the world that no creature may look up, and creatures that may look up but have no documents."""
    has_documents = bool(world.scenario.documents)
    readers = [name for name, manifest in world.played.items() if LOOK_UP in manifest.tools]
    is_complete = world.cast_is_complete and len(world.played) == len(world.used)
    if has_documents and not readers and is_complete:
        text = f"no creature looks them up. Add {LOOK_UP} to the tools of one, or name them in its own documents."
        yield Complaint(("documents",), text)
    if has_documents or "documents" in world.damaged:
        return
    for name in readers:
        manifest = world.manifests[name]
        if not manifest.documents:
            at = ("tools", manifest.tools.index(LOOK_UP))
            text = f"there are no documents to look up in. Add documents to the scenario or to {name}."
            yield Complaint(at, text, name)


CHECKS = [
    function
    for name, function in list(globals().items())
    if isfunction(function) and function.__module__ == __name__ and not name.startswith("_")
]


def complaints_about(world: CheckedWorld) -> list[Complaint]:
    """Everything the checks find."""
    complaints = [complaint for check in CHECKS for complaint in check(world)]
    return [*complaints, *complaints_about_titles(world)]
