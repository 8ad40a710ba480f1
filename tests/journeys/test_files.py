"""Sessions as files: carried by role, read back, grown from; broken ones refused with the file, the line and what to do."""

import asyncio
import random
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from glasshouse import Event, Manifest, MemoryStore, Refused, SqliteStore, Terrarium, kinds
from glasshouse.errors import ImportConflict, StoreFailed
from glasshouse.events import digest_of
from glasshouse.runtime.ledger.session_file import short_reads_max
from glasshouse.runtime.store_port import Batch
from glasshouse.views import Session
from glasshouse.world.state.lineage import Span
from tests.journeys.session_files import (
    ROLES,
    Role,
    a_play,
    contents,
    lines_of,
    rewrite,
    said,
    seal,
    state_of,
)


@pytest.fixture
async def here() -> AsyncIterator[Terrarium]:
    async with Terrarium() as terrarium:
        yield terrarium


@pytest.fixture
async def there(tmp_path: Path) -> AsyncIterator[Terrarium]:
    async with Terrarium(SqliteStore(tmp_path / "there.glasshouse")) as terrarium:
        yield terrarium


# There and back


@pytest.mark.parametrize("suffix", [".glass", ".jsonl"])
async def test_a_directors_file_carries_the_whole_story(
    here: Terrarium, there: Terrarium, tmp_path: Path, suffix: str
) -> None:
    session_id = await a_play(here)
    events = await here.events(session_id)

    path = await here.export(session_id, tmp_path / f"play{suffix}", role="director")
    session = await there.import_file(path)

    imported = await there.events(session.id)
    assert session.id == session_id
    assert contents(imported) == contents(events)
    assert digest_of(imported) == digest_of(events)
    assert [event.private for event in imported if event.private] == [{"thought": "nobody hears"}]
    assert [event.sealed for event in imported if event.sealed] == [{"word": "lantern"}]


async def test_a_glass_file_and_a_jsonl_file_hold_the_same_lines(here: Terrarium, tmp_path: Path) -> None:
    session_id = await a_play(here)

    glass = await here.export(session_id, tmp_path / "play.glass", role="director")
    jsonl = await here.export(session_id, tmp_path / "play.jsonl", role="director")

    assert lines_of(glass) == lines_of(jsonl)
    assert jsonl.read_bytes()[:1] == b"{"
    assert glass.stat().st_size < jsonl.stat().st_size


async def test_the_same_session_makes_the_same_file_byte_for_byte(here: Terrarium, tmp_path: Path) -> None:
    session_id = await a_play(here)

    first = await here.export(session_id, tmp_path / "first.glass")
    second = await here.export(session_id, tmp_path / "second.glass")

    assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize(
    ("role", "reads_thoughts", "reads_secrets"),
    [("spectator", False, False), ("audience", True, False), ("director", True, True)],
)
async def test_each_role_gets_what_it_may_read_and_the_file_says_so(
    here: Terrarium, tmp_path: Path, role: Role, reads_thoughts: bool, reads_secrets: bool
) -> None:
    session_id = await a_play(here)

    path = await here.export(session_id, tmp_path / "play.jsonl", role=role)

    head, text = lines_of(path)[0], path.read_text()
    assert (head["role"], head["is_redacted"]) == (role, role != "director")
    assert ("nobody hears" in text) == reads_thoughts
    assert ("I wonder" in text) == reads_thoughts
    assert ("lantern" in text) == reads_secrets
    assert "alone again" in text


async def test_a_file_is_for_the_audience_unless_it_is_asked_for_more(
    here: Terrarium, tmp_path: Path
) -> None:
    path = await here.export(await a_play(here), tmp_path / "play.jsonl")

    assert lines_of(path)[0]["role"] == "audience"


async def test_a_role_that_does_not_exist_is_refused(here: Terrarium, tmp_path: Path) -> None:
    session_id = await a_play(here)
    role: Any = "owner"

    with pytest.raises(Refused, match="spectator, audience, director"):
        await here.export(session_id, tmp_path / "play.glass", role=role)


async def test_a_redacted_story_stays_redacted_however_often_it_is_carried_on(
    here: Terrarium, there: Terrarium, tmp_path: Path
) -> None:
    session_id = await a_play(here)
    await there.import_file(await here.export(session_id, tmp_path / "first.jsonl", role="audience"))

    again = await there.export(session_id, tmp_path / "second.jsonl", role="director")

    assert lines_of(again)[0]["is_redacted"]


async def test_model_calls_are_the_directors_alone(here: Terrarium, there: Terrarium, tmp_path: Path) -> None:
    path = await here.export(await a_play(here), tmp_path / "play.jsonl", role="director")
    lines = lines_of(path)
    spoken = next(line for line in lines if line.get("kind") == kinds.AGENT_SPOKE)
    call = {"model": "small-7b", "system": "d1", "user": "d2", "seed": 7}
    spoken["model"] = {"profile": "fast", "calls": [call]}
    seal(path, lines)
    session = await there.import_file(path)

    seen = {
        role: (await there.export(session.id, tmp_path / f"{role}.jsonl", role=role)).read_text()
        for role in ROLES
    }

    assert ["small-7b" in seen[role] for role in ROLES] == [False, False, True]


# What an import is


async def test_an_imported_session_can_be_read_and_nobody_in_it_lives(
    here: Terrarium, there: Terrarium, tmp_path: Path
) -> None:
    session_id = await a_play(here)

    session = await there.import_file(await here.export(session_id, tmp_path / "play.glass"))

    assert there.creatures() == ()
    assert there.graphs() == ()
    assert session.agents == here.session(session_id).agents
    assert session.parent_session_ids == here.session(session_id).parent_session_ids
    assert [s.id for s in there.lineage(session_id).ancestors] == [
        s.id for s in here.lineage(session_id).ancestors
    ]


async def test_an_imported_session_grows_by_fork_and_keeps_where_its_batches_end(
    here: Terrarium, there: Terrarium, tmp_path: Path
) -> None:
    session_id = await a_play(here)
    events = await here.events(session_id)
    middle = next(event for event in events if event.payload.get("text") == "one")
    await there.import_file(await here.export(session_id, tmp_path / "play.glass", role="director"))

    child = await there.fork(session_id, at=middle.id)

    end = next(event for event in events if event.payload.get("text") == "three")
    seen = [event.id for event in await there.events(child.id) if event.session_id != child.id]
    assert seen == [event.id for event in await here.events(session_id, upto=end.id)]
    assert child.parent_session_ids == (middle.session_id,)
    assert contents(await there.events(session_id)) == contents(events)


async def test_an_import_is_there_after_reopening(here: Terrarium, tmp_path: Path) -> None:
    session_id = await a_play(here)
    path = await here.export(session_id, tmp_path / "play.glass", role="director")
    async with Terrarium(SqliteStore(tmp_path / "kept.glasshouse")) as first:
        await first.import_file(path)
        child = await first.fork(session_id)
        before = await first.events(child.id)

    async with Terrarium(SqliteStore(tmp_path / "kept.glasshouse")) as second:
        assert await second.events(child.id) == before
        assert digest_of(await second.events(session_id)) == digest_of(await here.events(session_id))
        assert second.creatures() == ()


async def test_importing_twice_changes_nothing(here: Terrarium, there: Terrarium, tmp_path: Path) -> None:
    path = await here.export(await a_play(here), tmp_path / "play.glass")
    first = await there.import_file(path)
    events = await there.events(first.id)

    second = await there.import_file(path)

    assert second == first
    assert await there.events(second.id) == events


async def test_one_file_imported_by_two_at_once_is_taken_in_once(
    here: Terrarium, there: Terrarium, tmp_path: Path
) -> None:
    path = await here.export(await a_play(here), tmp_path / "play.glass", role="director")

    first, second = await asyncio.gather(there.import_file(path), there.import_file(path))

    assert first == second
    assert digest_of(await there.events(first.id)) == digest_of(await here.events(first.id))
    assert [event.position async for event in there.history(first.id)] == [
        event.position for event in await there.events(first.id)
    ]


class SlowStore(MemoryStore):
    """Lets everybody else have a turn before it commits, and before it reads."""

    async def commit(self, batches: Sequence[Batch]) -> int:
        await turns_of_the_others(20)
        return await super().commit(batches)

    async def read(self, spans: Sequence[Span]) -> list[Event]:
        await turns_of_the_others(2)
        return await super().read(spans)


async def turns_of_the_others(count: int) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


@pytest.mark.parametrize("seed", range(8))
async def test_one_file_imported_by_eight_at_once_under_load_is_one_session(
    here: Terrarium, tmp_path: Path, seed: int
) -> None:
    session_id = await a_play(here)
    short = await here.export(session_id, tmp_path / "short.glass", role="director")
    await here.append("ada", said("and then"))
    long = await here.export(session_id, tmp_path / "long.glass", role="director")
    waits = [random.Random(seed).randrange(40) for _ in range(8)]
    async with Terrarium(SlowStore()) as there:
        zoe = await there.add_creature(Manifest(name="zoe"))

        async def imported(path: Path, wait: int) -> Session:
            await turns_of_the_others(wait)
            return await there.import_file(path)

        async with asyncio.TaskGroup() as tasks:
            load = [tasks.create_task(there.append(zoe.id, said(f"{n}"))) for n in range(50)]
            imports = [
                tasks.create_task(imported(long if n % 2 else short, wait)) for n, wait in enumerate(waits)
            ]

        assert {task.result().id for task in imports} == {session_id}
        assert len({task.result().seq for task in load}) == 50
        assert contents(await there.events(session_id)) == contents(await here.events(session_id))
        children = [
            there.session(name).child_session_ids for name in there.session(session_id).parent_session_ids
        ]
        assert [names.count(session_id) for names in children] == [1] * len(children)


class ShortStore(MemoryStore):
    """Gives one event less than it was asked for, for so many reads of one segment."""

    reads_to_fail = 0

    async def read(self, spans: Sequence[Span]) -> list[Event]:
        events = await super().read(spans)
        if self.reads_to_fail and len(spans) == 1:
            self.reads_to_fail -= 1
            return events[:-1]
        return events


async def test_a_read_that_comes_up_short_is_looked_at_again(here: Terrarium, tmp_path: Path) -> None:
    path = await here.export(await a_play(here), tmp_path / "play.glass")
    store = ShortStore()
    async with Terrarium(store) as there:
        first = await there.import_file(path)
        store.reads_to_fail = short_reads_max - 1

        assert await there.import_file(path) == first
        assert store.reads_to_fail == 0


async def test_a_store_that_stays_short_is_told_in_words(here: Terrarium, tmp_path: Path) -> None:
    path = await here.export(await a_play(here), tmp_path / "play.glass")
    store = ShortStore()
    async with Terrarium(store) as there:
        await there.import_file(path)
        store.reads_to_fail = 10 * short_reads_max

        with pytest.raises(StoreFailed, match="import again"):
            await there.import_file(path)


@pytest.mark.parametrize("role", ROLES)
async def test_a_file_may_come_home_to_the_store_it_came_from(
    here: Terrarium, tmp_path: Path, role: Role
) -> None:
    session_id = await a_play(here)
    path = await here.export(session_id, tmp_path / "play.glass", role=role)
    before = await state_of(here)

    session = await here.import_file(path)

    assert session == here.session(session_id)
    assert await state_of(here) == before
    await here.append("ada", said("still live"))


@pytest.mark.parametrize("role", ROLES)
async def test_a_longer_telling_extends_an_import(
    here: Terrarium, there: Terrarium, tmp_path: Path, role: Role
) -> None:
    session_id = await a_play(here)
    await there.import_file(await here.export(session_id, tmp_path / "first.glass", role=role))
    await here.append_all("ada", [said("and"), said("then")])

    await there.import_file(await here.export(session_id, tmp_path / "second.glass", role=role))

    assert [event.id for event in await there.events(session_id)] == [
        event.id for event in await here.events(session_id)
    ]
    end = (await there.events(session_id))[-2:]
    assert (await there.fork(session_id, at=end[0].id)).forked_at == end[0].id
    assert len(await there.events(there.session(session_id).child_session_ids[0], upto=end[1].id)) > 0


async def test_a_shorter_telling_of_an_import_changes_nothing(
    here: Terrarium, there: Terrarium, tmp_path: Path
) -> None:
    session_id = await a_play(here)
    short = await here.export(session_id, tmp_path / "first.glass")
    await here.append("ada", said("and then"))
    await there.import_file(await here.export(session_id, tmp_path / "second.glass"))
    events = await there.events(session_id)

    await there.import_file(short)

    assert await there.events(session_id) == events


async def test_a_file_made_while_something_is_on_its_way_is_whole(
    here: Terrarium, there: Terrarium, tmp_path: Path
) -> None:
    session_id = await a_play(here)

    async with asyncio.TaskGroup() as tasks:
        for n in range(5):
            tasks.create_task(here.append("ada", said(f"meanwhile {n}")))
        exported = tasks.create_task(here.export(session_id, tmp_path / "play.glass"))

    session = await there.import_file(exported.result())
    own = [event for event in await there.events(session_id) if event.session_id == session_id]
    assert session.events == len(own)


# Conflicts


async def test_another_past_under_the_same_id_is_a_conflict_and_nothing_changes(
    here: Terrarium, there: Terrarium, tmp_path: Path
) -> None:
    session_id = await a_play(here)
    path = await here.export(session_id, tmp_path / "play.jsonl", role="director")
    await there.import_file(path)
    events = await there.events(session_id)
    lines = lines_of(path)
    next(line for line in lines if line.get("payload", {}).get("text") == "hello")["payload"]["text"] = (
        "goodbye"
    )
    seal(path, lines)

    with pytest.raises(ImportConflict, match=r"differs.*another store"):
        await there.import_file(path)

    assert await there.events(session_id) == events


async def test_a_live_session_that_went_on_in_two_places_is_a_conflict(
    here: Terrarium, tmp_path: Path
) -> None:
    session_id = await a_play(here)
    path = await here.export(session_id, tmp_path / "play.jsonl", role="director")
    lines = lines_of(path)
    last = dict(lines[-2])
    last |= {"id": f"{session_id}.{last['seq'] + 1}", "seq": last["seq"] + 1, "lamport": last["lamport"] + 1}
    own = next(line for line in lines if line.get("segment", {}).get("id") == session_id)
    own["upto"] += 1
    seal(path, [*lines[:-1], last, lines[-1]])
    before = await state_of(here)

    with pytest.raises(ImportConflict, match="went on in two places"):
        await here.import_file(path)

    assert await state_of(here) == before
    await here.append("ada", said("still live"))


async def test_a_session_that_began_otherwise_is_a_conflict(
    here: Terrarium, there: Terrarium, tmp_path: Path
) -> None:
    session_id = await a_play(here)
    path = await here.export(session_id, tmp_path / "play.jsonl", role="director")
    await there.import_file(path)
    lines = lines_of(path)
    lines[1]["segment"]["ordinal"] += 7
    rewrite(path, lines)

    with pytest.raises(ImportConflict, match="began otherwise"):
        await there.import_file(path)


@pytest.mark.parametrize("role", ["spectator", "audience"])
async def test_a_file_for_spectators_can_be_read_and_nobody_lives_again_from_it(
    here: Terrarium, there: Terrarium, tmp_path: Path, role: Role
) -> None:
    session_id = await a_play(here)
    session = await there.import_file(await here.export(session_id, tmp_path / "play.glass", role=role))

    assert len(await there.events(session.id)) == len(await here.events(session_id))
    if role == "audience":
        assert (await there.branch(session.id)).id
        return
    for continuing in (there.branch(session.id), there.resume(session.id, "as-was")):
        with pytest.raises(Refused, match="a file for spectators, which does not say who ada is"):
            await continuing
