"""Runs on the page: their state, the turns that they have played, what they cost, and the answers that are owed.

Always holds: what a run has spent and what its creatures owe is what the purses and the agenda say of the same events.
The rules are the same functions: who hears an event (`hearers_of`), what one act settles (`bundles`), and how turns are
counted along a line of graphs that split and merge (`turn_counts`). `test_page_view.py` compares the results.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from functools import reduce
from operator import attrgetter
from typing import Final

import msgspec
from msgspec.structs import replace

from glasshouse.events import kinds, payloads
from glasshouse.events.event import RESERVED_ACTORS, Event, Json, costs_of, usage_in
from glasshouse.events.model_use import NOTHING, Usage
from glasshouse.events.payloads import payload_of
from glasshouse.events.recorded_fields import scenario_fields_of
from glasshouse.views.ending import figures_of, how_it_ended, outcome_of
from glasshouse.views.page_state import Clock, Debt, EndNotes, FeedLine, FoldOne, Page
from glasshouse.world.fold.turn_counts import count_turn, merged_counts, merged_turn
from glasshouse.world.hearing.bundles import begin_bundle, bundle_heard_into, bundle_up, settle
from glasshouse.world.hearing.conditions import holds
from glasshouse.world.hearing.hearing import hearers_of
from glasshouse.world.hearing.wires import is_carried

_number: Final = attrgetter("n")

# Cost


def note_cost(page: Page, event: Event) -> Usage:
    """What the calls of an event cost. A run pays for its creatures by the rules of its limits (ADR 0022)."""
    run_id = event.run_id or ""
    costs = costs_of(event) if run_id in page.view["runs"] else ()
    if costs:
        usage = page.behind.usage
        usage[run_id] = reduce(Usage.plus, costs, usage.get(run_id, NOTHING))
        _show_spent(page, run_id, event.graph_id)
    return NOTHING if event.model is None else usage_in([event])


def _show_spent(page: Page, run_id: str, graph_id: str) -> None:
    spent = page.behind.usage.get(run_id, NOTHING)
    clock = page.behind.clocks.get(graph_id)
    turns = max(page.view["runs"][run_id]["spent"]["turns"], clock.turns.get(run_id, 0) if clock else 0)
    shown = {"turns": turns, "calls": spent.calls, "tokens": spent.tokens}
    page.changes.set("runs", run_id, "spent", {**shown, "usd": spent.usd})


# Runs and their turns


def _start_run(page: Page, event: Event, shown: Event, _k: int) -> FeedLine:
    started = payload_of(shown, payloads.RunStarted)
    run_id = event.run_id or ""
    scenario = scenario_fields_of(started.scenario)
    title = scenario.title or scenario.name
    _note_troupes(page, payload_of(event, payloads.RunStarted))
    for entry in started.cast:
        if entry.creature in page.view["creatures"]:
            page.changes.set("creatures", entry.creature, "profile", entry.profile)
            page.changes.set("creatures", entry.creature, "model", entry.model)
    for team, handles in started.competition.teams.items():
        page.changes.set("contest", "teams", team, list(handles))
        _join_team(page, team, set(handles))
    if run_id in page.view["runs"]:
        return "run", title  # A resumed run is recorded in each of its graphs.
    page.behind.end_notes.setdefault(run_id, EndNotes()).started = event.id
    parent = started.branch_of
    run: Json = {
        "title": title,
        "goal": started.goal,
        "seed": started.seed,
        "rng_seed": started.rng_seed,
        "state": "playing",
        "is_edited": started.is_edited or None,
        "branch_of": None if parent is None else {"run_id": parent.run_id, "at": parent.at},
        "limits": None if started.limits is None else msgspec.to_builtins(started.limits),
        "spent": {"turns": 0, "calls": 0, "tokens": 0, "usd": 0.0},
    }
    page.changes.set("runs", run_id, {name: value for name, value in run.items() if value is not None})
    return "run", title


def _note_troupes(page: Page, started: payloads.RunStarted) -> None:
    """Note which troupe each creature of a run begins in. The run's cast is that of its troupes, one after the other."""
    troupes = scenario_fields_of(started.scenario).troupes.items()
    seats = [name for name, troupe in troupes for _ in troupe.cast]
    if len(seats) == len(started.cast):  # A run without a scenario, and a world of one cast, have no troupes.
        page.behind.troupes |= {entry.creature: name for entry, name in zip(started.cast, seats, strict=True)}


def _join_team(page: Page, team: str, handles: set[str]) -> None:
    for name, creature in page.view["creatures"].items():
        if creature["handle"] in handles:
            page.changes.set("creatures", name, "team", team)


def _change_run(page: Page, event: Event, shown: Event, _k: int) -> FeedLine:
    run_id = event.run_id or ""
    state = "playing"
    ending: dict[str, str | None] = {}
    full_turns: int | msgspec.UnsetType = msgspec.UNSET
    words: str | None = None
    match payload_of(shown, payloads.RUN_PAYLOAD_TYPES[event.kind]):
        case payloads.RunPaused(reason=reason, axis=axis):
            state = "paused"
            ending = {"reason": reason, "axis": axis}
            words = reason
        case (
            payloads.RunFinished(
                reason=reason, axis=axis, winner=winner, why=why, full_turns=full_turns
            ) as finished
        ):
            state = "finished"
            words = f"{how_it_ended(finished)} {figures_of(finished)}"
            ending = {"reason": reason, "axis": axis, "winner": winner, "why": why}
            _forgive(page, run_id)
            _show_ending(page, run_id, finished)
        case _:
            pass
    if run_id in page.view["runs"]:
        if full_turns is not msgspec.UNSET:
            page.changes.set("runs", run_id, "full_turns", full_turns)
        page.changes.set("runs", run_id, "state", state)
        for name in ("reason", "axis", "winner", "why"):
            page.changes.set("runs", run_id, name, ending.get(name))
    return "run", ": ".join(filter(None, (state, words)))


def _show_ending(page: Page, run_id: str, finished: payloads.RunFinished) -> None:
    """How a run ended in words, and how many lines it had."""
    if run_id not in page.view["runs"]:
        return
    notes = page.behind.end_notes.get(run_id, EndNotes())
    text = outcome_of(finished, lambda winner: _name_of(page, winner))
    page.changes.set("runs", run_id, "ending", {"text": text, "lines": notes.lines})


def _name_of(page: Page, winner: str) -> str:
    """A creature or team as the page shows it: its title, else the words of its name."""
    titles = [each.get("title") for each in page.view["creatures"].values() if each["handle"] == winner]
    words = re.split(r"[-_ ]+", winner)
    return next(filter(None, titles), None) or " ".join([f"{word[:1].upper()}{word[1:]}" for word in words])


def _begin_turn(page: Page, event: Event, _shown: Event, _k: int) -> FeedLine:
    graph_id = event.graph_id
    if graph_id in page.view["graphs"]:
        page.changes.set("graphs", graph_id, "turn", event.turn)
    if "full" in event.payload:
        _bundle(page, graph_id, payload_of(event, payloads.TurnStarted).full)
    creatures = page.view["creatures"]
    runs = dict.fromkeys([creatures[name].get("run") for name in page.behind.members.get(graph_id, ())])
    known = page.view["runs"]
    playing = [run_id for run_id in runs if run_id in known and known[run_id]["state"] == "playing"]
    count_turn(page.behind.clocks.setdefault(graph_id, Clock()), event.turn, playing)
    for run_id in playing:
        _show_spent(page, run_id, graph_id)
    return "turn", f"turn {event.turn}"


def merge_clocks(page: Page, graph_ids: Iterable[str], survivor: str) -> None:
    """Give the graph that others merged into their turns."""
    clocks = page.behind.clocks
    parts = [clocks.pop(graph_id) for graph_id in graph_ids if graph_id in clocks]
    clocks[survivor] = Clock(merged_turn(parts), merged_counts([part.turns for part in parts]))


def split_clock(page: Page, graph_id: str, new_graph_id: str) -> None:
    """Give a graph that split off the turns of the graph that it was part of."""
    clock = page.behind.clocks.get(graph_id)
    if clock is not None and new_graph_id not in page.behind.clocks:
        page.behind.clocks[new_graph_id] = Clock(clock.turn, dict(clock.turns))


def take_over_spent(page: Page, graph_id: str, restated: payloads.SessionRestated) -> None:
    """Take over from a restated past the turns of its graph, and what its runs have spent."""
    carried = restated.carried
    counts = carried.clocks.turns.items()
    turns = {restated.runs[run_id]: count for run_id, count in counts if run_id in restated.runs}
    page.behind.clocks[graph_id] = Clock(carried.clocks.turn, turns)
    for run_id, then in carried.runs.items():
        name = restated.runs[run_id]
        _take_over_notes(page, run_id, name)
        if name in page.view["runs"]:
            page.behind.usage[name] = then.usage
            page.changes.set("runs", name, "spent", "turns", then.turns)
            _show_spent(page, name, graph_id)


def _take_over_notes(page: Page, old: str, new: str) -> None:
    """A run that continues another has said the same lines until then. It is restated in each of its graphs."""
    notes = page.behind.end_notes
    started = notes.get(new, EndNotes())
    if old not in notes or started.lines:
        return
    # What is played on after its end can end otherwise.
    is_over = page.view["runs"].get(old, {}).get("state") == "finished"
    verdict = "" if is_over else notes[old].verdict
    notes[new] = replace(notes[old], started=started.started, verdict=verdict)


# What is owed


def owe(page: Page, event: Event, k: int) -> None:
    """Note who owes an answer to an event: who hears it and subscribes to it, and whom a wire hands it to."""
    subscribers = page.behind.subscribers.get(event.kind)
    if subscribers:
        for name in hearers_among(page, event, subscribers):
            _add_debt(page, name, event, k)
    if page.view["wires"] and event.actor not in RESERVED_ACTORS and is_carried(event):
        for wire in list(page.view["wires"].values()):
            if wire["from"] == event.actor and holds(wire.get("when"), event):
                _add_debt(page, wire["to"], event, k)


def hearers_among(page: Page, event: Event, names: Collection[str]) -> list[str]:
    """Those of these creatures who hear an event now."""
    members = page.behind.members.get(event.graph_id, {})
    edges = page.view["channels"].get(event.channel_id, {}).get("edges", {})
    roots = [name for name in page.behind.roots if name in members]
    return [name for name in hearers_of(event, members, edges, roots) if name in names]


def _add_debt(page: Page, name: str, event: Event, k: int) -> None:
    creature = page.view["creatures"].get(name)
    if creature is None or name == event.actor:
        return
    run = page.view["runs"].get(creature.get("run", ""), {})
    if run.get("state") == "finished":
        return
    bundle = bundle_heard_into(page.behind.stops, name, is_running=creature["is_running"])
    page.behind.owed.setdefault(name, {}).setdefault(event.id, Debt(k, bundle))
    _show_debts(page, name)


def settle_debts(page: Page, event: Event) -> None:
    """An act that ends settles what it answers, and the whole bundle that belongs to."""
    mailbox = page.behind.owed.get(event.actor)
    if mailbox is None or event.caused_by is None or not event.ends_its_act:
        return
    if settle(mailbox, event.caused_by, _number) is not None:
        _show_debts(page, event.actor)


def take_over_debts(page: Page, restated: payloads.SessionRestated, k: int) -> None:
    """Take over what the creatures of a restated past owe."""
    for old, mailbox in restated.carried.agenda.owed.items():
        name = restated.creatures[old]
        page.behind.owed[name] = {owed.cause: Debt(k, owed.bundle) for owed in mailbox}
        _show_debts(page, name)


def _bundle(page: Page, graph_id: str, run_ids: Collection[str]) -> None:
    """After a full turn, what a creature of these runs still owes is one bundle."""
    for name in page.behind.members.get(graph_id, ()):
        creature = page.view["creatures"][name]
        mailbox = page.behind.owed.get(name)
        if mailbox and creature["is_running"] and creature.get("run") in run_ids:
            bundle_up(mailbox, begin_bundle(page.behind.stops, name))


def _show_debts(page: Page, name: str) -> None:
    if name not in page.view["creatures"]:
        return
    mailbox = page.behind.owed.get(name)
    if mailbox:
        first = next(iter(mailbox.values()))
        page.changes.set("creatures", name, "owes", {"n": first.n, "count": len(mailbox)})
    else:
        page.behind.owed.pop(name, None)
        page.changes.delete("creatures", name, "owes")


def _forgive(page: Page, run_id: str) -> None:
    """A finished run owes nothing."""
    for name in list(page.behind.owed):
        if page.view["creatures"].get(name, {}).get("run") == run_id:
            page.behind.owed[name] = {}
            _show_debts(page, name)


FOLDS: Final[dict[str, FoldOne]] = {
    kinds.RUN_STARTED: _start_run,
    **dict.fromkeys((kinds.RUN_PAUSED, kinds.RUN_CONTINUED, kinds.RUN_FINISHED), _change_run),
    kinds.TURN_STARTED: _begin_turn,
}
