"""A guest beside the terrarium that plays: it follows every event, asks for changes, and refuses what it cannot do."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from glasshouse import SqliteStore, Terrarium
from glasshouse.errors import Refused
from glasshouse.runtime.ledger.folds import load_folded
from glasshouse.terrarium import guest_of
from tests.runtime.troupe import soon


async def test_a_guest_that_follows_has_the_world_of_one_that_opens_now(tmp_path: Path) -> None:
    path = tmp_path / "show.glasshouse"
    async with Terrarium(path) as t:
        await t.open_world("thousand-token-wood")
        store = SqliteStore(path, is_guest=True)
        async with Terrarium(store) as guest:
            ledger, events = guest._house.ledger, guest.subscribe()
            first = await store.position()
            await t.step(2)
            await ledger.follow()
            await t.open_world("mystery-roots")
            await t.connect("seedkeeper", "clue-gatherer")
            await t.step(3)
            await ledger.follow()
            await t.disconnect("seedkeeper", "clue-gatherer")
            await t.step(1)
            await ledger.follow()

            opened = await load_folded(store)
            for part in ("world", "agenda", "runs"):
                mine, new = getattr(ledger.folded, part), getattr(opened, part)
                assert msgspec.msgpack.encode(mine) == msgspec.msgpack.encode(new), part
            assert guest.graphs() == t.graphs()
            assert guest.runs() == t.runs()
            positions = [event.position for event in await events.arrived()]
            assert positions == [*range(first + 1, await store.position() + 1)]


async def test_a_guest_asks_for_changes_and_refuses_the_rest_by_name(tmp_path: Path) -> None:
    path = tmp_path / "show.glasshouse"
    async with Terrarium(path) as t:
        run = await t.open_world("thousand-token-wood")
        await t.open_world("mystery-roots")
        async with Terrarium(SqliteStore(path, is_guest=True)) as guest:
            change = await soon(guest.connect("seedkeeper", "clue-gatherer"))
            assert change.kind == "merge"
            assert guest.graphs() == t.graphs()
            with pytest.raises(Refused, match=r"Process \d+ plays this store"):
                await guest.pause(run.id)
            beside = guest_of(guest)
            assert beside is not None
            await t.close()
            with pytest.raises(Refused, match="Nobody plays this store any more"):
                await beside.disturb(run.id, "Is somebody there?")
