"""How quiet the machine is: the CPU time of one piece of work that never changes, and is none of ours.

Bounds in µs and ms are meant for a quiet machine. Others on the same processor take its caches, and the same work then takes up
to twice the CPU time. So the same text is parsed and written again before each part of the benchmarks. If that varies much,
a missed bound may be the machine's, and the part should be run again; if it hardly varies, it is ours.
"""

from __future__ import annotations

import argparse
import ast
import inspect
from time import process_time

repeated = 5
quiet_max = 1.1
"""If the slowest look took this many times as long as the quickest, or less, the machine was quiet."""

_TEXT = inspect.getsource(argparse)


def look() -> float:
    """Milliseconds of CPU that the work takes now; the quickest of a few."""
    return min(_milliseconds() for _ in range(repeated))


def _milliseconds() -> float:
    start = process_time()
    ast.unparse(ast.parse(_TEXT))
    return (process_time() - start) * 1e3


def in_words(looks: list[float]) -> str:
    """How much the looks of one run differ, and what follows from it."""
    spread = max(looks) / min(looks)
    took = f"the same work took {min(looks):.0f} to {max(looks):.0f} ms of CPU between the parts"
    if spread <= quiet_max:
        return f"The machine was quiet: {took}."
    return f"The machine was not quiet: {took}, {spread:.2f} ×. What was missed in µs or ms may not be ours: run it again."
