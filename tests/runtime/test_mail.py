"""Mail: a creature gets each line exactly once and in order, even if its graph merges or splits meanwhile."""

import asyncio

import pytest

from glasshouse import Draft, Event, Manifest, MemoryStore, Refused, kinds
from tests.runtime.stores_around import GatedStore
from tests.runtime.troupe import (
    born,
    line,
    loop_turns,
    mail_of,
    new_terrarium,
    soon,
    taken,
    terrarium_on,
    text_of,
    troupe,
)


async def test_a_listener_is_owed_what_others_say_and_never_its_own_lines() -> None:
    async with terrarium_on(MemoryStore()) as t:
        await troupe(t, "ada", "bo", "cy")

        await t.append("ada", line("one"))
        await t.append("bo", line("two"))

        assert await mail_of(t, "ada") == ["two"]
        assert await mail_of(t, "bo") == ["one"]
        assert await mail_of(t, "cy") == ["one", "two"]


async def test_when_connect_returns_the_target_hears() -> None:
    async with terrarium_on(GatedStore()) as t:
        await born(t, "ada", "bo")
        await t.connect("ada", "bo", channel="talk")

        await t.append("ada", line("at once"))

        assert await mail_of(t, "bo") == ["at once"]
        assert await mail_of(t, "ada") == []


async def test_mail_comes_once_and_in_order_through_merge_split_stop_and_start() -> None:
    store = GatedStore()
    async with terrarium_on(store) as t:
        await troupe(t, "ada", "bo")
        await troupe(t, "cy", "dee", "eve", channel="den")
        said: list[str] = []

        async def says(text: str) -> None:
            await t.append("ada", line(text))
            said.append(text)

        await says("alone with bo")
        await t.connect("bo", "cy", channel="bridge")
        await says("after a merge into the larger")
        await t.stop_creature("bo")
        await says("while bo rests")
        await t.disconnect("bo", "cy", channel="bridge")
        await says("after a split")
        await t.start_creature("bo")
        await says("bo is back")
        await t.connect("dee", "ada", channel="other")
        await says("merged again")

        assert await mail_of(t, "bo") == said


async def test_what_a_resting_creature_heard_is_settled_by_one_act() -> None:
    async with terrarium_on(MemoryStore()) as t:
        await troupe(t, "ada", "bo")
        await t.append("ada", line("before"))
        await t.stop_creature("bo")
        waited = [await t.append("ada", line(text)) for text in ("while", "it", "slept")]
        await t.start_creature("bo")
        await t.append("ada", line("after"))

        await t.append("bo", line("I read all three"), caused_by=waited[2].id)

        assert await mail_of(t, "bo") == ["before", "after"]


async def test_one_act_settles_one_cause() -> None:
    async with terrarium_on(MemoryStore()) as t:
        await t.add_creature(Manifest(name="ada"))
        await t.add_creature(Manifest(name="bo"))
        await t.connect("ada", "bo", channel="talk", both=True)
        causes = [await t.append("ada", line(text)) for text in ("one", "two")]

        await t.append("bo", line("to one"), caused_by=causes[0].id)
        await t.append("bo", line("to one again"), caused_by=causes[0].id)

        assert await mail_of(t, "bo") == ["two"]


async def test_a_wire_and_a_channel_owe_a_line_once() -> None:
    async with terrarium_on(MemoryStore()) as t:
        await troupe(t, "ada", "bo", "cy")
        await t.wire("ada", "bo")

        await t.append("ada", line("heard and handed on"))
        await t.append("ada", line("handed on", None))

        assert await mail_of(t, "bo") == ["heard and handed on", "handed on"]
        assert await mail_of(t, "cy") == ["heard and handed on", "handed on"]


async def test_mail_is_not_shown_before_it_is_durable() -> None:
    store = GatedStore()
    async with terrarium_on(store) as t:
        await troupe(t, "ada", "bo")
        store.gate.clear()
        saying = asyncio.create_task(t.append("ada", line("soon")))
        await loop_turns()

        reading = asyncio.create_task(mail_of(t, "bo"))
        await loop_turns()
        assert not reading.done()
        store.gate.set()

        assert await soon(reading) == ["soon"]
        await soon(saying)


async def test_followed_mail_goes_on_as_more_arrives_through_a_merge() -> None:
    async with terrarium_on(GatedStore()) as t:
        await troupe(t, "ada", "bo")
        await troupe(t, "cy", "dee", "eve", channel="den")
        await t.append("ada", line("one"))
        mail = t.mail("bo", follow=True)

        heard = await taken(mail, 1)
        listening = asyncio.create_task(taken(mail, 3))
        await t.append("ada", line("two"))
        await t.connect("cy", "bo", channel="bridge")
        await t.append("cy", line("three", "bridge"))
        await t.append("ada", line("four"))
        heard += await soon(listening)

        assert [text_of(event) for event in heard] == ["one", "two", "three", "four"]
        await mail.aclose()  # type: ignore[attr-defined]


async def test_followed_mail_is_once_each_though_acts_settle_it_meanwhile() -> None:
    async with terrarium_on(GatedStore()) as t:
        await troupe(t, "ada", "bo")
        mail, heard = t.mail("bo", follow=True), list[Event]()
        speaking = [t.append("ada", line(f"{n}")) for n in range(10)]

        async def answers() -> None:
            async for event in mail:
                heard.append(event)
                await t.append("bo", line("aye"), caused_by=event.id)
                if len(heard) == 10:
                    return

        answering = asyncio.create_task(answers())
        await asyncio.gather(*speaking)
        await soon(answering)

        assert [text_of(event) for event in heard] == [f"{n}" for n in range(10)]
        assert await mail_of(t, "bo") == []
        await mail.aclose()  # type: ignore[attr-defined]


async def test_followed_mail_ends_when_its_creature_goes_or_the_terrarium_closes() -> None:
    t = new_terrarium(MemoryStore())
    await t.open()
    await troupe(t, "ada", "bo", "cy")
    of_bo = asyncio.create_task(_all(t.mail("bo", follow=True)))
    of_cy = asyncio.create_task(_all(t.mail("cy", follow=True)))
    await t.append("ada", line("farewell"))
    await loop_turns()

    await t.remove_creature("bo")
    assert await soon(of_bo) == ["farewell"]
    await t.close()

    assert await soon(of_cy) == ["farewell"]


async def _all(mail: object) -> list[str]:
    return [text_of(event) async for event in mail]  # type: ignore[attr-defined]


async def test_mail_is_the_same_after_the_store_is_opened_again() -> None:
    store = MemoryStore()
    async with terrarium_on(store) as t:
        await troupe(t, "ada", "bo")
        cause = await t.append("ada", line("one"))
        await t.append("ada", line("two"))
        await t.append("bo", line("answered"), caused_by=cause.id)

    async with terrarium_on(store) as t:
        assert await mail_of(t, "bo") == ["two"]
        assert await mail_of(t, "ada") == ["answered"]


async def test_a_creature_that_is_gone_has_no_mail() -> None:
    async with terrarium_on(MemoryStore()) as t:
        await troupe(t, "ada", "bo")
        await t.append("ada", line("too late"))
        await t.remove_creature("bo")

        with pytest.raises(Refused):
            await mail_of(t, "bo")


async def test_mail_holds_only_what_its_creature_may_hear() -> None:
    async with new_terrarium(MemoryStore()) as t:
        await troupe(t, "ada", "bo")
        spoken = Draft(
            kind=kinds.AGENT_SPOKE,
            channel="talk",
            payload={"text": "Hello."},
            private={"thought": "Go away."},
            sealed={"to": ["ada"], "facts": {"word": "fern"}},
        )
        await t.append("ada", spoken)

        (mail,) = [event async for event in t.mail("bo")]

    assert (mail.payload, mail.private, mail.sealed) == ({"text": "Hello."}, None, None)
