"""A run that came in a director's file is replayed elsewhere; for any other file, the refusal says what is missing."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from glasshouse import Manifest, MemoryStore, Refused, SqliteStore, Terrarium, WhatIf, kinds, verify
from glasshouse.events.payloads import Governor
from glasshouse.events.redaction import Role
from glasshouse.runtime.ledger import session_file
from glasshouse.runtime.replay.replay import Verification
from glasshouse.runtime.store_port import Store
from glasshouse.tools.group.group_tools import GroupTools
from tests.runtime.group_calls import ORDER, Obedient, expedition, playing
from tests.runtime.stage_crew import events_of, on_stage, ticking, world_of
from tests.runtime.test_group_approvals import Asked
from tests.runtime.troupe import soon

WOOD = world_of(ticking("ada"), ticking("bo"), ticking("cy"), governor={"max_turns": 6})


def other_stage(*store: Store, number: int = 2) -> AbstractAsyncContextManager[Terrarium]:
    """A terrarium in another house. Ids of houses follow from the seed."""
    return on_stage(*store, ids_seed=number, tools=GroupTools())


async def elsewhere(path: Path, run_id: str, store: Store | None = None) -> Verification:
    """The verification of an imported run, in a store that has other runs too."""
    async with other_stage(store or MemoryStore()) as t:
        await t.open_world(WOOD)
        await t.import_file(path)
        return await verify(t, run_id)


async def change_from_outside(t: Terrarium, run_id: str) -> None:
    """Play a run with many kinds of changes between its turns."""
    ids = {creature.handle: creature.id for creature in t.creatures() if creature.run_id == run_id}
    home = t.creature(ids["ada"]).graph_id
    await soon(t.step(1))
    await t.disturb(run_id, "A bell rings.")
    await soon(t.step(1))
    newt = await t.add_creature(Manifest(name="newt"), graph=home, run=run_id)
    await t.pause(run_id)
    await t.grant_privilege(newt)
    await t.continue_run(run_id)
    await soon(t.step(1))
    await t.connect(newt, ids["ada"], channel="lane", both=True)
    await t.wire(ids["ada"], newt.id)
    await t.remove_channel(home, "stage")
    await soon(t.step(1))
    await t.connect(ids["bo"], ids["ada"], channel="bridge")
    await t.revoke_privilege(newt)
    await t.stop_creature(ids["cy"])
    await soon(t.run(run_id))


def check_same(there: Verification, here: Verification) -> None:
    assert here.is_same
    assert there.is_same, (there.recorded_event, there.replayed_event)
    assert (there.events, there.recorded_digest) == (here.events, here.recorded_digest)


@pytest.mark.parametrize("ending", ["glass", "jsonl"])
async def test_a_run_that_was_changed_from_outside_verifies_in_another_store(
    tmp_path: Path, ending: str
) -> None:
    async with on_stage(tools=GroupTools()) as t:
        await t.add_creature(Manifest(name="ada"))  # So the ids of the run depend on others in its house.
        run = await t.open_world(WOOD)
        await change_from_outside(t, run.id)
        here = await verify(t, run.id)
        path = await t.export(run.id, tmp_path / f"play.{ending}", role="director")

    check_same(await elsewhere(path, run.id), here)


async def test_what_others_did_in_the_house_meanwhile_is_not_in_the_file_and_not_needed(
    tmp_path: Path,
) -> None:
    async with on_stage() as t:
        run = await t.open_world(WOOD)
        other = await t.open_world(WOOD)
        (home,) = run.graph_ids
        for name in ("ada", "bo", "newt"):
            await t.step_one()
            stranger = await t.add_creature(Manifest(name=name))  # In a graph of its own, of another run.
            await t.add_channel(stranger.graph_id, "attic")
            await t.add_creature(Manifest(name=name), graph=home, run=run.id)
            await t.add_channel(home, f"{name}-room")
            await t.disturb(other.id, "Elsewhere, a door.")
        await soon(t.run())
        here = await verify(t, run.id)
        path = await t.export(run.id, tmp_path / "play.glass", role="director")

    carried = session_file.read_file(path)
    check_same(await elsewhere(path, run.id), here)
    assert len(carried.records[0].standings) > 3
    assert {event.run_id for events in carried.events.values() for event in events} == {run.id, None}


async def test_runs_that_met_come_in_one_file_and_both_verify(tmp_path: Path) -> None:
    async with on_stage() as t:
        first, second = await t.open_world(WOOD), await t.open_world(WOOD)
        await soon(t.step(1))
        await t.connect("ada", "bo~2", channel="bridge", both=True)
        await soon(t.step(2))
        await t.disconnect("ada", "bo~2")
        await t.disconnect("bo~2", "ada")
        await soon(t.run())
        here = [await verify(t, run.id) for run in (first, second)]
        path = await t.export(first.id, tmp_path / "play.glass", role="director")

    for run, verified in zip((first, second), here, strict=True):
        check_same(await elsewhere(path, run.id), verified)


async def test_an_approved_edit_of_an_act_verifies_elsewhere(tmp_path: Path) -> None:
    model = Obedient({"moth": "Well.", "owl": "Well.", "fern": "Well."})
    async with playing(model, GroupTools(Asked(says=True))) as t:
        run = await expedition(t, governor={"max_turns": 2})
        await t.disturb(run.id, f"Please {ORDER}.")
        await soon(t.run(run.id))
        decided = await events_of(t, kinds.EDIT_DECIDED)
        here = await verify(t, run.id)
        path = await t.export(run.id, tmp_path / "play.glass", role="director")

    check_same(await elsewhere(path, run.id), here)
    assert [event.payload["is_approved"] for event in decided][:1] == [True]


async def imported(path: Path, t: Terrarium, run_id: str) -> str:
    """Why an imported run is not verified."""
    await t.import_file(path)
    with pytest.raises(Refused) as refused:
        await verify(t, run_id)
    return str(refused.value)


@pytest.mark.parametrize("role", ["spectator", "audience"])
async def test_a_redacted_file_says_that_it_lacks_what_only_a_director_reads(
    tmp_path: Path, role: Role
) -> None:
    async with on_stage(tools=GroupTools()) as t, other_stage() as there:
        run = await t.open_world(WOOD)
        await soon(t.run())
        path = await t.export(run.id, tmp_path / "play.glass", role=role)

        words = await imported(path, there, run.id)

        assert "the file was redacted, and lacks the requests" in words
        assert f"glasshouse export {run.id} --as director" in words
        assert session_file.read_file(path).records == []


async def test_a_file_of_an_older_version_says_that_it_has_no_requests(tmp_path: Path) -> None:
    async with on_stage(tools=GroupTools()) as t, other_stage() as there:
        run = await t.open_world(WOOD)
        await soon(t.run())
        path = await t.export(run.id, tmp_path / "play.jsonl", role="director")
        lines = [line for line in path.read_bytes().splitlines() if not line.startswith(b'{"record"')]
        head = lines[0].replace(b'"glass":2', b'"glass":1')
        end = lines[-1].partition(b',"record"')[0] + b"}}"
        old = tmp_path / "old.jsonl"
        old.write_bytes(b"\n".join([head, *lines[1:-1], end]) + b"\n")

        words = await imported(old, there, run.id)
        await there.import_file(path)
        outcome = await verify(there, run.id)

        assert "it has no requests from outside and not the order of commits" in words
        assert outcome.is_same, "the same file by this version brings what was missing"


async def test_a_file_of_one_session_says_which_sessions_it_lacks(tmp_path: Path) -> None:
    async with on_stage(tools=GroupTools()) as t, other_stage() as there:
        run = await t.open_world(WOOD)
        await soon(t.step(1))
        await t.remove_channel(run.graph_ids[0], "stage")
        await soon(t.run())
        gone = t.creature("cy").session_id
        path = await t.export(t.creature("ada").session_id, tmp_path / "ada.glass", role="director")

        words = await imported(path, there, run.id)

        assert "sessions in which the run, or a run that it met, was played" in words
        assert gone in words
        assert "as a run and not as one of its sessions" in words


async def test_a_file_goes_on_to_a_third_store_and_a_branch_of_it_verifies_there(tmp_path: Path) -> None:
    async with on_stage() as first, other_stage() as second, other_stage(number=3) as third:
        run = await first.open_world(WOOD)
        await soon(first.run())
        path = await first.export(run.id, tmp_path / "first.glass", role="director")
        session = await second.import_file(path)
        branch = await second.branch(session.id, None, WhatIf(limits=Governor(max_turns=8)))
        await soon(second.run(branch.id))
        again = await second.export(run.id, tmp_path / "again.glass", role="director")
        of_branch = await second.export(branch.id, tmp_path / "branch.glass", role="director")
        await third.import_file(again)
        await third.import_file(of_branch)

        here, outcome = await verify(second, branch.id), await verify(third, branch.id)

        assert (await verify(third, run.id)).is_same
        assert here.is_same
        assert outcome.is_same, (outcome.recorded_event, outcome.replayed_event)
        assert outcome.taken == here.taken > 0


async def test_a_run_that_still_plays_verifies_as_far_as_its_file_goes(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "there.glasshouse")
    async with on_stage() as t:
        run = await t.open_world(WOOD)
        await soon(t.step(2))
        short = await t.export(run.id, tmp_path / "short.glass", role="director")
        await soon(t.run())
        long = await t.export(run.id, tmp_path / "long.glass", role="director")

    async with other_stage(store) as there:
        await there.import_file(short)
        first = await verify(there, run.id)
        await there.import_file(long)
        await there.import_file(short)
        second = await verify(there, run.id)
    async with other_stage(SqliteStore(store.path)) as reopened:
        third = await verify(reopened, run.id)

    assert (first.is_same, second.is_same, third.is_same) == (True, True, True)
    assert first.events < second.events == third.events


async def test_a_run_that_was_tampered_with_does_not_come_out_the_same(tmp_path: Path) -> None:
    async with on_stage(tools=GroupTools()) as t, other_stage() as there:
        run = await t.open_world(WOOD)
        await change_from_outside(t, run.id)
        path = await t.export(run.id, tmp_path / "play.jsonl", role="director")
        path.write_bytes(path.read_bytes().replace(b'"type":"StopCreature"', b'"type":"StartCreature"'))
        with pytest.raises(Refused, match="does not hold what its last line says"):
            await there.import_file(path)
        carried_digest(path)
        await there.import_file(path)

        assert not (await verify(there, run.id)).is_same


BROKEN = {
    "a session that is not there": (b'"sessions":{"s-', b'"sessions":{"s-x'),
    "an order of nothing": (b'"order":[[0,', b'"order":[[7,'),
    "an order that begins in a change": (b'"order":[[0,2,1]', b'"order":[[0,2,0]'),
    "an order of too few": (b'"order":[[0,2,1]', b'"order":[[0,1,1]'),
    "a request of an event that is not there": (b'"of":"s-', b'"of":"s-x'),
    "a request of nobody": (b'"request":{"by":"api"', b'"request":{"by":"ghost"'),
    "another field": (b'{"record":{"house":', b'{"record":{"colour":1,"house":'),
    "a later version": (b'"sessions":{', b'"version":9,"sessions":{'),
    "no record": (b'{"record":{', b'{"record":[{'),
}


@pytest.mark.parametrize("how", BROKEN)
async def test_a_record_that_does_not_fit_its_file_is_refused_in_words(tmp_path: Path, how: str) -> None:
    async with on_stage(tools=GroupTools()) as t, other_stage() as there:
        run = await t.open_world(WOOD)
        await change_from_outside(t, run.id)
        path = await t.export(run.id, tmp_path / "play.jsonl", role="director")
        whole = path.read_bytes()
        path.write_bytes(whole.replace(*BROKEN[how]))
        assert path.read_bytes() != whole
        carried_digest(path)

        with pytest.raises(Refused, match=r"play.jsonl:[0-9]+: .*export it again"):
            await there.import_file(path)
        assert there.imported_runs() == ()


async def test_a_fork_after_a_branch_that_is_not_in_the_file_verifies(tmp_path: Path) -> None:
    async with on_stage(tools=GroupTools()) as t:
        run = await t.open_world(WOOD)
        await soon(t.step(1))
        session_id = t.creature("ada").session_id
        branch = await t.branch(session_id)
        await t.fork(session_id)
        await soon(t.run(run.id))
        await t.finish(branch.id)
        here = await verify(t, run.id)
        path = await t.export(run.id, tmp_path / "play.glass", role="director")

    check_same(await elsewhere(path, run.id), here)


def carried_digest(path: Path) -> None:
    """Make the last line of a file fit the records in it."""
    lines = path.read_bytes().splitlines()
    digest = session_file.record_digest()
    for line in lines:
        if line.startswith(b'{"record"'):
            digest.update(line)
    before, _, _ = lines[-1].partition(b',"record"')
    end = before + b',"record":"' + digest.hexdigest().encode() + b'"}}'
    path.write_bytes(b"\n".join([*lines[:-1], end]) + b"\n")
