"""Creatures that remember everything: what comes back, what is recorded, and what needs no index afterwards."""

from __future__ import annotations

import asyncio
import json
import random
import sqlite3
from collections.abc import Iterator, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from glasshouse import (
    Agent,
    Draft,
    Event,
    Manifest,
    MemoryStore,
    Refused,
    SqliteStore,
    Terrarium,
    kinds,
    tool,
)
from glasshouse.assembly import usual_tools
from glasshouse.errors import StoreDamaged
from glasshouse.events.redaction import redacted
from glasshouse.manifests.loading import LoadedWorld
from glasshouse.manifests.manifest import Memory, Schedule
from glasshouse.manifests.scenario import Scenario
from glasshouse.models.router import ModelRouter
from glasshouse.models.scripted import CountingModel, ScriptedModel
from glasshouse.runtime.acts.long_memory import (
    LongMemory,
    lines_of_word_max,
    lines_read_max,
    scope_of,
    step_events_max,
)
from glasshouse.runtime.clock import HandMovedClock, SeededIds
from glasshouse.runtime.past.what_if import WhatIf
from glasshouse.runtime.store_port import PlacedLine, Store
from glasshouse.terrarium import verify
from glasshouse.turns.moment.moment import Moment
from glasshouse.turns.prompts.far_lines import lines_told_max
from tests.every_store import OPENERS
from tests.made_up_words import word_for
from tests.runtime.stage_crew import show
from tests.runtime.stores_around import StoreAround
from tests.servers.postgres import drop_databases

lines_between = 300
"""More than a creature hears without long memory."""
ASKED = "mill.asked"
TALK = (kinds.AGENT_SPOKE, kinds.AGENT_THOUGHT, kinds.AGENT_REFLECTED)
ADA = Manifest(name="ada", subscribes_to=("mill.closed",), may_emit=(*TALK, ASKED))
CORA = Manifest(
    name="cora", subscribes_to=(ASKED,), memory=Memory(long=True), may_emit=TALK, model_profile="tiny"
)
LINE = json.dumps({"kind": "agent.spoke", "thought": "", "text": "Seven dents, and I counted them."})
OTHER_LINE = LINE.replace("Seven dents, and I counted them.", "Whoever owns a hammer may try.")
CALL = json.dumps(
    {"kind": "tool.called", "thought": "", "tool": "recall", "arguments": {"words": "the copper kettle"}}
)


def mill(*more: Manifest, ada: Manifest = ADA, cora: Manifest = CORA, **fields: Any) -> LoadedWorld:
    cast = [ada, cora, *more]
    scenario = {
        "name": "mill",
        "kinds": {ASKED: {"text": "string"}, "mill.closed": {"text": "string"}},
        "cast": [each.name for each in cast],
        "governor": {"max_turns": 500},
        **fields,
    }
    return LoadedWorld.of(Scenario.model_validate(scenario), cast)


async def says(t: Terrarium, who: str, text: str, kind: str = kinds.AGENT_SPOKE) -> Event:
    return await t.append(who, Draft(kind=kind, payload={"text": text}))


async def much_is_said(t: Terrarium, lines: int = lines_between, who: str = "cora") -> None:
    """So many lines that whatever was said before is out of reach, and nobody owes an answer to them."""
    for number in range(lines):
        await says(t, who, f"Only {word_for(number)}.")


async def asked(t: Terrarium, text: str = "What of the copper kettle?") -> None:
    """Somebody asks, and cora answers."""
    await says(t, "ada", text, ASKED)
    await t.step_one()


def remembered(user: str) -> list[str]:
    """What stands under the heading of memories in a prompt."""
    _, _, rest = user.partition("\nWHAT YOU REMEMBER\n")
    return [*takewhile(lambda line: line.startswith("["), rest.split("\n"))]


@pytest.fixture(params=OPENERS)
def any_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    yield OPENERS[str(request.param)](tmp_path)()
    drop_databases()


async def test_what_was_said_long_ago_comes_back_and_is_on_record(any_store: Store) -> None:
    model = CountingModel(ScriptedModel(LINE))
    async with Terrarium(any_store, models=ModelRouter(model)) as t:
        run = await t.open_world(mill())
        kettle = await says(t, "ada", "The copper kettle has seven dents.")
        await much_is_said(t)
        await asked(t)

        answer = next(e for e in reversed(await t.run_events(run.id)) if e.calls)
        lines = remembered(model.prompts[-1].user)
        assert lines == ['[-1] ada (cast, agent.spoke): "The copper kettle has seven dents."']
        assert answer.model is not None
        assert answer.model.recalled == (kettle.id,)
        link = (await t.why(answer.id)).links[0]
        assert [line.event_id for line in link.lines if line.section == "remembered"] == [kettle.id]
        await t._house.store.drop_index()
        assert (await verify(t, run.id)).is_same


async def test_many_lines_near_that_share_a_word_hide_no_line_that_is_far() -> None:
    model = CountingModel(ScriptedModel(LINE))
    async with Terrarium(MemoryStore(), models=ModelRouter(model)) as t:
        await t.open_world(mill())
        await says(t, "cora", "A kettle is a promise.", kinds.AGENT_REFLECTED)
        await much_is_said(t)
        for number in range(lines_read_max):
            await says(t, "ada", f"Kettle {word_for(number)}.")
        await much_is_said(t, 40)
        await asked(t, "What of the kettle?")

    lines = remembered(model.prompts[-1].user)
    assert lines[0] == '[-1] cora (cast, agent.reflected): "A kettle is a promise."'
    assert all("Kettle" in line for line in lines[1:])


async def test_without_long_memory_nothing_is_searched_and_nothing_is_written() -> None:
    class Watched(StoreAround):
        async def indexed(self) -> int:
            raise AssertionError("Nobody has long memory here.")

    model = CountingModel(ScriptedModel(LINE))
    plain = CORA.model_copy(update={"memory": Memory(), "tools": ()})
    async with Terrarium(Watched(), models=ModelRouter(model)) as t:
        run = await t.open_world(mill(cora=plain))
        await says(t, "ada", "The copper kettle has seven dents.")
        await much_is_said(t)
        await asked(t)

        answer = next(e for e in reversed(await t.run_events(run.id)) if e.calls)
        assert remembered(model.prompts[-1].user) == []
        assert answer.model is not None
        assert answer.model.recalled == ()


# The tool


async def recalling(t: Terrarium, question: str = "What of it?") -> tuple[str, Event]:
    """A play in which cora recalls the kettle: its run, and the answer of her memory."""
    run = await t.open_world(mill())
    await says(t, "ada", "The copper kettle has seven dents.")
    await says(t, "cora", "A copper kettle is a promise.", kinds.AGENT_REFLECTED)
    await much_is_said(t)
    await asked(t, question)
    return run.id, next(e for e in await t.run_events(run.id) if e.kind == kinds.TOOL_RETURNED)


async def test_recall_finds_lines_and_its_answer_is_the_record(any_store: Store) -> None:
    model = CountingModel(ScriptedModel(CALL, LINE))
    async with Terrarium(any_store, models=ModelRouter(model)) as t:
        run_id, returned = await recalling(t)

        events = await t.run_events(run_id)
        kettle, promise = (
            next(e for e in events if text in str(e.payload)) for text in ("seven dents", "promise")
        )
        assert returned.payload["text"].split("\n") == [
            'cora (cast, agent.reflected): "A copper kettle is a promise."',
            'ada (cast, agent.spoke): "The copper kettle has seven dents."',
        ]
        assert [line["id"] for line in returned.payload["result"]["found"]] == [promise.id, kettle.id]
        assert "seven dents" in model.prompts[-1].user
        await t._house.store.drop_index()
        with patch.object(
            LongMemory, "lines_about", side_effect=AssertionError("A replay searches nothing.")
        ):
            assert (await verify(t, run_id)).is_same


async def test_a_spectator_does_not_read_what_was_thought_in_the_answer_of_a_memory() -> None:
    async with Terrarium(MemoryStore(), models=ModelRouter(ScriptedModel(CALL, LINE))) as t:
        _, returned = await recalling(t)

    shown = redacted(returned, "spectator")
    assert "promise" not in str(shown.payload)
    assert "seven dents" in shown.payload["text"]
    assert "promise" in str(redacted(returned, "audience").payload)
    assert redacted(shown, "spectator") == shown


async def test_what_was_said_in_the_house_taints_no_act_but_what_a_visitor_said_does() -> None:
    untrusted = {}
    for by_visitor in (False, True):
        model = CountingModel(ScriptedModel(CALL, LINE))
        async with Terrarium(MemoryStore(), models=ModelRouter(model)) as t:
            run = await t.open_world(mill())
            if by_visitor:
                await t.disturb(run.id, "A copper kettle falls from the sky.")
            else:
                await says(t, "ada", "The copper kettle has seven dents.")
            await much_is_said(t)
            await asked(t, "What of it?")
            untrusted[by_visitor] = model.prompts[-1].is_untrusted

    assert untrusted == {False: False, True: True}


async def test_a_judge_asks_by_label_and_reads_labels_in_the_answer() -> None:
    asks = CALL.replace("the copper kettle", "what contestant A said of the copper kettle")
    finds = {
        "kind": "judge.verdict",
        "thought": "",
        "winner": "contestant A",
        "text": "Dents.",
        "cites": ["-1"],
    }
    model = CountingModel(ScriptedModel(asks, json.dumps(finds)))
    as_judge = {"role": "judge", "may_emit": (kinds.JUDGE_VERDICT,), "model_profile": "strong"}
    judge = CORA.model_copy(update=as_judge)
    contest: dict[str, Any] = {"competition": {"kind": "judged", "contestants": ["ada", "bridge"]}}
    bridge = Manifest(name="bridge", subscribes_to=())
    async with Terrarium(MemoryStore(), models=ModelRouter(model)) as t:
        run = await t.open_world(mill(bridge, cora=judge, **contest))
        await says(t, "ada", "The copper kettle of Bridge has seven dents.")
        await much_is_said(t, who="ada")
        await asked(t)

        called, returned, verdict = [
            next(e for e in await t.run_events(run.id) if e.kind == kind)
            for kind in (kinds.TOOL_CALLED, kinds.TOOL_RETURNED, kinds.JUDGE_VERDICT)
        ]
        assert (await verify(t, run.id)).is_same
    label, other = (
        ("contestant A", "contestant B")
        if verdict.payload["winner"] == "ada"
        else ("contestant B", "contestant A")
    )
    answer = f'{label} (cast, agent.spoke): \\"The copper kettle of {other} has seven dents.\\"'
    assert f'said of the copper kettle"}} answered: "{answer}"' in model.prompts[1].user
    assert "bridge" not in model.prompts[1].user.lower()
    assert verdict.payload["winner"] in called.payload["arguments"]["words"]
    assert "The copper kettle of Bridge" in returned.payload["text"]
    assert verdict.payload["cites"] == [returned.payload["result"]["found"][0]["id"]]


async def test_what_comes_back_to_a_judge_does_not_depend_on_names() -> None:
    as_judge = {"role": "judge", "may_emit": (kinds.JUDGE_VERDICT,), "model_profile": "strong"}
    prompts = []
    for first, second in (("ada", "bo"), ("lantern", "bridge")):
        contest: dict[str, Any] = {"competition": {"kind": "judged", "contestants": [first, second]}}
        model = CountingModel(ScriptedModel(LINE))
        async with Terrarium(MemoryStore(), models=ModelRouter(model), ids=SeededIds(1)) as t:
            await t.open_world(
                mill(
                    Manifest(name=second, subscribes_to=()),
                    ada=ADA.model_copy(update={"name": first}),
                    cora=CORA.model_copy(update=as_judge),
                    **contest,
                )
            )
            await says(t, first, f"{first.title()} hums.")
            await says(t, first, "A kettle hums.")
            await much_is_said(t, who=first)
            await says(t, first, f"What of {first} and the kettle?", ASKED)
            await t.step_one()
        prompts.append(model.prompts[0].user)

    assert '"A kettle hums."' in prompts[0]
    assert prompts[0] == prompts[1]


async def test_letters_of_four_bytes_take_no_rule_off_what_recall_found() -> None:
    model = CountingModel(ScriptedModel(CALL, LINE))
    letters = "\U00010428" * 500
    async with Terrarium(MemoryStore(), models=ModelRouter(model)) as t:
        run = await t.open_world(mill())
        for number in range(lines_told_max):
            await t.disturb(run.id, f"Copper kettle {word_for(number)} {letters}")
        await says(t, "cora", f"A copper kettle is a promise. {letters}", kinds.AGENT_REFLECTED)
        await much_is_said(t)
        await asked(t, "What of it?")

        returned = next(e for e in await t.run_events(run.id) if e.kind == kinds.TOOL_RETURNED)
        assert (await verify(t, run.id)).is_same
    assert len(returned.payload["result"]["found"]) == lines_told_max
    assert model.prompts[-1].is_untrusted
    assert "promise" in returned.payload["text"]
    assert "promise" not in str(redacted(returned, "spectator").payload)


async def test_no_other_tool_is_called_recall() -> None:
    def recall(words: str) -> str:
        """Find nothing."""
        return words

    with pytest.raises(Refused, match="searches memory"):
        tool(recall)


async def test_who_has_no_long_memory_is_not_offered_recall() -> None:
    model = CountingModel(ScriptedModel(LINE))
    plain = CORA.model_copy(update={"name": "dora", "memory": Memory(), "tools": (), "model_profile": "fast"})
    async with Terrarium(MemoryStore(), models=ModelRouter(model)) as t:
        await t.open_world(mill(plain))
        await asked(t)
        await t.step_one()

    offered = {prompt.system.split(",")[0]: "recall" in prompt.system for prompt in model.prompts}
    assert offered == {"You are cora": True, "You are dora": False}


# Replays, branches, and a broken index


async def test_a_recorded_line_that_its_creature_could_not_hear_shows_in_a_replay(tmp_path: Path) -> None:
    whisper: dict[str, Any] = {
        "channels": {"stage": "", "den": ""},
        "cast": [
            {"use": "ada", "channels": {"listen": ["stage", "den"], "send": ["stage", "den"]}},
            {"use": "cora", "channels": {"listen": ["stage"], "send": ["stage"]}},
        ],
    }
    path = tmp_path / "mill.glasshouse"
    async with Terrarium(SqliteStore(path), models=ModelRouter(ScriptedModel(LINE))) as t:
        run = await t.open_world(mill(**whisper))
        aloud = await t.append(
            "ada",
            Draft(kind=kinds.AGENT_SPOKE, channel="stage", payload={"text": "The copper kettle is dented."}),
        )
        secret = await t.append(
            "ada",
            Draft(kind=kinds.AGENT_SPOKE, channel="den", payload={"text": "The copper kettle is mine."}),
        )
        await much_is_said(t)
        await t.append(
            "ada",
            Draft(kind=ASKED, channel="stage", payload={"text": "What of the copper kettle?"}),
        )
        await t.step_one()
        answer = next(e for e in reversed(await t.run_events(run.id)) if e.calls)
        assert answer.model is not None
        assert answer.model.recalled == (aloud.id,)
        assert (await verify(t, run.id)).is_same
    with sqlite3.connect(path) as ledger:
        forged = "UPDATE events SET rest = replace(rest, ?, ?) WHERE position = ?"
        ledger.execute(forged, (f'"recalled":["{aloud.id}"]', f'"recalled":["{secret.id}"]', answer.position))
    async with Terrarium(SqliteStore(path), models=ModelRouter(ScriptedModel(LINE))) as t:
        verification = await verify(t, run.id)

    assert not verification.is_same
    assert verification.recorded_event is not None
    assert verification.recorded_event.id == answer.id
    assert any("copper kettle is dented" in diff for diff in verification.prompt_diffs)


async def test_a_branch_in_which_nothing_differs_finds_what_its_parent_found(any_store: Store) -> None:
    model = CountingModel(ScriptedModel(LINE))
    async with Terrarium(any_store, models=ModelRouter(model)) as t:
        run = await t.open_world(mill())
        await says(t, "ada", "The copper kettle has seven dents.")
        await much_is_said(t)
        question = await says(t, "ada", "What of the copper kettle?", ASKED)
        await t.step_one()
        await says(t, "ada", "That copper kettle was sold.")
        calls = model.calls

        branch = await t.branch(question.session_id, question.id, WhatIf())
        await t.step_one()

        theirs = next(e for e in await t.run_events(run.id) if e.calls)
        ours = next(e for e in reversed(await t.run_events(branch.id)) if e.calls and e.run_id == branch.id)
        assert theirs.model is not None
        assert ours.model is not None
        assert ours.model.recalled == theirs.model.recalled != ()
        assert model.calls == calls
        await t._house.store.drop_index()
        assert (await verify(t, branch.id)).is_same


class BrokenIndex(StoreAround):
    """A store whose index fails."""

    def __init__(self, inner: Store, *, fails_for_good: bool) -> None:
        super().__init__(inner)
        self.drops = 0
        self._fails_for_good = fails_for_good

    async def indexed(self) -> int:
        if self._fails_for_good or not self.drops:
            raise StoreDamaged("The index is torn.")
        return await self.inner.indexed()

    async def drop_index(self) -> None:
        self.drops += 1
        if self._fails_for_good:
            raise StoreDamaged("The index is torn.")
        await self.inner.drop_index()


@pytest.mark.parametrize("fails_for_good", [False, True])
async def test_a_damaged_index_is_made_again_and_fails_no_act(*, fails_for_good: bool) -> None:
    model = CountingModel(ScriptedModel(LINE, OTHER_LINE))
    store = BrokenIndex(MemoryStore(), fails_for_good=fails_for_good)
    async with Terrarium(store, models=ModelRouter(model)) as t:
        await t.open_world(mill())
        await says(t, "ada", "The copper kettle has seven dents.")
        await much_is_said(t)
        await asked(t)
        await asked(t, "And who mends that copper kettle?")

    lines = [line for prompt in model.prompts for line in remembered(prompt.user)]
    assert lines == ['[-1] ada (cast, agent.spoke): "The copper kettle has seven dents."'] * 2
    assert store.drops == 1


@pytest.mark.parametrize(
    "damage",
    [
        "DROP TABLE memory_words",
        "UPDATE memory_words SET position = 'torn' || position",
        "DELETE FROM memory_index",
    ],
)
async def test_a_torn_table_in_the_file_fails_no_act(tmp_path: Path, damage: str) -> None:
    model = CountingModel(ScriptedModel(LINE))
    path = tmp_path / "mill.glasshouse"
    async with Terrarium(SqliteStore(path), models=ModelRouter(model)) as t:
        await t.open_world(mill())
        await says(t, "ada", "The copper kettle has seven dents.")
        await much_is_said(t, 1_100)
        await asked(t)
    with sqlite3.connect(path) as ledger:
        assert ledger.execute("SELECT count(*) FROM memory_words").fetchone()[0] > 1_000
        ledger.execute(damage)
    async with Terrarium(SqliteStore(path), models=ModelRouter(model)) as t:
        await asked(t, "And who mends that copper kettle?")

    assert remembered(model.prompts[-1].user) == [
        '[-1] ada (cast, agent.spoke): "The copper kettle has seven dents."'
    ]


async def texts_found(t: Terrarium, memory: LongMemory, words: Sequence[str]) -> list[str]:
    """The texts that cora's memory finds, the best first."""
    ledger = t._house.ledger
    creature = ledger.world.creatures[t.creature("cora").id]
    upto = ledger.world.session_of(ledger.world.graphs[creature.graph_id]).lamport
    lines = await memory.lines_about(scope_of(ledger.folded, creature, upto, ledger.position), words)
    return [str(line.event.payload["text"]) for line in lines]


def memory_of(t: Terrarium) -> LongMemory:
    return LongMemory(t._house.store, t._house.ledger, t._house.history.event)


async def test_an_index_that_somebody_drops_is_made_again_by_the_next_search(any_store: Store) -> None:
    async with Terrarium(any_store) as t:
        await t.open_world(mill())
        memory = memory_of(t)
        await says(t, "ada", "The copper kettle has seven dents.")
        await much_is_said(t, step_events_max)
        before = await texts_found(t, memory, ["kettle"])

        await any_store.drop_index()

        assert await texts_found(t, memory, ["kettle"]) == before == ["The copper kettle has seven dents."]
        assert await any_store.indexed() >= step_events_max


async def test_an_index_that_was_made_by_another_rule_is_made_again(any_store: Store) -> None:
    async with Terrarium(any_store) as t:
        await t.open_world(mill())
        await says(t, "ada", "The copper kettle has seven dents.")
        await any_store.index_lines(0, await any_store.position(), [PlacedLine(1, 1, ("g-1/",), ("kettle",))])

        assert await texts_found(t, memory_of(t), ["kettle"]) == ["The copper kettle has seven dents."]


class CutOff(StoreAround):
    """A store that adds the second step to its index while whoever asked for it is cut off."""

    def __init__(self) -> None:
        super().__init__()
        self.steps = 0

    async def index_lines(self, after: int, upto: int, lines: Sequence[PlacedLine]) -> None:
        self.steps += 1
        await super().index_lines(after, upto, lines)
        if self.steps == 2:
            raise asyncio.CancelledError


async def test_a_search_that_is_cut_off_in_the_middle_of_a_step_loses_no_line() -> None:
    store = CutOff()
    async with Terrarium(store) as t:
        await t.open_world(mill())
        memory = memory_of(t)
        await much_is_said(t, step_events_max)
        await texts_found(t, memory, ["kettle"])
        await says(t, "ada", "The copper kettle has seven dents.")
        await much_is_said(t, step_events_max)
        with pytest.raises(asyncio.CancelledError):
            await texts_found(t, memory, ["kettle"])

        await says(t, "ada", "The copper kettle was sold.")
        lines = [await texts_found(t, memory, ["kettle"])]
        await much_is_said(t, 2 * step_events_max)
        lines += [await texts_found(t, memory, ["kettle"]), await texts_found(t, memory_of(t), ["kettle"])]

        assert lines == [["The copper kettle was sold.", "The copper kettle has seven dents."]] * 3
        assert store.steps == 4


async def test_text_without_blanks_is_indexed_by_every_store(
    any_store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    chance = random.Random(1)
    text = "".join([chr(chance.randrange(0x4E00, 0x9000)) for _ in range(1_100)])
    async with Terrarium(any_store) as t:
        await t.open_world(mill())
        await says(t, "ada", text)
        await much_is_said(t, step_events_max)

        assert await texts_found(t, memory_of(t), [text]) == [text]
        assert await any_store.indexed() >= step_events_max
    assert not caplog.records


# What stays out of sight

TWO_ROOMS: dict[str, Any] = {
    "channels": {"stage": "", "den": ""},
    "cast": [
        {"use": "ada", "channels": {"listen": ["stage", "den"], "send": ["stage", "den"]}},
        {"use": "cora", "channels": {"listen": ["stage"], "send": ["stage"]}},
    ],
}


async def on(t: Terrarium, channel: str, text: str, kind: str = kinds.AGENT_SPOKE) -> Event:
    return await t.append("ada", Draft(kind=kind, channel=channel, payload={"text": text}))


async def prompts_of_cora(whispers: int, *, thinks: bool) -> list[tuple[str, str]]:
    """Her prompts while so much is said about the kettle out of her hearing."""
    model = CountingModel(ScriptedModel(CALL, LINE))
    async with Terrarium(
        MemoryStore(), models=ModelRouter(model), ids=SeededIds(1), clock=HandMovedClock()
    ) as t:
        await t.open_world(mill(**TWO_ROOMS))
        await on(t, "stage", "The copper kettle has seven dents.")
        for number in range(lines_between):
            await on(t, "stage", f"Only {word_for(number)}.")
            if number < whispers:
                await on(t, "den", f"The copper kettle is number {number}.")
            if thinks:
                await says(t, "ada", "What a copper kettle!", kinds.AGENT_THOUGHT)
        await on(t, "stage", "What of the copper kettle?", ASKED)
        await t.step_one()
    return [(prompt.system, prompt.user) for prompt in model.prompts]


async def test_what_is_said_out_of_its_hearing_leaves_every_prompt_of_a_creature_the_same() -> None:
    alone = await prompts_of_cora(0, thinks=False)

    assert len(alone) == 2
    assert "seven dents" in alone[0][1]
    assert await prompts_of_cora(lines_between, thinks=False) == alone
    assert await prompts_of_cora(3, thinks=True) == alone


class Teller(Agent):
    """Tells of the kettle in its first act, where only those hear it to whom a wire leads, and passes from then on."""

    def __init__(self) -> None:
        self.acts = 0

    async def act(self, moment: Moment) -> Draft | None:
        self.acts += 1
        line = Draft(
            kind=kinds.AGENT_SPOKE, channel="den", payload={"text": "The copper kettle has seven dents."}
        )
        return line if self.acts == 1 else None


@pytest.mark.parametrize(
    ("with_content", "when"),
    [(True, None), (False, None), (True, "text has lantern"), (True, "text has kettle")],
)
async def test_a_line_that_a_wire_delivered_comes_back_only_if_its_words_were_delivered(
    *, with_content: bool, when: str | None
) -> None:
    model = CountingModel(ScriptedModel(LINE))
    teller = ADA.model_copy(update={"schedule": Schedule(tick_every=1)})
    async with show(models=ModelRouter(model), minds={"ada": Teller()}, tools=usual_tools()) as t:
        await t.open_world(mill(ada=teller, **TWO_ROOMS))
        await t.wire("ada", "cora", with_content=with_content, when=when)
        line = await t.step_one()
        assert line is not None
        assert line.channel == "den"
        await t.unwire("ada", "cora")
        await much_is_said(t)
        await on(t, "stage", "What of the copper kettle?", ASKED)
        await t.step(1)

    lines = [line for prompt in model.prompts for line in remembered(prompt.user)]
    assert ("seven dents" in str(lines)) is (with_content and when != "text has lantern")


# Nothing that a creature may not find is counted


async def test_what_the_parent_said_after_the_fork_is_not_even_counted() -> None:
    model = CountingModel(ScriptedModel(LINE, OTHER_LINE))
    async with Terrarium(MemoryStore(), models=ModelRouter(model)) as t:
        await t.open_world(mill())
        kettle = await says(t, "ada", "The copper kettle has seven dents.")
        await much_is_said(t)
        fork = await says(t, "ada", "Now.")
        for number in range(lines_of_word_max + lines_read_max):
            await says(t, "ada", f"Copper kettle {word_for(number)}.")
        branch = await t.branch(fork.session_id, fork.id, WhatIf())
        there = next(c.id for c in t.creatures() if c.run_id == branch.id and c.handle == "ada")
        await much_is_said(t, lines_of_word_max + lines_read_max, there)

        await says(t, there, "What of the copper kettle?", ASKED)
        answer = next(event for event in [await t.step_one(), await t.step_one()] if event and event.calls)

    assert answer.run_id == branch.id
    assert answer.model is not None
    assert answer.model.recalled == (kettle.id,)


class Choosy(Agent):
    """Speaks of a kettle in each act, where cora does not listen, and once of a lantern, too."""

    def __init__(self) -> None:
        self.acts = 0

    async def act(self, moment: Moment) -> Draft | None:
        self.acts += 1
        text = "A kettle and a lantern." if self.acts == 1 else f"Kettle {word_for(self.acts)}."
        return Draft(kind=kinds.AGENT_SPOKE, channel="den", payload={"text": text})


async def test_what_a_wire_did_not_carry_is_not_even_counted(any_store: Store) -> None:
    teller = ADA.model_copy(update={"schedule": Schedule(tick_every=1)})
    choosy = Choosy()
    async with show(any_store, minds={"ada": choosy}, tools=usual_tools()) as t:
        run = await t.open_world(mill(ada=teller, **TWO_ROOMS))
        await t.wire("ada", "cora", when="text has lantern")
        await t.run(run.id, turns=lines_of_word_max + lines_read_max)

        assert choosy.acts == lines_of_word_max + lines_read_max
        assert await texts_found(t, memory_of(t), ["kettle"]) == ["A kettle and a lantern."]
        await any_store.drop_index()
        assert await texts_found(t, memory_of(t), ["kettle"]) == ["A kettle and a lantern."]


async def test_what_was_said_while_a_creature_did_not_listen_is_not_even_counted() -> None:
    model = CountingModel(ScriptedModel(LINE))
    rooms = {**TWO_ROOMS, "channels": {"stage": "", "den": {"description": "", "history": "since_joined"}}}
    async with Terrarium(MemoryStore(), models=ModelRouter(model)) as t:
        await t.open_world(mill(**rooms))
        kettle = await on(t, "stage", "The copper kettle has seven dents.")
        for number in range(lines_of_word_max + lines_read_max):
            await on(t, "den", f"Copper kettle {word_for(number)}.")
        await t.connect("ada", "cora", channel="den")
        await much_is_said(t)
        await on(t, "stage", "What of the copper kettle?", ASKED)
        await t.step_one()

    assert [line for line in remembered(model.prompts[-1].user) if "seven dents" in line]
    assert kettle.channel == "stage"
