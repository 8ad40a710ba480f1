"""Checks that must hold for every ledger, whatever happened to its machine."""

from __future__ import annotations

from collections import Counter, defaultdict

from glasshouse import Event, Terrarium, kinds
from glasshouse.events.codec import content_of
from glasshouse.events.event import Json
from glasshouse.runtime.folded import Folded
from glasshouse.runtime.ledger.folds import fold_from_start, load_folded
from glasshouse.runtime.replay.record import changes_between
from glasshouse.runtime.replay.replay_answers import act_of
from glasshouse.runtime.store_port import Store
from glasshouse.world.state.state import World

page_events = 4_096


async def ledger_of(store: Store) -> list[Event]:
    """Every event, in the order of commits."""
    events: list[Event] = []
    while page := await store.read_after(len(events), page_events):
        events += page
    return events


def contents_of(ledger: list[Event]) -> list[Json]:
    return [content_of(event) for event in ledger]


def check_no_gaps(ledger: list[Event]) -> None:
    """Positions are 1 to n; the seqs of each segment are 1 to its head, each under its own id."""
    assert [event.position for event in ledger] == list(range(1, len(ledger) + 1))
    seqs: defaultdict[str, list[int]] = defaultdict(list)
    for event in ledger:
        assert event.id == f"{event.session_id}.{event.seq}"
        seqs[event.session_id].append(event.seq)
    for session_id, numbers in seqs.items():
        assert numbers == list(range(1, len(numbers) + 1)), f"{session_id} has gaps"


async def check_histories(terrarium: Terrarium, ledger: list[Event]) -> None:
    """Every session reads in order, each event once, causes before effects, and nothing that is not in the ledger."""
    known = {event.id for event in ledger}
    for session_id in {event.session_id for event in ledger}:
        history = await terrarium.events(session_id)
        ids = [event.id for event in history]
        assert len(set(ids)) == len(ids)
        assert set(ids) <= known
        assert [event.lamport for event in history] == sorted(event.lamport for event in history)
        assert [event.seq for event in history if event.session_id == session_id] == list(
            range(1, terrarium.session(session_id).events + 1)
        )


async def check_folds(store: Store) -> Folded:
    """The world with the help of snapshots is the world folded from the beginning."""
    folded = await load_folded(store)
    from_the_beginning = await fold_from_start(store, await store.position())
    assert folded.world == from_the_beginning.world
    assert folded.agenda == from_the_beginning.agenda
    assert folded.runs == from_the_beginning.runs
    check_runs_are_found(folded.world)
    return from_the_beginning


def check_runs_are_found(world: World) -> None:
    """The graphs of each run, and which runs are open, are what a look at every creature and every run says."""
    graphs: dict[str, Counter[str]] = defaultdict(Counter)
    for creature in world.creatures.values():
        graphs[creature.run_id or ""][creature.graph_id] += 1
    assert world.graphs_by_run == graphs
    assert list(world.open_runs) == [run.id for run in world.runs.values() if run.status != "finished"]


def is_removal(event: Event) -> bool:
    """Whether a creature was removed."""
    return event.kind == kinds.CREATURE_STOPPED and event.payload["reason"] == "removed"


async def check_ends(store: Store) -> None:
    """Every act, named by its creature and its cause, has exactly one end; one that has called a tool and has none is
    still under way, or its run is over, or its creature was removed while nobody thought the act. Lines that a program appended
    end no act."""
    changes = await changes_between(store, 0, await store.position())
    of_acts = [event for change in changes if not change.is_answer_of_program for event in change.events]
    ends = Counter(act_of(event) for event in of_acts if event.ends_its_act)
    assert [act for act, count in ends.items() if act is not None and count > 1] == []
    over = {event.run_id for event in of_acts if event.kind == kinds.RUN_FINISHED}
    gone = {event.payload["creature"] for event in of_acts if is_removal(event)}
    calls = [
        event
        for event in of_acts
        if event.kind == kinds.TOOL_CALLED and event.run_id not in over and event.actor not in gone
    ]
    if without_end := {act_of(event) for event in calls} - ends.keys():
        under_way = (await fold_from_start(store, await store.position())).agenda.under_way
        assert without_end <= {(name, act.cause) for name, act in under_way.items()}
