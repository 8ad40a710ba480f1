"""Every call about a creature takes the creature or its id. A path is enough to open a SQLite store."""

import inspect
from pathlib import Path
from typing import get_args

from glasshouse import Draft, EventFilter, Manifest, Observer, SqliteStore, Terrarium, kinds
from glasshouse.views import Creature
from tests.rules.test_public_face import hints_of

LINE = Draft(kind=kinds.AGENT_SPOKE, payload={"text": "Row four is dry."})


async def test_a_path_opens_a_sqlite_store(tmp_path: Path) -> None:
    async with Terrarium(str(tmp_path / "show.glasshouse")) as t:
        await t.add_creature(Manifest(name="ada"))

    async with Terrarium(tmp_path / "show.glasshouse") as again:
        assert [creature.id for creature in again.creatures()] == ["ada"]

    async with Terrarium(SqliteStore(tmp_path / "show.glasshouse")) as again:
        assert [creature.id for creature in again.creatures()] == ["ada"]


async def test_the_graph_is_changed_with_creatures_as_with_ids() -> None:
    async with Terrarium() as t:
        ada = await t.add_creature(Manifest(name="ada"))
        bo = await t.add_creature(Manifest(name="bo"), parent=ada)

        assert (await t.connect(ada, bo, channel="talk")).kind == "merge"
        assert (await t.wire(ada, bo)).target == "bo"
        await t.append(ada, LINE)
        assert [event.actor async for event in t.mail(bo)] == ["ada"]
        await t.unwire(ada, bo)
        await t.stop_creature(bo)
        assert not t.creature(bo).is_running
        await t.start_creature(bo)
        await t.grant_privilege(bo)
        assert t.creature(bo).is_privileged
        assert t.agent(bo) is None
        assert (await t.disconnect(ada, bo)).kind == "split"
        await t.remove_creature(bo)
        assert [creature.id for creature in t.creatures()] == ["ada"]


async def test_filters_and_observers_take_creatures() -> None:
    async with Terrarium() as t:
        ada = await t.add_creature(Manifest(name="ada"))
        said = await t.append(ada, LINE)

        assert EventFilter(creature_ids={ada}).matches(said)
        observer = Observer(follow=ada)
        for event in await t.events(ada.session_id):
            observer.consume(event)
        assert [note.text for note in observer.view.agent_notes] == ["Row four is dry."]


def test_no_call_takes_a_creature_by_its_id_alone() -> None:
    about_creatures = {"creature_id", "source", "target", "parent"}
    calls = [call for name, call in inspect.getmembers(Terrarium, inspect.isfunction) if name[0] != "_"]
    hints = [(call.__name__, name, hint) for call in calls for name, hint in hints_of(call).items()]
    taking = [(call, name, hint) for call, name, hint in hints if name in about_creatures]

    assert len(taking) > 10
    assert [(call, name) for call, name, hint in taking if Creature not in get_args(hint)] == []
