"""Somebody who follows the tutorial block by block, and the scripted model server of its sixth chapter."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.journeys.commanding import environment, journey_seconds_max, run
from tests.servers.imitating_server import imitating_server
from tests.servers.imitations import ServedModel
from tools.tutorial import Step, apply_step

ANYTHING = "…"
MODEL_LINES = {
    "cormorant": [
        "Last post, sorter. It has no street on it, and the bag goes in an hour. What did you do with the back?",
        "Then read me the back, and stop before you get to the part that is none of ours.",
        "I have a stamp here for whatever you decide, as long as you decide it with the flap shut.",
    ],
    "hermit crab": [
        "The back has soot on it. Somebody wrote near a fire, or after one. I should keep it dry until they ask.",
        "It says please, and then it says it again. I put it under Later, and Later would not close.",
        "Leave it one night. I have room. I have nothing but room, and it is all the same shape as me.",
    ],
}
"""What the scripted server lets each of them say, one line after another."""


class Reader:
    """Somebody who copies the blocks of the tutorial into one folder and one terminal."""

    def __init__(self, folder: Path, home: Path) -> None:
        self.folder = folder
        self.variables = {
            "HOME": str(home),
            "XDG_DATA_HOME": str(home / ".local/share"),
            "XDG_CONFIG_HOME": str(home / ".config"),
        }
        self.printed = ""

    def take(self, step: Step) -> None:
        """Do what a block says. Of an output: see whether it is what was printed."""
        apply_step(step, self.folder)
        if step.kind == "commands":
            self.printed = "".join(self._printed_by(line, step) for line in step.text.splitlines())
        if step.kind == "output" and not is_as_shown(step.text, self.printed):
            raise step.fault(f"the page shows\n{step.text}\nand this was printed:\n{self.printed}")

    def _printed_by(self, line: str, step: Step) -> str:
        program, *words = shlex.split(line, comments=True)
        if program == "export":
            name, _, value = words[0].partition("=")
            self.variables[name] = value
            return ""
        assert program == "glasshouse", line
        result = self.called(line, words)
        if result.returncode:
            raise step.fault(f"{line}\n{result.stdout}{result.stderr}")
        return result.stdout + result.stderr

    def called(self, _line: str, words: list[str]) -> subprocess.CompletedProcess[str]:
        """What came of a command, in the process of the tests."""
        return run(*words, cwd=self.folder, program="glasshouse", **self.variables)


class ReaderWithAShell(Reader):
    """The same, with a shell that finds commands in some folders."""

    def __init__(self, folder: Path, home: Path, path: str) -> None:
        super().__init__(folder, home)
        self.variables["PATH"] = path

    def called(self, line: str, _words: list[str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["/bin/sh", "-c", line],
            cwd=self.folder,
            env=environment(**self.variables),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=journey_seconds_max,
            check=False,
        )


def is_as_shown(shown: str, printed: str) -> bool:
    """Whether a text was printed, where `…` stands for anything in a line, and alone for any lines."""
    pattern = "".join(
        r"(?:.*\n)*?" if line == ANYTHING else ".*".join(map(re.escape, line.split(ANYTHING))) + r"\n"
        for line in shown.splitlines()
    )
    return re.fullmatch(pattern, printed) is not None


@contextmanager
def scripted_model() -> Iterator[str]:
    """The address of a server that imitates Ollama, and plays from a script."""
    taken = dict.fromkeys(MODEL_LINES, 0)

    def line_for(prompt: str) -> str:
        speaker = next((who for who in MODEL_LINES if f"A {who} who" in prompt), None)
        if speaker is None:
            return "I settle, and I say nothing of it."
        lines = MODEL_LINES[speaker]
        taken[speaker] += 1
        return lines[(taken[speaker] - 1) % len(lines)]

    model = ServedModel("qwen3:4b")
    with imitating_server("ollama", models=[model], say=line_for, kinds=["agent.spoke"]) as server:
        yield server.url
