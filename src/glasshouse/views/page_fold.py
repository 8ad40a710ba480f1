"""`PageFold`: the fold that makes the page's view and its records from events.

Always holds: nothing that the role may not read gets into a view or a record: texts come from the redacted event. Of
the event itself only what shapes the view is read, such as whom a creature listens to. A branch shows its past, and
its creatures replace those whose past they continue.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from functools import reduce
from typing import Final

import msgspec
from msgspec.structs import asdict, replace

from glasshouse.events import kinds, payloads
from glasshouse.events.described_tool import DescribedTool, key_of
from glasshouse.events.event import (
    CONDUCTOR,
    RESERVED_ACTORS,
    Event,
    Json,
    costs_of,
    text_of,
    usage_in,
)
from glasshouse.events.model_use import NOTHING, Usage
from glasshouse.events.payloads import copied_from, payload_of, private_of, sealed_of, verdict_of
from glasshouse.events.recorded_fields import fields_of, scenario_fields_of
from glasshouse.events.redaction import Role, redacted_except_calls
from glasshouse.views.page import (
    Changes,
    Icon,
    Record,
    Row,
    cut,
    empty_view,
    text_chars_max,
)
from glasshouse.views.timeline import Timeline
from glasshouse.world.hearing.conditions import holds
from glasshouse.world.hearing.wires import is_carried
from glasshouse.world.state.state import Grant
from glasshouse.world.state.topology import BITS, LISTEN

disturbances_known_max: Final = 1_000
"""Of how many disturbances the fold knows that they were shown: a later copy of an older one is shown again."""


class Debt(msgspec.Struct, array_like=True, gc=False):
    """An answer that a creature owes: the number of its cause, and the bundle that one act settles as a whole."""

    n: int
    bundle: int = 0


class Clock(msgspec.Struct, gc=False):
    """The turn of a graph, and how many turns each run has played along its line (ADR 0023)."""

    turn: int = 0
    turns: dict[str, int] = {}


class Behind(msgspec.Struct):
    """What the fold needs to know and no view shows."""

    subscribers: dict[str, dict[str, None]] = {}
    """Kind -> the creatures that answer it."""
    roots: dict[str, None] = {}
    """The creatures that hear every channel of their graph."""
    members: dict[str, dict[str, None]] = {}
    """Graph -> its creatures."""
    channels_of: dict[str, dict[str, None]] = {}
    """Creature -> the channels it is on."""
    channels_in: dict[str, dict[str, None]] = {}
    """Graph -> its channels."""
    owed: dict[str, dict[str, Debt]] = {}
    """Creature -> cause -> what it owes for it."""
    clocks: dict[str, Clock] = {}
    """Graph -> its clock."""
    usage: dict[str, Usage] = {}
    """Run -> what its model calls cost."""
    timeline: Timeline = msgspec.field(default_factory=Timeline)
    stops: dict[str, int] = {}
    """How many bundles each creature has begun: one at each stop, and one for each full turn that left it something."""
    grants: dict[str, dict[str, Grant]] = {}
    """Creature -> the tools of servers that it was granted, by the keys of their descriptions."""
    digests: dict[str, str] = {}
    """Key of a description -> the digest that its server's definition had."""
    said: dict[str, None] = {}
    """What visitors said: the ids of the newest, of those in several graphs at once that of the first event."""


class PageSnapshot(msgspec.Struct):
    """A view with what the fold needs beside it, as it is stored."""

    view: Json
    behind: Behind


class PageFold:
    """The view of one story for one role, brought forward event by event."""

    def __init__(self, role: Role, snapshot: PageSnapshot | None = None) -> None:
        self.role = role
        self.view: Json = empty_view(role) if snapshot is None else snapshot.view
        self.behind = Behind() if snapshot is None else snapshot.behind
        self.changes = Changes(self.view)

    def fold(self, event: Event) -> Record:
        """Take in the next event."""
        view = self.view
        k = view["k"] + 1
        # What calls cost is counted from the event itself, and the fold shows nothing else of them.
        shown = redacted_except_calls(event, self.role)
        self._note_lane(event, k)
        spent = self._note_cost(event)
        icon, text = self._note(event, shown, k)
        self._name_lane(event)
        if event.sealed is not None:
            self._note_sealed(event, shown)
        self._settle(event)
        self._owe(event, k)
        actor = view["creatures"].get(event.actor, {}).get("handle", "")
        row = Row(
            icon=icon,
            graph="" if view["lanes"][event.session_id]["graph"] == event.graph_id else event.graph_id,
            actor=actor or ("world" if event.actor == CONDUCTOR else event.actor),
            turn=event.turn,
            text=cut(text, text_chars_max),
            channel=event.channel,
            tokens=spent.tokens,
            usd=msgspec.UNSET if spent.usd == 0.0 else spent.usd,
        )
        self.behind.timeline.note(k, event.graph_id, spent.tokens, icon)
        return self.changes.record(k, event.position, event.id, row)

    def snapshot(self) -> PageSnapshot:
        """The view and what is behind it. Encode it before the next event is folded."""
        return PageSnapshot(self.view, self.behind)

    def _note(self, event: Event, shown: Event, k: int) -> tuple[Icon, str]:
        """Change the view, and tell how the event looks in the feed."""
        fold = _FOLDS.get(event.kind)
        if fold is not None:
            return fold(self, event, shown, k)
        return self._say(event, shown, k)

    # Lanes and cost

    def _note_lane(self, event: Event, k: int) -> None:
        lanes = self.view["lanes"]
        if event.session_id in lanes:
            return
        origin, parents = "root", list[str]()
        if event.kind == kinds.SESSION_FORKED:
            forked = payload_of(event, payloads.SessionForked)
            origin, parents = forked.how, forked.parents
        elif event.kind == kinds.TOPOLOGY_CHANGED:
            change = payload_of(event, payloads.TopologyChanged)
            if change.kind == "merge":
                graphs = self.view["graphs"]
                origin = "merge"
                parents = [graphs[name]["session"] for name in change.old_graph_ids if name in graphs]
        lane = {
            "graph": event.graph_id,
            "origin": origin,
            "parents": [[name, lanes[name]["last"]] for name in parents if name in lanes],
            "first": k,
            "last": k,
        }
        self.changes.set("lanes", event.session_id, lane)

    def _name_lane(self, event: Event) -> None:
        """Keep the name and colour of a lane's graph: they are shown when the graph is gone."""
        lane, graph = self.view["lanes"][event.session_id], self.view["graphs"].get(event.graph_id)
        if graph is not None and "colour" not in lane and lane["graph"] == event.graph_id:
            self.changes.set("lanes", event.session_id, "colour", graph["colour"])
            self.changes.set("lanes", event.session_id, "name", graph["name"])

    def _note_cost(self, event: Event) -> Usage:
        """What the calls of an event cost. A run pays for its creatures by the rules of its limits (ADR 0022)."""
        run_id, usage = event.run_id or "", self.behind.usage
        costs = costs_of(event) if run_id in self.view["runs"] else ()
        if costs:
            usage[run_id] = reduce(Usage.plus, costs, usage.get(run_id, NOTHING))
            self._show_spent(run_id, event.graph_id)
        return NOTHING if event.model is None else usage_in([event])

    def _show_spent(self, run_id: str, graph_id: str) -> None:
        spent, clock = self.behind.usage.get(run_id, NOTHING), self.behind.clocks.get(graph_id)
        turns = max(self.view["runs"][run_id]["spent"]["turns"], clock.turns.get(run_id, 0) if clock else 0)
        shown = {"turns": turns, "calls": spent.calls, "tokens": spent.tokens}
        self.changes.set("runs", run_id, "spent", {**shown, "usd": spent.usd})

    # Lines

    def _say(self, event: Event, shown: Event, k: int) -> tuple[Icon, str]:
        """A line of a creature. A world's own kinds come here, too."""
        text = text_of(shown)
        creature = self.view["creatures"].get(event.actor)
        if creature is None:
            return "line", text
        self._quiet(event.actor)
        line: Json = {"n": k, "kind": event.kind}
        if event.channel is not None:
            line["channel"] = event.channel
        if event.caused_by is not None:
            line["answers"] = event.caused_by
        self.changes.set_with_text("creatures", event.actor, "line", line)
        self._feel(event.actor, shown)
        return ("judge" if creature["role"] == "judge" else "line"), text

    def _think(self, event: Event, shown: Event, _k: int) -> tuple[Icon, str]:
        text = text_of(shown)
        if text and event.actor in self.view["creatures"]:
            self.changes.set("creatures", event.actor, "thought", cut(text, text_chars_max))
        return "thought", text

    def _feel(self, creature: str, shown: Event) -> None:
        """What a creature thought and felt behind its act, where the role may read it."""
        private = private_of(shown.private)
        for name, value in (("thought", private.thought), ("mood", private.mood)):
            if value:
                self.changes.set("creatures", creature, name, cut(value, text_chars_max))

    def _quiet(self, creature: str) -> None:
        """An act is over: no tool is asked any more, and what went wrong before is past."""
        shown = self.view["creatures"][creature]
        for name in ("tool", "error"):
            if name in shown:
                self.changes.delete("creatures", creature, name)

    def _observe(self, event: Event, shown: Event, k: int) -> tuple[Icon, str]:
        title, text = text_of(shown, "title"), text_of(shown)
        scene = {"title": title or self.view["scene"].get("title", ""), "n": k}
        self.changes.set_with_text("scene", scene)
        if event.actor in self.view["creatures"]:
            self._say(event, shown, k)
        return "world", text

    def _visit(self, event: Event, shown: Event, _k: int) -> tuple[Icon, str]:
        said, name = self.behind.said, copied_from(event) or event.id
        icon: Icon = "copy" if name in said else "visitor"
        said[name] = None
        if len(said) > disturbances_known_max:
            del said[next(iter(said))]
        return icon, text_of(shown)

    def _judge(self, event: Event, shown: Event, k: int) -> tuple[Icon, str]:
        verdict = verdict_of(shown)
        entry = {
            "n": k,
            "by": event.actor,
            "winner": verdict.winner,
            "text": cut(verdict.text or "", text_chars_max),
        }
        self.changes.append(
            "contest", "verdicts", {name: value for name, value in entry.items() if value is not None}
        )
        if verdict.winner:
            score = self.view["contest"]["score"].get(verdict.winner, 0)
            self.changes.set("contest", "score", verdict.winner, score + 1)
        self._say(event, shown, k)
        return "judge", verdict.text or ""

    def _be_silent(self, event: Event, shown: Event, _k: int) -> tuple[Icon, str]:
        reason = text_of(shown, "reason")
        if event.actor in self.view["creatures"]:
            self._quiet(event.actor)
            if event.kind == kinds.AGENT_FAILED:
                self.changes.set("creatures", event.actor, "error", cut(reason, text_chars_max))
            self._feel(event.actor, shown)
        return ("error" if event.kind == kinds.AGENT_FAILED else "silence"), reason

    def _call_tool(self, event: Event, shown: Event, _k: int) -> tuple[Icon, str]:
        tool = payload_of(shown, payloads.ToolCalled).tool
        if event.actor in self.view["creatures"]:
            self.changes.set("creatures", event.actor, "tool", tool)
        return "tool", tool

    def _return_from_tool(self, event: Event, shown: Event, _k: int) -> tuple[Icon, str]:
        returned = payload_of(shown, payloads.ToolReturned)
        if event.actor in self.view["creatures"]:
            self.changes.delete("creatures", event.actor, "tool")
        return "tool", f"{returned.tool}: {returned.text}"

    def _propose(self, event: Event, shown: Event, k: int) -> tuple[Icon, str]:
        proposed = payload_of(shown, payloads.EditProposed)
        self.changes.set("approvals", event.id, {"n": k, "creature": event.actor, **asdict(proposed)})
        return "approval", f"{proposed.tool}: {proposed.why}"

    def _decide(self, event: Event, shown: Event, _k: int) -> tuple[Icon, str]:
        decided = payload_of(shown, payloads.EditDecided)
        for name, waiting in list(self.view["approvals"].items()):
            if waiting["creature"] == event.actor and waiting["number"] == decided.number:
                self.changes.delete("approvals", name)
        return "approval", f"{'approved' if decided.is_approved else 'refused'} by {decided.by}"

    # Runs

    def _start_run(self, event: Event, shown: Event, _k: int) -> tuple[Icon, str]:
        started, run_id = payload_of(shown, payloads.RunStarted), event.run_id or ""
        scenario = scenario_fields_of(started.scenario)
        title = scenario.title or scenario.name
        for entry in started.cast:
            if entry.creature in self.view["creatures"]:
                self.changes.set("creatures", entry.creature, "profile", entry.profile)
                self.changes.set("creatures", entry.creature, "model", entry.model)
        for team, handles in started.competition.teams.items():
            self.changes.set("contest", "teams", team, list(handles))
            self._join_team(team, set(handles))
        if run_id in self.view["runs"]:
            return "run", title  # A resumed run is recorded in each of its graphs.
        parent = started.branch_of
        run: Json = {
            "title": title,
            "goal": started.goal,
            "seed": started.seed,
            "rng_seed": started.rng_seed,
            "state": "playing",
            "branch_of": None if parent is None else {"run_id": parent.run_id, "at": parent.at},
            "limits": None if started.limits is None else msgspec.to_builtins(started.limits),
            "spent": {"turns": 0, "calls": 0, "tokens": 0, "usd": 0.0},
        }
        self.changes.set("runs", run_id, {name: value for name, value in run.items() if value is not None})
        return "run", title

    def _join_team(self, team: str, handles: set[str]) -> None:
        for name, creature in self.view["creatures"].items():
            if creature["handle"] in handles:
                self.changes.set("creatures", name, "team", team)

    def _change_run(self, event: Event, shown: Event, _k: int) -> tuple[Icon, str]:
        run_id = event.run_id or ""
        state, ending = "playing", dict[str, str | None]()
        full_turns: int | msgspec.UnsetType = msgspec.UNSET
        match payload_of(shown, payloads.RUN_PAYLOAD_TYPES[event.kind]):
            case payloads.RunPaused(reason=reason, axis=axis):
                state, ending = "paused", {"reason": reason, "axis": axis}
            case payloads.RunFinished(
                reason=reason, axis=axis, winner=winner, why=why, full_turns=full_turns
            ):
                state, ending = "finished", {"reason": reason, "axis": axis, "winner": winner, "why": why}
                self._forgive(run_id)
            case _:
                pass
        if run_id in self.view["runs"]:
            if full_turns is not msgspec.UNSET:
                self.changes.set("runs", run_id, "full_turns", full_turns)
            self.changes.set("runs", run_id, "state", state)
            for name in ("reason", "axis", "winner", "why"):
                self.changes.set("runs", run_id, name, ending.get(name))
        return "run", ": ".join(filter(None, (state, ending.get("reason"))))

    def _begin_turn(self, event: Event, _shown: Event, _k: int) -> tuple[Icon, str]:
        if event.graph_id in self.view["graphs"]:
            self.changes.set("graphs", event.graph_id, "turn", event.turn)
        clock = self.behind.clocks.setdefault(event.graph_id, Clock())
        passed, clock.turn = event.turn - clock.turn, event.turn
        creatures = self.view["creatures"]
        if "full" in event.payload:
            self._bundle(event.graph_id, payload_of(event, payloads.TurnStarted).full)
        runs = [creatures[name].get("run") for name in self.behind.members.get(event.graph_id, ())]
        for run_id in dict.fromkeys(runs):
            if run_id is not None and self.view["runs"].get(run_id, {}).get("state") == "playing":
                clock.turns[run_id] = clock.turns.get(run_id, 0) + passed
                self._show_spent(run_id, event.graph_id)
        return "turn", f"turn {event.turn}"

    # The shape of the world

    def _start_creature(self, event: Event, shown: Event, _k: int) -> tuple[Icon, str]:
        born = payload_of(event, payloads.CreatureStarted)
        name = born.creature
        if name in self.view["creatures"]:
            self.changes.set("creatures", name, "is_running", True)
            return "creature", f"{born.handle} starts again"
        was = self.view["creatures"].get(born.incarnation_of or "")
        self._enter_graph(event, born.handle, was)
        manifest = fields_of(born.manifest or {})
        public = fields_of(payload_of(shown, payloads.CreatureStarted).manifest or {})
        creature: Json = {
            "handle": born.handle,
            "role": manifest.role,
            "title": public.title or None,
            "bio": public.bio or None,
            "run": born.run_id,
            "graph": event.graph_id,
            "parent": born.parent,
            "profile": None if self.role == "spectator" else manifest.model_profile,
            "played_by": born.played_by_code or manifest.played_by,
            "is_running": True,
            "is_privileged": born.is_privileged,
        }
        if was is not None:
            creature |= {kept: was[kept] for kept in ("line", "mood", "thought", "team") if kept in was}
        self.changes.set(
            "creatures", name, {key: value for key, value in creature.items() if value is not None}
        )
        self.behind.members.setdefault(event.graph_id, {})[name] = None
        for kind in manifest.subscribes_to:
            self.behind.subscribers.setdefault(kind, {})[name] = None
        if born.is_root:
            self.behind.roots[name] = None
        if born.granted:
            keep = self._keep_description
            self.behind.grants[name] = {
                grant.tool.name: Grant(keep(grant.tool), keep(grant.now) if grant.now else None)
                for grant in born.granted
            }
            self._show_withheld(name)
        if was is not None:
            self._remove_creature(born.incarnation_of or "")
        return "creature", f"{born.handle} comes in"

    def _enter_graph(self, event: Event, name: str, was: Json | None = None) -> None:
        if event.graph_id in self.view["graphs"]:
            return
        graphs = self.view["graphs"]
        before = graphs.get(was["graph"]) if was is not None else None
        taken = {graph["colour"] for graph in graphs.values()}
        free = next(number for number in range(len(taken) + 1) if number not in taken)
        graph = {
            "name": name,
            "session": event.session_id,
            "turn": event.turn,
            "colour": free if before is None else before["colour"],
        }
        self.changes.set("graphs", event.graph_id, graph)

    def _stop_creature(self, event: Event, _shown: Event, _k: int) -> tuple[Icon, str]:
        stopped = payload_of(event, payloads.CreatureStopped)
        creature = self.view["creatures"].get(stopped.creature)
        if creature is None:
            return "creature", ""
        handle = creature["handle"]
        if stopped.reason == "stopped":
            self.changes.set("creatures", stopped.creature, "is_running", False)
            self.behind.stops[stopped.creature] = self.behind.stops.get(stopped.creature, 0) + 1
            return "creature", f"{handle} stops"
        self._remove_creature(stopped.creature)
        return "creature", f"{handle} is gone"

    def _remove_creature(self, name: str) -> None:
        graph_id = self.view["creatures"][name]["graph"]
        for channel in self.behind.channels_of.pop(name, {}):
            self.changes.delete("channels", channel, "edges", name)
        self.changes.delete("creatures", name)
        for table in (
            self.behind.members.get(graph_id, {}),
            self.behind.roots,
            self.behind.owed,
            self.behind.stops,
            self.behind.grants,
        ):
            table.pop(name, None)
        for subscribers in self.behind.subscribers.values():
            subscribers.pop(name, None)

    def _rename_creature(self, event: Event, _shown: Event, _k: int) -> tuple[Icon, str]:
        renamed = payload_of(event, payloads.CreatureRenamed)
        if renamed.creature in self.view["creatures"]:
            self.changes.set("creatures", renamed.creature, "handle", renamed.handle)
        return "creature", f"{renamed.old_handle} is called {renamed.handle} now"

    def _open_channel(self, event: Event, _shown: Event, _k: int) -> tuple[Icon, str]:
        opened = payload_of(event, payloads.ChannelOpened)
        channel: Json = {"name": opened.name, "graph": event.graph_id, "edges": {}}
        if opened.description:
            channel["description"] = opened.description
        self._enter_graph(event, opened.name)
        self.changes.set("channels", opened.channel_id, channel)
        self.behind.channels_in.setdefault(event.graph_id, {})[opened.channel_id] = None
        if opened.incarnation_of:
            self._remove_channel(opened.incarnation_of)
        return "channel", f"#{opened.name} opens"

    def _remove_channel(self, name: str) -> None:
        channel = self.view["channels"].get(name)
        if channel is None:
            return
        for creature in channel["edges"]:
            self.behind.channels_of.get(creature, {}).pop(name, None)
        self.behind.channels_in.get(channel["graph"], {}).pop(name, None)
        self.changes.delete("channels", name)

    def _change_channel(self, event: Event, _shown: Event, _k: int) -> tuple[Icon, str]:
        match payload_of(event, payloads.PAYLOAD_TYPES[event.kind]):
            case payloads.ChannelClosed(channel_id=channel_id, name=name):
                self._remove_channel(channel_id)
                return "channel", f"#{name} closes"
            case payloads.ChannelRenamed(channel_id=channel_id, old_name=old_name, name=name):
                if channel_id in self.view["channels"]:
                    self.changes.set("channels", channel_id, "name", name)
                return "channel", f"#{old_name} is called #{name} now"
            case payloads.ChannelDescribed(channel_id=channel_id, name=name, description=text):
                if channel_id in self.view["channels"]:
                    self.changes.set("channels", channel_id, "description", text or None)
                return "channel", f"#{name}: {text}"
            case _:
                return "channel", ""

    def _change_edge(self, event: Event, _shown: Event, _k: int) -> tuple[Icon, str]:
        edge = payload_of(event, payloads.ChannelEdge)
        channel = self.view["channels"].get(edge.channel_id)
        creature = self.view["creatures"].get(edge.creature)
        if channel is None or creature is None:
            return "channel", ""
        bit, bits = BITS[edge.direction], channel["edges"].get(edge.creature, 0)
        is_joined = event.kind == kinds.CHANNEL_JOINED
        bits = bits | bit if is_joined else bits & ~bit
        self.changes.set("channels", edge.channel_id, "edges", edge.creature, bits or None)
        mine = self.behind.channels_of.setdefault(edge.creature, {})
        if bits:
            mine[edge.channel_id] = None
        else:
            mine.pop(edge.channel_id, None)
        does = {"listen": "listens", "send": "speaks"}[edge.direction]
        return (
            "channel",
            f"{creature['handle']} {does if is_joined else f'no longer {does}'} on #{channel['name']}",
        )

    def _change_wire(self, event: Event, _shown: Event, _k: int) -> tuple[Icon, str]:
        if event.kind == kinds.OUTPUT_WIRE_REMOVED:
            removed = payload_of(event, payloads.WireRemoved)
            self.changes.delete("wires", removed.edge_id)
            return (
                "wire",
                f"{self._handle(removed.source)} no longer hands on to {self._handle(removed.target)}",
            )
        added = payload_of(event, payloads.WireAdded)
        wire: Json = {"from": added.source, "to": added.target, "with_content": added.with_content}
        if added.when:
            wire["when"] = added.when
        self.changes.set("wires", added.edge_id, wire)
        if added.incarnation_of:
            self.changes.delete("wires", added.incarnation_of)
        return "wire", f"{self._handle(added.source)} hands on to {self._handle(added.target)}"

    def _change_parent(self, event: Event, _shown: Event, _k: int) -> tuple[Icon, str]:
        changed = payload_of(event, payloads.ParentChanged)
        if changed.child in self.view["creatures"]:
            self.changes.set("creatures", changed.child, "parent", changed.new_parent)
        parent = "nobody" if changed.new_parent is None else self._handle(changed.new_parent)
        return "creature", f"{self._handle(changed.child)} belongs to {parent}"

    def _grant(self, event: Event, _shown: Event, _k: int) -> tuple[Icon, str]:
        granted = payload_of(event, payloads.PrivilegeGranted)
        if granted.creature in self.view["creatures"]:
            self.changes.set("creatures", granted.creature, "is_privileged", True)
        return "creature", f"{self._handle(granted.creature)} may change the graph"

    def _revoke(self, event: Event, _shown: Event, _k: int) -> tuple[Icon, str]:
        revoked = payload_of(event, payloads.PrivilegeRevoked)
        if revoked.creature in self.view["creatures"]:
            self.changes.set("creatures", revoked.creature, "is_privileged", False)
        return "creature", f"{self._handle(revoked.creature)} may no longer change the graph"

    def _change_tool(self, event: Event, _shown: Event, _k: int) -> tuple[Icon, str]:
        changed = payload_of(event, payloads.ToolChanged)
        tool, key = changed.tool, self._keep_description(changed.tool)
        nows: list[str | None] = []
        for name in changed.creatures:
            if (grant := self.behind.grants.get(name, {}).get(tool.name)) is not None:
                grant.now = None if self.behind.digests[grant.granted] == tool.digest else key
                nows.append(grant.now)
                self._show_withheld(name)
        is_back = bool(nows) and not any(nows)
        words = "is as it was again" if is_back else "has changed and is withheld until it is accepted"
        return "tool", f"{tool.name} {words}"

    def _accept_tool(self, event: Event, _shown: Event, _k: int) -> tuple[Icon, str]:
        accepted = payload_of(event, payloads.ToolAccepted)
        for name in accepted.creatures:
            if (grant := self.behind.grants.get(name, {}).get(accepted.tool)) is not None:
                grant.granted, grant.now = grant.now or grant.granted, None
                self._show_withheld(name)
        return "tool", f"{accepted.tool} is accepted as it is now"

    def _keep_description(self, tool: DescribedTool) -> str:
        """Keep what a server says of a tool, for those who may read it; its key. Creatures share it."""
        key = key_of(tool)
        self.behind.digests[key] = tool.digest
        if self.role != "spectator":
            text = cut(tool.description, text_chars_max)
            described = {"text": text, "is_read_only": tool.is_read_only, "digest": tool.digest}
            self.changes.set("tools", key, described)
        return key

    def _show_withheld(self, name: str) -> None:
        """Which tools are withheld from a creature, with the keys of what was granted and of what it is now."""
        withheld = {
            tool: [] if self.role == "spectator" else [grant.granted, grant.now]
            for tool, grant in self.behind.grants[name].items()
            if grant.now is not None
        }
        self.changes.set("creatures", name, "withheld", withheld or None)

    def _change_graphs(self, event: Event, _shown: Event, _k: int) -> tuple[Icon, str]:
        change = payload_of(event, payloads.TopologyChanged)
        names = [self.view["graphs"].get(name, {}).get("name", name) for name in change.old_graph_ids]
        if change.kind == "merge":
            survivor = change.new_graph_ids[0]
            self._merge_clocks(change.old_graph_ids, survivor)
            graphs = self.view["graphs"]
            turns = [graphs[graph_id]["turn"] for graph_id in change.old_graph_ids if graph_id in graphs]
            for graph_id in change.old_graph_ids:
                if graph_id != survivor:
                    self._absorb(survivor, graph_id)
            if survivor in self.view["graphs"]:
                self.changes.set("graphs", survivor, "session", event.session_id)
                self.changes.set("graphs", survivor, "turn", max(turns, default=event.turn))
            return "merge", f"{' and '.join(names)} are one graph"
        if change.kind == "split" and len(change.new_graph_ids) > 1:
            # A story that was cut off may lack the other side's own events: who left is told here.
            self._part(event, change)
            return "split", f"{names[0]} is {len(change.new_graph_ids)} graphs"
        if not change.new_graph_ids:
            for graph_id in change.old_graph_ids:
                self._close_graph(graph_id)
        return "session", ""

    def _merge_clocks(self, graph_ids: list[str], survivor: str) -> None:
        parts = [self.behind.clocks.pop(graph_id) for graph_id in graph_ids if graph_id in self.behind.clocks]
        turns: dict[str, int] = {}
        for part in parts:
            for run_id, count in part.turns.items():
                turns[run_id] = max(count, turns.get(run_id, 0))
        self.behind.clocks[survivor] = Clock(max((part.turn for part in parts), default=0), turns)

    def _absorb(self, survivor: str, graph_id: str) -> None:
        for name in self.behind.members.pop(graph_id, {}):
            self.changes.set("creatures", name, "graph", survivor)
            self.behind.members.setdefault(survivor, {})[name] = None
        for name in self.behind.channels_in.pop(graph_id, {}):
            self.changes.set("channels", name, "graph", survivor)
            self.behind.channels_in.setdefault(survivor, {})[name] = None
        self.changes.delete("graphs", graph_id)

    def _part(self, event: Event, change: payloads.TopologyChanged) -> None:
        known = [name for name in change.affected_creatures if name in self.view["creatures"]]
        target = change.new_graph_ids[1]
        if known and change.affected_count <= len(change.affected_creatures):
            self._split_clock(event.graph_id, target)
            turn = self.view["graphs"].get(event.graph_id, {}).get("turn", event.turn)
            self._enter_graph(replace(event, graph_id=target, turn=turn), self._handle(known[0]))
            self._move(known, target)

    def _split_clock(self, graph_id: str, new_graph_id: str) -> None:
        clock = self.behind.clocks.get(graph_id)
        if clock is not None and new_graph_id not in self.behind.clocks:
            self.behind.clocks[new_graph_id] = Clock(clock.turn, dict(clock.turns))

    def _move(self, creatures: Iterable[str], graph_id: str) -> None:
        """Creatures with their channels come to another graph."""
        for name in creatures:
            creature = self.view["creatures"].get(name)
            if creature is None or creature["graph"] == graph_id:
                continue
            self.behind.members.get(creature["graph"], {}).pop(name, None)
            self.behind.members.setdefault(graph_id, {})[name] = None
            self.changes.set("creatures", name, "graph", graph_id)
            for channel in self.behind.channels_of.get(name, ()):
                before = self.view["channels"][channel]["graph"]
                if before != graph_id:
                    self.behind.channels_in.get(before, {}).pop(channel, None)
                    self.behind.channels_in.setdefault(graph_id, {})[channel] = None
                    self.changes.set("channels", channel, "graph", graph_id)

    def _close_graph(self, graph_id: str) -> None:
        for name in list(self.behind.channels_in.pop(graph_id, {})):
            self.changes.delete("channels", name)
        for name in list(self.behind.members.pop(graph_id, {})):
            self._remove_creature(name)
        self.changes.delete("graphs", graph_id)

    def _fork(self, event: Event, _shown: Event, _k: int) -> tuple[Icon, str]:
        forked = payload_of(event, payloads.SessionForked)
        parent = self.view["lanes"].get(forked.parents[0]) if forked.how == "split" else None
        if parent is not None:
            self._split_clock(parent["graph"], event.graph_id)
        if event.graph_id in self.view["graphs"]:
            self.changes.set("graphs", event.graph_id, "session", event.session_id)
        return "session", f"a {forked.how} begins"

    def _attach(self, event: Event, _shown: Event, _k: int) -> tuple[Icon, str]:
        attached = payload_of(event, payloads.SessionAttached)
        known = [name for name in attached.creatures if name in self.view["creatures"]]
        if known:
            self._enter_graph(event, self._handle(known[0]))
            self._move(known, event.graph_id)
            self.changes.set("graphs", event.graph_id, "session", event.session_id)
        return "session", ""

    def _restate(self, event: Event, _shown: Event, k: int) -> tuple[Icon, str]:
        """What a branch did not take over from its past is no longer there."""
        restated = payload_of(event, payloads.SessionRestated)
        living = set(restated.creatures.values())
        for name in [name for name in self.view["creatures"] if name not in living]:
            self._remove_creature(name)
        for graph_id in [name for name in self.view["graphs"] if not self.behind.members.get(name)]:
            self._close_graph(graph_id)
        wires = self.view["wires"].items()
        for name in [name for name, wire in wires if not {wire["from"], wire["to"]} <= living]:
            self.changes.delete("wires", name)
        for old, mailbox in restated.carried.agenda.owed.items():
            debts = {owed.cause: Debt(k, owed.bundle) for owed in mailbox}
            self.behind.owed[restated.creatures[old]] = debts
            self._show_debts(restated.creatures[old])
        clocks = restated.carried.clocks
        turns = {
            restated.runs[run_id]: count for run_id, count in clocks.turns.items() if run_id in restated.runs
        }
        self.behind.clocks[event.graph_id] = Clock(clocks.turn, turns)
        self.changes.set("graphs", event.graph_id, "turn", restated.carried.shape.turn)
        self.changes.set("graphs", event.graph_id, "name", restated.carried.shape.name)
        self.changes.set("lanes", event.session_id, "name", restated.carried.shape.name)
        for run_id, then in restated.carried.runs.items():
            name = restated.runs[run_id]
            if name in self.view["runs"]:
                self.behind.usage[name] = then.usage
                self.changes.set("runs", name, "spent", "turns", then.turns)
                self._show_spent(name, event.graph_id)
        return "session", "the past is taken over"

    # What is owed

    def _owe(self, event: Event, k: int) -> None:
        """Note who owes an answer to an event: who hears it and subscribes to it, and whom a wire hands it to."""
        subscribers = self.behind.subscribers.get(event.kind)
        if subscribers and event.kind not in kinds.INNER:
            for name in self._hearers(event, subscribers):
                self._add_debt(name, event, k)
        if self.view["wires"] and event.actor not in RESERVED_ACTORS and is_carried(event):
            for wire in list(self.view["wires"].values()):
                if wire["from"] == event.actor and holds(wire.get("when"), event):
                    self._add_debt(wire["to"], event, k)

    def _hearers(self, event: Event, subscribers: dict[str, None]) -> list[str]:
        members = self.behind.members.get(event.graph_id, {})
        if event.channel_id is None:
            return [name for name in members if name in subscribers]
        edges = self.view["channels"].get(event.channel_id, {}).get("edges", {})
        listening = [name for name in edges if edges[name] & LISTEN and name in subscribers]
        roots = [name for name in self.behind.roots if name in members and name in subscribers]
        return list(dict.fromkeys([*listening, *roots]))

    def _add_debt(self, name: str, event: Event, k: int) -> None:
        creature = self.view["creatures"].get(name)
        if creature is None or name == event.actor:
            return
        run = self.view["runs"].get(creature.get("run", ""), {})
        if run.get("state") == "finished":
            return
        bundle = 0 if creature["is_running"] else self.behind.stops.get(name, 0)
        self.behind.owed.setdefault(name, {}).setdefault(event.id, Debt(k, bundle))
        self._show_debts(name)

    def _settle(self, event: Event) -> None:
        """An act that ends settles what it answers, and the whole bundle that belongs to."""
        mailbox = self.behind.owed.get(event.actor)
        if mailbox is None or event.caused_by is None or not event.ends_its_act:
            return
        settled = mailbox.pop(event.caused_by, None)
        if settled is None:
            return
        if settled.bundle:
            bundle = [cause for cause, debt in mailbox.items() if debt.bundle == settled.bundle]
            for cause in [cause for cause in bundle if mailbox[cause].n <= settled.n]:
                del mailbox[cause]
        self._show_debts(event.actor)

    def _bundle(self, graph_id: str, run_ids: Collection[str]) -> None:
        """After a full turn, what a creature of these runs still owes is one bundle."""
        for name in self.behind.members.get(graph_id, ()):
            creature, mailbox = self.view["creatures"][name], self.behind.owed.get(name)
            if mailbox and creature["is_running"] and creature.get("run") in run_ids:
                number = self.behind.stops[name] = self.behind.stops.get(name, 0) + 1
                for cause, debt in mailbox.items():
                    mailbox[cause] = replace(debt, bundle=number)

    def _show_debts(self, name: str) -> None:
        if name not in self.view["creatures"]:
            return
        mailbox = self.behind.owed.get(name)
        if mailbox:
            first = next(iter(mailbox.values()))
            self.changes.set("creatures", name, "owes", {"n": first.n, "count": len(mailbox)})
        else:
            self.behind.owed.pop(name, None)
            self.changes.delete("creatures", name, "owes")

    def _forgive(self, run_id: str) -> None:
        """A finished run owes nothing."""
        for name in list(self.behind.owed):
            if self.view["creatures"].get(name, {}).get("run") == run_id:
                self.behind.owed[name] = {}
                self._show_debts(name)

    def _handle(self, creature: str) -> str:
        known = self.view["creatures"].get(creature)
        return known["handle"] if known is not None else creature

    def _note_sealed(self, event: Event, shown: Event) -> None:
        """What was dealt: everybody sees that there is a card and whose; its text only where the role may read it."""
        sealed = sealed_of(event)
        for key, value in sealed.facts.items():
            card: Json = {"owner": sealed.to[0] if sealed.to else ""}
            if shown.sealed is not None:
                card["text"] = cut(value if isinstance(value, str) else str(value), text_chars_max)
            self.changes.set("contest", "sealed", key, card)


_Note = Callable[[PageFold, Event, Event, int], tuple[Icon, str]]

_FOLDS: Final[dict[str, _Note]] = {
    **dict.fromkeys(sorted(kinds.INNER), PageFold._think),
    kinds.WORLD_OBSERVED: PageFold._observe,
    kinds.USER_INJECTED: PageFold._visit,
    kinds.JUDGE_VERDICT: PageFold._judge,
    **dict.fromkeys(sorted(kinds.WITHOUT_A_LINE), PageFold._be_silent),
    kinds.TOOL_CALLED: PageFold._call_tool,
    kinds.TOOL_RETURNED: PageFold._return_from_tool,
    kinds.EDIT_PROPOSED: PageFold._propose,
    kinds.EDIT_DECIDED: PageFold._decide,
    kinds.RUN_STARTED: PageFold._start_run,
    **dict.fromkeys((kinds.RUN_PAUSED, kinds.RUN_CONTINUED, kinds.RUN_FINISHED), PageFold._change_run),
    kinds.TURN_STARTED: PageFold._begin_turn,
    kinds.CREATURE_STARTED: PageFold._start_creature,
    kinds.CREATURE_STOPPED: PageFold._stop_creature,
    kinds.CREATURE_RENAMED: PageFold._rename_creature,
    kinds.CHANNEL_OPENED: PageFold._open_channel,
    **dict.fromkeys(
        (kinds.CHANNEL_CLOSED, kinds.CHANNEL_RENAMED, kinds.CHANNEL_DESCRIBED), PageFold._change_channel
    ),
    **dict.fromkeys((kinds.CHANNEL_JOINED, kinds.CHANNEL_LEFT), PageFold._change_edge),
    **dict.fromkeys((kinds.OUTPUT_WIRE_ADDED, kinds.OUTPUT_WIRE_REMOVED), PageFold._change_wire),
    kinds.PARENT_LINK_CHANGED: PageFold._change_parent,
    kinds.PRIVILEGE_GRANTED: PageFold._grant,
    kinds.PRIVILEGE_REVOKED: PageFold._revoke,
    kinds.TOOL_CHANGED: PageFold._change_tool,
    kinds.TOOL_ACCEPTED: PageFold._accept_tool,
    kinds.TOPOLOGY_CHANGED: PageFold._change_graphs,
    kinds.SESSION_FORKED: PageFold._fork,
    kinds.CREATURE_SESSION_ATTACHED: PageFold._attach,
    kinds.SESSION_RESTATED: PageFold._restate,
}
