"""The typed payloads of events: first those of the engine's kinds, which shape the world, then those of a run's kinds.

Always holds: every kind in `kinds.ENGINE` has exactly one type here, and a payload with an unknown field is refused.
`run.started` describes its run completely, so the ledger alone says what was played, without any file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from math import inf
from typing import Any, Final, Literal, TypeVar, get_args

import msgspec
from msgspec.structs import asdict, replace

from glasshouse.errors import BadEvent, WrongType, check_type, in_brief
from glasshouse.events import kinds
from glasshouse.events.carried import Carried
from glasshouse.events.described_tool import DescribedTool, GrantedTool
from glasshouse.events.event import Event, Json
from glasshouse.model_values import Size
from glasshouse.reprs import repr_of

Direction = Literal["listen", "send"]
ChangeKind = Literal["merge", "split", "nothing"]
History = Literal["full", "since_joined"]
Origin = Literal["split", "fork", "branch", "resume"]
StopReason = Literal["stopped", "removed"]
FinishReason = Literal["ended", "budget", "stopped", "no_contest"]
OnBudget = Literal["finish", "pause"]
OnTurnLimit = Literal["finish", "defer"]
Outcome = Literal["answered", "failed", "refused"]
CopyOf = Literal["voice", "prompt", "scene", "heard"]

rules_now: Final = 2
"""The number of the rules that the engine plays by. Raise it when the same acts are recorded otherwise than before: a run
of other rules opens, reads and branches, but cannot be played again byte for byte (ADR 0107)."""
prompting_now: Final = 2
"""The number under which this version asks models: one for how prompts and schemas are built, how replies are read, and what is
objected to in them. Raise it, at most once in a release, when any of these changes. What was written under another number is
replayed as it is on record, and its prompts are not built again (ADR 0119)."""
affected_creatures_max = 1_000
"""`topology.changed` lists at most this many and counts all; `session.attached` is written as several
events, and names at most this many who stay."""
calls_per_turn_min = 16
"""The limit of calls per turn that a run has at least, if nobody gave one."""
calls_per_creature = 4
"""How many calls each creature of the cast adds to that limit, if it is larger then."""


class Payload(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True, omit_defaults=True):
    """The base of typed payloads: unknown fields are refused, default values are not written."""


class _NotesWhatIsGiven(msgspec.StructMeta):
    """Lets a `Governor` know which limits its maker wrote. A limit that was written with its default value, such as
    `Governor(max_turns=100)`, looks like one that was left out, and yet it was given (ADR 0059)."""

    def __call__(cls, *args: Any, **limits: Any) -> Any:  # noqa: N805 (the instance of a metaclass is a class)
        governor = super().__call__(*args, **limits)
        governor.__dict__["given"] = frozenset(limits)
        return governor


class Governor(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    eq=False,
    forbid_unknown_fields=True,
    dict=True,
    metaclass=_NotesWhatIsGiven,
):
    """The limits of a run. None means no limit. Two are equal if they limit a small cast alike."""

    __repr__ = repr_of()

    max_turns: int | None = 100
    max_calls_per_turn: int | msgspec.UnsetType | None = msgspec.UNSET
    """Left out: 16, or four for each creature of the run if that is more."""
    max_total_calls: int | None = 500
    max_total_tokens: int | None = None
    max_total_usd: float | msgspec.UnsetType | None = msgspec.UNSET
    """Left out: no limit."""
    hourly_budget_usd: float | None = None
    max_wall_minutes: float | None = None
    on_budget: OnBudget | msgspec.UnsetType = msgspec.UNSET
    """What a limit does that is reached: end the run, or pause it. Left out: end it."""
    on_turn_limit: OnTurnLimit | msgspec.UnsetType = msgspec.UNSET
    """What a full turn does: end the run, or leave what is owed to the next turn. Left out: leave it."""

    def __post_init__(self) -> None:
        for field, words in _WORDS_OF_GOVERNOR.items():
            if (word := getattr(self, field)) not in (*words, msgspec.UNSET):
                raise WrongType(
                    f"{field}={in_brief(word)} is not valid.", f"Write {' or '.join(map(repr, words))}."
                )
        for field, limit in asdict(self).items():
            is_number = isinstance(limit, int | float) and not isinstance(limit, bool)
            is_left_out = limit in (None, msgspec.UNSET) or field in _WORDS_OF_GOVERNOR
            if not is_left_out and not (is_number and 0 <= limit < inf):
                advice = "Give a number from 0 on, or None for no limit."
                raise WrongType(f"{field}={in_brief(limit)} is not a limit.", advice)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Governor) and asdict(settled(self, 0)) == asdict(settled(other, 0))

    def __hash__(self) -> int:
        return hash(tuple(asdict(settled(self, 0)).values()))

    def __reduce__(self) -> tuple[Any, ...]:
        # A struct alone would come out of another process with all its fields given.
        return _pickled_governor, (asdict(self), vars(self).get("given"))


_WORDS_OF_GOVERNOR: Final = {"on_budget": get_args(OnBudget), "on_turn_limit": get_args(OnTurnLimit)}
AXES: Final = Governor.__struct_fields__
"""The names of the limits, and of what they do."""


def check_governor(governor: Governor) -> None:
    """Refuse anything but a `Governor` as the limits of a run."""
    check_type("governor=", governor, Governor, "a Governor", "Write Governor(max_turns=20).")


def settled(limits: Governor, creatures: int) -> Governor:
    """The limits as a run of this many creatures has them and its ledger holds them."""
    if limits.max_calls_per_turn is msgspec.UNSET:
        calls = max(calls_per_turn_min, calls_per_creature * creatures)
        limits = replace(limits, max_calls_per_turn=calls)
    if limits.on_turn_limit is msgspec.UNSET:
        limits = replace(limits, on_turn_limit="defer")
    if limits.max_total_usd is None:  # No limit is written as it was before there was this one.
        limits = replace(limits, max_total_usd=msgspec.UNSET)
    return msgspec.convert(
        msgspec.to_builtins(limits), Governor
    )  # A whole number of dollars becomes a float.


def usd_axis(limits: Governor) -> str | None:
    """The name of a limit in dollars that is set, if there is one."""
    if total_usd_max(limits) is not None:
        return "max_total_usd"
    return None if limits.hourly_budget_usd is None else "hourly_budget_usd"


def total_usd_max(limits: Governor) -> float | None:
    """The dollars that a whole run may cost; none if that has no limit."""
    usd_max = limits.max_total_usd
    return None if isinstance(usd_max, msgspec.UnsetType) else usd_max


def axes_changed(limits: Governor, before: Governor) -> list[str]:
    """The names of the limits that differ from those before."""
    return [axis for axis in AXES if getattr(limits, axis) != getattr(before, axis)]


def axes_given(limits: Governor, before: Governor) -> list[str]:
    """The names of the limits that the maker of a `Governor` wrote; of one that was read or copied, those that differ from
    the limits before."""
    given = vars(limits).get("given")
    return axes_changed(limits, before) if given is None else [axis for axis in AXES if axis in given]


def _pickled_governor(limits: Mapping[str, Any], given: frozenset[str] | None) -> Governor:
    governor = Governor(**limits)
    if given is None:
        del vars(governor)["given"]
    else:
        vars(governor)["given"] = given
    return governor


def given_as(limits: Governor, names: Iterable[str]) -> Governor:
    """The same limits, of which only these count as given."""
    copy = replace(limits)
    vars(copy)["given"] = frozenset(names)
    return copy


def with_limits(limits: Governor, given: Mapping[str, Any]) -> Governor:
    """Limits with others in place of some of them. Only these others count as given."""
    return given_as(replace(limits, **given), given)


class CreatureStarted(Payload, frozen=True):
    """A creature was added; or, if there is no manifest, started again after a stop."""

    creature: str
    handle: str
    cast_key: str
    manifest_digest: str
    is_privileged: bool = False
    parent: str | None = None
    run_id: str | None = None
    manifest: Json | None = None
    incarnation_of: str | None = None
    """The creature whose past it continues, in a branch or a resumed session."""
    ordinal: int = 0
    """Its number among the creatures of its run."""
    is_root: bool = False
    may_spawn: dict[str, Json] = msgspec.field(default_factory=dict)
    """The creatures that it may add by a tool besides those that its run allows: name -> manifest."""
    played_by_code: str = ""
    """The class of the Python object that plays it, if it was added with one. Nobody else speaks for it."""
    granted: list[GrantedTool] = msgspec.field(default_factory=list)
    """The tools of servers that it may use, as they were described."""
    born: int = 0
    """Its number among the creatures and channels of its house, by age. Nothing else tells which of two creatures is
    older if they were born in sessions apart (ADR 0096). 0 if it is started again."""


class CreatureStopped(Payload, frozen=True):
    """A creature was stopped, or removed with all its edges."""

    creature: str
    reason: StopReason


class CreatureRenamed(Payload, frozen=True):
    """A creature's handle changed, because its graph merged with one that has a creature of the same handle."""

    creature: str
    old_handle: str
    handle: str


class ChannelOpened(Payload, frozen=True):
    """A channel was opened."""

    channel_id: str
    name: str
    description: str = ""
    history: History = "full"
    incarnation_of: str | None = None
    born: int = 0
    """Its number among the creatures and channels of its house, by age."""


class ChannelClosed(Payload, frozen=True):
    """A channel was closed with all its edges."""

    channel_id: str
    name: str


class ChannelRenamed(Payload, frozen=True):
    """A channel's name changed: somebody asked for it, or its graph merged with one that has a channel of that name."""

    channel_id: str
    old_name: str
    name: str


class ChannelDescribed(Payload, frozen=True):
    """A channel got another description."""

    channel_id: str
    name: str
    description: str


class ChannelEdge(Payload, frozen=True):
    """A creature began or stopped to listen, or to send, on a channel."""

    channel_id: str
    creature: str
    direction: Direction


class WireAdded(Payload, frozen=True):
    """An output wire was added: it delivers the lines of one creature to another."""

    edge_id: str
    source: str
    target: str
    with_content: bool = True
    prompt: str | None = None
    when: str | None = None
    incarnation_of: str | None = None


class WireRemoved(Payload, frozen=True):
    """An output wire was removed, and why."""

    edge_id: str
    source: str
    target: str
    reason: str


class ParentChanged(Payload, frozen=True):
    """A creature was born with a parent, got another one, or lost its parent."""

    child: str
    old_parent: str | None
    new_parent: str | None


class TopologyChanged(Payload, frozen=True):
    """One change of graphs. `affected_creatures` is cut at a bound; `affected_count` is the full count."""

    kind: ChangeKind
    old_graph_ids: list[str]
    new_graph_ids: list[str]
    affected_creatures: list[str]
    affected_count: int


class BranchEdge(Payload, frozen=True):
    """An edge that a branch adds or removes, by the handles of its ends, and the name of its channel if one was given."""

    sender: str
    listener: str
    channel: str | None = None


class BranchChange(Payload, frozen=True):
    """How a branch or a resumed session differs from its past. Creatures are named by handle."""

    __repr__ = repr_of()

    drop: bool = False
    """Whether the line that it begins at is left out."""
    replace: str | None = None
    """The text that replaces the line that it begins at."""
    disturb: str | None = None
    """What the visitor says first."""
    profiles: dict[str, str] = {}
    personas: dict[str, str] = {}
    add: list[Json] = []
    """The manifests of new creatures."""
    remove: list[str] = []
    connect: list[BranchEdge] = []
    disconnect: list[BranchEdge] = []
    limits: Governor | None = None
    edited: dict[str, str] = {}
    """Runs whose scenario file was edited since: run id -> its digest now."""


class SessionForked(Payload, frozen=True):
    """A session began as the child of another."""

    session: str
    parents: list[str]
    how: Origin
    at: str
    restated: int = 0
    """How many events at its start, this one included, only restate what existed before."""
    upto: list[int] = msgspec.field(default_factory=list)
    """The last seq of each parent that it can see, if it continues their story."""
    skew: int = 0
    """How far its lamport times are ahead of the story's, because of events that only restate."""
    change: BranchChange | None = None


class SessionRestated(Payload, frozen=True):
    """What a branch or a resumed session takes over from its past: what was heard, owed, dealt and spent.

    `carried` uses the old names. `creatures`, `places` and `runs` map them to the new names (ADR 0031).
    """

    session: str
    creatures: dict[str, str]
    places: dict[str, str]
    runs: dict[str, str]
    carried: Carried


class SessionAttached(Payload, frozen=True):
    """These creatures write into this session from now on.

    `creatures` were added, or came from another graph: all of them, in several events if they are many. `stayed` were in
    the graph before and write into its new session now: at most 1,000 are named, and `stayed_count` is their number.
    """

    session: str
    creatures: list[str]
    stayed: list[str] = []
    stayed_count: int = 0


class PrivilegeGranted(Payload, frozen=True):
    """A creature was given the privilege to change its graph with tools."""

    creature: str
    by: str


class PrivilegeRevoked(Payload, frozen=True):
    """The privilege of a creature was taken back."""

    creature: str
    by: str


class ToolChanged(Payload, frozen=True):
    """A server describes a tool otherwise than when it was granted. It is withheld until somebody accepts it; if it is
    as it was, it is offered again."""

    tool: DescribedTool
    creatures: list[str]
    """Those who were granted it."""


class ToolAccepted(Payload, frozen=True):
    """Somebody outside accepted a tool as its server describes it now."""

    tool: str
    creatures: list[str]
    by: str


class Recipe(Payload, frozen=True):
    """The scenario that a run was opened from: its path, and the digest of its content at that time, before any edit."""

    path: str
    digest: str


class CastEntry(Payload, frozen=True):
    """One member of the cast at the start of its run, and the model that its profile stood for."""

    creature: str
    handle: str
    cast_key: str
    profile: str
    model: str
    is_bound: bool = False
    """Whether the run asked for this model by name."""
    was: str | None = None
    """The handle that it had before it was renamed, if its scenario says so."""
    model_digest: str = ""
    """The digest of the model's weights, if its server tells one."""
    model_size: Size | Literal[""] = ""
    """The size of the model, if it is known and is not the profile. Prompts are made for it."""


class BranchOf(Payload, frozen=True):
    """The run that another continues, and the last event of their common past."""

    run_id: str
    at: str
    prompting: int = 1
    """The number under which the models of that run were asked at first."""


class RunCompetition(Payload, frozen=True, omit_defaults=False):
    """The competition of a scenario, for readers of events. The rules of turns read it from the scenario."""

    kind: Literal["none", "judged", "versus"] = "none"
    teams: dict[str, list[str]] = msgspec.field(default_factory=dict)
    contestants: list[str] = msgspec.field(default_factory=list)
    referee: str | None = None


class RunStarted(Payload, frozen=True):
    """A run began."""

    seed: str = ""
    rng_seed: int = 0
    goal: str = ""
    scenario: Json | None = None
    scenario_digest: str = ""
    recipe: Recipe | None = None
    cast: list[CastEntry] = msgspec.field(default_factory=list)
    competition: RunCompetition = RunCompetition()
    limits: Governor | None = None
    limits_given: list[str] = msgspec.field(default_factory=list)
    """The limits that whoever opened or branched the run gave. They hold on when the run is resumed (ADR 0059)."""
    branch_of: BranchOf | None = None
    spawnable: dict[str, Json] = msgspec.field(default_factory=dict)
    """The creatures that may be born during the run: name -> manifest."""
    policy: Json | None = None
    """The policy of a run without a scenario, if its terrarium was given one."""
    models: str = ""
    """The models that were asked for, such as `ollama`, if it was a text. A run that continues asks for them again."""
    rules: int = 1
    """The number of the rules that it is played by (`rules_now`)."""
    prompting: int = 1
    """The number under which its models are asked at first (`prompting_now`). Each act says its own."""
    documents: dict[str, str] = msgspec.field(default_factory=dict)
    """The files that its creatures may look things up in: path from the world's folder -> digest."""
    is_edited: bool = False
    """Whether its world was edited before the start (ADR 0137). Then `recipe` has the digest of what was edited, and a
    run that continues takes its world from this record."""
    is_apart: bool = False
    """Whether it is played as if its house held no other run: its creatures find none of another run, and none finds them."""


class RunFinished(Payload, frozen=True, omit_defaults=False):
    """A run ended; written exactly once."""

    __repr__ = repr_of("reason", "axis", "winner", "turns", "calls", "why")

    reason: FinishReason
    turns: int
    calls: int
    tokens: int
    usd: float | None
    axis: str | None = None
    winner: str | None = None
    why: str | None = None
    members: list[str] | msgspec.UnsetType = msgspec.UNSET
    """The handles that share the win, where the winner is neither a team of the scenario nor one creature."""
    full_turns: int | msgspec.UnsetType = msgspec.UNSET
    """How many of its turns had no calls left for what was still owed, if any had."""


class RunPaused(Payload, frozen=True):
    """No creature of this run acts until the run continues."""

    __repr__ = repr_of("reason", "axis", "frees_at")

    reason: str
    is_outage: bool = False
    """Whether a model was out of reach. Then the reason is the text of its failure."""
    backend: str = ""
    """The server or model that was out of reach."""
    axis: str | None = None
    """The limit that was reached, if one was."""
    frees_at: datetime | None = None
    """When that limit leaves room for the next call. None: never by itself."""


class RunContinued(Payload, frozen=True):
    """A paused run continues."""

    is_offline: bool = False
    """Whether the offline troupe plays the rest of the run, whatever models it has."""
    by: str = ""
    """Who decided that: `visitor`, or a name that a program gives."""


class ActEnd(Payload, frozen=True, omit_defaults=False):
    """Why an act ended without a line: its creature passed, or was removed during the act."""

    reason: str


class LoopSuspected(Payload, frozen=True):
    """An act ended without a line, because its creature said again what was said lately or what its prompt says, also when
    asked once more."""

    reason: str
    repeats: str = ""
    """The id of the earlier line, or of the scene; empty if it recited its voice or its prompt."""
    of: CopyOf | None = None
    """What it copied in parts. None: it said an earlier line again as a whole."""


class Fault(Payload, frozen=True):
    """Where code that is not part of Glasshouse raised: the class of the exception, the file's name and the line."""

    exception: str
    file: str
    line: int


class AgentFailed(Payload, frozen=True):
    """Why an act failed, and how often a model was asked for it."""

    reason: str
    attempts: int
    fault: Fault | None = None
    """Where it was raised, if an agent, a tool or a model of the program raised it."""
    axis: str | None = None
    """The limit that stopped the act, if one did."""
    rule: str | None = None
    """The rule that refused the draft of the act, if one did: a key of `RULES_OF_DRAFTS`."""


RULES_OF_DRAFTS: Final = {
    "kind": "it may not emit a line of that kind",
    "channel": "it cannot speak on that channel",
    "verdict": "the verdict is not one that its judge may give",
    "shape": "the line does not have the shape of its kind",
    "draft": "the agent gave back something that is not a draft",
}
"""The rules that refuse a draft, each in words that hold for every draft."""


class UserInjected(Payload, frozen=True):
    """What the visitor said. If it was said in several graphs at once, each of them has such an event."""

    text: str
    copy_of: str | None = None
    """The id of the first of these events; none if this is the first, or the only one."""


class ToolCalled(Payload, frozen=True):
    """An act called a tool; `number` counts the calls of the act from 1."""

    tool: str
    arguments: Json
    number: int


class ToolReturned(Payload, frozen=True):
    """The result of the tool call with the same number."""

    tool: str
    number: int
    is_ok: bool
    text: str
    result: Any = None
    is_edit: bool = False
    """Whether it changed the graph."""
    is_engine: bool = False
    """Whether the text is the engine's own, and therefore trusted."""


def outcome_of(returned: ToolReturned) -> Outcome:
    """How a tool call ended, in a word. A refusal comes from the engine's own tools."""
    return "answered" if returned.is_ok else "refused" if returned.is_engine else "failed"


class EditProposed(Payload, frozen=True):
    """A creature proposed a change that a person must approve first."""

    tool: str
    arguments: Json
    number: int
    why: str


class EditDecided(Payload, frozen=True):
    """Whether the proposed change was approved, and by whom."""

    is_approved: bool
    by: str
    reason: str
    number: int


class TurnStarted(Payload, frozen=True):
    """A new turn of a graph began."""

    turn: int
    full: list[str] = msgspec.field(default_factory=list)
    """The runs whose turn before was full. What their creatures still owe waits as one bundle for each creature."""


class WorldObserved(Payload, frozen=True):
    """What the world shows. Creatures may write it too, with fields of their world."""

    text: str
    title: str = ""
    """The name of the movement that begins, if one does."""


class JudgeVerdict(msgspec.Struct, frozen=True):
    """What the engine reads of a `judge.verdict`.

    Creatures write it, so it may have more fields. A value that is not text is read as none.
    """

    winner: str | None = None
    text: str | None = None
    cites: list[str] = []
    """The ids of the events that it rests on."""


def verdict_of(event: Event) -> JudgeVerdict:
    """The verdict in a `judge.verdict` event."""
    winner, text, cites = [event.payload.get(name) for name in JudgeVerdict.__struct_fields__]
    cited = [part for part in cites if isinstance(part, str)] if isinstance(cites, list) else []
    named, words = [part if isinstance(part, str) else None for part in (winner, text)]
    return JudgeVerdict(named, words, cited)


class Private(Payload, frozen=True):
    """The part of an event that its creature and the audience may read."""

    thought: str = ""
    mood: str = ""
    masked: list[str] = []
    """The names of the dealt facts that were masked in the line."""


def private_of(private: Json | None) -> Private:
    """The thought and mood in the private part of an event. A creature written in Python may write any JSON there: what
    is no text is read as empty."""
    thought, mood = [(private or {}).get(name) for name in ("thought", "mood")]
    return Private(thought if isinstance(thought, str) else "", mood if isinstance(mood, str) else "")


class Sealed(Payload, frozen=True):
    """The part of an event that only some creatures and referees may read."""

    to: list[str] = msgspec.field(default_factory=list)
    """The creatures that may read it."""
    facts: Json = msgspec.field(default_factory=dict)
    """The facts, by their names in the scenario's `deal`."""


def sealed_of(event: Event) -> Sealed:
    """The sealed part of an event.

    A creature written in Python may seal any JSON. If it has another shape, no creature may read it.
    """
    try:
        return msgspec.convert(event.sealed or {}, Sealed)
    except msgspec.ValidationError:
        return Sealed()


PAYLOAD_TYPES: dict[str, type[Payload]] = {
    kinds.CREATURE_STARTED: CreatureStarted,
    kinds.CREATURE_STOPPED: CreatureStopped,
    kinds.CREATURE_RENAMED: CreatureRenamed,
    kinds.CHANNEL_OPENED: ChannelOpened,
    kinds.CHANNEL_CLOSED: ChannelClosed,
    kinds.CHANNEL_RENAMED: ChannelRenamed,
    kinds.CHANNEL_DESCRIBED: ChannelDescribed,
    kinds.CHANNEL_JOINED: ChannelEdge,
    kinds.CHANNEL_LEFT: ChannelEdge,
    kinds.OUTPUT_WIRE_ADDED: WireAdded,
    kinds.OUTPUT_WIRE_REMOVED: WireRemoved,
    kinds.PARENT_LINK_CHANGED: ParentChanged,
    kinds.TOPOLOGY_CHANGED: TopologyChanged,
    kinds.SESSION_FORKED: SessionForked,
    kinds.SESSION_RESTATED: SessionRestated,
    kinds.CREATURE_SESSION_ATTACHED: SessionAttached,
    kinds.PRIVILEGE_GRANTED: PrivilegeGranted,
    kinds.PRIVILEGE_REVOKED: PrivilegeRevoked,
    kinds.TOOL_CHANGED: ToolChanged,
    kinds.TOOL_ACCEPTED: ToolAccepted,
}

RUN_PAYLOAD_TYPES: dict[str, type[Payload]] = {
    kinds.RUN_STARTED: RunStarted,
    kinds.RUN_FINISHED: RunFinished,
    kinds.RUN_PAUSED: RunPaused,
    kinds.RUN_CONTINUED: RunContinued,
    kinds.TURN_STARTED: TurnStarted,
    kinds.AGENT_PASSED: ActEnd,
    kinds.AGENT_FAILED: AgentFailed,
    kinds.LOOP_SUSPECTED: LoopSuspected,
    kinds.ACT_DISCARDED: ActEnd,
    kinds.USER_INJECTED: UserInjected,
    kinds.TOOL_CALLED: ToolCalled,
    kinds.TOOL_RETURNED: ToolReturned,
    kinds.EDIT_PROPOSED: EditProposed,
    kinds.EDIT_DECIDED: EditDecided,
}

KIND_OF: dict[type[Payload], str] = {
    payload_type: kind for kind, payload_type in {**PAYLOAD_TYPES, **RUN_PAYLOAD_TYPES}.items()
} | {WorldObserved: kinds.WORLD_OBSERVED}
"""The kind of each payload type. Two kinds share `ChannelEdge`, and two `ActEnd`: name the kind for these."""

CREATURE_FIELDS = (
    "creature",
    "creatures",
    "stayed",
    "affected_creatures",
    "child",
    "parent",
    "old_parent",
    "new_parent",
    "source",
    "target",
    "by",
)
"""The payload fields that hold creature ids."""

P = TypeVar("P", bound=Payload)
T = TypeVar("T")


_decoded_cache: list[tuple[Event, Any]] = []
"""The event whose payload was decoded last, and that payload. Several folds read it one after another."""


def payload_of(event: Event, as_type: type[P]) -> P:
    """An event's payload as its type; raises `BadEvent` if it does not fit. Callers share it and must not change it."""
    for last, payload in _decoded_cache:
        if last is event and type(payload) is as_type:
            return payload
    try:
        decoded = msgspec.convert(event.payload, as_type)
    except msgspec.ValidationError as wrong:
        raise BadEvent(f"{event.id} is a {event.kind} with a broken payload: {wrong}.") from wrong
    _decoded_cache[:] = [(event, decoded)]
    return decoded


def copied_from(event: Event) -> str | None:
    """The id of the first event of what the visitor said in several graphs at once, if this is a later one."""
    return payload_of(event, UserInjected).copy_of if event.kind == kinds.USER_INJECTED else None


def builtins_of(payload: Payload) -> Json:
    """A typed payload as the plain JSON object that an event carries."""
    plain: Json = msgspec.to_builtins(payload)
    return plain


def creatures_named_in(event: Event) -> frozenset[str]:
    """The ids of the creatures in the payload of an engine event; empty for every other kind."""
    if event.kind not in kinds.ENGINE:
        return frozenset()
    named: set[str] = set()
    for field in CREATURE_FIELDS:
        value: Any = event.payload.get(field)
        if isinstance(value, str):
            named.add(value)
        elif isinstance(value, list):
            named.update(value)
    return frozenset(named)


def converted(value: Any, as_type: type[T]) -> T:
    """Convert a fold's struct to its carried struct, or back, field by field by name."""
    return msgspec.convert(value, as_type, from_attributes=True)


def picked(values: Mapping[str, T], names: Iterable[str]) -> dict[str, T]:
    """The entries for these names; names without an entry are skipped."""
    return {name: values[name] for name in names if name in values}
