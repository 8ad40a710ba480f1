"""Wires and roots in play: who is asked what, who hears it, and what a reopened store still knows."""

import json
from pathlib import Path

import pytest

from glasshouse import Draft, Event, Manifest, MemoryStore, Refused, Scenario, SqliteStore, Terrarium
from glasshouse.errors import BadWorld
from glasshouse.manifests import LoadedWorld
from glasshouse.manifests.manifest import Schedule
from glasshouse.model_values import Tokens
from glasshouse.models.router import ModelRouter
from glasshouse.runtime.clock import HandMovedClock, SeededIds
from glasshouse.runtime.store_port import Store
from glasshouse.turns.moment.prompt import Completion, Prompt


class Listener:
    """Says one word each time and keeps every prompt, by who it was for."""

    name = "listener"

    def __init__(self) -> None:
        self.prompts: dict[str, list[str]] = {}

    async def complete(self, prompt: Prompt) -> Completion:
        who = prompt.system.partition(",")[0].removeprefix("You are ")
        self.prompts.setdefault(who, []).append(prompt.user)
        return Completion(
            json.dumps({"kind": "agent.spoke", "thought": "", "text": "Hm."}),
            self.name,
            Tokens(5, 5),
            usd=0.0,
        )


def quiet(name: str) -> Manifest:
    return Manifest(name=name, subscribes_to=())


def ticking(name: str) -> Manifest:
    return Manifest(name=name, subscribes_to=(), schedule=Schedule(tick_every=1))


def house(store: Store, model: Listener) -> Terrarium:
    models = ModelRouter({"fast": model})
    return Terrarium(store, models=models, clock=HandMovedClock(), ids=SeededIds(3))


def world(scenario: dict[str, object], *manifests: Manifest) -> LoadedWorld:
    return LoadedWorld.of(Scenario.model_validate({"name": "lane", **scenario}), manifests)


APART = {"send": ["den"], "listen": ["den"]}


def a_lane(**wire: object) -> LoadedWorld:
    """ada speaks in the den every turn; bo, on the stage, is wired to her; heron is the root."""
    return world(
        {
            "root": "heron",
            "channels": {"stage": "", "den": ""},
            "cast": [
                {"use": "ada", "channels": APART, "wires": [{"to": "bo", **wire}]},
                {"use": "bo", "channels": {"send": ["stage"], "listen": ["stage"]}},
                "heron",
            ],
        },
        ticking("ada"),
        quiet("bo"),
        quiet("heron"),
    )


async def test_a_wire_asks_its_target_in_play() -> None:
    model = Listener()
    async with house(MemoryStore(), model) as t:
        await t.open_world(a_lane(prompt="What does {handle} mean by {text}?"))

        await t.step(2)

    assert len(model.prompts["bo"]) == 1
    assert 'You are asked: "What does ada mean by \\"Hm.\\"?"' in model.prompts["bo"][0]


async def test_a_line_that_the_condition_does_not_hold_of_wakes_nobody() -> None:
    model = Listener()
    async with house(MemoryStore(), model) as t:
        await t.open_world(a_lane(when="text has lantern"))

        await t.step(3)
        await t.append("ada", Draft(kind="agent.spoke", channel="den", payload={"text": "A lantern!"}))
        await t.step(1)

    assert len(model.prompts["bo"]) == 1
    assert "A lantern!" in model.prompts["bo"][0]


async def test_mail_of_a_wire_without_content_has_no_words() -> None:
    async with house(MemoryStore(), Listener()) as t:
        await t.open_world(a_lane(with_content=False))
        line = await t.append("ada", Draft(kind="agent.spoke", channel="den", payload={"text": "Secret."}))

        mail = [event async for event in t.mail("bo")]

    assert [(event.id, event.kind, event.payload) for event in mail] == [(line.id, "agent.spoke", {})]


async def test_what_a_wire_handed_over_is_asked_also_when_the_store_was_opened_again_and_the_wire_is_gone(
    tmp_path: Path,
) -> None:
    async with house(SqliteStore(tmp_path / "lane.db"), Listener()) as t:
        await t.open_world(a_lane(prompt="And {text}?"))
        await t.append("ada", Draft(kind="agent.spoke", channel="den", payload={"text": "A lantern."}))
        await t.unwire("ada", "bo")

    model = Listener()
    async with house(SqliteStore(tmp_path / "lane.db"), model) as t:
        await t.step(1)

    assert 'You are asked: "And \\"A lantern.\\"?"' in model.prompts["bo"][0]
    assert "A lantern." in model.prompts["bo"][0].partition("WHAT YOU ANSWER NOW")[2]


async def test_a_bad_condition_or_prompt_is_refused_by_the_api_in_words() -> None:
    async with house(MemoryStore(), Listener()) as t:
        await t.open_world(a_lane())

        with pytest.raises(Refused, match="Write one such as"):
            await t.wire("bo", "heron", when="text contains a question")
        with pytest.raises(Refused, match=r"There is no placeholder \{0\}"):
            await t.wire("bo", "heron", prompt="{0}")


def test_a_bad_wire_in_a_world_is_refused_before_it_opens() -> None:
    with pytest.raises(BadWorld, match="when"):
        a_lane(when="whenever it rains")
    with pytest.raises(BadWorld, match="Did you mean 'text'"):
        a_lane(prompt="{texr}")


async def test_the_visitor_is_answered_by_the_root_in_the_next_turn() -> None:
    model = Listener()
    async with house(MemoryStore(), model) as t:
        run = await t.open_world(a_lane(when="text has lantern"))
        await t.step(1)
        said = await t.disturb(run.id, "Who is in charge here?")

        await t.step(1)
        answers = [event for event in await t.run_events(run.id) if event.caused_by == said.id]

    assert [(event.actor, event.turn) for event in answers] == [("heron", 2)]
    assert 'visitor (visitor, user.injected): "Who is in charge here?"' in model.prompts["heron"][0]


async def test_a_root_hears_what_is_said_on_a_channel_that_was_opened_during_the_play(tmp_path: Path) -> None:
    async with house(SqliteStore(tmp_path / "lane.db"), Listener()) as t:
        await t.open_world(a_lane(when="text has lantern"))
        await t.connect("ada", "bo", channel="attic")
        await t.append("ada", Draft(kind="agent.spoke", channel="attic", payload={"text": "Only for bo."}))

    model = Listener()
    async with house(SqliteStore(tmp_path / "lane.db"), model) as t:
        await t.disturb(t.runs()[0].id, "Anything new?")
        await t.step(1)
        edges = t.environment(t.creature("heron").graph_id).channel("attic")

    assert "Only for bo." in model.prompts["heron"][0]
    assert "You hear every channel here: stage, den, attic." in model.prompts["heron"][0]
    assert edges is not None
    assert "heron" not in (*edges.listeners, *edges.senders)


async def test_everybody_can_report_to_the_root() -> None:
    model = Listener()
    mute = {"use": "ada", "channels": {"listen": ["stage"]}}
    lane = world(
        {"root": "heron", "cast": [mute, "bo", "heron"]}, ticking("ada"), quiet("bo"), quiet("heron")
    )
    async with house(MemoryStore(), model) as t:
        run = await t.open_world(lane)
        await t.step(1)
        said = [event for event in await t.run_events(run.id) if event.actor == "ada"]
        reports = t.environment(t.creature("heron").graph_id).channel("reports")

    assert [event.channel for event in said] == ["reports"]
    assert reports is not None
    assert (reports.senders, reports.listeners) == (("ada",), ("heron",))


async def test_two_troupes_have_a_root_each_and_each_answers_its_own_visitor() -> None:
    model = Listener()
    two = world(
        {
            "troupes": {
                "north": {"cast": ["ada", "heron"], "root": "heron"},
                "south": {"cast": ["bo"], "root": "owl"},
            }
        },
        *map(quiet, ("ada", "bo", "heron", "owl")),
    )
    async with house(MemoryStore(), model) as t:
        run = await t.open_world(two)
        said = [
            await t.disturb(run.id, "Hello.", graph_id=t.creature(name).graph_id) for name in ("ada", "bo")
        ]
        await t.step(1)
        events = await t.run_events(run.id)

    assert [answered_by(events, line) for line in said] == [["heron"], ["owl"]]
    roots = [event.payload for event in events if event.payload.get("is_root")]
    assert [(root["creature"], root["is_privileged"]) for root in roots] == [("heron", True), ("owl", True)]
    assert [root["manifest"]["role"] for root in roots] == ["root", "root"]


def answered_by(events: tuple[Event, ...], cause: Event) -> list[str]:
    return [event.actor for event in events if event.caused_by == cause.id]


async def test_roots_wires_and_the_names_of_those_who_are_gone_live_on_in_a_branch() -> None:
    model = Listener()
    async with house(MemoryStore(), model) as t:
        first = await t.open_world(a_lane(prompt="What of {text}?"))
        await t.finish(first.id)
        run = await t.open_world(a_lane(prompt="What of {text}?"))  # Here nobody's id is its handle.
        await t.connect("ada~2", "bo~2", channel="attic")
        await t.append("bo~2", Draft(kind="agent.spoke", channel="stage", payload={"text": "Farewell."}))
        await t.append("ada~2", Draft(kind="agent.spoke", channel="attic", payload={"text": "Hush, heron."}))
        await t.remove_creature("bo~2")
        await t.disturb(run.id, "What was that?")
        at = (await t.run_events(run.id))[-1]
        await t.step_one()

        branch = await t.branch(at.session_id, at.id)
        await t.pause(run.id)
        await t.step(1)
        acts = [await answer_of(t, run.id, "heron~2"), await answer_of(t, branch.id, "heron~3")]

    assert acts[0] == acts[1] != ""
    assert 'bo (cast, agent.spoke): "Farewell."' in model.prompts["heron"][0]
    assert 'ada (cast, agent.spoke): "Hush, heron."' in model.prompts["heron"][0]


async def answer_of(t: Terrarium, run_id: str, actor: str) -> str:
    """The digest of all that the only act of a creature was shown of what was said and who is around, and its seed."""
    (act,) = [event for event in await t.run_events(run_id) if event.actor == actor]
    call = act.calls[0]
    return f"{call.user} {call.seed}"
