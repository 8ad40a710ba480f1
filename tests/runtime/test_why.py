"""`why` and `who_knew` on a play: in every store and every role, after merges and removals."""

import asyncio
import json
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest

from glasshouse import Draft, Event, Governor, Manifest, MemoryStore, Refused, SqliteStore, Terrarium, kinds
from glasshouse.errors import UnknownName
from glasshouse.events.event import usage_in
from glasshouse.events.model_use import NOTHING
from glasshouse.model_values import Tokens
from glasshouse.models.router import ModelRouter
from glasshouse.runtime.clock import HandMovedClock, SeededIds
from glasshouse.runtime.store_port import Store
from glasshouse.turns.moment.moment import Moment
from glasshouse.turns.moment.prompt import Completion, Prompt
from glasshouse.turns.moment.tools import ToolCall
from glasshouse.views.why import links_max
from tests.runtime.group_calls import Obedient, expedition, playing
from tests.runtime.stage_crew import Doing, events_of, hearing, on_stage
from tests.runtime.test_group_acts import BOUNDED, JOIN, QUIET, STATUS
from tests.runtime.toolkits import OneTool
from tests.runtime.troupe import line, new_terrarium, soon, troupe


class Counting:
    """Answers with a number, so that no two lines read alike; keeps what it was asked."""

    def __init__(self) -> None:
        self.prompts: list[Prompt] = []

    async def complete(self, prompt: Prompt) -> Completion:
        self.prompts.append(prompt)
        reply = {"kind": "agent.spoke", "thought": f"It is {len(self.prompts)}.", "mood": "calm"}
        return Completion(
            json.dumps({**reply, "text": f"Number {len(self.prompts)}."}), "counting", Tokens(5, 5)
        )


class Forgetful(MemoryStore):
    """A store whose prompts and shown lines were pruned."""

    async def prompt(self, digest: str) -> str | None:
        return None

    async def shown(self, position: int) -> None:
        return None


def house(store: Store, model: Counting | None = None) -> Terrarium:
    return Terrarium(
        store,
        models=ModelRouter(model or Counting()),
        clock=HandMovedClock(),
        ids=SeededIds(7),
        governor=Governor(max_calls_per_turn=None),
    )


async def conversation(t: Terrarium, acts: int = 4) -> list[Event]:
    """ada and bo answer each other, after a visitor has said something: the disturbance, then every act."""
    for name in ("ada", "bo"):
        await t.add_creature(Manifest(name=name, subscribes_to=("agent.spoke", "user.injected")))
    await t.connect("ada", "bo", channel="talk", both=True)
    said = [await t.disturb(t.default_run_id, "A hen walks in.")]
    while len(said) <= acts:
        act = await t.step_one()
        assert act is not None
        said.append(act)
    return said


@pytest.mark.parametrize("kind_of_store", ["memory", "sqlite"])
async def test_the_chain_leads_from_a_line_to_the_disturbance_that_began_it(
    kind_of_store: str, tmp_path: Path
) -> None:
    store = MemoryStore() if kind_of_store == "memory" else SqliteStore(tmp_path / "show.glasshouse")
    async with house(store) as t:
        said = await conversation(t)

        why = await t.why(said[-1].id)

    chain = [link.event.id for link in why.links]
    assert chain[0] == said[-1].id
    assert chain[-1] == said[0].id
    assert all(first.event.caused_by == other.event.id for first, other in pairwise(why.links))
    assert why.began == "disturbance"
    assert [link.came for link in why.links] == [*["channel"] * (len(chain) - 2), "graph", None]
    assert why.links[0].by == "talk"


async def test_the_lines_of_a_link_are_those_that_its_prompt_showed() -> None:
    model = Counting()
    async with house(MemoryStore(), model) as t:
        said = await conversation(t)

        why = await t.why(said[-1].id)

    (link, *_) = why.links
    assert link.missing == ()
    assert [line.event_id for line in link.lines if line.section == "discussion"] == [e.id for e in said[:-1]]
    for seen in link.lines:
        assert f"] {seen.who} (" in model.prompts[-1].user
        assert f'{seen.kind}): "{seen.text}"' in model.prompts[-1].user


async def test_each_call_keeps_the_lines_that_it_was_shown_itself() -> None:
    async with house(MemoryStore()) as t:
        said = await conversation(t)

        shown = [(await t.why(act.id)).links[0].lines for act in said[1:]]

    assert [[line.event_id for line in lines] for lines in shown] == [
        [event.id for event in said[:count]] for count in range(1, len(said))
    ]


async def test_where_the_record_was_pruned_why_says_so_and_still_tells_the_causes() -> None:
    async with house(Forgetful()) as t:
        said = await conversation(t)

        why = await t.why(said[-1].id, role="director")

    assert (why.links[0].lines, why.links[0].missing) == ((), ("prompt",))
    assert [asked.user for asked in why.links[0].prompts] == [None]
    assert why.links[-1].event.id == said[0].id


async def test_what_is_shown_is_in_no_event_and_in_no_prompt() -> None:
    model = Counting()
    async with house(MemoryStore(), model) as t:
        said = await conversation(t)
        written = msgspec.json.encode(said[-1]).decode()

    assert written.count(said[1].id) == 0
    assert all(
        event.id not in msgspec.json.encode(prompt).decode() for event in said for prompt in model.prompts
    )


async def test_each_role_reads_what_it_may() -> None:
    async with house(MemoryStore()) as t:
        said = await conversation(t)

        spectator, audience, director = [
            (await t.why(said[-1].id, role=role)).links[0] for role in ("spectator", "audience", "director")
        ]

    assert (spectator.thought, spectator.event.private) == ("", None)
    assert (audience.thought, audience.mood) == ("It is 4.", "calm")
    assert (spectator.prompts, audience.prompts) == ((), ())
    assert spectator.event.model == audience.event.model != director.event.model
    assert usage_in([spectator.event]) == usage_in([director.event]) != NOTHING
    assert director.prompts[-1].system is not None
    assert director.prompts[-1].system.startswith("You are ")


async def test_a_long_chain_is_cut_and_says_so() -> None:
    async with house(MemoryStore()) as t:
        said = await conversation(t, acts=3 * links_max)

        why = await t.why(said[-1].id)

    assert (len(why.links), why.began) == (links_max, "further")


async def test_a_line_handed_by_a_wire_says_so_and_is_known_by_its_target() -> None:
    async with house(MemoryStore()) as t:
        await troupe(t, "ada", "bo")
        await t.add_channel(t.creature("ada").graph_id, "den")
        await t.add_creature(
            Manifest(name="cy", subscribes_to=()), graph=t.creature("ada").graph_id, channel="den"
        )
        wire = await t.wire("ada", "cy")
        spoken = await t.append("ada", line("Over here."))
        answers = [act for _ in range(3) if (act := await t.step_one()) is not None and act.actor == "cy"]

        link = (await t.why(answers[0].id)).links[0]
        knew = await t.who_knew(spoken.id)

    assert (link.came, link.by) == ("wire", wire.id)
    assert {knower.creature: knower.how for knower in knew.knowers} == {
        "ada": "said",
        "bo": "heard",
        "cy": "handed",
    }


async def test_what_a_line_cites_is_told_with_it() -> None:
    async with new_terrarium(MemoryStore()) as t:
        await t.add_creature(Manifest(name="ada", may_emit=("agent.spoke", "guess.made")))
        clue = await t.append("ada", Draft(kind="agent.spoke", payload={"text": "Wet boots."}))
        guess = await t.append(
            "ada", Draft(kind="guess.made", payload={"text": "The heron.", "cites": [clue.id, "s-none.1"]})
        )

        cited = await t.append("ada", Draft(kind="guess.made", payload={"text": "?", "against": guess.id}))

        assert [event.id for event in (await t.why(cited.id)).links[0].cites] == [guess.id]
        assert (await t.why(guess.id)).links[0].cites == ()
        assert (await t.why(clue.id)).began == "outside"


async def test_who_joined_later_knows_since_the_event_that_brought_it() -> None:
    async with new_terrarium(MemoryStore()) as t:
        await troupe(t, "ada", "bo")
        spoken = await t.append("ada", line("A secret."))
        await t.add_creature(Manifest(name="cy"), graph=t.creature("ada").graph_id)
        await t.connect("ada", "cy", channel="talk")
        await t.add_creature(Manifest(name="dee"))
        await t.connect("bo", "dee", channel="talk")
        await t.remove_creature("bo")

        knew = {knower.creature: knower for knower in (await t.who_knew(spoken.id)).knowers}
        since = {name: await t.event(knower.since) for name, knower in knew.items()}
        end = await t.event(knew["bo"].until or "")

    assert {name: knower.how for name, knower in knew.items()} == {
        "ada": "said",
        "bo": "heard",
        "cy": "joined",
        "dee": "merged",
    }
    assert since["bo"].id == spoken.id
    for name in ("cy", "dee"):
        assert (since[name].kind, since[name].payload["creature"]) == (kinds.CHANNEL_JOINED, name)
    assert (end.kind, end.payload["creature"]) == (kinds.CREATURE_STOPPED, "bo")
    assert knew["cy"].until is None


async def test_who_knew_at_an_event_is_who_could_see_it_by_then_under_the_names_of_then() -> None:
    async with new_terrarium(MemoryStore()) as t:
        await troupe(t, "ada", "bo")
        before = await t.append("ada", line("Nothing yet."))
        spoken = await t.append("ada", line("A secret."))
        await t.add_creature(Manifest(name="cy"))
        await t.connect("ada", "cy", channel="talk")
        later = await t.append("ada", line("What was that?"))
        await t.remove_creature("bo")
        await t.append("ada", line("Bo is gone."))

        answers = [await t.who_knew(spoken.id, at=at) for at in (before.id, spoken.id, later.id, None)]
        seen = [
            {knower.creature: (knower.how, knower.until is None) for knower in who.knowers} for who in answers
        ]

        with pytest.raises(UnknownName):
            await t.who_knew(spoken.id, at="s-nowhere.1")

    assert seen[:2] == [{}, {"ada": ("said", True), "bo": ("heard", True)}]
    assert seen[2] == {"ada": ("said", True), "bo": ("heard", True), "cy": ("merged", True)}
    assert seen[3] == {**seen[2], "bo": ("heard", False)}
    assert [who.count for who in answers] == [0, 2, 3, 3]
    assert not any(knower.is_elsewhere for who in answers for knower in who.knowers)


async def test_what_was_known_is_known_still_after_the_store_is_opened_again(tmp_path: Path) -> None:
    path = tmp_path / "show.glasshouse"
    async with new_terrarium(SqliteStore(path)) as t:
        await troupe(t, "ada", "bo", "cy")
        spoken = await t.append("ada", line("A secret."))
        await t.remove_creature("bo")
        before = await t.who_knew(spoken.id)

    async with new_terrarium(SqliteStore(path)) as t:
        after = await t.who_knew(spoken.id)

    assert after == before
    assert before.count == 3


async def test_an_unknown_event_or_role_is_refused_in_words() -> None:
    async with new_terrarium(MemoryStore()) as t:
        await troupe(t, "ada", "bo")
        spoken = await t.append("ada", line("Here."))

        with pytest.raises(UnknownName):
            await t.why("s-nowhere.1")
        with pytest.raises(UnknownName):
            await t.who_knew("s-nowhere.1")
        with pytest.raises(Refused, match="is no role"):
            await t.why(spoken.id, role="critic")  # type: ignore[arg-type]


async def test_the_tools_of_an_act_are_told_with_it_and_what_they_changed_leads_back_to_it() -> None:
    async with playing(Obedient(QUIET, calls=(STATUS, JOIN))) as t:
        run = await expedition(t, leader=hearing("lead"), cast=("moth",), governor=BOUNDED)
        await t.add_creature(Manifest(name="hermit", subscribes_to=(kinds.JUDGE_VERDICT,)), run=run.id)
        woken_by = await t.append("moth", line("Help!", "stage"))
        ended = await t.step_one()
        assert ended is not None
        (merge,) = [e for e in await events_of(t, kinds.TOPOLOGY_CHANGED) if e.payload["kind"] == "merge"]

        why_said = await t.why(ended.id)
        why_merged = await t.why(merge.id)

    assert [use.called.payload["tool"] for use in why_said.links[0].tools] == [
        "group_status",
        "group_channel",
    ]
    assert all(use.returned is not None and use.returned.payload["is_ok"] for use in why_said.links[0].tools)
    assert [link.event.id for link in why_said.links] == [ended.id, woken_by.id]
    called = why_said.links[0].tools[1].called
    assert [link.event.id for link in why_merged.links] == [merge.id, called.id, woken_by.id]
    assert (why_merged.links[0].came, why_merged.links[0].by) == ("tool", "group_channel")


async def test_a_tool_is_told_however_much_was_said_before_its_act_ended() -> None:
    async def lit_and_talked_over(moment: Moment) -> None:
        assert moment.carry is not None
        await moment.carry(ToolCall("lamp", {"how": "low"}))
        await asyncio.gather(*[t.append("bo", line(f"{number}", "talk")) for number in range(250)])

    async with on_stage(tools=OneTool()) as t:
        await t.add_creature(hearing("ada", kinds.USER_INJECTED), agent=Doing(lit_and_talked_over))
        await t.add_creature(Manifest(name="bo"))
        await t.connect("ada", "bo", channel="talk", both=True)
        await t.grant_privilege("ada")
        await t.disturb(t.default_run_id, "It is dark.")
        ended = await soon(t.step_one())
        assert ended is not None

        (use,) = (await t.why(ended.id)).links[0].tools
        heard = [event for event in await events_of(t, kinds.AGENT_SPOKE) if event.tools]

    assert (use.called.payload["tool"], use.returned and use.returned.payload["is_ok"]) == ("lamp", True)
    assert ended.tools == (use.called.id, use.returned.id if use.returned else "")
    assert heard == [ended]


async def test_a_branch_knows_the_past_it_grew_from() -> None:
    async with house(MemoryStore()) as t:
        said = await conversation(t)
        await t.branch(t.creature("ada").session_id, said[-1].id)
        (graph_id,) = {creature.graph_id for creature in t.creatures()} - {t.creature("ada").graph_id}
        answer = await t.step_one(graph_id)
        assert answer is not None

        why = await t.why(answer.id)
        knew = {knower.creature: knower for knower in (await t.who_knew(said[1].id)).knowers}

    assert [line.event_id for line in why.links[0].lines] == [event.id for event in said]
    assert [link.came for link in why.links] == [*["channel"] * (len(why.links) - 2), "graph", None]
    assert why.links[-1].event.id == said[0].id
    assert {name: knower.how for name, knower in knew.items()} == {
        "ada": "said",
        "bo": "heard",
        "ada~2": "reborn",
        "bo~2": "reborn",
    }
    assert knew["bo~2"].since.endswith(".1")


async def verdict_on(t: Terrarium, *cited: Event) -> Event:
    """A judge that joins ada and bo rules on lines of theirs, unasked."""
    await t.add_creature(Manifest(name="jo", role="judge", may_emit=("judge.verdict",)))
    await t.connect("ada", "jo", channel="talk", both=True)
    payload = {"winner": "nobody", "text": "So it is.", "cites": [event.id for event in cited]}
    return await t.append("jo", Draft(kind=kinds.JUDGE_VERDICT, channel="talk", payload=payload))


async def test_the_chain_of_a_verdict_goes_on_to_the_lines_it_cites_the_newest_first() -> None:
    async with house(MemoryStore()) as t:
        hen, first, second, *_ = await conversation(t)
        verdict = await verdict_on(t, first, second)

        why = await t.why(verdict.id)

    assert [link.event.id for link in why.links] == [verdict.id, second.id, hen.id, first.id]
    assert [link.cited_by for link in why.links] == ["", verdict.id, "", verdict.id]
    assert why.links[1].event.caused_by == why.links[3].event.caused_by == hen.id
    assert why.began == "disturbance"


async def test_a_line_that_answers_a_verdict_leads_by_it_to_what_it_cites() -> None:
    async with house(MemoryStore()) as t:
        hen, first, *_ = await conversation(t)
        verdict = await verdict_on(t, first)
        draft = Draft(kind=kinds.AGENT_SPOKE, channel="talk", payload={"text": "Well ruled."})
        answer = await t.append("bo", draft, caused_by=verdict.id)

        why = await t.why(answer.id)

    assert [link.event.id for link in why.links] == [answer.id, verdict.id, first.id, hen.id]


async def test_every_cited_line_has_a_link_however_long_the_chains_of_others_are() -> None:
    async with house(MemoryStore()) as t:
        said = await conversation(t, acts=links_max * 3)
        cited = [said[-1], said[2], said[1]]
        verdict = await verdict_on(t, *cited)

        why = await t.why(verdict.id)

    assert len(why.links) == links_max
    assert {event.id for event in cited} <= {link.event.id for link in why.links}
    assert len({link.event.id for link in why.links}) == links_max


async def test_a_spectator_reads_no_thought_behind_a_line_that_a_verdict_cites() -> None:
    async with house(MemoryStore()) as t:
        *_, last = await conversation(t)
        verdict = await verdict_on(t, last)

        why = await t.why(verdict.id, role="spectator")
        whole = await t.why(verdict.id)

    assert [link.thought for link in why.links] == [""] * len(why.links)
    assert any(link.thought for link in whole.links)
