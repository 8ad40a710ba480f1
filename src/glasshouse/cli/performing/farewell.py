"""What a show says when it is over: how it ended, its digest, and the exact commands to look at it again.

Always holds: a command is offered only if this command line has it, with all it needs to be pasted as it is.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from glasshouse.cli.drawing.programme import Programme
from glasshouse.cli.drawing.screen import one_line
from glasshouse.cli.drawing.stage import ending_of
from glasshouse.cli.drawing.stage_header import gauges
from glasshouse.events.event import Json


@dataclass(frozen=True)
class Words:
    """How this command line is called: its own name, the commands it has, and the store if it is not the usual one."""

    program: str
    commands: frozenset[str]
    store: str = ""

    def offered(self, command: str, rest: str) -> str | None:
        """A command as it can be pasted; none if there is no such command."""
        if command not in self.commands:
            return None
        return f"{self.program} {command} {rest}{self.store}"


def words(commands: Collection[str], store: Path, usual: Path) -> Words:
    """The words to call this command line with."""
    is_usual = os.path.abspath(store) == os.path.abspath(usual)
    told = "" if is_usual else f" --store {shlex.quote(str(store))}"
    return Words(_program(), frozenset(commands), told)


def _program() -> str:
    """The program as the shell finds it: by its name, else by the path it was called with."""
    if shutil.which("glasshouse"):
        return "glasshouse"
    called = Path(sys.argv[0])
    if called.name == "glasshouse":
        return shlex.quote(os.path.relpath(called))
    return f"{shlex.quote(sys.executable)} -m glasshouse"


def commands_for(programme: Programme, by: Words) -> list[str]:
    """What can be done with the run now."""
    run_id, parent = shlex.quote(programme.run_id), programme.parent
    is_grown = bool(programme.past_run_ids)
    found = [
        None if programme.is_finished else by.offered("play", f"--continue {run_id}"),
        by.offered("show", run_id),
        None if parent is None else by.offered("compare", f"{shlex.quote(parent)} {run_id}"),
        by.offered("why", f"last --run {run_id}") if programme.has_lines else None,
        by.offered("lineage", run_id) if programme.has_several_graphs or is_grown else None,
        None if is_grown else by.offered("replay", f"{run_id} --verify"),
        by.offered("branch", f"{run_id} {_what_if(programme)}"),
    ]
    return [command for command in found if command is not None]


def _what_if(programme: Programme) -> str:
    """A branch that is worth a try: some turns before the end, the visitor says what the world suggests."""
    turns = programme.turn_ids
    place = turns[len(turns) // 2] if turns else programme.last_id
    said = next(iter(programme.disturbances), "Somebody knocks.")
    return f"--at {place} --disturb {shlex.quote(one_line(said))}"


def told(programme: Programme, digest: str, by: Words) -> list[str]:
    """Everything to say at the end, line by line."""
    if programme.is_finished:
        ending = ending_of(programme.run, programme.judged)
    else:
        spent = ", ".join(
            f"{g.name} {g.used}{f' of {g.limit}' if g.limit else ''}" for g in gauges(programme)
        )
        why = f"Paused: {one_line(programme.run.reason)} " if programme.run.reason else ""
        ending = f"{why}To be continued: {spent}."
    recalled = programme.calls_recalled
    if recalled is not None:
        were = "call was" if recalled == 1 else "calls were"
        ending = f"{ending} {f'{recalled:,}' if recalled else 'No'} {were} answered from the record."
    if programme.has_nothing_left and programme.past_run_ids:
        ending = f"{ending} Nothing was left to play: branch from an earlier event, or with other limits."
    if programme.is_one_of_several:
        ending = f"{one_line(programme.run.title or programme.run_id)}. {ending}"
    commands = [f"  {command}" for command in commands_for(programme, by)]
    return ["", ending, f"digest {digest}", *commands]


def as_object(programme: Programme, digest: str) -> Json:
    """The same for machines."""
    run = programme.run
    turns, calls = gauges(programme)
    return {
        "played": {
            "run_id": programme.run_id,
            "status": run.state,
            "reason": run.reason,
            "winner": run.winner,
            "turns": turns.used,
            "calls": calls.used,
            "digest": digest,
            "branch_of": programme.past_run_ids[0] if programme.past_run_ids else None,
            "calls_recalled": programme.calls_recalled,
        }
    }
