"""Returned values belong to the caller: changing one affects nobody else."""

from glasshouse import Draft, Event, Manifest, MemoryStore, Terrarium, kinds, play
from tests.runtime.stage_crew import Speaker, on_stage, ticking, world_of


async def house_with_ada(subscribes_to: tuple[str, ...] = (kinds.AGENT_SPOKE,)) -> Terrarium:
    t = Terrarium(MemoryStore())
    await t.open()
    await t.add_creature(Manifest(name="ada", may_emit=(kinds.AGENT_SPOKE,), subscribes_to=subscribes_to))
    return t


def line(text: str) -> Draft:
    return Draft(kind=kinds.AGENT_SPOKE, payload={"text": text, "tags": ["first"]}, private={"mood": "calm"})


def spoil(event: Event) -> None:
    event.payload["text"] = "spoiled"
    event.payload["tags"].append("spoiled")
    if event.private is not None:
        event.private["mood"] = "spoiled"


def is_whole(event: Event) -> bool:
    return (event.payload, event.private) == ({"text": "hello", "tags": ["first"]}, {"mood": "calm"})


async def test_changing_a_returned_event_changes_nothing_that_a_subscriber_gets() -> None:
    t = await house_with_ada()
    async with t.subscribe() as first, t.subscribe() as second:
        spoil(await t.append("ada", line("hello")))

        heard = await anext(first)
        assert is_whole(heard)
        spoil(heard)
        assert is_whole(await anext(second))
    await t.close()


async def test_lines_that_take_the_short_path_are_their_callers_own_too() -> None:
    said = Draft(kind=kinds.AGENT_SPOKE, payload={"text": "hello", "tags": ["first"]})
    t = await house_with_ada(subscribes_to=())
    async with t.subscribe() as first, t.subscribe() as second:
        for _ in range(3):
            spoil(await t.append("ada", said))
            spoil(await t.append_nowait("ada", said))

        for _ in range(6):
            heard = await anext(first)
            assert heard.payload == said.payload
            spoil(heard)
            assert (await anext(second)).payload == said.payload
    await t.close()


async def test_lines_in_a_graph_that_plays_can_be_changed_without_changing_what_is_recalled() -> None:
    async with on_stage(minds={"ada": Speaker()}) as t:
        await t.open_world(world_of(ticking("ada"), ticking("bo")))
        await t.step_one()
        for _ in range(3):
            event = await t.append("ada", Draft(kind=kinds.AGENT_SPOKE, payload={"text": "hello"}))
            event.payload["text"] = "spoiled"

        recalled = [line for table in t._house.ledger.folded.tables.said.values() for line in table.lines]
        assert [line.payload["text"] for line in recalled].count("hello") >= 3
        assert "spoiled" not in [line.payload["text"] for line in recalled]


async def test_events_of_a_batch_and_of_many_in_flight_are_the_callers_own() -> None:
    t = await house_with_ada()
    async with t.subscribe() as heard:
        spoil((await t.append_all("ada", [line("hello")]))[0])
        spoil(await t.append_nowait("ada", line("hello")))

        assert is_whole(await anext(heard))
        assert is_whole(await anext(heard))
    await t.close()


async def test_what_a_visitor_and_an_act_gave_back_can_be_changed_without_changing_what_is_heard() -> None:
    async with on_stage(minds={"ada": Speaker()}) as t:
        run = await t.open_world(world_of(ticking("ada"), ticking("bo")))
        async with t.subscribe() as heard:
            disturbed = await t.disturb(run.id, "A hen walks in.")
            disturbed.payload["text"] = "spoiled"
            ended = await t.step_one()
            assert ended is not None
            ended.payload["text"] = "spoiled"

            texts = [(await anext(heard)).payload.get("text") for _ in range(3)]
            assert "spoiled" not in texts


def test_what_was_played_shares_nothing_with_the_engine() -> None:
    played = play("thousand-token-wood", turns=2)

    assert {type(creature).__name__ for creature in played.creatures.values()} == {"Creature"}
    for name in played.creatures:
        assert all(line.who for line in played.heard_by(name))
    assert played.heard_by(next(iter(played.creatures.values()))) == played.heard_by(
        next(iter(played.creatures))
    )
