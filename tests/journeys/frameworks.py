"""The agents of docs/how-to/bring-your-own-agent.md: tests play with the code that readers see."""

from __future__ import annotations

import ast
import inspect
from typing import Any

from glasshouse import Agent
from tests.pages import fences, page_text, sections

PAGE = "docs/how-to/bring-your-own-agent.md"


def names_on_page(heading: str) -> dict[str, Any]:
    """What the sample under a heading defines; what it plays is left out."""
    (sample,) = [fence for fence in fences(sections(page_text(PAGE))[heading]) if fence.language == "python"]
    tree = ast.parse(sample.text)
    plays = ast.AsyncWith, ast.Assert
    tree.body = [
        part for part in tree.body if not isinstance(part, plays) and "await " not in ast.unparse(part)[:40]
    ]
    names: dict[str, Any] = {"__name__": "page"}
    exec(compile(tree, PAGE, "exec"), names)
    return names


def agent_on_page(heading: str) -> Agent:
    """The agent that the sample under a heading defines."""
    names = names_on_page(heading)
    (agent,) = [
        value
        for value in names.values()
        if inspect.isclass(value)
        and issubclass(value, Agent)
        and value is not Agent
        and value.__module__ == "page"
    ]
    made: Agent = agent()
    return made
