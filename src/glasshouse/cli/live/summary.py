"""The summary of a run that ended or was interrupted: how it ended, its digest, and the commands to look at it again.

Always holds: a printed command is complete and can be pasted unchanged.
"""

from __future__ import annotations

from dataclasses import dataclass

from glasshouse.cli.command_line import CommandLine
from glasshouse.cli.drawing.run_view import RunView, gauges
from glasshouse.cli.drawing.screen import one_line
from glasshouse.cli.drawing.stage import ending_of
from glasshouse.events.event import Json
from glasshouse.runtime.conducting.order import Waiting


@dataclass(frozen=True)
class Summary:
    """One run as it was left."""

    view: RunView
    digest: str
    parent: str | None = None
    """The run that it can be compared with: the one that it is a branch of, or was resumed from."""
    calls_recalled: int | None = None
    """Of a branch that was just made: how many of its calls were answered from the record."""
    is_one_of_several: bool = False
    """Whether other runs were played in one go with it, so that it has to be told apart."""
    had_nothing_left: bool = False
    """Whether there was nothing to play."""
    waiting: tuple[Waiting, ...] = ()
    """The creatures of the run that wait for an agent, which only a Python program can give them."""

    def lines(self, command_line: CommandLine) -> list[str]:
        """Everything to say, line by line."""
        view = self.view
        run = self.view.run
        if run.finished is not None:
            ending = ending_of(run.finished, view.stage)
        else:
            spent = [gauge.in_words() for gauge in gauges(view)]
            why = f"Paused: {one_line(run.paused)} " if run.paused else ""
            ending = f"{why}To be continued: {', '.join(spent)}."
        if self.calls_recalled is not None:
            were = "call was" if self.calls_recalled == 1 else "calls were"
            ending += f" {f'{self.calls_recalled:,}' if self.calls_recalled else 'No'} {were} answered from the record."
        if self.had_nothing_left and view.past_run_ids:
            ending += " Nothing was left to play: branch from an earlier event, or with other limits."
        if self.is_one_of_several:
            ending = f"{one_line(run.title or view.run_id)}. {ending}"
        calls = [f"  {call}" for call in self.calls(command_line)]
        return ["", ending, *self._waiting_lines(command_line), f"digest {self.digest}", *calls]

    def _waiting_lines(self, command_line: CommandLine) -> list[str]:
        """Who waits for an agent, and how a Python program gives it."""
        if not self.waiting:
            return []
        who = ", ".join(f"{one_line(each.handle)} (a {one_line(each.agent)})" for each in self.waiting)
        agents = ", ".join(f"{each.handle!r}: {each.agent}()" for each in self.waiting)
        return [
            f"Waiting for an agent, because Python code plays it: {who}. Go on in your program:",
            f"  async with Terrarium({command_line.path!r}, agents={{{agents}}}) as t:",
            f"      await t.run({self.view.run_id!r})",
        ]

    def calls(self, command_line: CommandLine) -> list[str]:
        """The commands that make sense for the run now."""
        view = self.view
        run_id = self.view.run_id
        is_grown = bool(self.view.past_run_ids)
        # Suggest a branch: some turns before the end, the visitor says what the world suggests.
        at = view.turn_ids[len(view.turn_ids) // 2] if view.turn_ids else view.last_id
        said = one_line(next(iter(view.run.disturbances), "Somebody knocks."))
        offered = [
            not view.is_finished and not self.waiting and ("play", "--continue", run_id),
            ("show", run_id),
            self.parent is not None and ("compare", self.parent, run_id),
            view.stage.counters.lines and ("why", "last", "--run", run_id),
            (view.has_several_graphs or is_grown) and ("lineage", run_id),
            not is_grown and ("replay", run_id, "--verify"),
            ("branch", run_id, "--at", at, "--disturb", said),
        ]
        return [command_line.call(*words) for words in offered if words]

    def facts(self) -> Json:
        """The same for machines."""
        run = self.view.run
        (turns, calls, *_) = gauges(self.view)
        reason, winner = (run.finished.reason, run.finished.winner) if run.finished else (run.paused, None)
        about = {"run_id": self.view.run_id, "status": run.state, "reason": reason, "winner": winner}
        spent = {"turns": turns.used, "calls": calls.used, "digest": self.digest}
        past = {"branch_of": next(iter(self.view.past_run_ids), None), "calls_recalled": self.calls_recalled}
        waiting = {each.handle: each.agent for each in self.waiting}
        return {"played": {**about, **spent, **past, "waiting": waiting}}
