"""Files and payload versions: an older file stays good when a payload changes its shape, and is kept as it was written."""

import re
import sqlite3
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import msgspec
import pytest

from glasshouse import Event, Refused, SqliteStore, Terrarium, kinds
from glasshouse.events import codec, digest_of
from glasshouse.events.codec import BodyStart
from glasshouse.events.event import Json
from glasshouse.runtime.store_port import EventNames
from glasshouse.stores.sqlite.rows import Shape
from tests.journeys.session_files import ROLES, Role, a_play, contents, lines_of, said, seal

Change = Callable[[], None]


@pytest.fixture
async def here() -> AsyncIterator[Terrarium]:
    async with Terrarium() as terrarium:
        yield terrarium


@pytest.fixture
def ledger_path(tmp_path: Path) -> Path:
    return tmp_path / "there.glasshouse"


@pytest.fixture
async def there(ledger_path: Path) -> AsyncIterator[Terrarium]:
    async with Terrarium(SqliteStore(ledger_path)) as terrarium:
        yield terrarium


@pytest.fixture
def change_the_shape(monkeypatch: pytest.MonkeyPatch) -> Change:
    """From here on, what is said calls its text `words`."""

    def words_for_text(payload: Json) -> Json:
        return {"words" if name == "text" else name: value for name, value in payload.items()}

    def change() -> None:
        monkeypatch.setitem(codec.VERSIONS, kinds.AGENT_SPOKE, 2)
        monkeypatch.setitem(codec.UPCASTERS, (kinds.AGENT_SPOKE, 1), words_for_text)

    return change


def spoken(events: tuple[Event, ...]) -> list[Event]:
    return [event for event in events if event.kind == kinds.AGENT_SPOKE]


@pytest.mark.parametrize("role", ROLES)
async def test_a_file_from_before_a_change_of_shape_is_taken_in_and_read_in_the_new_one(
    here: Terrarium, there: Terrarium, tmp_path: Path, change_the_shape: Change, role: Role
) -> None:
    session_id = await a_play(here)
    path = await here.export(session_id, tmp_path / "old.glass", role=role)
    change_the_shape()

    await there.import_file(path)

    texts = spoken(await there.events(session_id))
    assert [event.payload["words"] for event in texts][:2] == ["alone", "hello"]
    assert {event.schema_version for event in texts} == {2}


async def test_an_import_keeps_the_events_as_they_were_written(
    here: Terrarium, there: Terrarium, ledger_path: Path, tmp_path: Path, change_the_shape: Change
) -> None:
    path = await here.export(await a_play(here), tmp_path / "old.jsonl", role="director")
    change_the_shape()

    await there.import_file(path)
    await there.close()

    with sqlite3.connect(ledger_path) as ledger:
        rows = ledger.execute(
            "SELECT id, graph_id, base, seq, turn, events.at, payload, rest, actor, kind, run_id, channel_id, channel"
            " FROM events JOIN segments ON segments.number = segment JOIN shapes ON shapes.number = shape"
        ).fetchall()
    kept = {
        BodyStart(session_id, graph_id, base).text(seq)
        + Shape.of(1, msgspec.convert(names, EventNames)).joined(turn, at, payload, rest)
        for session_id, graph_id, base, seq, turn, at, payload, rest, *names in rows
    }
    lines = {line for line in path.read_text().splitlines() if line.startswith('{"id"')}
    assert kept == {re.sub(r',"change":"[^"]*"\}$', "}", line) for line in lines}  # Kept beside the event.


@pytest.mark.parametrize("role", ROLES)
async def test_an_old_file_agrees_with_what_it_told_before_and_goes_on_from_there(
    here: Terrarium, there: Terrarium, tmp_path: Path, change_the_shape: Change, role: Role
) -> None:
    session_id = await a_play(here)
    first = await here.export(session_id, tmp_path / "first.glass", role=role)
    await here.append("ada", said("and then"))
    second = await here.export(session_id, tmp_path / "second.glass", role=role)
    await there.import_file(first)
    change_the_shape()

    await there.import_file(first)
    await there.import_file(second)

    assert spoken(await there.events(session_id))[-1].payload == {"words": "and then"}


async def test_a_file_from_after_the_change_agrees_with_one_from_before(
    here: Terrarium, there: Terrarium, tmp_path: Path, change_the_shape: Change
) -> None:
    session_id = await a_play(here)
    old = await here.export(session_id, tmp_path / "old.glass", role="director")
    change_the_shape()
    new = await here.export(session_id, tmp_path / "new.glass", role="director")

    await there.import_file(old)
    await there.import_file(new)

    assert contents(await there.events(session_id)) == contents(await here.events(session_id))
    assert digest_of(await there.events(session_id)) == digest_of(await here.events(session_id))


async def test_a_file_with_a_shape_that_is_still_to_come_asks_for_an_upgrade(
    here: Terrarium, there: Terrarium, tmp_path: Path
) -> None:
    path = await here.export(await a_play(here), tmp_path / "play.jsonl", role="director")
    lines = lines_of(path)
    next(line for line in lines if line.get("kind") == kinds.AGENT_SPOKE)["schema_version"] = 2
    seal(path, lines)

    with pytest.raises(Refused, match=r"play\.jsonl:\d+: .* reads up to 1\. Upgrade Glasshouse"):
        await there.import_file(path)
