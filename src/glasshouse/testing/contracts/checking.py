"""How a check of a contract runs: as a method that pytest calls with a folder, with an event loop and a fresh store of its own.

Always holds: a check that has several cases plays each with a store that no other case has seen.
"""

from __future__ import annotations

import asyncio
import inspect
import re
from collections.abc import Callable, Coroutine, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any

from glasshouse.errors import Refused
from glasshouse.runtime.store_port import Store

Opener = Callable[[], Store]
"""Gives a store. Called again, it gives the same store as the next process would find it."""
Check = Callable[..., Coroutine[Any, Any, None]]
Method = Callable[[Any, Path], None]


class Contract:
    """A suite of checks. Derive a class whose name begins with `Test`, and say in `opener` how your store is made."""

    def opener(self, folder: Path) -> Opener:  # noqa: ARG002 (who derives from it uses it)
        """What opens a new, empty store, which may keep its files in a folder of its own."""
        raise Refused(
            f"{type(self).__name__} does not say how its store is opened.",
            "Write opener(self, folder), as docs/how-to/write-a-store.md shows.",
        )


def check(checked: Check) -> Method:
    """A check that takes an open store, or an opener."""
    return _method(checked, [{}])


def check_each(names: str | tuple[str, ...], cases: Iterable[Any]) -> Callable[[Check], Method]:
    """The same check for each case: its values have these names."""
    if isinstance(names, str):
        given = [{names: case} for case in cases]
    else:
        given = [dict(zip(names, case, strict=True)) for case in cases]
    return lambda checked: _method(checked, given)


def _method(checked: Check, cases: list[dict[str, Any]]) -> Method:
    takes_opener = "opener" in inspect.signature(checked).parameters

    @wraps(checked)
    def run(self: Any, tmp_path: Path) -> None:
        for number, case in enumerate(cases):
            folder = tmp_path / f"case-{number}"
            folder.mkdir()
            opener = self.opener(folder)
            played = (
                checked(self, opener, **case) if takes_opener else _with_store(checked, self, opener, case)
            )
            asyncio.run(played)

    del run.__wrapped__  # Pytest would read the parameters of what is wrapped.
    return run


async def _with_store(checked: Check, suite: Any, opener: Opener, case: dict[str, Any]) -> None:
    store = opener()
    await store.open("house-one")
    try:
        await checked(suite, store, **case)
    finally:
        await store.close()


@contextmanager
def refused_with(error: type[Exception], match: str = "") -> Iterator[None]:
    """What is done within must raise this error, with words that match."""
    raised: Exception | None = None
    try:
        yield
    except error as wrong:
        raised = wrong
    assert raised is not None, f"{error.__name__} was not raised."
    assert re.search(match, str(raised)), f"{error.__name__} says {raised}, not {match!r}."
