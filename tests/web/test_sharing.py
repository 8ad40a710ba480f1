"""A run as one file: what is in it, for whom, and that it is the same each time."""

from __future__ import annotations

import msgspec
import pytest

from glasshouse import MemoryStore, Terrarium, WhatIf, kinds
from glasshouse.errors import Refused
from glasshouse.events.event import Event
from glasshouse.events.redaction import ROLES
from glasshouse.runtime import played as notebooks
from glasshouse.runtime.sharing.shared_run import SharedRun
from glasshouse.terrarium import play, stories_of
from glasshouse.views.page import Record, apply
from glasshouse.web.access import Access
from tests.web.packed import record_in, text_in
from tests.web.served import served

SECRET = "a secret of the house"
HOSTILE = "</script><!--<script>\u2028\u2029 </SCRIPT ><img src=x onerror=alert(1)>"


async def thoughts_of(t: Terrarium, run_id: str) -> set[str]:
    """What was thought and never said."""
    events = await t.run_events(run_id)
    said = "\n".join(str(event.payload) for event in events)
    thought = {str((event.private or {}).get("thought", "")) for event in events} - {""}
    return {text for text in thought if text not in said}


async def secrets_of(t: Terrarium, events: tuple[Event, ...]) -> set[str]:
    """Prompts, personas and what was dealt."""
    digests = {
        part
        for event in events
        if event.model
        for call in event.model.calls
        for part in (call.system, call.user)
    }
    prompts = {text for digest in digests if (text := await t.prompt(digest))}
    manifests = [event.payload["manifest"] for event in events if event.kind == kinds.CREATURE_STARTED]
    personas = {str(manifest["persona"]) for manifest in manifests if manifest.get("persona")}
    dealt = {str(fact) for event in events if event.sealed for fact in event.sealed["facts"].values()}
    assert all((prompts, personas, dealt))
    return prompts | personas | dealt


async def test_a_spectator_s_file_has_no_thought_no_prompt_and_nothing_sealed() -> None:
    async with Terrarium(MemoryStore()) as t:
        run = await t.open_world("twenty-sprouts")
        await t.run(run.id, turns=3)
        thoughts, secrets = await thoughts_of(t, run.id), await secrets_of(t, await t.run_events(run.id))

        public, minds = await t.share(run.id), await t.share(run.id, minds=True)

        assert thoughts
        for file, hidden in ((public, thoughts | secrets), (minds, secrets)):
            packed, page = text_in(file.content), file.content.decode()
            quoted = {text: msgspec.json.encode(text).decode().strip('"') for text in hidden}
            assert [text for text, json in quoted.items() if json in packed or text in page] == []
        assert all(msgspec.json.encode(text).decode() in text_in(minds.content) for text in thoughts)
        assert (record_in(public.content)["role"], record_in(minds.content)["role"]) == (
            "spectator",
            "audience",
        )


async def test_a_file_shows_the_whole_story_with_all_sides_and_is_the_same_each_time() -> None:
    async with Terrarium(MemoryStore()) as t:
        run = await t.open_world("keeper-of-dusk")
        await t.run(run.id)
        stories = stories_of(t)
        story = stories.of_run(run.id)

        file = await t.share(run.id)
        packed = record_in(file.content)

        assert file == await t.share(run.id)
        assert file.name == "the-keeper-of-dusk.html"
        assert file.events == stories.length(story) == len(packed["records"])
        view = packed["start"]
        for record in packed["records"]:
            apply(view, msgspec.convert(record, Record))
        whole = await stories.view_at(story, "spectator")
        assert view == msgspec.to_builtins(whole.view)
        assert len(view["lanes"]) > 2
        assert packed["run"] == view["runs"][run.id]


async def test_a_part_of_a_run_begins_with_the_view_before_it() -> None:
    async with Terrarium(MemoryStore()) as t:
        run = await t.open_world("mystery-roots")
        await t.run(run.id, turns=4)

        file = await t.share(run.id, first=20, last=30)

        packed = record_in(file.content)
        assert [record["k"] for record in packed["records"]] == list(range(20, 31))
        assert (packed["first"], packed["start"]["k"], packed["timeline"]["events"]) == (20, 19, 30)
        assert packed["events"] > 30
        with pytest.raises(Refused, match="events, and none from 9,000 on"):
            await t.share(run.id, first=9_000)
        with pytest.raises(Refused, match="A session cannot be shared as a page"):
            await t.share(run.session_id)
        with pytest.raises(Refused, match="nothing from event 3 to event 2"):
            await t.share(run.id, first=3, last=2)


async def test_a_file_that_would_be_too_large_is_refused_and_a_part_is_offered() -> None:
    async with Terrarium(MemoryStore()) as t:
        run = await t.open_world("mystery-roots")
        await t.run(run.id, turns=2)
        stories = stories_of(t)
        events = [e async for some in stories.events(stories.of_run(run.id)) for e in some]
        shared = SharedRun(run.id, has_minds=False, file_bytes_max=2_000)

        for event in events:
            shared.take(event)
        with pytest.raises(
            Refused, match=r"larger than .* Share a part of the run, such as its events from 1 to"
        ):
            shared.file()


async def test_what_strangers_say_is_never_markup() -> None:
    async with Terrarium(MemoryStore()) as t:
        run = await t.open_world("two-tale-hearth", HOSTILE)
        await t.disturb(run.id, HOSTILE)
        await t.run(run.id, turns=1)

        file = await t.share(run.id)

        page = file.content.decode()
        assert "onerror" not in page
        assert page.count("<script") == page.count("</script>") == 5
        packed = record_in(file.content)
        assert HOSTILE in [record["row"].get("text") for record in packed["records"]]
        assert packed["command"] is None  # A seed that could do something to a terminal is in no command.


async def test_the_playbill_tells_the_facts_and_a_digest_only_where_it_was_verified() -> None:
    async with Terrarium(MemoryStore()) as t:
        run = await t.open_world("two-tale-hearth", "it's a boot", 3)
        await t.run(run.id)
        lines = [event for event in await t.run_events(run.id) if event.kind == "tale.told"]
        branch = await t.branch(lines[2].session_id, lines[2].id, WhatIf(disturb="A dog keeps the letter."))

        plain = record_in((await t.share(run.id)).content)
        verified = record_in((await t.share(run.id, verify=True)).content)

        assert plain["digest"] is None
        assert verified["digest"] == await t.digest(run.id)
        assert plain["command"] == (
            """glasshouse play two-tale-hearth --seed 'it'"'"'s a boot' --rng-seed 3"""
        )
        (tried,) = plain["branches"]
        assert (tried["id"], tried["name"]) == (branch.id, "what if: A dog keeps the letter.")
        assert plain["records"][tried["k"] - 1]["id"] == tried["at"] == lines[2].id
        (verdict,) = [event for event in await t.run_events(run.id) if event.kind == kinds.JUDGE_VERDICT]
        numbers = {record["id"]: record["k"] for record in plain["records"]}
        assert plain["decided_at"] == numbers[verdict.id]
        assert plain["kept"] == [numbers[cited] for cited in verdict.payload["cites"]]


async def test_only_a_director_downloads_thoughts() -> None:
    access = Access(SECRET)
    async with Terrarium(MemoryStore()) as t:
        run = await t.open_world("two-tale-hearth")
        await t.run(run.id, turns=4)
        thoughts = await thoughts_of(t, run.id)
        async with served(t, access) as page:
            for role in ROLES:
                answer = await page.client.get(
                    f"/api/v1/runs/{run.id}/share.html",
                    params={"minds": True},
                    headers={"authorization": f"Bearer {access.token_for(role)}"},
                )

                assert answer.headers["content-disposition"] == 'attachment; filename="two-tale-hearth.html"'
                packed = text_in(answer.content)
                assert any(msgspec.json.encode(text).decode() in packed for text in thoughts) == (
                    role == "director"
                )
            refused = await page.client.get(
                f"/api/v1/runs/{run.id}/share.html",
                params={"from": 9_000},
                headers={"authorization": f"Bearer {access.token_for('spectator')}"},
            )
            assert (refused.status_code, refused.json()["error"]) == (409, "Refused")


def test_a_notebook_shows_a_small_transcript_and_the_page_in_a_frame_if_it_is_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    played = play("two-tale-hearth", turns=4)

    listed = played._repr_html_()
    page = played.page()
    framed = page._repr_html_()
    monkeypatch.setattr(notebooks, "notebook_bytes_max", 2_000)

    assert page.startswith("<!doctype html>")
    with pytest.raises(Refused, match="Share a part of the run"):
        played.page()
    assert framed.startswith('<iframe title="Two Tale Hearth" sandbox="allow-scripts" ')
    assert framed.count("<") == 2
    assert "<table>" in listed
    assert len(listed) < 8_000
