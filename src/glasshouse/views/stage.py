"""`StageProjection`: what is on stage (scene, lines, verdicts, tools, disturbances, cast, counters), folded from events.

Always holds: the cost of folding an event does not depend on the number of events before it. Stages folded from the
same events are equal. Nothing here calls a model or reads a clock. The caller has already removed from the events what
the role may not read.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from typing import Any, Final, Literal, TypeAlias

import msgspec
from msgspec.structs import replace

from glasshouse.events import kinds, payloads
from glasshouse.events.event import (
    CONDUCTOR,
    RESERVED_ACTORS,
    TERRARIUM,
    Event,
    Json,
    text_of,
    usage_in,
)
from glasshouse.events.model_use import Usage
from glasshouse.events.payloads import SessionRestated, copied_from, payload_of
from glasshouse.events.recorded_fields import fields_of, is_public_part, scenario_fields_of
from glasshouse.reprs import repr_of
from glasshouse.views.group_deeds import GROUP_TOOLS, deed_of
from glasshouse.views.scenes import Scene, scene_of

stage_lines_max = 200
"""A stage keeps this many of the latest lines of each sort."""
stage_runs_max = 64
"""A stage with more runs forgets the oldest."""
names_listed_max: Final = 6
"""A change names at most this many moved creatures."""
tool_arguments_max: Final = 16
"""A stage keeps the first arguments of a tool call."""
tool_text_chars_max: Final = 2_000
"""How much a stage keeps of each argument of a tool and of its answer."""

Voice = Literal["cast", "judge", "visitor", "world", "silence", "change", "tool", "ending"]
"""`ending` is the last line of a transcript alone: how the run ended."""
NOTES: Final = ("agent_notes", "judge_notes", "user_artifacts", "world_notes", "tool_notes")
"""The parts of a stage that hold lines. Each keeps the newest lines of some voices."""
_NOTES_OF: Final = {
    "cast": "agent_notes",
    "judge": "judge_notes",
    "visitor": "user_artifacts",
    "tool": "tool_notes",
}
"""Voice -> the part that holds its lines; `world_notes` holds those of the other voices."""

Part: TypeAlias = tuple[str, ...]
Touched: TypeAlias = tuple[Part, ...]
"""The parts of a stage that an event changed, without the counters."""


class ToolUsed(msgspec.Struct, frozen=True, gc=False):
    """How a creature used a tool."""

    __repr__ = repr_of("tool", "outcome", "arguments")

    tool: str
    arguments: dict[str, str]
    """As in `ToolAsked`."""
    outcome: payloads.Outcome
    deed: str = ""
    """Of a group tool: what its creature did, in a sentence without a subject, as in `hires bo`."""
    moves_somebody: bool = False
    """Of a group tool: whether somebody came, went, or hears others than before."""


class Note(msgspec.Struct, frozen=True, gc=False):
    """One line: who said what, where and when. `private` is set only for roles that may read it.

    For the voice `silence`, `text` is the reason. For the voice `change`, `handle` is empty and `text` describes the
    change of the graph. For the voice `tool`, `text` is the answer, and `used` tells the rest.
    """

    __repr__ = repr_of("handle", "text", "kind", "turn")

    id: str
    actor: str
    handle: str
    kind: str
    text: str
    fields: Json
    channel: str | None
    turn: int
    private: Json | None = None
    voice: Voice = "cast"
    used: ToolUsed | None = None
    copy_of: str | None = None
    """Of what a visitor said in several graphs at once: the id of the first event, if this is a later one. It is a line only
    where the first is not among the events."""


class CastMember(msgspec.Struct, frozen=True, gc=False):
    """A creature of the cast as the stage knows it."""

    __repr__ = repr_of()

    handle: str
    role: str = "worker"
    is_running: bool = True
    profile: str = ""
    """The size of its model; empty for a spectator, who does not read it in the manifest."""
    bio: str = ""
    title: str = ""
    """What it is called, if its manifest says so."""


class RunStatus(msgspec.Struct, frozen=True, gc=False):
    """The state of a run, and, once it is finished, its result and its cost."""

    __repr__ = repr_of("title", "state", "paused", "finished")

    state: Literal["playing", "paused", "finished"] = "playing"
    title: str = ""
    goal: str = ""
    seed: str = ""
    budget: payloads.Governor | None = None
    """The limits that it was started with."""
    disturbances: tuple[str, ...] = ()
    """Lines that its scenario suggests to a visitor."""
    paused: str | None = None
    """Why it is paused; none if it is not paused."""
    finished: payloads.RunFinished | None = None
    is_edited: bool = False
    """Whether its world was edited before the start."""


class ToolAsked(msgspec.Struct, frozen=True, gc=False):
    """A tool that a creature called and that has not answered yet."""

    __repr__ = repr_of("tool", "arguments")

    tool: str
    arguments: dict[str, str]
    """The first arguments as texts; long texts are cut."""
    event_id: str = ""
    """The event of the call."""


ROWS: Final[dict[str, type[Any]]] = {"cast": CastMember, "asking": ToolAsked, "runs": RunStatus}
"""The parts of a stage that are tables, each with the type of its rows."""


class Counters(msgspec.Struct):
    """How often things happened, and what the model calls cost. Every role may read them."""

    events: int = 0
    turns: int = 0
    lines: int = 0
    failures: int = 0
    passes: int = 0
    usage: Usage = Usage()

    @property
    def calls(self) -> int:
        """How many calls reached a model."""
        return self.usage.calls

    @property
    def tokens(self) -> int:
        """The tokens of their prompts and replies."""
        return self.usage.tokens

    @property
    def usd(self) -> float | None:
        """What they cost; none if the price of a call is unknown."""
        return self.usage.usd


class StageProjection(msgspec.Struct):
    """The stage after some events. With a `run_id`, it takes in only events of that run and of the world's shape.

    For a branch or a resumed run, `past_run_ids` are the runs whose past it continues. Their events belong to its own
    past, and an incarnation replaces the creature that it continues.
    """

    __repr__ = repr_of("run_id", "turn", "scene_title", "agent_notes")

    run_id: str | None = None
    current_scene: str = ""
    scene_title: str = ""
    turn: int = 0
    agent_notes: list[Note] = []
    judge_notes: list[Note] = []
    user_artifacts: list[Note] = []
    world_notes: list[Note] = []
    """What the world showed, why creatures were silent, and how the cast changed the graph."""
    tool_notes: list[Note] = []
    """Which tools the cast used, and what these answered."""
    cast: dict[str, CastMember] = {}
    asking: dict[str, ToolAsked] = {}
    """Creature -> the tool whose answer it waits for."""
    runs: dict[str, RunStatus] = {}
    counters: Counters = msgspec.field(default_factory=Counters)
    past_run_ids: tuple[str, ...] = ()

    def apply(self, event: Event) -> Touched:
        """Take in the next event, and return the parts that it changed."""
        if self.run_id is not None and not concerns(event, self.run_id, self.past_run_ids):
            return NOTHING
        counters = self.counters
        counters.events += 1
        if event.model is not None:
            counters.usage = counters.usage.plus(usage_in([event]))
        fold = FOLDS.get(event.kind)
        return _say(self, event) if fold is None else fold(self, event)

    @property
    def run(self) -> RunStatus | None:
        """The run that started last."""
        return self.runs[next(reversed(self.runs))] if self.runs else None

    @property
    def budget(self) -> payloads.Governor | None:
        """The limits of that run."""
        return self.run.budget if self.run else None

    def copy(self) -> StageProjection:
        """An independent copy of the stage. The lines are shared, because they are immutable."""
        parts = {name: getattr(self, name).copy() for name in (*NOTES, *ROWS)}
        return replace(self, counters=replace(self.counters), **parts)


def rebuild_stage(events: Iterable[Event], run_id: str | None = None) -> StageProjection:
    """The stage after these events."""
    events = events if isinstance(events, Sequence) else list(events)
    stage = StageProjection(run_id=run_id, past_run_ids=past_runs(events, run_id))
    for event in events:
        stage.apply(event)
    return stage


def past_runs(events: Iterable[Event], run_id: str | None) -> tuple[str, ...]:
    """The runs whose past a run continues, read from `run.started`, the nearest first; empty if it is not a branch."""
    if run_id is None:
        return ()
    begun = {e.run_id: payload_of(e, payloads.RunStarted) for e in events if e.kind == kinds.RUN_STARTED}
    past: list[str] = []
    while (run := begun.pop(past[-1] if past else run_id, None)) is not None and run.branch_of is not None:
        past.append(run.branch_of.run_id)
    return tuple(past)


def concerns(event: Event, run_id: str, past_run_ids: tuple[str, ...] = ()) -> bool:
    """Whether an event belongs on the stage of a run: it is of this run or its past, or of no run at all."""
    if event.run_id is not None:
        return event.run_id == run_id or event.run_id in past_run_ids
    if event.kind != kinds.CREATURE_STARTED:
        return True
    of_run = payload_of(event, payloads.CreatureStarted).run_id
    return of_run in (None, run_id) or of_run in past_run_ids


NOTHING: Touched = ()


def _say(stage: StageProjection, event: Event) -> Touched:
    """Add a line of the cast. Kinds without a fold of their own, such as a world's own kinds, come here."""
    if event.actor in RESERVED_ACTORS:
        return NOTHING
    member = stage.cast.get(event.actor)
    if member is not None and member.role == "judge":
        return _judge(stage, event)
    stage.counters.lines += 1
    return _add_line(stage, event, "cast")


def _think(stage: StageProjection, event: Event) -> Touched:
    """Add a thought as a line if the role may read it. For other roles redaction left it empty, so it is skipped."""
    return _say(stage, event) if event.payload else NOTHING


def _judge(stage: StageProjection, event: Event) -> Touched:
    stage.counters.lines += 1
    return _add_line(stage, event, "judge")


def _observe(stage: StageProjection, event: Event) -> Touched:
    """Set the scene to what the world shows now. The title stays until an event brings another title."""
    scene = scene_of(event)
    if scene is not None and any(_is_of_scene(note, scene) for note in reversed(stage.world_notes)):
        return NOTHING  # It is shown in several graphs at once.
    title = text_of(event, "title") or stage.scene_title
    touched = _add_line(stage, event, "world")
    for name, value in (("scene_title", title), ("current_scene", text_of(event))):
        if value != getattr(stage, name):
            setattr(stage, name, value)
            touched = ((name,), *touched)
    return touched


def _is_of_scene(note: Note, scene: Scene) -> bool:
    shown = Scene(note.turn, str(note.fields.get("title") or ""), note.text)
    return note.actor == CONDUCTOR and note.kind == kinds.WORLD_OBSERVED and shown == scene


def _begin_turn(stage: StageProjection, event: Event) -> Touched:
    stage.counters.turns += 1
    stage.turn = event.turn
    return (("turn",),)


def _be_silent(stage: StageProjection, event: Event) -> Touched:
    """Note an act that ended without a line, with the reason."""
    stage.counters.passes += event.kind == kinds.AGENT_PASSED
    stage.counters.failures += event.kind == kinds.AGENT_FAILED
    return (*_stop_asking(stage, event.actor), *_add_line(stage, event, "silence", text_field="reason"))


def _call_tool(stage: StageProjection, event: Event) -> Touched:
    called = payload_of(event, payloads.ToolCalled)
    arguments = list(called.arguments.items())[:tool_arguments_max]
    texts = {name: _as_text(value) for name, value in arguments}
    stage.asking[event.actor] = ToolAsked(called.tool, texts, event.id)
    return (("asking", event.actor),)


def _return_from_tool(stage: StageProjection, event: Event) -> Touched:
    """Add a line for the use of a tool: the call, and the answer or the refusal."""
    returned = payload_of(event, payloads.ToolReturned)
    asked = stage.asking.get(event.actor)
    arguments = asked.arguments if asked else {}
    outcome = payloads.outcome_of(returned)
    text = _as_text(returned.text)
    refusal = None if outcome == "answered" else text
    deed = deed_of(returned.tool, arguments, returned.result, refusal=refusal)
    used = ToolUsed(returned.tool, arguments, outcome, *(deed or ()))
    handle = handle_on(stage, event.actor)
    note = Note(event.id, event.actor, handle, event.kind, text, {}, None, event.turn, None, "tool", used)
    return (*_stop_asking(stage, event.actor), *_keep(stage, note))


def _stop_asking(stage: StageProjection, actor: str) -> Touched:
    return (("asking", actor),) if stage.asking.pop(actor, None) else NOTHING


def _as_text(value: Any) -> str:
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return text if len(text) <= tool_text_chars_max else f"{text[:tool_text_chars_max]}…"


def _tell_change(stage: StageProjection, event: Event) -> Touched:
    """Add a line for a change that a creature made to the graph with a tool: a birth, a removal, a merge or a split."""
    if event.actor != TERRARIUM or event.caused_by is None:
        return NOTHING  # Not an edit that a creature made.
    if any(
        asked.event_id == event.caused_by and asked.tool in GROUP_TOOLS for asked in stage.asking.values()
    ):
        return NOTHING  # The answer of the group tool tells it.
    text = ""
    match payload_of(event, payloads.PAYLOAD_TYPES[event.kind]):
        case payloads.CreatureStarted(parent=str(), handle=handle):
            text = f"{handle} comes in"
        case payloads.CreatureStopped(reason="removed", creature=creature):
            text = f"{handle_on(stage, creature)} is gone"
        case payloads.TopologyChanged(kind="merge" | "split" as kind, affected_creatures=creatures):
            names = [handle_on(stage, name) for name in creatures]
            more = [f"{len(names) - names_listed_max} more"] if len(names) > names_listed_max else []
            where = "within" if kind == "merge" else "out of"
            if any(name in stage.cast for name in creatures):
                text = f"{where} hearing now: {', '.join(names[:names_listed_max] + more)}"
        case _:
            pass
    if not text:
        return NOTHING
    return _keep(
        stage, Note(event.id, event.actor, "", event.kind, text, {}, None, event.turn, None, "change")
    )


def _tell_tool(stage: StageProjection, event: Event) -> Touched:
    """Add a line for a tool of a server that has changed, or was accepted."""
    match payload_of(event, payloads.PAYLOAD_TYPES[event.kind]):
        case payloads.ToolChanged(tool=tool, creatures=creatures):
            text = f"{tool.name} has changed, and nobody uses it until it is accepted or as it was"
        case payloads.ToolAccepted(tool=name, creatures=creatures):
            text = f"{name} is accepted as it is now"
        case _:
            return NOTHING
    if not any(creature in stage.cast for creature in creatures):
        return NOTHING
    note = Note(event.id, event.actor, "", event.kind, text, {}, None, event.turn, None, "change")
    return _keep(stage, note)


def _start_creature(stage: StageProjection, event: Event) -> Touched:
    born = payload_of(event, payloads.CreatureStarted)
    creature = born.creature
    known = stage.cast.get(born.creature)
    was = born.incarnation_of
    touched: Touched = (("cast", creature), *_tell_change(stage, event))
    if was is not None and was in stage.cast and stage.run_id is not None:
        # On the stage of one run, an incarnation replaces the creature that it continues.
        del stage.cast[was]
        touched = (("cast", was), *touched)
    if born.manifest is not None or known is None:
        manifest = fields_of(born.manifest or {})
        profile = "" if is_public_part(born.manifest or {}) else manifest.model_profile
        stage.cast[creature] = CastMember(
            born.handle, manifest.role, profile=profile, bio=manifest.bio, title=manifest.title
        )
    else:
        stage.cast[creature] = replace(known, handle=born.handle, is_running=True)
    return touched


def _restate(stage: StageProjection, event: Event) -> Touched:
    """Remove creatures from the cast that a branch or resumed session did not take over from its past."""
    restated = payload_of(event, SessionRestated)
    return NOTHING if stage.run_id is None else leave_only(stage, set(restated.creatures.values()))


def leave_only(stage: StageProjection, living: Container[str]) -> Touched:
    """Remove all other creatures from the cast, and return the parts of the stage that changed."""
    gone = [creature for creature in stage.cast if creature not in living]
    for creature in gone:
        del stage.cast[creature]
    return tuple([("cast", creature) for creature in gone])


def _stop_creature(stage: StageProjection, event: Event) -> Touched:
    stopped = payload_of(event, payloads.CreatureStopped)
    known = stage.cast.get(stopped.creature)
    if known is None:
        return NOTHING
    touched = _tell_change(stage, event)
    if stopped.reason == "removed":
        del stage.cast[stopped.creature]
        touched = (*touched, *_stop_asking(stage, stopped.creature))
    else:
        stage.cast[stopped.creature] = replace(known, is_running=False)
    return (("cast", stopped.creature), *touched)


def _rename_creature(stage: StageProjection, event: Event) -> Touched:
    renamed = payload_of(event, payloads.CreatureRenamed)
    known = stage.cast.get(renamed.creature)
    if known is None:
        return NOTHING
    stage.cast[renamed.creature] = replace(known, handle=renamed.handle)
    return (("cast", renamed.creature),)


def _start_run(stage: StageProjection, event: Event) -> Touched:
    if event.actor not in RESERVED_ACTORS:
        return NOTHING
    started = payload_of(event, payloads.RunStarted)
    name = event.run_id or ""
    scenario = scenario_fields_of(started.scenario)
    stage.runs[name] = RunStatus(
        title=scenario.title or scenario.name,
        goal=started.goal,
        seed=started.seed,
        budget=started.limits,
        disturbances=scenario.disturbances,
        is_edited=started.is_edited,
    )
    touched: list[Part] = [("runs", name)]
    if len(stage.runs) > stage_runs_max:
        oldest = next(iter(stage.runs))
        del stage.runs[oldest]
        touched.append(("runs", oldest))
    for entry in started.cast:
        known = stage.cast.get(entry.creature)
        if known is not None:
            stage.cast[entry.creature] = replace(known, profile=entry.profile)
            touched.append(("cast", entry.creature))
    return tuple(touched)


def _change_run(stage: StageProjection, event: Event) -> Touched:
    """Note that a run was paused, continued or finished."""
    name = event.run_id or ""
    known = stage.runs.get(name)
    if known is None or event.actor not in RESERVED_ACTORS:
        return NOTHING
    match payload_of(event, payloads.RUN_PAYLOAD_TYPES[event.kind]):
        case payloads.RunPaused(reason=reason):
            stage.runs[name] = replace(known, state="paused", paused=reason)
        case payloads.RunFinished() as finished:
            stage.runs[name] = replace(known, state="finished", paused=None, finished=finished)
        case _:
            stage.runs[name] = replace(known, state="playing", paused=None)
    return (("runs", name),)


def _visit(stage: StageProjection, event: Event) -> Touched:
    """Add a line of the visitor. What was said in several graphs at once is one line: the first that is read."""
    first = copied_from(event)
    said = first or event.id
    if any(said in (note.id, note.copy_of) for note in stage.user_artifacts):
        return NOTHING
    return _add_line(stage, event, "visitor", copy_of=first)


def _add_line(
    stage: StageProjection,
    event: Event,
    voice: Voice,
    *,
    text_field: str = "text",
    copy_of: str | None = None,
) -> Touched:
    actor = event.actor
    text = text_of(event, text_field)
    fields = event.payload.copy()
    if isinstance(fields.get(text_field), str):
        del fields[text_field]
    if copy_of is not None:
        del fields["copy_of"]
    handle = handle_on(stage, actor)
    note = Note(
        event.id, actor, handle, event.kind, text, fields, event.channel, event.turn, event.private, voice,
        copy_of=copy_of,
    )  # fmt: skip
    return _keep(stage, note)


def _keep(stage: StageProjection, note: Note) -> Touched:
    part = _NOTES_OF.get(note.voice, "world_notes")
    notes: list[Note] = getattr(stage, part)
    notes.append(note)
    if len(notes) > stage_lines_max:
        del notes[0]
    return ((part,),)


def handle_on(stage: StageProjection, actor: str) -> str:
    """The handle that a stage shows for the actor of an event."""
    member = stage.cast.get(actor)
    if member is not None:
        return member.handle
    return "world" if actor == CONDUCTOR else actor


FOLDS: dict[str, Callable[[StageProjection, Event], Touched]] = {
    **dict.fromkeys(sorted(kinds.NO_LINES), lambda _stage, _event: NOTHING),
    **dict.fromkeys(sorted(kinds.INNER), _think),
    kinds.WORLD_OBSERVED: _observe,
    kinds.JUDGE_VERDICT: _judge,
    kinds.USER_INJECTED: _visit,
    kinds.TURN_STARTED: _begin_turn,
    **dict.fromkeys(sorted(kinds.WITHOUT_A_LINE), _be_silent),
    kinds.TOOL_CALLED: _call_tool,
    kinds.TOOL_RETURNED: _return_from_tool,
    kinds.CREATURE_STARTED: _start_creature,
    kinds.CREATURE_STOPPED: _stop_creature,
    kinds.CREATURE_RENAMED: _rename_creature,
    kinds.SESSION_RESTATED: _restate,
    kinds.TOPOLOGY_CHANGED: _tell_change,
    **dict.fromkeys((kinds.TOOL_CHANGED, kinds.TOOL_ACCEPTED), _tell_tool),
    kinds.RUN_STARTED: _start_run,
    **dict.fromkeys((kinds.RUN_PAUSED, kinds.RUN_CONTINUED, kinds.RUN_FINISHED), _change_run),
}
