"""Intents: what the world is asked to do. The API, tools, scenarios and visitors all make these.

Always holds: an intent names things by id and decides nothing; `decide` answers it with facts or a refusal.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from glasshouse.events import payloads
from glasshouse.events.carried import Carried
from glasshouse.events.described_tool import DescribedTool, GrantedTool
from glasshouse.events.event import Draft, Json
from glasshouse.events.model_use import ModelUse
from glasshouse.model_values import Size
from glasshouse.world.decisions.decision import Fact


class Intent(msgspec.Struct, frozen=True, gc=False, tag=True, omit_defaults=True, forbid_unknown_fields=True):
    """Base of all intents: an immutable value, encoded under its class name when it is kept as a request."""


class GraphEdit(Intent, frozen=True, gc=False):
    """Base of the intents that change a graph from outside. They are kept as requests, so that a replay can repeat them."""


class AddCreature(GraphEdit, frozen=True, gc=False):
    """Add a creature, alone or to a graph. Without `channel`, it joins the graph's only channel, or a new channel with
    the graph's oldest member."""

    name: str
    manifest: Json
    manifest_digest: str
    handle: str | None = None
    graph_id: str | None = None
    is_privileged: bool = False
    parent: str | None = None
    run_id: str | None = None
    channel: str | None = None
    may_spawn: dict[str, Json] = msgspec.field(default_factory=dict)
    played_by_code: str = ""
    granted: tuple[GrantedTool, ...] = ()


class Spawn(Intent, frozen=True, gc=False):
    """Add a worker to its parent's graph and run, with a channel between the two."""

    parent: str
    name: str
    manifest: Json
    handle: str | None = None
    profile: str | None = None


class RemoveCreature(GraphEdit, frozen=True, gc=False):
    """Remove a creature with all its edges and wires."""

    creature: str


class StartCreature(GraphEdit, frozen=True, gc=False):
    """Start a stopped creature."""

    creature: str


class StopCreature(GraphEdit, frozen=True, gc=False):
    """Stop a creature; its edges and mail stay."""

    creature: str


class AddChannel(GraphEdit, frozen=True, gc=False):
    """Open a channel that nobody is on yet."""

    graph_id: str
    name: str
    description: str = ""
    history: payloads.History = "full"


class RemoveChannel(GraphEdit, frozen=True, gc=False):
    """Close a channel with all its edges."""

    graph_id: str
    name: str


class RenameChannel(GraphEdit, frozen=True, gc=False):
    """Give a channel another name."""

    graph_id: str
    name: str
    new_name: str


class DescribeChannel(GraphEdit, frozen=True, gc=False):
    """Give a channel another description."""

    graph_id: str
    name: str
    description: str


class SetParent(GraphEdit, frozen=True, gc=False):
    """Give a creature another parent, or none."""

    creature: str
    parent: str | None = None


class CloseGraph(GraphEdit, frozen=True, gc=False):
    """Close a graph whose runs have all finished: its creatures are removed, its session stays."""

    graph_id: str


class JoinChannel(GraphEdit, frozen=True, gc=False):
    """Let a creature listen, send or both on a channel of its own graph."""

    creature: str
    channel: str
    directions: tuple[payloads.Direction, ...] = ("listen", "send")


class LeaveChannel(GraphEdit, frozen=True, gc=False):
    """Take a creature off a channel, in one direction or both."""

    creature: str
    channel: str
    directions: tuple[payloads.Direction, ...] = ("listen", "send")


class Connect(GraphEdit, frozen=True, gc=False):
    """Let `source` send and `target` listen on one channel; with `both`, also in the other direction."""

    source: str
    target: str
    channel: str | None = None
    both: bool = False


class Disconnect(GraphEdit, frozen=True, gc=False):
    """Remove `source`'s send edge and `target`'s listen edge where both exist."""

    source: str
    target: str
    channel: str | None = None


class AddWire(GraphEdit, frozen=True, gc=False):
    """Hand every finished line of `source` to `target`."""

    source: str
    target: str
    with_content: bool = True
    prompt: str | None = None
    when: str | None = None


class RemoveWire(GraphEdit, frozen=True, gc=False):
    """Remove an output wire."""

    source: str
    target: str


class GrantPrivilege(GraphEdit, frozen=True, gc=False):
    """Give a creature the right to change its graph. No creature can do this."""

    creature: str
    by: str


class RevokePrivilege(GraphEdit, frozen=True, gc=False):
    """Take back the right of a creature to change its graph. No creature can do this."""

    creature: str
    by: str


class ChangeTool(GraphEdit, frozen=True, gc=False):
    """Note how a server describes a tool now that these creatures were granted."""

    tool: DescribedTool
    creatures: tuple[str, ...]


class AcceptTool(GraphEdit, frozen=True, gc=False):
    """Let the creatures of a run use a tool as its server describes it now. No creature can do this."""

    run_id: str
    tool: str
    by: str
    digest: str = ""
    """The digest of the description that somebody read; empty: whatever it is."""


class Say(Intent, frozen=True, gc=False):
    """Append a creature's drafts, as one batch."""

    creature: str
    drafts: tuple[Draft, ...]
    caused_by: str | None = None


class Fork(GraphEdit, frozen=True, gc=False):
    """Start a session that shares the past of another up to `upto`, the end of the batch of event `at`."""

    session_id: str
    at: str
    upto: int


class Restate(Intent, frozen=True, gc=False):
    """Continue from a past event, as a branch or as a resumed session. What followed the event is unchanged."""

    how: Literal["branch", "resume"]
    at: str
    graphs: tuple[RestatedGraph, ...]
    runs: tuple[RestatedRun, ...] = ()
    change: payloads.BranchChange | None = None
    times_changed: int = 0
    """How many logical times after its end the past was edited. The new sessions begin after all of them."""


class ChannelPlan(msgspec.Struct, frozen=True, gc=False):
    """A channel of a scenario."""

    name: str
    description: str = ""
    history: payloads.History = "full"


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
    """Whether the run names this model, instead of the model of the profile."""
    is_root: bool = False
    was: str | None = None
    """The handle that it had before it was renamed."""
    model_digest: str = ""
    model_size: Size | Literal[""] = ""
    """The size of the model, if that is not the profile."""
    granted: tuple[GrantedTool, ...] = ()
    played_by_code: str = ""
    """The class of the Python object that plays it, if one does."""


class Troupe(msgspec.Struct, frozen=True, gc=False):
    """Creatures that are opened together, and the channels among them."""

    members: tuple[Member, ...]
    channels: tuple[ChannelPlan, ...] = ()
    opening: str = ""
    """Their first scene; empty: the scene of the whole run."""


class OpenRun(Intent, frozen=True, gc=False):
    """Open a scenario: a run, its creatures, their channels and the first scene, as one batch."""

    run_id: str
    started: payloads.RunStarted
    troupes: tuple[Troupe, ...]
    opening: str = ""


class BeginRun(Intent, frozen=True, gc=False):
    """Start the default run, in the graph where it is first driven (ADR 0029)."""

    run_id: str
    graph_id: str
    started: payloads.RunStarted


class StartTurn(Intent, frozen=True, gc=False):
    """Begin a graph's next turn. `shown` is what the world shows at that turn, each with its run. `full` names the runs
    whose last turn was full."""

    graph_id: str
    turn: int
    shown: tuple[tuple[str, payloads.WorldObserved], ...] = ()
    full: tuple[str, ...] = ()


class EndAct(Intent, frozen=True, gc=False):
    """Write the one event that ends an act, in the graph that its creature is in now.

    Without a draft the act passed, or with `failure` it failed. `channel_id` is the intended channel of the draft.
    """

    creature: str
    cause: str
    session_id: str
    """The creature's session when its act began: if it was removed, the act's end is written there."""
    draft: Draft | None = None
    channel_id: str | None = None
    reply_to: str | None = None
    """The channel that the cause was said on."""
    passed: str = ""
    loop: payloads.LoopSuspected | None = None
    """What the act would have said again."""
    private: Json | None = None
    failure: str = ""
    fault: payloads.Fault | None = None
    axis: str | None = None
    """The limit that stopped the act, if one did."""
    rule: str | None = None
    """The rule that refused the act's draft, if one did."""
    attempts: int = 0
    model: ModelUse | None = None
    run_id: str | None = None
    tools: tuple[str, ...] = ()
    """The ids of the act's `tool.called` and `tool.returned` events."""
    told_in: str = ""
    """In a replay: the session in which the act's end is on record, if its creature was removed."""


class CallTool(Intent, frozen=True, gc=False):
    """Write that a creature calls a tool during its act for `cause`."""

    creature: str
    cause: str
    tool: str
    arguments: Json
    number: int
    """The number of the call in its act, from 1."""
    private: Json | None = None
    model: ModelUse | None = None


class FollowCall(Intent, frozen=True, gc=False):
    """Write what followed a tool call: its result, a change that waits for approval, or the decision about that change."""

    creature: str
    called: str
    """The id of the `tool.called`."""
    payload: payloads.ToolReturned | payloads.EditProposed | payloads.EditDecided


class Inject(Intent, frozen=True, gc=False):
    """Say something as the visitor to everybody in a graph; without a graph, in each graph where the run has a
    creature."""

    graph_id: str | None
    text: str
    run_id: str | None = None


class MoveRun(Intent, frozen=True, gc=False):
    """Pause, continue or finish a run; recorded in the given graph, if it is open."""

    run_id: str
    payload: payloads.RunPaused | payloads.RunContinued | payloads.RunFinished
    graph_id: str | None = None
    model: ModelUse | None = None
    """The model calls that led to a pause."""


class Reopened(msgspec.Struct, frozen=True, gc=False):
    """A channel that a branch or a resumed session begins with, and the keys and directions of its members."""

    opened: payloads.ChannelOpened
    members: tuple[tuple[str, int], ...] = ()


class RestatedGraph(msgspec.Struct, frozen=True, gc=False):
    """One graph of a branch or a resumed session: its shape, and what it carries over from the past."""

    parents: tuple[tuple[str, int], ...]
    """Its parent sessions, and the last seq that it sees of each."""
    turn: int
    creatures: tuple[payloads.CreatureStarted, ...]
    """Here and below, a creature, channel or wire has its old id as a key, or a made-up one if it is new."""
    carried: Carried
    stopped: tuple[str, ...] = ()
    channels: tuple[Reopened, ...] = ()
    wires: tuple[payloads.WireAdded, ...] = ()
    graph_ids: tuple[str, ...] = ()
    """The old ids of the graphs that it continues. This graph replaces the first, unless another does too."""
    places: tuple[str, ...] = ()
    """Other channels and graphs that a creature remembers."""
    strangers: tuple[str, ...] = ()
    """Remembered creatures that are not in this graph and whose ids may belong to others in this house."""
    lines: tuple[Fact, ...] = ()
    """The lines that it begins with, each with old ids."""


class RestatedRun(msgspec.Struct, frozen=True, gc=False):
    """A run that continues under another id. Without `started`, it had not begun."""

    old: str
    new: str
    started: payloads.RunStarted | None = None
    is_paused: bool = False
