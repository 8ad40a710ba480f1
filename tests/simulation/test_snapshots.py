"""A snapshot is a cache: the world is the same with and without it, wherever in a commit it was taken."""

import asyncio
from itertools import pairwise
from pathlib import Path

import pytest

from glasshouse import Draft, Manifest, MemoryStore, SqliteStore, Terrarium
from glasshouse.runtime.ledger import writer
from glasshouse.runtime.ledger.folds import snapshot_key
from glasshouse.runtime.store_port import Store
from tests.simulation.ledger_checks import check_folds


@pytest.fixture
def a_snapshot_every_few_events(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "snapshot_events_min", 7)
    monkeypatch.setattr(writer, "snapshot_bytes_per_event_max", 1 << 40)


@pytest.mark.usefixtures("a_snapshot_every_few_events")
@pytest.mark.parametrize("kind", ["memory", "sqlite"])
async def test_a_snapshot_taken_amid_many_changes_skips_none_of_them(tmp_path: Path, kind: str) -> None:
    store: Store = MemoryStore() if kind == "memory" else SqliteStore(tmp_path / "show.glasshouse")
    async with Terrarium(store) as terrarium:
        names = [f"c{n}" for n in range(12)]
        await asyncio.gather(*[terrarium.add_creature(Manifest(name=name)) for name in names])
        await asyncio.gather(
            *[terrarium.connect(first, second) for first, second in pairwise(names)],
            *[terrarium.append(name, Draft(kind="agent.spoke", payload={"text": name})) for name in names],
        )

        folded = await check_folds(store)

        assert await store.snapshot("", "world", snapshot_key()) is not None
        assert list(folded.world.creatures) == names
