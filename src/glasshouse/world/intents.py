"""Intents: what somebody asks of the world. The API, tools, scenarios and visitors all make these.

Always holds: an intent names things by id and decides nothing; `decide` answers it with facts or a refusal.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from glasshouse.events.carried import Carried
from glasshouse.events.event import Draft, Json
from glasshouse.events.model_use import ModelUse
from glasshouse.events.payloads import BranchChange, Direction, History
from glasshouse.events.run_payloads import RunContinued, RunFinished, RunPaused, RunStarted


class Intent(msgspec.Struct, frozen=True, gc=False, tag=True, omit_defaults=True, forbid_unknown_fields=True):
    """What every intent shares: it is a value, and is written down under its own name where it is kept as a request."""


class AddCreature(Intent, frozen=True, gc=False):
    """Bring a creature to life, alone or in a graph."""

    name: str
    manifest: Json
    manifest_digest: str
    handle: str | None = None
    graph_id: str | None = None
    is_privileged: bool = False
    parent: str | None = None
    run_id: str | None = None


class Spawn(Intent, frozen=True, gc=False):
    """Bring a worker to life beside its parent, in the parent's graph and run, with a channel between the two."""

    parent: str
    name: str
    manifest: Json
    handle: str | None = None
    profile: str | None = None


class RemoveCreature(Intent, frozen=True, gc=False):
    """Take a creature and all its edges and wires away."""

    creature: str


class StartCreature(Intent, frozen=True, gc=False):
    """Let a stopped creature run again."""

    creature: str


class StopCreature(Intent, frozen=True, gc=False):
    """Let a creature rest; its edges and mail stay."""

    creature: str


class AddChannel(Intent, frozen=True, gc=False):
    """Open a channel nobody is on yet."""

    graph_id: str
    name: str
    description: str = ""
    history: History = "full"


class RemoveChannel(Intent, frozen=True, gc=False):
    """Close a channel with all its edges."""

    graph_id: str
    name: str


class JoinChannel(Intent, frozen=True, gc=False):
    """Let a creature listen, send or both on a channel of its own graph."""

    creature: str
    channel: str
    directions: tuple[Direction, ...] = ("listen", "send")


class LeaveChannel(Intent, frozen=True, gc=False):
    """Take a creature off a channel, in one direction or in both."""

    creature: str
    channel: str
    directions: tuple[Direction, ...] = ("listen", "send")


class CloseGraph(Intent, frozen=True, gc=False):
    """Let a graph go whose runs are all over: its creatures are gone, its session stays."""

    graph_id: str


class Connect(Intent, frozen=True, gc=False):
    """Let `source` send where `target` listens; with `both`, the other way too."""

    source: str
    target: str
    channel: str | None = None
    both: bool = False


class Disconnect(Intent, frozen=True, gc=False):
    """Take `source`'s send edge and `target`'s listen edge away where both exist."""

    source: str
    target: str
    channel: str | None = None


class AddWire(Intent, frozen=True, gc=False):
    """Hand every finished line of `source` to `target`."""

    source: str
    target: str
    with_content: bool = True
    prompt: str | None = None
    when: str | None = None


class RemoveWire(Intent, frozen=True, gc=False):
    """Take an output wire away."""

    source: str
    target: str


class GrantPrivilege(Intent, frozen=True, gc=False):
    """Give a creature the right to change its graph. Only from outside."""

    creature: str
    by: str


class Say(Intent, frozen=True, gc=False):
    """Append a creature's drafts, as one batch."""

    creature: str
    drafts: tuple[Draft, ...]
    caused_by: str | None = None


class Fork(Intent, frozen=True, gc=False):
    """Begin a session that shares the past of another up to `upto`, the end of the batch of event `at`."""

    session_id: str
    at: str
    upto: int


class Restate(Intent, frozen=True, gc=False):
    """Let a past live again, beside what came of it: as a branch, or as a session that is resumed."""

    how: Literal["branch", "resume"]
    at: str
    graphs: tuple[Regrown, ...]
    runs: tuple[Rerun, ...] = ()
    change: BranchChange | None = None
    times_changed: int = 0
    """So many logical times behind its end the past was changed; what lives again begins after all of them."""


class ChannelPlan(msgspec.Struct, frozen=True, gc=False):
    """A channel of a scenario."""

    name: str
    description: str = ""
    history: History = "full"


class WirePlan(msgspec.Struct, frozen=True, gc=False):
    """An output wire of a scenario, to a handle of the same troupe."""

    to: str
    with_content: bool = True
    prompt: str | None = None
    when: str | None = None


class Member(msgspec.Struct, frozen=True, gc=False):
    """One creature of a scenario's cast, with the channels it listens and sends on by name."""

    name: str
    manifest: Json
    manifest_digest: str
    handle: str
    is_privileged: bool = False
    listens: tuple[str, ...] = ()
    sends: tuple[str, ...] = ()
    wires: tuple[WirePlan, ...] = ()
    dealt: Json | None = None
    model: str = ""
    is_bound: bool = False
    """Whether the run asks for this model by name, whatever stands behind the profile."""
    is_root: bool = False


class Troupe(msgspec.Struct, frozen=True, gc=False):
    """Creatures that are opened together, and the channels among them."""

    members: tuple[Member, ...]
    channels: tuple[ChannelPlan, ...] = ()
    opening: str = ""
    """What they are shown first; empty: what the whole run is."""


class OpenRun(Intent, frozen=True, gc=False):
    """Open a scenario: a run, its creatures, their channels and what they are shown first, as one batch."""

    run_id: str
    started: RunStarted
    troupes: tuple[Troupe, ...]
    opening: str = ""


class BeginRun(Intent, frozen=True, gc=False):
    """Let the run that creatures were born into without a scenario begin, where it is first driven."""

    run_id: str
    graph_id: str
    started: RunStarted


class StartTurn(Intent, frozen=True, gc=False):
    """Move a graph's clock on. `shown` is what the world shows at that turn, each with the run it belongs to."""

    graph_id: str
    turn: int
    shown: tuple[tuple[str, Json], ...] = ()


class EndAct(Intent, frozen=True, gc=False):
    """Write the one event that an act ends in, to wherever its creature is now.

    Without a draft the act abstained, or with `failure` it failed. `channel_id` is where the draft was meant to go.
    """

    creature: str
    cause: str
    session_id: str
    """The session that the creature was in when its act began: where its end is told if it is gone."""
    draft: Draft | None = None
    channel_id: str | None = None
    reply_to: str | None = None
    """The channel that the cause was said on."""
    passed: str = ""
    private: Json | None = None
    failure: str = ""
    attempts: int = 0
    model: ModelUse | None = None
    run_id: str | None = None


class CallTool(Intent, frozen=True, gc=False):
    """Write that a creature asks for a tool in the middle of the act it has for `cause`."""

    creature: str
    cause: str
    tool: str
    arguments: Json
    number: int
    """The how-manieth call of the act it is, from 1 on."""
    private: Json | None = None
    model: ModelUse | None = None


class ReturnTool(Intent, frozen=True, gc=False):
    """Write what came of a call: `called` is the id of its `tool.called`."""

    creature: str
    called: str
    tool: str
    number: int
    is_ok: bool
    text: str
    result: Any = None
    is_edit: bool = False
    """Whether it changed the graph; then it is written together with that change."""
    is_engine: bool = False


class ProposeEdit(Intent, frozen=True, gc=False):
    """Write that a change by a tool waits for somebody outside to allow it; `called` is the id of its `tool.called`."""

    creature: str
    called: str
    tool: str
    arguments: Json
    number: int
    why: str


class DecideEdit(Intent, frozen=True, gc=False):
    """Write what somebody outside said to a proposed change, or that nobody was there."""

    creature: str
    called: str
    number: int
    is_approved: bool
    by: str
    reason: str = ""


class Inject(Intent, frozen=True, gc=False):
    """Let the visitor say something to everybody in a graph."""

    graph_id: str
    text: str
    run_id: str | None = None


class MoveRun(Intent, frozen=True, gc=False):
    """Pause a run, let it go on, or end it with what it came to; told in the graph named, if that is open."""

    run_id: str
    payload: RunPaused | RunContinued | RunFinished
    graph_id: str | None = None


class Revived(msgspec.Struct, frozen=True, gc=False):
    """A creature that a branch or a resumed session begins with. `key` is its id then, or a name for one that is new."""

    key: str
    name: str
    manifest: Json
    manifest_digest: str
    handle: str
    run_id: str | None = None
    parent: str | None = None
    is_privileged: bool = False
    is_running: bool = True
    is_new: bool = False
    is_root: bool = False


class Reopened(msgspec.Struct, frozen=True, gc=False):
    """A channel that such a session begins with, and who is on it in which directions, by their keys."""

    key: str
    name: str
    description: str = ""
    history: History = "full"
    is_new: bool = False
    members: tuple[tuple[str, int], ...] = ()


class Rewired(msgspec.Struct, frozen=True, gc=False):
    """An output wire that such a session begins with, between two keys."""

    key: str
    source: str
    target: str
    with_content: bool = True
    prompt: str | None = None
    when: str | None = None


class LineAfter(msgspec.Struct, frozen=True, gc=False):
    """What is said first of all in a branch, by a key or by one of the reserved actors."""

    kind: str
    payload: Json
    actor: str
    channel: str | None = None
    caused_by: str | None = None
    run_id: str | None = None
    sealed: Json | None = None


class Regrown(msgspec.Struct, frozen=True, gc=False):
    """One graph of a branch or a resumed session: its shape, and what it carries over of the past."""

    parents: tuple[tuple[str, int], ...]
    """The sessions it grows from, and the last seq of each that it sees."""
    turn: int
    creatures: tuple[Revived, ...]
    carried: Carried
    channels: tuple[Reopened, ...] = ()
    wires: tuple[Rewired, ...] = ()
    graph_ids: tuple[str, ...] = ()
    """The graphs it goes on from, by the ids they had: the first of them it is, unless another goes on from that too."""
    places: tuple[str, ...] = ()
    """Other channels and graphs that somebody remembers something of."""
    strangers: tuple[str, ...] = ()
    """Those who are remembered, are not here, and whose ids could be taken for others' in this house."""
    lines: tuple[LineAfter, ...] = ()


class Rerun(msgspec.Struct, frozen=True, gc=False):
    """A run that goes on under another id. Without `started`, it had not begun."""

    old: str
    new: str
    started: RunStarted | None = None
    is_paused: bool = False
