"""Connectivity: the same components that networkx finds, at the cost of the smaller side."""

import random
from collections.abc import Iterable, Iterator
from typing import Any

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glasshouse.world.state import topology as connectivity
from glasshouse.world.state.topology import (
    LISTEN,
    SEND,
    Edge,
    Node,
    Topology,
    edges_examined_in_a_row_max,
    parted,
)
from tests.rules.under_hash_seeds import printed_under_hash_seeds

Reference = nx.Graph  # Nodes are ("creature" | "channel", name), as in the topology.


def listed(edges: list[tuple[str, str, int]]) -> Topology:
    made = Topology()
    for creature, channel, direction in edges:
        made.join(creature, channel, direction)
    return made


def reference_of(topology: Topology) -> "Reference[Node]":
    graph: Reference[Node] = nx.Graph()
    for creature, channels in topology.channels_of.items():
        graph.add_edges_from((("creature", creature), ("channel", channel)) for channel in channels)
    return graph


def creatures_in(nodes: set[Node]) -> frozenset[str]:
    return frozenset(name for sort, name in nodes if sort == "creature")


def check_parts(listed: list[list[str]], after: "Reference[Node]", ends: list[Node]) -> None:
    """What came apart is what networkx says: every component that touches an end, but for one not walked."""
    after.add_nodes_from(ends)
    touched = [part for part in nx.connected_components(after) if not part.isdisjoint(ends)]
    peopled = {creatures_in(part) for part in touched} - {frozenset()}
    parts = [frozenset(part) for part in listed]
    assert sum(map(len, listed)) == sum(map(len, parts)), "a creature is listed twice"
    assert len(set(parts)) == len(parts), "a part is listed twice"
    assert set(parts) <= peopled
    unwalked = len(touched) - len(parts) - sum(not creatures_in(part) for part in touched)
    assert unwalked == 1 or (unwalked == 0 and len(peopled) < len(touched))


class History:
    """A random life of a topology, with networkx as its witness."""

    def __init__(self, choices: Iterator[int], creatures: int = 9, channels: int = 7) -> None:
        self.topology = Topology()
        self._sizes = {"k": creatures, "c": channels}
        self._choices = choices
        self.removals = 0

    def join_any(self) -> None:
        """One more edge."""
        self._join()

    def step(self) -> None:
        """One more edge, or fewer."""
        kind = next(self._choices) % 10
        if kind < 5 or not self.topology.channels_of:
            self._join()
        elif kind < 7:
            self._leave()
        elif kind == 7:
            self._cut_several()
        elif kind == 8:
            self._remove("creature")
        else:
            self._remove("channel")

    def _one_of(self, names: list[str]) -> str:
        return names[next(self._choices) % len(names)]

    def _an_edge(self) -> Edge:
        creature = self._one_of(list(self.topology.channels_of))
        return creature, self._one_of(list(self.topology.channels_of[creature]))

    def _join(self) -> None:
        creature, channel = (f"{sort}{next(self._choices) % size}" for sort, size in self._sizes.items())
        direction = 1 + next(self._choices) % 3

        self.topology.join(creature, channel, direction)

        assert self.topology.directions(creature, channel) & direction == direction

    def _leave(self) -> None:
        creature, channel = self._an_edge()
        direction = LISTEN if next(self._choices) % 2 else SEND
        is_last = self.topology.directions(creature, channel) & ~direction == 0
        if is_last:
            self._cut([(creature, channel)])
        else:
            self.topology.leave(creature, channel, direction)
            assert self.topology.directions(creature, channel) & direction == 0
            assert reference_of(self.topology).has_edge(("creature", creature), ("channel", channel))

    def _cut_several(self) -> None:
        """The edges that two creatures of one component have to channels: what a disconnect cuts."""
        creature, _ = self._an_edge()
        other = self._one_of(self.topology.component(creature))
        edges = [(creature, channel) for channel in self.topology.channels_of[creature]]
        edges += [(other, channel) for channel in self.topology.channels_of[other]]
        count = 1 + next(self._choices) % len(edges)
        self._cut(list(dict.fromkeys(edges))[:count])

    def _cut(self, edges: list[Edge]) -> None:
        ends: list[Node] = []
        for creature, channel in edges:
            ends += (("creature", creature), ("channel", channel))
        foreseen = parted(self.topology, ends, cut=edges)
        for creature, channel in edges:
            self.topology.leave(creature, channel, LISTEN | SEND)
        self._check(foreseen, ends)

    def _remove(self, sort: str) -> None:
        creature, channel = self._an_edge()
        gone: Node
        ends: list[Node]
        if sort == "creature":
            gone = ("creature", creature)
            ends = [("channel", name) for name in self.topology.neighbours(gone)]
        else:
            gone = ("channel", channel)
            ends = [("creature", name) for name in self.topology.neighbours(gone)]
        foreseen = parted(self.topology, ends, gone=gone)
        if sort == "creature":
            self.topology.remove_creature(creature)
        else:
            self.topology.remove_channel(channel)
        assert not self.topology.neighbours(gone)
        self._check(foreseen, ends)

    def _check(self, foreseen: list[list[str]], ends: list[Node]) -> None:
        self.removals += 1
        after = reference_of(self.topology)
        check_parts(foreseen, after, ends)
        check_parts(parted(self.topology, ends), after, ends)
        for creature in self.topology.channels_of:
            joined = creatures_in(nx.node_connected_component(after, ("creature", creature)))
            component = self.topology.component(creature)
            assert component[0] == creature
            assert len(component) == len(joined)
            assert set(component) == joined


@given(st.lists(st.integers(0, 10_000), min_size=40, max_size=160))
def test_what_comes_apart_is_what_networkx_finds_on_any_history(choices: list[int]) -> None:
    endless = iter(choices * 6)
    history = History(endless)

    for _ in range(len(choices)):
        history.step()


@pytest.mark.parametrize("edges_in_a_row", [1, 2, 16])
@pytest.mark.parametrize(("creatures", "channels"), [(8, 8), (40, 12), (30, 60), (60, 20)])
def test_what_comes_apart_is_what_networkx_finds_on_a_long_seeded_history(
    creatures: int, channels: int, edges_in_a_row: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(f"{creatures} {channels} {edges_in_a_row}")
    history = History(iter(lambda: chance.randrange(10_000), None), creatures, channels)
    # Short strides let searches meet in every order, also in graphs small enough to be checked at every step.
    monkeypatch.setattr(connectivity, "edges_examined_in_a_row_max", edges_in_a_row)

    for _ in range(creatures):
        history.join_any()
    for _ in range(150):
        history.step()

    assert history.removals > 20


def test_a_hub_that_closes_parts_its_people_as_networkx_says_however_their_searches_meet(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connectivity, "edges_examined_in_a_row_max", 1)
    for seed in range(60):
        chance = random.Random(seed)
        people = [f"k{n}" for n in range(60)]
        wheel = listed([(name, "hub", LISTEN) for name in people[:20]])
        for channel in range(35):
            for name in chance.sample(people, 2):
                wheel.join(name, f"c{channel}", SEND)
        ends: list[Node] = [("creature", name) for name in people[:20]]

        apart = parted(wheel, ends, gone=("channel", "hub"))

        wheel.remove_channel("hub")
        check_parts(apart, reference_of(wheel), ends)


def test_both_sides_of_every_edge_tell_the_same_and_nothing_empty_is_kept() -> None:
    chance = random.Random("both sides")
    history = History(iter(lambda: chance.randrange(10_000), None))

    for _ in range(100):
        history.step()
        one_side = {(c, ch, d) for c, row in history.topology.channels_of.items() for ch, d in row.items()}
        other_side = {(c, ch, d) for ch, row in history.topology.members_of.items() for c, d in row.items()}

        assert one_side == other_side
        assert all(history.topology.channels_of.values())
        assert all(history.topology.members_of.values())
        assert all(direction in (1, 2, 3) for _, _, direction in one_side)


def test_taking_away_what_is_not_there_changes_nothing() -> None:
    topology = listed([("ada", "stage", SEND)])

    topology.leave("ada", "cellar", LISTEN)
    topology.leave("ada", "stage", LISTEN)
    topology.leave("bo", "stage", SEND)
    topology.remove_creature("bo")
    topology.remove_channel("cellar")

    assert topology == listed([("ada", "stage", SEND)])


def test_a_creature_without_edges_is_a_component_of_its_own() -> None:
    assert Topology().component("ada") == ["ada"]


def test_a_removal_that_parts_nobody_gives_nothing() -> None:
    ring = listed([("ada", "x", SEND), ("bo", "x", LISTEN), ("bo", "y", SEND), ("ada", "y", LISTEN)])

    assert parted(ring, [("creature", "ada"), ("channel", "x")], cut=[("ada", "x")]) == []
    assert parted(ring, []) == []


class CountedEdges(dict[str, int]):
    """The edges of one node, which count how many of them are looked at."""

    def __init__(self, edges: dict[str, int], cost: list[int]) -> None:
        super().__init__(edges)
        self._cost = cost

    def __iter__(self) -> Iterator[str]:
        for name in super().__iter__():
            self._cost[0] += 1
            yield name


class CountedNodes(dict[str, dict[str, int]]):
    """Nodes with their edges, which count how often one of them is turned to."""

    def __init__(self, nodes: dict[str, dict[str, int]], cost: list[int]) -> None:
        super().__init__({name: CountedEdges(edges, cost) for name, edges in nodes.items()})
        self._cost = cost

    def __getitem__(self, name: str) -> dict[str, int]:
        self._cost[0] += 1
        return super().__getitem__(name)

    def get(self, name: str, default: object = None) -> Any:
        self._cost[0] += 1
        return super().get(name, default)


def parted_at_cost(
    whole: Topology, ends: list[Node], *, cut: Iterable[Edge] = (), gone: Node | None = None
) -> tuple[list[list[str]], int]:
    """What comes apart, and how many nodes and edges were looked at to find it."""
    cost = [0]
    counted = Topology(CountedNodes(whole.channels_of, cost), CountedNodes(whole.members_of, cost))
    return parted(counted, ends, cut=cut, gone=gone), cost[0]


def test_the_count_sees_a_search_that_walks_everything() -> None:
    line = listed([(f"k{n + side}", f"c{n}", SEND) for n in range(100) for side in (0, 1)])

    apart, cost = parted_at_cost(line, [("creature", "k0"), ("channel", "c50")], cut=[("k50", "c50")])

    assert len(apart) == 1
    assert cost > 150


a_few = 4 * edges_examined_in_a_row_max


def test_a_leaf_torn_off_a_great_star_costs_a_few_steps() -> None:
    star = Topology()
    for n in range(20_000):
        star.join(f"k{n}", "hub", LISTEN)

    apart, cost = parted_at_cost(star, [("channel", "hub"), ("creature", "k777")], cut=[("k777", "hub")])

    assert apart == [["k777"]]
    assert cost <= a_few


def test_a_channel_torn_off_a_creature_with_many_channels_costs_a_few_steps() -> None:
    star = Topology()
    for n in range(5_000):
        star.join("hub", f"c{n}", SEND)
        star.join(f"k{n}", f"c{n}", LISTEN)

    apart, cost = parted_at_cost(star, [("creature", "hub"), ("channel", "c9")], cut=[("hub", "c9")])

    assert apart == [["k9"]]
    assert cost <= a_few


@pytest.mark.parametrize("at", [1, 10, 100, 1_000, 2_500, 4_900, 4_999])
def test_a_chain_that_breaks_costs_the_shorter_piece(at: int) -> None:
    links = 5_000
    chain = Topology()
    for n in range(links):
        chain.join(f"k{n}", f"c{n}", SEND)
        chain.join(f"k{n + 1}", f"c{n}", LISTEN)
    shorter = min(at, links - at)

    apart, cost = parted_at_cost(
        chain, [("creature", f"k{at}"), ("channel", f"c{at}")], cut=[(f"k{at}", f"c{at}")]
    )

    assert {len(part) for part in apart} <= {at + 1, links - at}
    # Both searches go in step; each link is two nodes with two edges seen from each.
    assert cost <= 2 * 6 * (shorter + 1) + a_few


def test_removing_a_creature_that_held_many_small_groups_to_a_great_one_costs_only_the_small_ones() -> None:
    groups, members = 30, 20
    crowd = Topology()
    for n in range(30_000):
        crowd.join(f"far{n}", "great", LISTEN)
    crowd.join("middle", "great", SEND)
    for group in range(groups):
        crowd.join("middle", f"small{group}", SEND)
        for member in range(members):
            crowd.join(f"near{group}-{member}", f"small{group}", LISTEN)
    ends: list[Node] = [("channel", name) for name in crowd.channels_of["middle"]]

    apart, cost = parted_at_cost(crowd, ends, gone=("creature", "middle"))

    assert sorted(len(part) for part in apart) == [members] * groups
    assert cost <= 4 * groups * (members + 2) + a_few * (groups + 1)


@given(st.lists(st.integers(0, 10_000), min_size=2, max_size=120), st.integers(0, 10_000))
def test_any_cut_of_any_tree_costs_the_smaller_side(parents: list[int], where: int) -> None:
    tree = Topology()
    for n, parent in enumerate(parents, start=1):
        tree.join(f"k{parent % n}", f"c{n}", SEND)
        tree.join(f"k{n}", f"c{n}", LISTEN)
    torn = 1 + where % len(parents)
    whole = len(parents) + 1

    apart, cost = parted_at_cost(
        tree, [("channel", f"c{torn}"), ("creature", f"k{torn}")], cut=[(f"k{torn}", f"c{torn}")]
    )

    smaller = min(len(apart[0]), whole - len(apart[0]))
    after = reference_of(tree)
    after.remove_edge(("creature", f"k{torn}"), ("channel", f"c{torn}"))
    check_parts(apart, after, [("channel", f"c{torn}"), ("creature", f"k{torn}")])
    assert cost <= 2 * 6 * (smaller + 1) + a_few


def test_an_edge_of_a_dense_graph_is_replaced_by_a_way_round_at_once() -> None:
    dense = Topology()
    for n in range(3_000):
        dense.join(f"k{n}", "one", LISTEN | SEND)
        dense.join(f"k{n}", "other", LISTEN | SEND)

    apart, cost = parted_at_cost(dense, [("creature", "k5"), ("channel", "one")], cut=[("k5", "one")])

    assert apart == []
    assert cost <= 2 * a_few


def test_hash_seeds_do_not_show_in_what_comes_apart() -> None:
    program = """
import random
from glasshouse.world.state.topology import Topology, parted
chance = random.Random("hash seeds")
topology = Topology()
for n in range(60):
    topology.join(f"creature-{chance.randrange(40)}", f"channel-{chance.randrange(40)}", 1 + chance.randrange(3))
for name in list(topology.channels_of):
    ends = [("channel", channel) for channel in topology.channels_of[name]]
    print(name, topology.component(name), parted(topology, ends, gone=("creature", name)))
"""

    printed = printed_under_hash_seeds(program)

    assert len(printed) == 1
    assert len(printed.pop().splitlines()) > 20
