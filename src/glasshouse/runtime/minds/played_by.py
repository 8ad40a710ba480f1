"""Who thinks for a creature from a file: its manifest, a visitor, or a Python class if that is allowed."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from glasshouse.errors import Refused
from glasshouse.runtime.minds.agent import Agent
from glasshouse.runtime.minds.manifest_agent import ManifestAgent
from glasshouse.runtime.minds.visitor import VisitorAgent

VISITOR = "visitor"


def agent_for(played_by: str | None, is_code_allowed: Callable[[], bool]) -> Agent:
    """The mind that a manifest's `played_by` names."""
    if played_by is None:
        return ManifestAgent()
    if played_by == VISITOR:
        return VisitorAgent()
    if not is_code_allowed():
        raise Refused(
            f"played_by: {played_by} would run Python code, which is not allowed here.",
            "Set GLASSHOUSE_ALLOW_PYTHON_CREATURES=1 if you trust this world.",
        )
    return _made(played_by)


def _made(played_by: str) -> Agent:
    module_name, _, class_name = played_by.partition(":")
    try:
        made = getattr(import_module(module_name), class_name)()
    except (ImportError, AttributeError, TypeError, SyntaxError) as missing:
        raise Refused(
            f"played_by: {played_by} cannot be loaded: {missing}.", "Write it as package.module:Class."
        ) from missing
    if not isinstance(made, Agent):
        raise Refused(f"played_by: {played_by} is no Agent.", "Derive the class from glasshouse.Agent.")
    return made
