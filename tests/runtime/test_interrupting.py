"""Ctrl-C: the first one ends the work, and a second one does not disturb the clean-up."""

import asyncio
import signal
from collections.abc import Iterator

import pytest

from glasshouse.cli.interrupts import run_until_interrupted


@pytest.fixture(autouse=True)
def own_handlers() -> Iterator[None]:
    """An interrupted command ignores Ctrl-C from then on; these tests do not."""
    kept = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    yield
    for number, handler in kept.items():
        signal.signal(number, handler)


async def some_turns_of_the_loop() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


def test_a_second_ctrl_c_does_not_disturb_the_cleaning_up() -> None:
    left: list[str] = []

    async def work() -> None:
        try:
            signal.raise_signal(signal.SIGINT)
            await asyncio.Event().wait()
        finally:
            signal.raise_signal(signal.SIGINT)
            await some_turns_of_the_loop()
            left.append("clean")

    with pytest.raises(KeyboardInterrupt):
        run_until_interrupted(work)

    assert left == ["clean"]


def test_work_that_nobody_stops_gives_what_it_gives() -> None:
    async def work() -> str:
        await some_turns_of_the_loop()
        return "done"

    assert run_until_interrupted(work) == "done"


def test_what_goes_wrong_in_the_work_is_told() -> None:
    async def work() -> None:
        raise LookupError("nothing there")

    with pytest.raises(LookupError, match="nothing there"):
        run_until_interrupted(work)


def test_signals_after_the_work_are_no_longer_its_own() -> None:
    run_until_interrupted(some_turns_of_the_loop)

    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGTERM) == signal.getsignal(signal.SIGHUP) == signal.SIG_DFL
