"""`Run`: one play of a scenario, as a value at the time of the call."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from glasshouse.events.model_use import NOTHING, Usage
from glasshouse.events.payloads import FinishReason, Governor, RunFinished, RunPaused, prompting_now
from glasshouse.reprs import repr_of
from glasshouse.runtime.folded import Folded
from glasshouse.world.state.ids import the_run


@dataclass(frozen=True, slots=True)
class Run:
    """A run at the time of the call. Its id never changes; the graphs it plays in may change later."""

    __repr__ = repr_of("id", "scenario", "status", "turns", "reason", "winner")

    id: str
    status: Literal["playing", "paused", "finished"]
    session_id: str
    """The session in which it began."""
    graph_ids: tuple[str, ...]
    scenario: str = ""
    title: str = ""
    seed: str = ""
    rng_seed: int = 0
    turns: int = 0
    usage: Usage = NOTHING
    governor: Governor = field(default_factory=Governor)
    """The limits that hold."""
    limits_given: tuple[str, ...] = ()
    """The names of the limits that the caller gave. They hold on when the run is resumed."""
    paused: RunPaused | None = None
    """The payload of `run.paused`, while the run is paused."""
    finished: RunFinished | None = None
    """The payload of `run.finished`, once the run is over."""
    branch_of: str | None = None
    """The run whose past it shares, if it is a branch or was resumed."""
    branch_at: str | None = None
    """The last event of the past that it shares with that run."""
    ended_in: str | None = None
    """The id of its `run.finished`, once it is over."""
    beside: tuple[str, ...] = ()
    """For a branch or a resumed run: the other runs that continue with it, if several scenarios had met."""
    calls_recalled: int = 0
    """For a branch: how many of its calls were answered from the record since this terrarium was opened."""
    prompting: int = prompting_now
    """The number under which its models were asked at first. What goes on is asked under that of this version."""
    prompting_of_past: int | None = None
    """The same of the run whose past it shares, if it is a branch or was resumed."""
    is_edited: bool = False
    """Whether its world was edited before the start. Then it is resumed from its record, not from files."""

    @property
    def calls(self) -> int:
        """Calls that reached a model, plus acts that ended without a model call (ADR 0022)."""
        return self.usage.calls

    @property
    def tokens(self) -> int:
        """Tokens of prompts and answers."""
        return self.usage.tokens

    @property
    def usd(self) -> float | None:
        """What it cost in dollars; None if a price is unknown."""
        return self.usage.usd

    @property
    def is_finished(self) -> bool:
        """Whether it is over."""
        return self.status == "finished"

    @property
    def winner(self) -> str | None:
        """Who won, if it is over and somebody did."""
        return None if self.finished is None else self.finished.winner

    @property
    def reason(self) -> FinishReason | None:
        """Why it ended, once it is over."""
        return None if self.finished is None else self.finished.reason

    @property
    def prompting_note(self) -> str:
        """What differs from here on, if its models, or those of its past, were asked under another number before; else
        empty."""
        if self.is_finished:
            return ""
        if self.prompting != prompting_now:
            return (
                f"{self.id} was begun under prompting number {self.prompting} and goes on under number {prompting_now}: from "
                "here on, prompts are built and replies are read as in this version."
            )
        if self.prompting_of_past not in (None, prompting_now):
            return (
                f"{self.id} continues a past of prompting number {self.prompting_of_past} under number {prompting_now}: recorded "
                "answers are found by their prompts, which differ now, so calls of models and tools after that past are made and paid anew."
            )
        return ""

    @property
    def axis(self) -> str | None:
        """The limit that ended it, or at which it is paused, if one did."""
        stopped = self.finished or self.paused
        return None if stopped is None else stopped.axis


@dataclass(frozen=True, slots=True)
class Thinking:
    """A creature whose model takes its time, at the time of the call."""

    __repr__ = repr_of("handle", "model", "seconds", "is_waiting", "text")

    creature_id: str
    handle: str
    run_id: str | None
    model: str
    seconds: float
    """Since when it thinks."""
    is_waiting: bool = False
    """Whether it waits for its turn at the server, or for a server that is busy."""
    queue_number: int = 0
    """Its number in the queue of the server, from 1 on; 0 if it does not wait there."""
    text: str = ""
    """What has come of the line that it will say aloud, if its model sends text as it comes."""
    prompt_percent: int | None = None
    """How much of its prompt the server has read, before anything is written. None: the server does not tell."""
    tokens: int = 0
    """About how many tokens of its reply have come, thoughts included."""


class DueTurn(NamedTuple):
    """A turn in which a graph has something to do: the current one, or a later one that has not begun."""

    turn: int
    graph_id: str
    is_begun: bool


def run_of(folded: Folded, run_id: str, calls_recalled: int = 0) -> Run:
    """The run as a value, at the time of the call."""
    facts = the_run(folded.world, run_id)
    purse = folded.runs.purses.get(run_id)
    graph_ids = tuple(folded.world.graphs_of(run_id))
    if purse is None:
        return Run(run_id, facts.status, facts.session_id, graph_ids)
    return Run(
        id=run_id,
        status=facts.status,
        session_id=facts.session_id,
        graph_ids=graph_ids,
        scenario=purse.playbill.name,
        title=purse.playbill.title,
        seed=purse.seed,
        rng_seed=purse.rng_seed,
        turns=purse.spent.turns,
        usage=purse.spent.usage,
        governor=purse.limits,
        limits_given=tuple(purse.limits_given),
        paused=purse.paused if facts.status == "paused" else None,
        finished=purse.finished,
        branch_of=None if purse.branch_of is None else purse.branch_of.run_id,
        branch_at=None if purse.branch_of is None else purse.branch_of.at,
        ended_in=purse.ended_in,
        beside=tuple([other for other in purse.beside if other in folded.runs.purses]),
        calls_recalled=calls_recalled,
        prompting=purse.prompting,
        prompting_of_past=None if purse.branch_of is None else purse.branch_of.prompting,
        is_edited=purse.is_edited,
    )
