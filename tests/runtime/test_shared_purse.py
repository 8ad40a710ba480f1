"""A purse over several terrariums: what all calls record together never exceeds its limit."""

import asyncio

from glasshouse.runtime.acts.shared_purse import SharedPurse


async def settled() -> None:
    """Let every task go as far as it can."""
    for _ in range(5):
        await asyncio.sleep(0)


async def test_a_call_waits_until_another_gives_money_back() -> None:
    purse = SharedPurse(1.0)
    await purse.reserve(0.7)
    waiting = asyncio.create_task(purse.reserve(0.5))
    await settled()
    assert not waiting.done()
    assert not purse.exhausted.is_set()

    purse.settle(0.7, 0.1)
    await waiting

    assert (purse.spent_usd, purse.open_usd) == (0.1, 0.5)


async def test_a_purse_is_exhausted_when_nobody_can_give_money_back() -> None:
    purse = SharedPurse(1.0, spent_usd=0.8)
    waiting = asyncio.create_task(purse.reserve(0.5))
    await settled()

    assert purse.exhausted.is_set()
    purse.allow(1.0)
    await waiting
    assert not purse.exhausted.is_set()


async def test_free_calls_need_no_room() -> None:
    purse = SharedPurse(0.0)

    await purse.reserve(0.0)
    purse.settle(0.0, 0.0)

    assert not purse.exhausted.is_set()


async def test_whoever_is_cancelled_while_it_waits_holds_nothing() -> None:
    purse = SharedPurse(1.0)
    await purse.reserve(0.9)
    waiting = asyncio.create_task(purse.reserve(0.5))
    await settled()
    waiting.cancel()
    await settled()

    purse.settle(0.9, 0.9)

    assert (purse.open_calls, purse.open_usd) == (0, 0.0)
