"""A world's own script: `script.txt` in its folder, from which the offline troupe plays.

Always holds: a script is a UTF-8 file of the world's folder, of bounded size; no link leads out of it. Whoever checks a world and whoever
plays one read it here, so what was checked is what is played.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from glasshouse.manifests.problem import Problem, unknown
from glasshouse.manifests.world_folders import SCRIPT_FILE
from glasshouse.manifests.yaml_source import shown_path
from glasshouse.scripts.script_text import ReadScript, ScriptFault, read_script

script_bytes_max: Final = 262_144
"""A longer script is refused: it is kept in memory while its world plays. The longest bundled one has less than half of that."""


class NoScript(Exception):
    """Why a script cannot be used."""


def read_script_file(file: Path) -> str | None:
    """The text of a script; none if there is no such file. Raises `NoScript` if it cannot be used."""
    if not file.is_file():
        return None
    if not file.resolve().is_relative_to(file.parent.resolve()):
        raise NoScript("it is a link out of the world's folder. Put the file itself there.")
    try:
        with file.open("rb") as opened:
            content = opened.read(script_bytes_max + 1)
    except OSError as fault:
        raise NoScript(f"it cannot be read ({fault.strerror}). Check that it may be read.") from fault
    if len(content) > script_bytes_max:
        raise NoScript(f"it has more than {script_bytes_max:,} bytes. Shorten it.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        line = content[: fault.start].count(b"\n") + 1
        raise NoScript(f"line {line} is not UTF-8. Save it as UTF-8.") from fault


def script_and_problems(file: Path) -> tuple[str | None, list[Problem]]:
    """The text of a world's script and what is wrong with it; none if it has no script, or none that can be used."""
    try:
        text = read_script_file(file)
    except NoScript as fault:
        return None, [Problem(shown_path(file), 0, 0, "", str(fault))]
    if text is None:
        return None, []
    problems = problems_of_script(read_script(text), shown_path(file))
    return (None if problems else text), problems


def problems_of_script(read: ReadScript, path: str = SCRIPT_FILE) -> list[Problem]:
    """What is wrong in a script, by line."""
    return [Problem(path, fault.line, fault.column, "", _words_of(fault)) for fault in read.faults]


def _words_of(fault: ScriptFault) -> str:
    return unknown(fault.noun, fault.name, fault.known) if fault.noun else fault.text
