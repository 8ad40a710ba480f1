"""Who asks for a change: whoever passes a change on for somebody else says for whom. It is kept with the request.

Always holds: it lasts for one call, and no task of a play begins inside it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

sender: Final = ContextVar("sender", default="")
"""Empty: the program itself asks."""


@contextmanager
def sent_by(name: str) -> Iterator[None]:
    """Say in whose name the changes inside are asked for."""
    token = sender.set(name)
    try:
        yield
    finally:
        sender.reset(token)
