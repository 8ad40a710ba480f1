"""The shape on the page: creatures, channels, wires, graphs, sessions as lanes, rights, and granted tools.

Always holds: a view of the whole ledger has the shape of the world. A branch shows its past, and its creatures and
channels replace those whose past they continue. Of the event itself only what shapes the view is read, such as whom a
creature listens to.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

from msgspec.structs import replace

from glasshouse.events import kinds, payloads
from glasshouse.events.described_tool import DescribedTool, key_of
from glasshouse.events.event import Event, Json
from glasshouse.events.payloads import payload_of
from glasshouse.events.recorded_fields import fields_of
from glasshouse.views.graph_names import is_own_name, name_for
from glasshouse.views.page import cut, text_chars_max
from glasshouse.views.page_runs import merge_clocks, split_clock, take_over_debts, take_over_spent
from glasshouse.views.page_state import FeedLine, FoldOne, Page
from glasshouse.world.hearing.bundles import begin_bundle
from glasshouse.world.state.state import Grant
from glasshouse.world.state.topology import BITS

# Lanes


def note_lane(page: Page, event: Event, k: int) -> None:
    """Begin the lane of a session with its first event."""
    lanes = page.view["lanes"]
    if event.session_id in lanes:
        return
    origin = "root"
    parents: list[str] = []
    if event.kind == kinds.SESSION_FORKED:
        forked = payload_of(event, payloads.SessionForked)
        origin = forked.how
        parents = forked.parents
    elif event.kind == kinds.TOPOLOGY_CHANGED:
        change = payload_of(event, payloads.TopologyChanged)
        if change.kind == "merge":
            graphs = page.view["graphs"]
            origin = "merge"
            parents = [graphs[name]["session"] for name in change.old_graph_ids if name in graphs]
    lane = {
        "graph": event.graph_id,
        "origin": origin,
        "parents": [[name, lanes[name]["last"]] for name in parents if name in lanes],
        "first": k,
        "last": k,
    }
    page.changes.set("lanes", event.session_id, lane)


def name_lane(page: Page, event: Event) -> None:
    """Keep the name and colour of a lane's graph: they are shown when the graph is gone."""
    lane = page.view["lanes"][event.session_id]
    graph = page.view["graphs"].get(event.graph_id)
    if graph is not None and "colour" not in lane and lane["graph"] == event.graph_id:
        page.changes.set("lanes", event.session_id, "colour", graph["colour"])
        page.changes.set("lanes", event.session_id, "name", graph["name"])


# Names of graphs


def settle_name(page: Page, event: Event) -> None:
    """The first event that is played in a graph decides its name for good."""
    graph_id = event.graph_id
    if graph_id in page.view["graphs"] and graph_id not in page.behind.settled:
        name_graph(page, graph_id)
        page.behind.settled[graph_id] = None


def _name_until_settled(page: Page, graph_id: str) -> None:
    graph = page.view["graphs"].get(graph_id)
    if graph is not None and not (graph_id in page.behind.settled and is_own_name(graph["name"])):
        name_graph(page, graph_id)


def name_graph(page: Page, graph_id: str) -> None:
    """Give a graph the name that fits it best now."""
    graph = page.view["graphs"][graph_id]
    old = graph["name"]
    new = _best_name(page, graph_id)
    if new == old:
        return
    page.names.give(graph_id, old, new)
    page.changes.set("graphs", graph_id, "name", new)
    lane = page.view["lanes"].get(graph["session"])
    if lane is not None and lane["graph"] == graph_id and "name" in lane:
        page.changes.set("lanes", graph["session"], "name", new)


def _best_name(page: Page, graph_id: str) -> str:
    channels = page.view["channels"]
    ages = page.behind.channels_in.get(graph_id, {})
    ranked = sorted(ages, key=lambda name: (-len(channels[name]["edges"]), ages[name]))
    first = (page.behind.heirs.get(graph_id, ""), _troupe_of(page, graph_id))
    return name_for(graph_id, first, [channels[name]["name"] for name in ranked], page.names)


def _troupe_of(page: Page, graph_id: str) -> str:
    """The troupe that most creatures of a graph began in; of several, the one of its oldest member."""
    troupes = page.behind.troupes
    if not troupes:
        return ""
    counts = Counter([troupes[name] for name in page.behind.members.get(graph_id, ()) if name in troupes])
    return max(counts, key=counts.__getitem__, default="")


def _take_names(page: Page, creature: Json) -> None:
    """Note the names of a creature. A graph that has one of them gets another name."""
    page.names.add_creature(creature)
    for graph_id in page.names.graphs_called_as(creature):
        name_graph(page, graph_id)


# Creatures


def _start_creature(page: Page, event: Event, shown: Event, _k: int) -> FeedLine:
    born = payload_of(event, payloads.CreatureStarted)
    name = born.creature
    if name in page.view["creatures"]:
        page.changes.set("creatures", name, "is_running", True)
        return "creature", f"{born.handle} starts again"
    was = page.view["creatures"].get(born.incarnation_of or "")
    _carry_troupe(page, born)
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
        "profile": None if page.role == "spectator" else manifest.model_profile,
        "played_by": born.played_by_code or manifest.played_by,
        "is_running": True,
        "is_privileged": born.is_privileged,
    }
    if was is not None:
        creature |= {kept: was[kept] for kept in ("line", "mood", "thought", "team") if kept in was}
    creature = {key: value for key, value in creature.items() if value is not None}
    page.changes.set("creatures", name, creature)
    _take_names(page, creature)
    page.behind.members.setdefault(event.graph_id, {})[name] = None
    _enter_graph(page, event, was)
    for kind in sorted(manifest.subscribes_to):  # A set: its order depends on the hash seed.
        page.behind.subscribers.setdefault(kind, {})[name] = None
    if born.is_root:
        page.behind.roots[name] = None
    if born.granted:
        page.behind.grants[name] = {
            grant.tool.name: Grant(
                _keep_description(page, grant.tool),
                _keep_description(page, grant.now) if grant.now else None,
            )
            for grant in born.granted
        }
        _show_withheld(page, name)
    if was is not None:
        _remove_creature(page, born.incarnation_of or "")
    return "creature", f"{born.handle} comes in"


def _carry_troupe(page: Page, born: payloads.CreatureStarted) -> None:
    """A creature of a branch is of the troupe of the one that it continues."""
    if born.incarnation_of in page.behind.troupes:
        page.behind.troupes.setdefault(born.creature, page.behind.troupes[born.incarnation_of])


def _enter_graph(page: Page, event: Event, was: Json | None = None) -> None:
    """Show the graph of an event, if it is new. `was` is the creature of a past that a branch continues there."""
    graphs = page.view["graphs"]
    if event.graph_id in graphs:
        return
    before = graphs.get(was["graph"]) if was is not None else None
    taken = {graph["colour"] for graph in graphs.values()}
    free = next(number for number in range(len(taken) + 1) if number not in taken)
    if before is not None and is_own_name(before["name"]):
        page.behind.heirs[event.graph_id] = before["name"]
    graph: Json = {
        "name": _best_name(page, event.graph_id),
        "session": event.session_id,
        "turn": event.turn,
        "colour": free if before is None else before["colour"],
    }
    page.changes.set("graphs", event.graph_id, graph)
    page.names.give(event.graph_id, None, graph["name"])


def _stop_creature(page: Page, event: Event, _shown: Event, _k: int) -> FeedLine:
    stopped = payload_of(event, payloads.CreatureStopped)
    creature = page.view["creatures"].get(stopped.creature)
    if creature is None:
        return "creature", ""
    handle = creature["handle"]
    if stopped.reason == "stopped":
        page.changes.set("creatures", stopped.creature, "is_running", False)
        begin_bundle(page.behind.stops, stopped.creature)
        return "creature", f"{handle} stops"
    _remove_creature(page, stopped.creature)
    return "creature", f"{handle} is gone"


def _remove_creature(page: Page, name: str) -> None:
    graph_id = page.view["creatures"][name]["graph"]
    for channel in page.behind.channels_of.pop(name, {}):
        page.changes.delete("channels", channel, "edges", name)
    page.names.remove_creature(page.view["creatures"][name])
    page.changes.delete("creatures", name)
    for table in (
        page.behind.members.get(graph_id, {}),
        page.behind.roots,
        page.behind.owed,
        page.behind.stops,
        page.behind.grants,
        page.behind.troupes,
    ):
        table.pop(name, None)
    for subscribers in page.behind.subscribers.values():
        subscribers.pop(name, None)


def _rename_creature(page: Page, event: Event, _shown: Event, _k: int) -> FeedLine:
    renamed = payload_of(event, payloads.CreatureRenamed)
    creature = page.view["creatures"].get(renamed.creature)
    if creature is not None:
        page.names.remove_creature(creature)
        page.changes.set("creatures", renamed.creature, "handle", renamed.handle)
        _take_names(page, creature)
    return "creature", f"{renamed.old_handle} is called {renamed.handle} now"


# Channels, wires, rights


def _open_channel(page: Page, event: Event, _shown: Event, _k: int) -> FeedLine:
    opened = payload_of(event, payloads.ChannelOpened)
    channel: Json = {"name": opened.name, "graph": event.graph_id, "edges": {}}
    if opened.description:
        channel["description"] = opened.description
    page.changes.set("channels", opened.channel_id, channel)
    page.behind.channels_opened += 1
    page.behind.channels_in.setdefault(event.graph_id, {})[opened.channel_id] = page.behind.channels_opened
    _enter_graph(page, event)
    if not is_own_name(page.view["graphs"][event.graph_id]["name"]):
        name_graph(page, event.graph_id)
    if opened.incarnation_of:
        _remove_channel(page, opened.incarnation_of)
    return "channel", f"#{opened.name} opens"


def _remove_channel(page: Page, name: str) -> None:
    channel = page.view["channels"].get(name)
    if channel is None:
        return
    for creature in channel["edges"]:
        page.behind.channels_of.get(creature, {}).pop(name, None)
    page.behind.channels_in.get(channel["graph"], {}).pop(name, None)
    page.changes.delete("channels", name)


def _change_channel(page: Page, event: Event, _shown: Event, _k: int) -> FeedLine:
    match payload_of(event, payloads.PAYLOAD_TYPES[event.kind]):
        case payloads.ChannelClosed(channel_id=channel_id, name=name):
            _remove_channel(page, channel_id)
            return "channel", f"#{name} closes"
        case payloads.ChannelRenamed(channel_id=channel_id, old_name=old_name, name=name):
            if channel_id in page.view["channels"]:
                page.changes.set("channels", channel_id, "name", name)
            return "channel", f"#{old_name} is called #{name} now"
        case payloads.ChannelDescribed(channel_id=channel_id, name=name, description=text):
            if channel_id in page.view["channels"]:
                page.changes.set("channels", channel_id, "description", text or None)
            return "channel", f"#{name}: {text}"
        case _:
            return "channel", ""


def _change_edge(page: Page, event: Event, _shown: Event, _k: int) -> FeedLine:
    edge = payload_of(event, payloads.ChannelEdge)
    channel = page.view["channels"].get(edge.channel_id)
    creature = page.view["creatures"].get(edge.creature)
    if channel is None or creature is None:
        return "channel", ""
    bit = BITS[edge.direction]
    bits = channel["edges"].get(edge.creature, 0)
    is_joined = event.kind == kinds.CHANNEL_JOINED
    bits = bits | bit if is_joined else bits & ~bit
    page.changes.set("channels", edge.channel_id, "edges", edge.creature, bits or None)
    mine = page.behind.channels_of.setdefault(edge.creature, {})
    if bits:
        mine[edge.channel_id] = None
    else:
        mine.pop(edge.channel_id, None)
    does = {"listen": "listens", "send": "speaks"}[edge.direction]
    return (
        "channel",
        f"{creature['handle']} {does if is_joined else f'no longer {does}'} on #{channel['name']}",
    )


def _change_wire(page: Page, event: Event, _shown: Event, _k: int) -> FeedLine:
    if event.kind == kinds.OUTPUT_WIRE_REMOVED:
        removed = payload_of(event, payloads.WireRemoved)
        page.changes.delete("wires", removed.edge_id)
        return (
            "wire",
            f"{page.handle_of(removed.source)} no longer hands on to {page.handle_of(removed.target)}",
        )
    added = payload_of(event, payloads.WireAdded)
    wire: Json = {"from": added.source, "to": added.target, "with_content": added.with_content}
    if added.when:
        wire["when"] = added.when
    page.changes.set("wires", added.edge_id, wire)
    if added.incarnation_of:
        page.changes.delete("wires", added.incarnation_of)
    return "wire", f"{page.handle_of(added.source)} hands on to {page.handle_of(added.target)}"


def _change_parent(page: Page, event: Event, _shown: Event, _k: int) -> FeedLine:
    changed = payload_of(event, payloads.ParentChanged)
    if changed.child in page.view["creatures"]:
        page.changes.set("creatures", changed.child, "parent", changed.new_parent)
    parent = "nobody" if changed.new_parent is None else page.handle_of(changed.new_parent)
    return "creature", f"{page.handle_of(changed.child)} belongs to {parent}"


def _grant(page: Page, event: Event, _shown: Event, _k: int) -> FeedLine:
    granted = payload_of(event, payloads.PrivilegeGranted)
    if granted.creature in page.view["creatures"]:
        page.changes.set("creatures", granted.creature, "is_privileged", True)
    return "creature", f"{page.handle_of(granted.creature)} may change the graph"


def _revoke(page: Page, event: Event, _shown: Event, _k: int) -> FeedLine:
    revoked = payload_of(event, payloads.PrivilegeRevoked)
    if revoked.creature in page.view["creatures"]:
        page.changes.set("creatures", revoked.creature, "is_privileged", False)
    return "creature", f"{page.handle_of(revoked.creature)} may no longer change the graph"


# Granted tools


def _change_tool(page: Page, event: Event, _shown: Event, _k: int) -> FeedLine:
    changed = payload_of(event, payloads.ToolChanged)
    tool = changed.tool
    key = _keep_description(page, tool)
    nows: list[str | None] = []
    for name in changed.creatures:
        if (grant := page.behind.grants.get(name, {}).get(tool.name)) is not None:
            grant.now = None if page.behind.digests[grant.granted] == tool.digest else key
            nows.append(grant.now)
            _show_withheld(page, name)
    is_back = bool(nows) and not any(nows)
    words = "is as it was again" if is_back else "has changed and is withheld until it is accepted"
    return "tool", f"{tool.name} {words}"


def _accept_tool(page: Page, event: Event, _shown: Event, _k: int) -> FeedLine:
    accepted = payload_of(event, payloads.ToolAccepted)
    for name in accepted.creatures:
        if (grant := page.behind.grants.get(name, {}).get(accepted.tool)) is not None:
            grant.granted = grant.now or grant.granted
            grant.now = None
            _show_withheld(page, name)
    return "tool", f"{accepted.tool} is accepted as it is now"


def _keep_description(page: Page, tool: DescribedTool) -> str:
    """Keep what a server says of a tool, for those who may read it; its key. Creatures share it."""
    key = key_of(tool)
    page.behind.digests[key] = tool.digest
    if page.role != "spectator":
        text = cut(tool.description, text_chars_max)
        described = {"text": text, "is_read_only": tool.is_read_only, "digest": tool.digest}
        page.changes.set("tools", key, described)
    return key


def _show_withheld(page: Page, name: str) -> None:
    """Which tools are withheld from a creature, with the keys of what was granted and of what it is now."""
    withheld = {
        tool: [] if page.role == "spectator" else [grant.granted, grant.now]
        for tool, grant in page.behind.grants[name].items()
        if grant.now is not None
    }
    page.changes.set("creatures", name, "withheld", withheld or None)


# Graphs and sessions


def _change_graphs(page: Page, event: Event, _shown: Event, _k: int) -> FeedLine:
    change = payload_of(event, payloads.TopologyChanged)
    names = [page.view["graphs"].get(name, {}).get("name", name) for name in change.old_graph_ids]
    if change.kind == "merge":
        survivor = change.new_graph_ids[0]
        page.behind.settled[survivor] = None
        merge_clocks(page, change.old_graph_ids, survivor)
        graphs = page.view["graphs"]
        turns = [graphs[graph_id]["turn"] for graph_id in change.old_graph_ids if graph_id in graphs]
        for graph_id in change.old_graph_ids:
            if graph_id != survivor:
                _absorb(page, survivor, graph_id)
        if survivor in page.view["graphs"]:
            page.changes.set("graphs", survivor, "session", event.session_id)
            page.changes.set("graphs", survivor, "turn", max(turns, default=event.turn))
        return "merge", f"{' and '.join(names)} are one graph"
    if change.kind == "split" and len(change.new_graph_ids) > 1:
        # A story that was cut off may lack the other side's own events: who left is told here.
        _part(page, event, change)
        return "split", f"{names[0]} is {len(change.new_graph_ids)} graphs"
    if not change.new_graph_ids:
        for graph_id in change.old_graph_ids:
            _close_graph(page, graph_id)
    for graph_id in change.new_graph_ids:
        _name_until_settled(page, graph_id)
    return "session", ""


def _absorb(page: Page, survivor: str, graph_id: str) -> None:
    for name in page.behind.members.pop(graph_id, {}):
        page.changes.set("creatures", name, "graph", survivor)
        page.behind.members.setdefault(survivor, {})[name] = None
    for name, age in page.behind.channels_in.pop(graph_id, {}).items():
        page.changes.set("channels", name, "graph", survivor)
        page.behind.channels_in.setdefault(survivor, {})[name] = age
    _forget_graph(page, graph_id)


def _part(page: Page, event: Event, change: payloads.TopologyChanged) -> None:
    known = [name for name in change.affected_creatures if name in page.view["creatures"]]
    target = change.new_graph_ids[1]
    if known and change.affected_count <= len(change.affected_creatures):
        split_clock(page, event.graph_id, target)
        turn = page.view["graphs"].get(event.graph_id, {}).get("turn", event.turn)
        _move(page, known, target)
        _enter_graph(page, replace(event, graph_id=target, turn=turn))


def _move(page: Page, creatures: Iterable[str], graph_id: str) -> None:
    """Creatures with their channels come to another graph."""
    for name in creatures:
        creature = page.view["creatures"].get(name)
        if creature is None or creature["graph"] == graph_id:
            continue
        page.behind.members.get(creature["graph"], {}).pop(name, None)
        page.behind.members.setdefault(graph_id, {})[name] = None
        page.changes.set("creatures", name, "graph", graph_id)
        for channel in page.behind.channels_of.get(name, ()):
            before = page.view["channels"][channel]["graph"]
            if before != graph_id:
                age = page.behind.channels_in.get(before, {}).pop(channel, 0)
                page.behind.channels_in.setdefault(graph_id, {})[channel] = age
                page.changes.set("channels", channel, "graph", graph_id)


def _close_graph(page: Page, graph_id: str) -> None:
    for name in list(page.behind.channels_in.pop(graph_id, {})):
        page.changes.delete("channels", name)
    for name in list(page.behind.members.pop(graph_id, {})):
        _remove_creature(page, name)
    _forget_graph(page, graph_id)


def _forget_graph(page: Page, graph_id: str) -> None:
    graph = page.view["graphs"].get(graph_id)
    if graph is not None:
        page.names.give(graph_id, graph["name"], None)
    page.changes.delete("graphs", graph_id)
    page.behind.heirs.pop(graph_id, None)
    page.behind.settled.pop(graph_id, None)


def _fork(page: Page, event: Event, _shown: Event, _k: int) -> FeedLine:
    forked = payload_of(event, payloads.SessionForked)
    parent = page.view["lanes"].get(forked.parents[0]) if forked.how == "split" else None
    if parent is not None:
        split_clock(page, parent["graph"], event.graph_id)
    if event.graph_id in page.view["graphs"]:
        page.changes.set("graphs", event.graph_id, "session", event.session_id)
    return "session", f"a {forked.how} begins"


def _attach(page: Page, event: Event, _shown: Event, _k: int) -> FeedLine:
    attached = payload_of(event, payloads.SessionAttached)
    known = [name for name in attached.creatures if name in page.view["creatures"]]
    if known:
        _move(page, known, event.graph_id)
        _enter_graph(page, event)
        page.changes.set("graphs", event.graph_id, "session", event.session_id)
        _name_until_settled(page, event.graph_id)
    return "session", ""


def _restate(page: Page, event: Event, _shown: Event, k: int) -> FeedLine:
    """What a branch did not take over from its past is no longer there."""
    restated = payload_of(event, payloads.SessionRestated)
    living = set(restated.creatures.values())
    for name in [name for name in page.view["creatures"] if name not in living]:
        _remove_creature(page, name)
    for graph_id in [name for name in page.view["graphs"] if not page.behind.members.get(name)]:
        _close_graph(page, graph_id)
    wires = page.view["wires"].items()
    for name in [name for name, wire in wires if not {wire["from"], wire["to"]} <= living]:
        page.changes.delete("wires", name)
    take_over_debts(page, restated, k)
    page.changes.set("graphs", event.graph_id, "turn", restated.carried.shape.turn)
    name_graph(page, event.graph_id)
    page.behind.settled[event.graph_id] = None
    take_over_spent(page, event.graph_id, restated)
    return "session", "the past is taken over"


FOLDS: Final[dict[str, FoldOne]] = {
    kinds.CREATURE_STARTED: _start_creature,
    kinds.CREATURE_STOPPED: _stop_creature,
    kinds.CREATURE_RENAMED: _rename_creature,
    kinds.CHANNEL_OPENED: _open_channel,
    **dict.fromkeys((kinds.CHANNEL_CLOSED, kinds.CHANNEL_RENAMED, kinds.CHANNEL_DESCRIBED), _change_channel),
    **dict.fromkeys((kinds.CHANNEL_JOINED, kinds.CHANNEL_LEFT), _change_edge),
    **dict.fromkeys((kinds.OUTPUT_WIRE_ADDED, kinds.OUTPUT_WIRE_REMOVED), _change_wire),
    kinds.PARENT_LINK_CHANGED: _change_parent,
    kinds.PRIVILEGE_GRANTED: _grant,
    kinds.PRIVILEGE_REVOKED: _revoke,
    kinds.TOOL_CHANGED: _change_tool,
    kinds.TOOL_ACCEPTED: _accept_tool,
    kinds.TOPOLOGY_CHANGED: _change_graphs,
    kinds.SESSION_FORKED: _fork,
    kinds.CREATURE_SESSION_ATTACHED: _attach,
    kinds.SESSION_RESTATED: _restate,
}
