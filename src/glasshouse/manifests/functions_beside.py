"""Functions of one's own: what a world names as `file.py:function`, in a file beside its scenario.

Always holds: the file is read, never run.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from glasshouse.manifests.problem import likely, shown

FunctionsIn = Callable[[str], Collection[str] | None]
"""Gives the names of the functions in a file beside a world, or none if there is no such file; raises `NoPython`."""


class NoPython(Exception):
    """Why a file cannot be read as Python, in words."""


def no_functions(_file: str) -> Collection[str] | None:
    """What a world without a folder finds in a Python file beside it: there is no file."""
    return None


def fault_of_function(noun: str, written: str, functions_in: FunctionsIn) -> str | None:
    """What is wrong with a function that is to serve as a referee or a tool; none if it is there."""
    file, _, function = written.partition(":")
    if not file.endswith(".py") or "/" in file or "\\" in file or not function.isidentifier():
        return f"{written!r} is no {noun}. Write 'file.py:function', the file beside the scenario."
    try:
        functions = functions_in(file)
    except NoPython as fault:
        return f"{file} is no Python: {fault}. Mend it."
    if functions is None:
        return f"there is no readable file {shown(file)} beside the scenario."
    if function not in functions:
        sort = "plain function" if noun == "referee" else "function"
        return f"{file} has no {sort} {function!r}. {likely(function, functions)}"
    return None
