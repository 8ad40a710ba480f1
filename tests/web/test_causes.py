"""Why something was said, what its model was asked and who knew of it, over a real server and by role."""

from __future__ import annotations

from glasshouse import MemoryStore, Terrarium
from glasshouse.events.redaction import ROLES
from tests.web.served import served


async def test_the_calls_behind_an_event_are_told_to_a_director_alone() -> None:
    async with Terrarium(MemoryStore()) as t:
        run = await t.open_world("mystery-roots")
        await t.run(run.id, turns=3)
        asked = next(event for event in await t.run_events(run.id) if event.calls)
        silent = (await t.run_events(run.id))[0]
        async with served(t) as page:
            path = f"/api/v1/runs/{run.id}/events/{asked.id}/prompt"
            answer = await page.get(path)
            assert (answer["event_id"], answer["calls_count"]) == (asked.id, len(asked.calls))
            assert answer["calls"][-1]["system"] == await t.prompt(asked.calls[-1].system)
            assert answer["calls"][-1]["user"] == await t.prompt(asked.calls[-1].user)
            assert answer["calls"][-1]["completion"] == asked.calls[-1].completion
            for role in ROLES[:2]:
                refused = await page.client.get(path, params={"role": role})
                assert refused.status_code == 403
                assert "director" in refused.json()["message"]
            why = await page.get(f"/api/v1/runs/{run.id}/events/{asked.id}/why")
            assert (why["event_id"], why["links"][0]["event"]["id"]) == (asked.id, asked.id)
            none = await page.get(f"/api/v1/runs/{run.id}/events/{silent.id}/prompt")
            assert (none["calls"], none["profile"]) == ([], None)


async def test_who_knew_is_told_now_and_as_it_was() -> None:
    async with Terrarium(MemoryStore()) as t:
        run = await t.open_world("mystery-roots")
        await t.run(run.id, turns=2)
        said = await t.disturb(run.id, "A quandle rolls in.")
        async with served(t) as page:
            path = f"/api/v1/runs/{run.id}/events/{said.id}/who-knew"
            answer = await page.get(path)
            assert answer["count"] == len(answer["knowers"]) == 5
            assert {knower["how"] for knower in answer["knowers"]} == {"present"}
            first = (await t.run_events(run.id))[0]
            assert (await page.get(path, at=first.id))["count"] == 0
            assert (await page.get(path, at=said.id))["count"] == 5
            elsewhere = await t.open_world("thousand-token-wood")
            foreign = (await t.run_events(elsewhere.id))[0].id
            for path in (f"{foreign}/who-knew", f"{foreign}/prompt", f"{foreign}/why"):
                wrong = await page.client.get(f"/api/v1/runs/{run.id}/events/{path}")
                assert wrong.status_code == 404
            wrong = await page.client.get(
                f"/api/v1/runs/{run.id}/events/{said.id}/who-knew", params={"at": foreign}
            )
            assert wrong.status_code == 404


async def test_how_a_run_ended_is_told_once_it_has() -> None:
    async with Terrarium(MemoryStore()) as t:
        run = await t.open_world("twenty-sprouts")
        path = f"/api/v1/runs/{run.id}/curtain"
        async with served(t) as page:
            early = await page.client.get(path)
            await t.run(run.id)
            answers = {role: await page.get(path, role=role) for role in ROLES}
        finished = t.run_of(run.id).finished
        assert finished is not None
        winner, reason = finished.winner, finished.why

    assert winner in {"guesser", "keeper"}
    assert reason is not None
    assert reason.startswith(("The word was named: ", "Nobody named the word. It was "))
    assert (early.status_code, "has not ended" in early.json()["message"]) == (409, True)
    assert {role: len(answer["what_ifs"]) for role, answer in answers.items()} == {
        "spectator": 0,
        "audience": 0,
        "director": 2,
    }
    assert {answer["outcome"] for answer in answers.values()} == {f"{winner.capitalize()} won."}
    assert {answer["why"] for answer in answers.values()} == {reason}
