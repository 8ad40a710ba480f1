"""The acts in flight: what this process knows of an act, from when it is begun or taken until its end is durable.

The truth is the ledger: its agenda says which acts are owed, and a restart after a crash needs nothing of this. What is
here concerns tasks, and calls that are paid for and not recorded yet. `TABLE` lists every state of an act and every move
from one to the next: who causes it, what is written, and what becomes of the act's calls. A move that is not in the table
raises `EngineFault`: nobody can forget a state. The page `docs/an-act.md` is made from the table.

Always holds: an act has at most one record (`InFlight`) among those in flight, in one state. A call that reached a model is
recorded once. Until the event that records it is durable, it is kept here as well, so a commit that fails loses none; and what
a refold finds in the ledger is not recorded again. (Only beyond `acts_kept_max` acts are calls dropped.) The reservation of an
act holds the cost of its calls as long as the pending world does not count them.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable
from typing import Final, Literal, NamedTuple, TypeAlias

import msgspec
from msgspec.structs import replace

from glasshouse.errors import (
    BudgetExceeded,
    EngineFault,
    ModelMisconfigured,
    ModelUnreachable,
    StoreFailed,
)
from glasshouse.events.event import event_id, session_and_seq
from glasshouse.events.model_use import NOTHING, Call, ModelUse, Usage, usage_of
from glasshouse.runtime.acts.act_calls import INTERRUPTED, UnrecordedCalls
from glasshouse.runtime.acts.looking import ActContext
from glasshouse.runtime.acts.reservations import Reservations
from glasshouse.runtime.ledger.ledger import Ledger
from glasshouse.runtime.ledger.writer import Queued
from glasshouse.world.decisions.intents import EndAct
from glasshouse.world.state.state import GraphState, World

acts_kept_max: Final = 1_024
"""Of how many acts the calls are kept that could not be recorded, because the act was stopped, interrupted or refused."""

Act: TypeAlias = tuple[str, str]
"""Names an act: the ids of its creature and of the cause it answers."""

Stop: TypeAlias = BudgetExceeded | ModelUnreachable | ModelMisconfigured
"""What stops an act: it ends or pauses its run."""

# The table

State = Literal[
    "owed",
    "begun",
    "thought",
    "taken",
    "staged",
    "stopped",
    "interrupted",
    "given up",
    "discarded",
    "refused",
    "ended",
]

Cause = Literal[
    "begin",
    "take",
    "thought",
    "staged",
    "durable",
    "stop",
    "interrupt",
    "put back",
    "pause",
    "give up",
    "discard",
    "refuse",
    "hand on",
    "crowd out",
]

Calls = Literal["stay", "kept", "sent", "handed on", "dropped"]
"""What becomes of the act's calls, and of the reservation that holds their cost."""

STATES: Final[dict[State, str]] = {
    "owed": "Only the ledger knows it: its agenda owes the act. If code plays the creature and its agent is not here, it waits (ADR 0061).",
    "begun": "It thinks in a task of its own, on the past at the start of its batch (ADR 0078). Its tools wait at a gate.",
    "thought": "Its task has ended. It waits for its place in the order of the cast.",
    "taken": "A drive plays it. Other drives wait for its end, and its run is not finished before.",
    "staged": "Its end is on its way to the store. The pending world owes the act no more and counts its cost.",
    "stopped": "A limit was reached, or no server, before anything worth telling. Its calls are kept.",
    "interrupted": "It was cancelled, or the store failed in the middle of it. Its calls are kept.",
    "given up": "It is written for good, because its run finishes or is paused already, its creature is gone, its turn is full, or the house closes. No drive plays it.",
    "discarded": "Nothing is written for it.",
    "refused": "A commit failed, and with it the event that held its calls. They are kept.",
    "ended": "Its end is durable.",
}
"""The states and what each means: first those of an act that goes well, then the others, then its end."""

CALLS: Final[dict[Calls, str]] = {
    "stay": "stay as they are",
    "kept": "kept until the act is thought again or given up; the reservation holds their cost. Without any, the act is owed and has no record",
    "sent": "held until they are durable; the reservation is released, because the pending world counts the cost",
    "handed on": "recorded with the next act of its creature, which takes over the reservation",
    "dropped": "dropped: they are in the ledger, there are none worth recording, or there is no room for them; the reservation is released",
}

_A_DRIVE: Final = "a drive"
_ITS_TASK: Final = "its task"
_ITS_END: Final = "the end or the pause of its run, its creature's removal, a full turn, or closing"
_THE_STORE: Final = "the store: the commit failed, and the refold does not find the event"
_ONE_EVENT: Final = "the one event that ends it: its line, `agent.passed`, `agent.failed`, or `act.discarded` if its creature is gone"


class Next(NamedTuple):
    """Where a move leads: the new state, who causes it, what is written, and what becomes of the calls."""

    state: State
    by: str
    writes: str = "nothing"
    calls: Calls = "stay"


def _kept_moves(state: State) -> dict[tuple[State, Cause], Next]:
    """The moves of an act whose calls are kept. They are the same however it came to that."""
    return {
        (state, "begin"): Next("begun", "a drive: the ticks of its batch begin again"),
        (state, "take"): Next("taken", _A_DRIVE),
        (state, "give up"): Next("given up", _ITS_END),
        (state, "hand on"): Next(
            "discarded", "the next act of its creature, if this one is owed no more", calls="handed on"
        ),
        (state, "crowd out"): Next(
            "owed", f"more than {acts_kept_max:,} acts whose calls are kept", calls="dropped"
        ),
    }


def _held_moves(state: State) -> dict[tuple[State, Cause], Next]:
    """The moves of an act that somebody plays: a drive, or whoever writes it for good."""
    return {
        (state, "staged"): Next("staged", "its player", _ONE_EVENT, "sent"),
        (state, "interrupt"): Next("interrupted", "its player was cancelled, the store failed, or nothing is left to write but calls", calls="kept"),
        (state, "put back"): Next("thought", "the same, after its own task had ended"),
        (state, "discard"): Next("discarded", "it was not owed any more when it began, or nothing is left to write", calls="dropped"),
    }  # fmt: skip


TABLE: Final[dict[tuple[State, Cause], Next]] = {
    ("owed", "begin"): Next("begun", "a drive: the ticks of a turn with `together` begin"),
    ("owed", "take"): Next("taken", _A_DRIVE),
    ("owed", "refuse"): Next("refused", _THE_STORE, calls="kept"),
    ("begun", "thought"): Next("thought", _ITS_TASK),
    ("begun", "stop"): Next("stopped", _ITS_TASK, calls="kept"),
    ("begun", "interrupt"): Next(
        "interrupted", "closing; or its task, if it is owed no more and has calls to record", calls="kept"
    ),
    ("begun", "discard"): Next("discarded", _ITS_TASK, calls="dropped"),
    ("begun", "take"): Next("taken", _A_DRIVE),
    ("begun", "give up"): Next("given up", _ITS_END),
    ("thought", "take"): Next("taken", _A_DRIVE),
    ("thought", "give up"): Next("given up", _ITS_END),
    ("taken", "begin"): Next("taken", "the same drive: it thinks in a task, with its batch"),
    ("taken", "stop"): Next("stopped", "a limit, or a server out of reach", calls="kept"),
    **_held_moves("taken"),
    ("staged", "durable"): Next("ended", "the store", calls="dropped"),
    ("staged", "refuse"): Next("refused", _THE_STORE, calls="kept"),
    ("stopped", "pause"): Next("owed", "the pause of its run", "`run.paused`, with its calls", "sent"),
    **_kept_moves("stopped"),
    **_kept_moves("interrupted"),
    **_held_moves("given up"),
    **_kept_moves("refused"),
}
"""Every move of an act. `discarded` and `ended` are left by nobody: the record is gone."""

# The records


class ActResult(msgspec.Struct, frozen=True):
    """The result of an act before it is written: the intent that ends it, or what stopped it."""

    act: Act
    end: EndAct | None
    stopped_by: Stop | None = None
    attempts: ModelUse | None = None
    """The model calls of an act that was stopped and stays due."""
    given_up: EndAct | None = None
    """How an act that was stopped ends if it is never thought again, so that what it cost is recorded."""


class InFlight(msgspec.Struct, eq=False):
    """What this process knows of one act."""

    act: Act
    run_id: str
    """The run that pays for it. Empty in a replay, whose acts keep no run from finishing."""
    state: State = "owed"
    context: ActContext | None = None
    """What it sees and the calls that it makes, from when it begins to think."""
    has_looked: bool = False
    """Whether its context is that of the time it thinks now; else it has not looked at the world yet."""
    result: ActResult | None = None
    """What it came to, once it has thought."""
    kept: UnrecordedCalls | None = None
    """The calls of the last time it thought, until it is thought again."""
    task: asyncio.Task[ActResult | None] | None = None
    """What thinks, if it was begun with its batch; else the drive does."""
    gate: asyncio.Event | None = None
    """It waits here before its first tool, until it is its turn to be written."""
    queued: Queued | None = None
    position: int = 0
    """The position of the event that ends it, once that is staged."""
    left: asyncio.Future[None] | None = None
    """Done when nobody plays it any more, if somebody waits for that."""
    is_baseless: bool = False
    """Whether the event that it answers, or something that it saw, was refused while it thought: it must not be written."""

    cause_is_gone: bool = False
    """Whether the event that it answers was refused. Another event may have the same id now."""

    def check_base(self) -> None:
        """Raise if the act stands on something that is not in the ledger: nothing of it may be written."""
        if self.is_baseless:
            raise StoreFailed(
                "What this act answers or has seen was not written, because a commit failed. The act is thought again if it is due."
            )


class SentCalls(NamedTuple):
    """Calls on their way to the ledger in another event than the end of their act: a `tool.called`, or a `run.paused`."""

    position: int
    record: InFlight
    calls: UnrecordedCalls


class ActsInFlight:
    """The records of all acts in flight. It moves them by the table, and writes nothing itself."""

    def __init__(self, ledger: Ledger, reservations: Reservations) -> None:
        self._ledger = ledger
        self._reservations = reservations
        self.ahead: dict[Act, InFlight] = {}
        """Begun and thought: no drive plays them yet. They are in the order in which they began."""
        self.taken: dict[Act, InFlight] = {}
        """Taken and given up: somebody plays them."""
        self.kept: dict[Act, InFlight] = {}
        """Stopped, interrupted and refused: their calls wait to be recorded."""
        self._staged: deque[InFlight] = deque()
        """In the order of their commits."""
        self._sent: list[SentCalls] = []
        self._somebody_left: asyncio.Event | None = None
        self._places: dict[State, dict[Act, InFlight]] = {
            "begun": self.ahead,
            "thought": self.ahead,
            "taken": self.taken,
            "given up": self.taken,
            "stopped": self.kept,
            "interrupted": self.kept,
            "refused": self.kept,
        }
        ledger.may_end = self.is_taken
        ledger.after_refold.append(self._look_at_the_refold)

    def _move(self, record: InFlight, cause: Cause) -> None:
        """Move an act as the table says, and its calls with it."""
        before = record.state
        move = TABLE.get((before, cause))
        if move is None:
            creature_id, event = record.act
            raise EngineFault(
                f"The act of {creature_id} for {event} is {before}, and no rule says what follows from {cause!r}."
                " This is a fault of the engine: please report it."
            )
        record.state = move.state
        calls = move.calls
        if calls == "kept":
            self._keep(record, is_released=before == "staged")
        elif calls in ("sent", "dropped"):
            held = record.kept if record.context is None else record.kept or record.context.act_calls
            if held is not None:
                self._reservations.release(held.mine)
        old = self._places.get(before)
        new = self._places.get(record.state)
        if old is new:
            return  # It stays where it is, and so does its place in the order.
        if new is not None:
            new[record.act] = record
        if old is None:
            return  # Nobody had a record of it before, or only the writer has.
        del old[record.act]
        if old is not self.taken:
            return  # Nobody waits for the end of an act that nobody plays.
        if record.left is not None:
            record.left.set_result(None)
            record.left = None
        if self._somebody_left is not None:
            self._somebody_left.set()
            self._somebody_left = None

    # From owed to durable

    def begin(self, act: Act, run_id: str) -> InFlight:
        """An act begins to think with its batch. If a drive has taken it, it stays taken."""
        record = self.taken.get(act) or self.ahead.get(act) or self.kept.get(act) or InFlight(act, run_id)
        self._move(record, "begin")
        record.cause_is_gone = False  # The act is owed, so there is such an event.
        record.gate = asyncio.Event()
        if self.kept:
            self._take_over(record)
        return record

    def take(self, act: Act, run_id: str) -> InFlight:
        """A drive takes an act: no other drive plays it, and its run is not finished before it is written."""
        record = self.ahead.get(act) or self.taken.get(act) or self.kept.get(act) or InFlight(act, run_id)
        if record.is_baseless and record.state == "thought":  # It is thought again.
            self._move(record, "take")
            self.interrupt(record)
            record = self.kept.get(act) or InFlight(act, run_id)
        self._move(record, "take")
        record.cause_is_gone = record.cause_is_gone and record.is_baseless
        if self.kept and record.task is None:
            self._take_over(record)
        return record

    def thought(self, record: InFlight, outcome: Cause = "thought") -> None:
        """The task of an act has ended. If somebody plays the act, they await the task and move it themselves."""
        if record.state == "begun":
            self._move(record, "interrupt" if outcome == "discard" and record.kept is not None else outcome)

    def staged(self, record: InFlight, queued: Queued) -> None:
        """The event that ends an act is on its way to the store. Those before it may be durable by now."""
        record.queued = queued
        record.position = self._ledger.position
        record.task = None
        self._move(record, "staged")
        staged = self._staged
        staged.append(record)
        while (first := staged[0].queued) is not None and first.events[0].position is not None:
            self.durable(staged.popleft())

    def durable(self, record: InFlight) -> None:
        """The end of an act is durable, and so is everything that was sent before it."""
        self._move(record, "durable")
        if self._sent:
            self._sent = [sent for sent in self._sent if sent.position > record.position]

    # When it does not go on

    def stop(self, record: InFlight) -> None:
        """A drive played an act, and it came to no end: a limit, or a server out of reach, stopped it, or it was owed no
        more when it began."""
        if record.result is None:
            self.discard(record)
        else:
            self._move(record, "stop")

    def interrupt(self, record: InFlight) -> None:
        """Whoever plays an act cannot go on. If its own task has thought it, only that player is gone."""
        result = record.result
        has_end = record.task is not None and result is not None and result.end is not None
        is_thought = has_end and not record.is_baseless
        self._move(record, "put back" if is_thought and record.act in self.taken else "interrupt")

    def discard(self, record: InFlight) -> None:
        """Nothing is to be written for an act. Calls that it should have recorded are kept for its creature's next act."""
        self._move(record, "discard" if record.kept is None else "interrupt")

    def give_up(self, record: InFlight) -> None:
        """An act is not thought again: whoever writes it for good plays it now."""
        self._move(record, "give up")

    def refuse(self, record: InFlight) -> None:
        """The event that should hold the calls of an act is not in the ledger."""
        self._move(record, "refuse")

    def sent(self, act: Act, calls: UnrecordedCalls) -> None:
        """Calls are on their way to the ledger before their act ends, with a `tool.called`."""
        record = self.taken.get(act) or self.ahead[act]
        self._sent.append(SentCalls(self._ledger.position, record, calls))

    def pause(self, record: InFlight) -> None:
        """The calls of a stopped act are on their way to the ledger with the `run.paused` of its run."""
        calls = record.kept
        assert calls is not None, "an act that was stopped and is kept has calls"
        self._move(record, "pause")
        record.kept = None
        self._sent.append(SentCalls(self._ledger.position, record, calls))

    def note_paused(self, record: InFlight) -> None:
        """The `run.paused` with the calls of an act is durable."""
        self._sent = [sent for sent in self._sent if sent.record is not record]

    def end_for_good(self, record: InFlight) -> EndAct | None:
        """How an act ends that is not thought again; None if it came to nothing and none of its calls reached a model."""
        result = record.result
        context = record.context
        if context is None:
            return None  # It has never begun to think.
        if record.kept is not None:
            context.act_calls.take_up(record.kept)
            record.kept = None
        elif result is None or result.end is not None:
            return (
                None if result is None else result.end
            )  # It was owed no more when it began, or it came to an end.
        if not has_reached_a_model(context.act_calls.calls):
            return None  # Its attempts were free, and nobody asks for them.
        stopped = None if result is None else result.given_up
        end = replace(
            context.end(),
            cause=record.act[1],  # The context may be that of an act whose calls this one took over.
            failure=INTERRUPTED if stopped is None else stopped.failure,
            axis=None if stopped is None else stopped.axis,
            attempts=len(context.act_calls.calls),
        )
        if not record.cause_is_gone:
            return end  # So it is, unless a commit failed.
        # The event that it answers was refused with it. Nobody owes an act for the first event of a session.
        cause = event_id(end.session_id, 1)
        del self.taken[record.act]
        record.act = (record.act[0], cause)
        self.taken[record.act] = record
        return replace(end, cause=cause)

    # Who is where

    def is_taken(self, act: Act) -> bool:
        """Whether somebody plays an act. It was owed when it began, so it may end even if it is owed no more (ADR 0098)."""
        return act in self.taken

    def played_by(self, creature_id: str) -> Act | None:
        """The act that a creature is playing. It plays one at a time: after a merge, another drive may find it due for
        something else."""
        for act in self.taken:
            if act[0] == creature_id:
                return act
        return None

    def of_run(self, run_id: str, graph: GraphState | None = None) -> list[InFlight]:
        """The acts of a run that nobody plays, in this graph or, without one, in all: those begun ahead, and those whose
        calls are kept."""
        records = [
            record for record in (*self.ahead.values(), *self.kept.values()) if record.run_id == run_id
        ]
        return (
            records if graph is None else [record for record in records if record.act[0] in graph.creatures]
        )

    def of_the_gone(self) -> list[InFlight]:
        """The acts of removed creatures that nobody plays."""
        creatures = self._ledger.world.creatures
        return [
            record for record in (*self.ahead.values(), *self.kept.values()) if record.act[0] not in creatures
        ]

    async def until_ended(self, act: Act) -> None:
        """Wait until nobody plays an act any more."""
        record = self.taken.get(act)
        if record is not None:
            record.left = record.left or asyncio.get_running_loop().create_future()
            await asyncio.wait([record.left])

    def is_playing(self, run_id: str) -> bool:
        """Whether somebody plays an act of a run."""
        return any(record.run_id == run_id for record in self.taken.values())

    async def until_none(self, run_id: str) -> None:
        """Wait until nobody plays an act of a run."""
        while self.is_playing(run_id):
            self._somebody_left = self._somebody_left or asyncio.Event()
            await self._somebody_left.wait()

    # Calls

    def _keep(self, record: InFlight, *, is_released: bool) -> None:
        """Keep the calls of an act until they are recorded. Without any, nothing is left of it but what the ledger owes."""
        context = record.context
        record.task = None
        record.gate = None
        record.queued = None
        record.is_baseless = False
        record.has_looked = False
        if record.state != "stopped":
            record.result = None
        if (
            record.kept is None and context is not None
        ):  # Else it has not begun to think since they were kept.
            calls = context.act_calls
            context.looked = None
            if calls.calls:
                record.kept = calls.unrecorded
            if is_released:
                self._reservations.hold_again(calls.mine, cost_of(calls.calls))
            else:
                self._reservations.settle(calls.mine, NOTHING)
            if record.kept is None:
                self._reservations.release(calls.mine)
        if record.kept is None:
            record.state = "owed"
        elif len(self.kept) >= acts_kept_max:
            self._move(next(iter(self.kept.values())), "crowd out")

    def _take_over(self, record: InFlight) -> None:
        """Let an act that is about to think record the calls of its creature's acts that are owed no more: the event that
        they answer was refused, or a program answered it."""
        agenda = self._ledger.agenda
        for other in [each for each in self.kept.values() if each.act[0] == record.act[0]]:
            calls = other.kept
            if calls is None or agenda.owes(*other.act):
                continue  # It is thought again itself.
            self._move(other, "hand on")
            self._add(record, calls)
            record.context = record.context or other.context

    def _add(self, record: InFlight, calls: UnrecordedCalls) -> None:
        """Keep these calls with an act, before those that are kept already. Its reservation holds their cost."""
        kept = record.kept
        if kept is None:
            record.kept = calls
            return
        record.kept = UnrecordedCalls(
            [*calls.calls, *kept.calls],
            [*calls.prompts, *kept.prompts],
            [*calls.shown, *kept.shown],
            kept.mine,
        )
        if calls.mine is not kept.mine:
            self._reservations.release(calls.mine)
            self._reservations.hold_again(kept.mine, cost_of(calls.calls))

    def _look_at_the_refold(self) -> None:
        """A commit failed, and the world was folded again: only what it holds now was written. Everything that was on its
        way behind that is refused."""
        position = self._ledger.position
        staged = self._staged
        self._staged = deque()
        for record in staged:
            if record.position <= position:
                self._move(record, "durable")
            else:
                self.refuse(record)
        sent = self._sent
        self._sent = []
        for calls in sent:
            if calls.position > position:
                self._take_back(calls)
        for record in (*self.ahead.values(), *self.taken.values(), *self.kept.values()):
            context = record.context
            record.cause_is_gone = record.cause_is_gone or not _has_happened(
                self._ledger.world, record.act[1]
            )
            if record.act in self.kept:
                pass  # It thinks again before it is written, or is given up.
            elif context is None or not record.has_looked:
                record.is_baseless = True  # What it was told to look at may be refused.
            elif record.cause_is_gone or not context.saw_only_what_happened:
                record.is_baseless = True
            if context is not None:
                context.unsee(position)

    def _take_back(self, sent: SentCalls) -> None:
        """Calls that were sent before their act ended are not in the ledger: their act keeps them."""
        act = sent.record.act
        calls = sent.calls
        self._reservations.hold_again(calls.mine, cost_of(calls.calls))
        thinking = self.taken.get(act) or self.ahead.get(act)
        if thinking is not None and thinking.kept is None and thinking.context is not None:
            thinking.context.act_calls.put_back(calls)
        elif (kept := thinking or self.kept.get(act)) is not None:
            self._add(kept, calls)
        else:
            context = sent.record.context
            self.refuse(InFlight(act, sent.record.run_id, context=context, kept=calls))


def has_reached_a_model(calls: Iterable[Call]) -> bool:
    """Whether one of these calls reached a model, so that it may have cost something."""
    return any(call.reached for call in calls)


def cost_of(calls: Iterable[Call]) -> Usage:
    """What calls cost together."""
    cost = NOTHING
    for call in calls:
        cost = cost.plus(usage_of(call))
    return cost


def _has_happened(world: World, name: str) -> bool:
    session_id, seq = session_and_seq(name)
    session = world.sessions.get(session_id)
    return session is not None and seq <= session.head
