"""Opening the runs of one command: a new run, a continued run, a branch or a resumed session, with a message about it.
Usually it is one run. It is several if scenarios were merged in a session that continues.

Always holds: runs that share a graph are played together, because their creatures hear each other. Other runs are
played one after another, so that each can be followed. What cannot be done is refused before anything is written. An
interrupted run continues in place if its shape stays the same. It is ended only if its world was edited, or that of a
run that shares graphs with it, and only after that world was checked.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Final, Literal, cast

import msgspec

from glasshouse.cli.command_line import CommandLine
from glasshouse.cli.drawing.comparison import changes_in_words
from glasshouse.cli.drawing.screen import first_words, one_line
from glasshouse.cli.store_reader import StoreReader, Story, find_event
from glasshouse.errors import Refused, UnknownName
from glasshouse.events import kinds
from glasshouse.events.event import Event, Json
from glasshouse.events.payloads import (
    CreatureStarted,
    Governor,
    RunStarted,
    SessionForked,
    payload_of,
    with_limits,
)
from glasshouse.manifests.loading import LoadedWorld, load_creature
from glasshouse.manifests.manifest import Manifest
from glasshouse.runtime.past.missed_beats import missed_beats
from glasshouse.runtime.past.what_if import Edge, WhatIf
from glasshouse.runtime.run import Run
from glasshouse.terrarium import Terrarium, check_code, check_code_on_disk, is_edited
from glasshouse.turns.moment.playbill import Beat
from glasshouse.views.names import last_said
from glasshouse.views.stage import StageProjection, past_runs
from glasshouse.views.transcript import transcript_of

words_shown_max: Final = 10
"""How many words of the line at which a branch begins are quoted."""


@dataclass(frozen=True)
class Opened:
    """The runs to play, and what there is to say about them."""

    runs: tuple[Run, ...]
    shown_after: int
    """The position after which their events are shown; what came before is only remembered."""
    said: tuple[str, ...] = ()
    facts: tuple[Json, ...] = ()
    """The same for machines."""
    is_branch: bool = False
    """Whether answers may come from a record, so that they are worth counting."""


Opener = Callable[[StoreReader], Awaitable[Opened]]
"""Makes or finds the runs that are to be played."""


def new_run(
    loaded: LoadedWorld, seed: str | None, rng_seed: int, run_id: str | None, governor: Governor | None
) -> Opener:
    """Opens a world. Without limits: the world's own."""

    async def open_new(reader: StoreReader) -> Opened:
        position = await reader.store.position()
        run = await reader.terrarium.open_world(loaded, seed, rng_seed, governor, run_id=run_id)
        return Opened((run,), position)

    return open_new


def continued_run(name: str, command_line: CommandLine) -> Opener:
    """Continues a run that was left open."""

    async def open_again(reader: StoreReader) -> Opened:
        run = reader.run(name)
        if run.is_finished:
            raise Refused(f"Run {run.id} is over.", f"Look at it: {command_line.call('show', run.id)}")
        return await continue_in_place(reader, playing_with(reader.terrarium, run))

    return open_again


async def continue_in_place(reader: StoreReader, runs: Iterable[Run]) -> Opened:
    """Runs that were left open, and play in each other's graphs."""
    runs = tuple(runs)
    check_code(reader.terrarium, [run.id for run in runs])
    for run in runs:
        if run.status == "paused":
            await reader.terrarium.continue_run(run.id)
    now = tuple([reader.terrarium.run_of(run.id) for run in runs])
    noted = [run for run in now if run.prompting_note]
    facts = [{"continued": {"run_id": run.id, "prompting_note": run.prompting_note}} for run in noted]
    return Opened(now, await reader.store.position(), _notes(now), tuple(facts))


def _notes(runs: Iterable[Run]) -> tuple[str, ...]:
    """What differs from here on in these runs, if anything does."""
    return tuple([run.prompting_note for run in runs if run.prompting_note])


def side_by_side(runs: Iterable[Run]) -> list[list[Run]]:
    """Runs grouped by the graphs that they share, in the order given."""
    groups: list[list[Run]] = []
    for run in runs:
        mine = [group for group in groups if any({*run.graph_ids} & {*other.graph_ids} for other in group)]
        groups = [group for group in groups if group not in mine]
        groups.append([*chain.from_iterable(mine), run])
    return groups


def playing_with(terrarium: Terrarium, run: Run) -> list[Run]:
    """A run, and after it the other runs that are not over and share graphs with it."""
    unfinished = [other for other in terrarium.runs() if other.id == run.id or not other.is_finished]
    (mine,) = [group for group in side_by_side(unfinished) if run.id in [other.id for other in group]]
    return sorted(mine, key=lambda other: other.id != run.id)


@dataclass(frozen=True)
class Branching:
    """A branch that is asked for."""

    name: str
    at: str | None
    what_if: WhatIf
    limits: Mapping[str, int | float]

    async def open(self, reader: StoreReader) -> Opened:
        """Make it, and say what it is."""
        story = await reader.story(self.name)
        terrarium = reader.terrarium
        position = await reader.store.position()
        event = await self._event(reader, story)
        session_id = await reader.session_at_end_of(self.name) if event is None else event.session_id
        what_if = replace(self.what_if, limits=self._limits_in(story, event))
        run = await terrarium.branch(session_id, None if event is None else event.id, what_if)
        runs = (run, *[terrarium.run_of(run_id) for run_id in run.beside])
        last = event or story.events[-1]
        number = story.numbers[last.id]
        change = what_if.recorded()
        about = {"run_id": run.id, "session_id": run.session_id, "branch_of": run.branch_of}
        facts = {**about, "at": last.id, "number": number, "change": msgspec.to_builtins(change)}
        facts["prompting_note"] = run.prompting_note
        where = f"the end (event {number:,})" if event is None else _where(story, event, number)
        side = "from right before" if what_if.begins_before else "from"
        said = f"{run.id}: a branch of {run.branch_of or story.name}, {side} {where} on."
        changes = changes_in_words(change, self.limits)
        what = (
            f"Changed: {changes}{'' if changes.endswith('”') else '.'}" if changes else "Nothing is changed."
        )
        said_all = (said, what, *_notes(runs))
        return Opened(runs, position, said_all, ({"branched": facts},), is_branch=True)

    async def _event(self, reader: StoreReader, story: Story) -> Event | None:
        """The event at which it begins, none for the end."""
        if self.at is None:
            leave = "Leave --drop and --replace away."
            return last_said(story.name, story.events, leave) if self.what_if.begins_before else None
        event = (await find_event(reader, self.at, story.name)).event
        if event.id not in story.numbers:
            raise UnknownName(noun=f"event of {story.name}", name=self.at)
        return event

    def _limits_in(self, story: Story, event: Event | None) -> Governor | None:
        """The limits that were there, with those that were given."""
        if not self.limits:
            return None
        begun = [started for started in story.events if started.kind == kinds.RUN_STARTED]
        mine = [started for started in begun if event is not None and started.run_id == event.run_id] or begun
        then = payload_of(mine[-1], RunStarted).limits if mine else None
        return with_limits(then or Governor(), self.limits)


def _where(story: Story, event: Event, number: int) -> str:
    """An event as people find it again."""
    lines = [line for line in transcript_of(story.events) if line.id == event.id]
    if lines and lines[0].text:
        text = first_words(one_line(lines[0].text), words_shown_max)
        return f"event {number:,} (turn {event.turn}, {one_line(lines[0].who)}, {text})"
    return f"event {number:,} (turn {event.turn}, {event.kind})"


def edges(option: str, given: list[str] | None) -> tuple[Edge, ...]:
    """Options of the form A:B or A:B:CHANNEL."""
    for words in given or ():
        if not 2 <= len(names := words.split(":")) <= 3 or not all(names):
            reason = f"{option} {words!r} names no two creatures."
            raise Refused(reason, f"Write {option} A:B or A:B:CHANNEL.")
    return cast("tuple[Edge, ...]", tuple(tuple(words.split(":")) for words in given or ()))


def creatures(given: list[Path] | None) -> tuple[Manifest, ...]:
    """The creatures in these files."""
    for path in given or ():
        if not path.is_file():
            raise Refused(f"There is no file {path}.", "Give a creature's file, such as creatures/ada.yaml.")
    return tuple(map(load_creature, given or ()))


@dataclass(frozen=True)
class Resumption:
    """What is to be resumed, and in which shape."""

    name: str
    is_as_was: bool
    worlds: tuple[str, ...] = ()

    async def open(self, reader: StoreReader) -> Opened:
        """Continue in place or make a child, and say which."""
        if self.is_as_was and self.worlds:
            raise Refused("--as-was needs no world: the ledger has the shape.", "Leave one of the two away.")
        terrarium = reader.terrarium
        worlds = self.worlds or None
        session_id, playing = await self._find(reader)
        if playing:
            if self.is_as_was or not any(is_edited(terrarium, run.id, world=worlds) for run in playing):
                return await _in_place(terrarium, await continue_in_place(reader, playing))
            check_code_on_disk(terrarium, [run.id for run in playing], world=worlds)
            for run in playing:
                await terrarium.finish(run.id, "stopped")
            session_id = await reader.session_at_end_of(playing[0].id)
        position = await reader.store.position()
        shape: Literal["as-was", "recipe"] = "as-was" if self.is_as_was else "recipe"
        child = await terrarium.resume(session_id, shape, world=worlds)
        return await _as_child(terrarium, child, session_id, shape, position, {run.id for run in playing})

    async def _find(self, reader: StoreReader) -> tuple[str, list[Run]]:
        """The session to continue from, and the runs that still play in it; the one that was named first."""
        _, run = await reader.run_or_session(self.name)
        session_id = await reader.session_at_end_of(self.name)
        if run is None:
            here = {graph.id for graph in reader.terrarium.graphs() if graph.session_id == session_id}
            unfinished = [run for run in reader.terrarium.runs() if not run.is_finished]
            run = next((run for run in unfinished if here & set(run.graph_ids)), None)
        if run is None or run.is_finished:
            return session_id, []
        return session_id, playing_with(reader.terrarium, run)


async def _as_child(
    terrarium: Terrarium, child: Run, session_id: str, shape: str, position: int, stopped: set[str]
) -> Opened:
    """What there is to say about the runs that were made from a session."""
    runs = (child, *[terrarium.run_of(run_id) for run_id in child.beside])
    change = payload_of(await terrarium.event(f"{child.session_id}.1"), SessionForked).change
    said = _several(session_id, runs)
    facts = []
    for run in runs:
        events = await terrarium.run_events(run.id)
        who = _who(events, run.id, position)
        missed = missed_beats(events, run.id)
        is_edited = change is not None and run.id in change.edited
        said.append(_how(run, session_id, shape, is_edited=is_edited, is_stopped=run.branch_of in stopped))
        for title, handles in who.items():
            said += [f"{title.replace('_', ' ')}: {', '.join(map(one_line, handles))}"] if handles else []
        said += _notes((run,))
        said += [_missed(missed)] if missed else []
        said.append(_limits(run))
        script_change = await terrarium.script_change(run.id)
        said += [script_change] if script_change else []
        facts.append(_facts(run, run.branch_of, shape, is_edited, who, missed, script_change=script_change))
    return Opened(runs, position, tuple(said), tuple(facts))


async def _in_place(terrarium: Terrarium, opened: Opened) -> Opened:
    """What there is to say about runs that continue in place."""
    said = _several(terrarium.graph(opened.runs[0].graph_ids[0]).session_id, opened.runs)
    facts = []
    for run in opened.runs:
        members = chain.from_iterable(terrarium.graph(graph_id).creature_ids for graph_id in run.graph_ids)
        creatures = [creature for creature in map(terrarium.creature, members) if creature.run_id == run.id]
        who = {"with_a_past": [creature.handle for creature in creatures], "new": [], "gone": []}
        change = await terrarium.script_change(run.id)
        facts.append(_facts(run, run.id, "in-place", False, who, script_change=change))
        said.append(f"{run.id} continues in place, where it was left: turn {run.turns}.")
        said += [change] if change else []
        said += _notes((run,))
    return replace(opened, said=tuple(said), facts=tuple(facts))


def _facts(
    run: Run,
    parent: str | None,
    how: str,
    is_edited: bool,
    who: dict[str, list[str]],
    missed: Sequence[Beat] = (),
    *,
    script_change: str = "",
) -> Json:
    about = {"run_id": run.id, "session_id": run.session_id, "resumed_from": parent, "how": how}
    limits = {"limits": msgspec.to_builtins(run.governor), "limits_given": list(run.limits_given)}
    beats = [{"turn": beat.turn, "title": beat.title, "text": beat.text} for beat in missed]
    past = {"is_edited": is_edited, **who, "missed_beats": beats, "prompting_note": run.prompting_note}
    past |= {"script_change": script_change} if script_change else {}
    return {"resumed": {**about, **past, **limits}}


def _missed(beats: Sequence[Beat]) -> str:
    """Which beats of the edited world are not shown, because their turns were played before the edit."""
    words = [(beat.turn, first_words(one_line(beat.title or beat.text), words_shown_max)) for beat in beats]
    named = "; ".join(f"turn {turn}, {text}" for turn, text in words)
    return f"not shown, because the turns of these new beats are over: {named}"


def _limits(run: Run) -> str:
    """The limits that hold, what is used of them, and which of them the caller gave."""
    used: dict[str, float] = {
        "max_turns": run.turns,
        "max_total_calls": run.calls,
        "max_total_tokens": run.tokens,
    }
    used |= {} if run.usd is None else {"max_total_usd": round(run.usd, 4)}
    parts = []
    for axis, limit in msgspec.to_builtins(run.governor).items():
        spent = f", {used[axis]:,} used" if axis in used else ""
        given = ", given by the caller" if axis in run.limits_given else ""
        amount = limit if isinstance(limit, str | None) else f"{limit:,}"
        is_usual = axis == "on_turn_limit" and limit == "defer" and not given
        parts += [] if amount is None or is_usual else [f"{axis} {amount}{spent}{given}"]
    return f"limits: {'; '.join(parts) or 'none'}"


def _several(session_id: str, runs: tuple[Run, ...]) -> list[str]:
    titles = ", ".join(one_line(run.title or run.scenario) for run in runs)
    several = f"{len(runs)} scenarios had met in {session_id}, and all continue: {titles}."
    return [several] if len(runs) > 1 else []


def _how(child: Run, session_id: str, shape: str, *, is_edited: bool, is_stopped: bool) -> str:
    parent = child.branch_of or session_id
    if is_stopped and is_edited:
        return f"The world of {parent} was edited: it is stopped, and {child.id} continues it."
    if is_stopped:
        return f"{parent} is stopped with it, and {child.id} continues it, with its world as it is."
    edited = "with its world as it was edited since" if is_edited else "with its world as it is"
    how = "in the very shape it had" if shape == "as-was" else edited
    return f"{child.id} continues {parent}, {how}."


def _who(events: tuple[Event, ...], run_id: str, position: int) -> dict[str, list[str]]:
    """The handles of those who have a past, of those who are new, and of those who are gone."""
    before = StageProjection(run_id=run_id, past_run_ids=past_runs(events, run_id))
    births = []
    for event in events:
        if (event.position or 0) <= position:
            before.apply(event)
        elif event.kind == kinds.CREATURE_STARTED:
            births.append(payload_of(event, CreatureStarted))
    mine = [(birth.handle, birth.incarnation_of) for birth in births if birth.run_id == run_id]
    old, new = [[handle for handle, past in mine if bool(past) is has_past] for has_past in (True, False)]
    living = {past for _, past in mine}
    gone = [member.handle for creature, member in before.cast.items() if creature not in living]
    return {"with_a_past": old, "new": new, "gone": gone}
