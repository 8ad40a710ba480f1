"""Whatever an agent raises or returns, its act ends in one event with a message, and the other creatures continue."""

import asyncio
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from glasshouse import Agent, Draft, Event, kinds, verify
from glasshouse.errors import BadEvent, ModelUnreachable
from glasshouse.events.payloads import Governor
from glasshouse.models.router import ModelRouter
from glasshouse.models.scripted import ScriptedModel
from glasshouse.terrarium import Terrarium
from glasshouse.turns.moment.moment import Moment
from glasshouse.turns.prompts.context import prompt_for
from tests.runtime.stage_crew import (
    Asker,
    Doing,
    Gated,
    Speaker,
    cast_on,
    events_of,
    hearing,
    on_stage,
    said,
    the_end,
    ticking,
    world_of,
)
from tests.runtime.troupe import soon


class Speechless(Exception):
    """A fault that cannot say what it is."""

    def __str__(self) -> str:
        raise RuntimeError("no words")


async def _failures(t: Terrarium) -> list[Event]:
    return await events_of(t, kinds.AGENT_FAILED)


async def _played_beside(mind: Agent, turns: int = 2) -> tuple[list[str], list[Event]]:
    """What is said, and what fails, where this mind plays between two who speak."""
    minds: dict[str, Agent] = {"a": Speaker(), "odd": mind, "z": Speaker()}
    async with on_stage() as t:
        await cast_on(t, minds, ticking("a"), ticking("odd"), ticking("z"))
        await soon(t.step(turns))
        return await said(t), await _failures(t)


class Boom(RuntimeError):
    """What a careless agent raises."""


@pytest.mark.parametrize(
    ("raised", "reason"),
    [
        (Boom("no ink left"), "Boom: no ink left"),
        (Boom(), "Boom: Boom"),
        (KeyError("pen"), "KeyError: 'pen'"),
        (TimeoutError(), "TimeoutError: TimeoutError"),
        (ExceptionGroup("both", [Boom("one"), Boom("two")]), "ExceptionGroup: both (2 sub-exceptions)"),
        (asyncio.CancelledError(), "CancelledError: CancelledError"),
        (Boom("x" * 2_000), "Boom: " + "x" * 494),
        (Boom("half a pair: \ud800"), None),
    ],
    ids=["words", "silent", "key", "timeout", "group", "cancelled", "long", "surrogate"],
)
async def test_an_agent_that_raises_fails_with_its_reason_and_the_others_go_on(
    raised: BaseException, reason: str | None
) -> None:
    async def raises(moment: Moment) -> None:
        raise raised

    lines, failures = await _played_beside(Doing(raises))

    assert lines == ["a1", "z1", "a2", "z2"]
    assert [event.actor for event in failures] == ["odd", "odd"]
    assert {event.payload["attempts"] for event in failures} == {1}
    assert reason is None or {event.payload["reason"] for event in failures} == {reason}


@pytest.mark.parametrize(
    ("draft", "reason", "rule"),
    [
        (Draft(kind="tale.told", payload={"text": "once"}), "odd may not emit tale.told", "kind"),
        (Draft(kind=kinds.CREATURE_STARTED), "Only the engine writes creature.started", "kind"),
        (
            Draft(kind="agent.spoke", payload={"text": "x"}, channel="nowhere"),
            "no channel 'nowhere'",
            "channel",
        ),
        (Draft(kind="agent.spoke", payload={"text": "x" * 70_000}), "", "shape"),
        (Draft(kind="agent.spoke", payload={"text": object()}), "", "shape"),
        (Draft(kind="agent.spoke", payload={"text": "x", "n": float("nan")}), "", "shape"),
        (Draft(kind="agent.spoke", payload={"text": "\ud800"}), "", "shape"),
        (Draft(kind="agent.spoke", payload={"text": "x"}, private={"thought": object()}), "", "shape"),
        (Draft(kind="agent.passed", payload={"reason": "x"}, private={"thought": object()}), "", "shape"),
        (Draft(kind="agent.passed", payload={"reason": "\ud800"}), "", "shape"),
        (
            Draft(kind=kinds.JUDGE_VERDICT, payload={"text": "x", "cites": ["s-1.1"]}),
            "no such event",
            "verdict",
        ),
        ("just text", "act() gave back 'just text'", "draft"),
        ({"kind": "agent.spoke"}, "act() gave back", "draft"),
    ],
    ids=lambda value: str(getattr(value, "kind", value))[:24],
)
async def test_what_may_not_be_said_becomes_a_failure_in_words_and_is_logged(
    draft: object, reason: str, rule: str, caplog: pytest.LogCaptureFixture
) -> None:
    class Odd(Agent):
        async def act(self, moment: Moment) -> Draft | None:
            return draft  # type: ignore[return-value]

    lines, failures = await _played_beside(Odd())

    assert lines == ["a1", "z1", "a2", "z2"]
    assert len(failures) == 2
    assert all(reason in event.payload["reason"] and event.payload["attempts"] == 1 for event in failures)
    assert [event.payload["rule"] for event in failures] == [rule, rule]
    warnings = [(record.levelname, record.name, record.getMessage()) for record in caplog.records]
    said = [
        f"The draft of odd, which answers {event.caused_by}, was refused: {event.payload['reason']}"
        for event in failures
    ]
    assert warnings == [("WARNING", "glasshouse.acts", words) for words in said]
    assert [(r.creature, r.cause) for r in caplog.records] == [("odd", e.caused_by) for e in failures]  # type: ignore[attr-defined]


async def test_a_run_with_refused_drafts_verifies_and_a_replay_logs_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def speaks_nowhere(_moment: Moment) -> Draft:
        return Draft(kind="agent.spoke", payload={"text": "x"}, channel="nowhere")

    async def forges(_moment: Moment) -> Draft:
        return Draft(kind="tale.told", payload={"text": "x"})

    async with on_stage() as t:
        minds = {"odd": Doing(speaks_nowhere), "even": Doing(forges)}
        await cast_on(t, minds, ticking("odd"), ticking("even"))
        await soon(t.step(2))
        caplog.clear()

        outcome = await verify(t, t.creature("odd").run_id or "")

        assert [event.payload["rule"] for event in await _failures(t)] == ["channel", "kind"] * 2
        assert outcome.is_same
        assert caplog.records == []


async def test_what_an_agents_own_call_is_refused_is_its_fault_and_no_refused_draft() -> None:
    async with on_stage() as t:

        async def appends(_moment: Moment) -> None:
            await t.append("odd", Draft(kind="tale.told", payload={"text": "x"}))

        await cast_on(t, {"odd": Doing(appends)}, ticking("odd"))
        await soon(t.step(1))

        (failed,) = await _failures(t)
        assert failed.payload["fault"]["exception"] == "Refused"
        assert "rule" not in failed.payload


@pytest.mark.parametrize(
    "kind", [kinds.RUN_FINISHED, kinds.RUN_STARTED, kinds.TURN_STARTED, kinds.USER_INJECTED]
)
async def test_nobody_forges_what_the_conductor_and_the_visitor_say(kind: str) -> None:
    async def forges(moment: Moment) -> Draft:
        return Draft(kind=kind, payload={"text": "x", "turn": 99, "reason": "ended"})

    lines, failures = await _played_beside(Doing(forges))

    assert lines == ["a1", "z1", "a2", "z2"]
    assert [event.actor for event in failures] == ["odd", "odd"]
    assert all(f"Only the engine writes {kind}" in event.payload["reason"] for event in failures)


async def test_none_is_a_pass_and_counts_as_an_act() -> None:
    class Silent(Agent):
        async def act(self, moment: Moment) -> Draft | None:
            return None

    async with on_stage(minds={"a": Silent(), "b": Speaker()}) as t:
        await t.open_world(world_of(ticking("a"), ticking("b"), governor={"max_turns": 2}))
        await t.run()

        assert [event.actor for event in await events_of(t, kinds.AGENT_PASSED)] == ["a", "a"]
        assert (await the_end(t)).payload["calls"] == 4


@pytest.mark.parametrize(
    "answer", ["no JSON at all", '{"kind": "tale.told", "text": "x"}', "half a pair \ud800"]
)
async def test_a_reply_that_cannot_be_used_is_mended_once_asked_for_in_a_simpler_form_and_then_fails(
    answer: str,
) -> None:
    model = ScriptedModel(answer)
    async with on_stage(minds={"b": Speaker()}, models=ModelRouter(model)) as t:
        await t.open_world(world_of(ticking("a"), ticking("b"), governor={"max_turns": 2}))

        await soon(t.run())

        failures = await _failures(t)
        assert [(e.actor, e.payload["attempts"]) for e in failures] == [("a", 3), ("a", 3)]
        assert [prompt.form for prompt in model.prompts] == ["schema", "schema", "json"] * 2
        assert await said(t) == ["b1", "b2"]
        assert (await the_end(t)).payload["calls"] == 8


async def test_a_model_that_breaks_is_a_failure_of_the_act_alone() -> None:
    async with on_stage(minds={"b": Speaker()}, models=ModelRouter(ScriptedModel(Boom("weights gone")))) as t:
        await t.open_world(world_of(ticking("a"), ticking("b"), governor={"max_turns": 1}))

        await soon(t.run())

        assert "weights gone" in (await _failures(t))[0].payload["reason"]
        assert await said(t) == ["b1"]


async def test_what_failed_is_settled_and_not_tried_again() -> None:
    async def raises(moment: Moment) -> None:
        raise Boom("once")

    mind = Doing(raises)
    async with on_stage() as t:
        await cast_on(t, {"a": Speaker(), "b": mind}, ticking("a", 10), hearing("b"))
        await t.step(21)

        assert [event.turn for event in await _failures(t)] == [11, 21]
        assert mind.acts == 2


async def test_who_gives_up_waiting_for_a_show_can_go_on_with_it() -> None:
    mind = Gated()
    async with on_stage(governor=Governor(max_total_calls=2)) as t:
        await cast_on(t, {"a": mind, "b": Speaker()}, ticking("a"), ticking("b"))
        running = asyncio.create_task(t.run())
        await soon(mind.has_begun.wait())
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        mind.gate.set()

        await soon(t.run())

        assert await said(t) == ["a1", "b1"]
        assert (await the_end(t)).payload["calls"] == 2
        assert mind.acts == 2


async def test_who_gives_up_waiting_for_a_model_can_go_on_too() -> None:
    gate, begun = asyncio.Event(), asyncio.Event()

    class Slow(ScriptedModel):
        async def complete(self, prompt: Any) -> Any:
            begun.set()
            await gate.wait()
            return await super().complete(prompt)

    async with on_stage(models=ModelRouter(Slow("x")), governor=Governor(max_total_calls=2)) as t:
        await cast_on(t, {"a": Asker()}, ticking("a"))
        running = asyncio.create_task(t.run())
        await soon(begun.wait())
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        gate.set()

        await soon(t.run())

        assert await said(t) == ["a1"]
        (line,) = await events_of(t, kinds.AGENT_SPOKE)
        assert [call.is_answered for call in line.calls] == [
            False,
            True,
        ]  # The call that was given up counts.


@pytest.mark.parametrize("call", ["step_one", "step", "run", "finish"])
async def test_what_would_wait_for_the_act_that_asks_for_it_is_refused(call: str) -> None:
    async with on_stage() as t:

        async def asks(moment: Moment) -> None:
            await getattr(t, call)(*([moment.run_id] if call == "finish" else []))

        await cast_on(t, {"a": Doing(asks), "b": Speaker()}, ticking("a"), ticking("b"))

        await soon(t.step())

        assert "waits for the end of the act" in (await _failures(t))[0].payload["reason"]
        assert await said(t) == ["b1"]


async def test_a_run_can_be_ended_from_a_task_that_an_act_began() -> None:
    ending: list[asyncio.Task[Any]] = []
    async with on_stage() as t:

        async def ends(moment: Moment) -> None:
            ending.append(asyncio.create_task(t.finish(moment.run_id or "")))

        await cast_on(t, {"a": Doing(ends), "b": Speaker()}, ticking("a"), ticking("b"))

        await soon(t.run())

        await soon(ending[0])
        assert (await the_end(t)).payload["reason"] == "stopped"
        assert await said(t) in (["a1"], ["a1", "b1"])


async def test_who_goes_on_without_its_model_is_bounded_like_everybody() -> None:
    async def goes_on(moment: Moment) -> None:
        with suppress(ModelUnreachable):
            await moment.ask(prompt_for(moment))

    models = ModelRouter(ScriptedModel(ModelUnreachable("Nobody answers.")))
    async with on_stage(models=models, governor=Governor(max_total_calls=5)) as t:
        minds = {name: Doing(goes_on) for name in ("a", "b", "c")}
        await cast_on(t, minds, ticking("a"), hearing("b"), hearing("c"))

        await soon(t.run())

        assert (await the_end(t)).payload["axis"] == "max_total_calls"


async def test_a_fault_that_cannot_say_what_it_is_is_told_by_its_name() -> None:
    async def deed(_moment: Moment) -> None:
        raise Speechless

    texts, failures = await _played_beside(Doing(deed), turns=1)

    assert len(texts) == 2
    assert [failure.payload["reason"] for failure in failures] == ["Speechless: Speechless"]


class _Buggy(Agent):
    """Has a bug, here or in what it calls."""

    def __init__(self, bug: str) -> None:
        self._bug = bug

    async def act(self, moment: Moment) -> Draft | None:
        if self._bug == "in python's own code":
            json.loads("{")
        if self._bug == "in its answer":
            return Draft(kind="agent.spoke")
        return Draft(kind="agent.spoke", payload={"text": moment.private_notes})  # type: ignore[attr-defined]


def _line_of(words: str) -> int:
    return 1 + next(n for n, line in enumerate(Path(__file__).read_text().splitlines()) if words in line)


@pytest.mark.parametrize(
    ("bug", "exception", "words"),
    [
        ("in itself", "AttributeError", "moment.private_notes"),
        ("in python's own code", "JSONDecodeError", "json.loads("),
    ],
)
async def test_a_bug_is_recorded_with_its_place_and_logged_with_its_traceback(
    bug: str, exception: str, words: str, caplog: pytest.LogCaptureFixture
) -> None:
    _, (failed, *_) = await _played_beside(_Buggy(bug))

    assert failed.payload["fault"] == {
        "exception": exception,
        "file": "test_failing_agents.py",
        "line": _line_of(words),
    }
    assert "odd failed in its act." in caplog.text
    assert "Traceback" in caplog.text
    assert words in caplog.text


@pytest.mark.parametrize(("bug", "error"), [("in itself", AttributeError), ("in its answer", BadEvent)])
async def test_a_strict_terrarium_raises_what_an_agent_raises_and_leaves_its_act_due(
    bug: str, error: type[Exception]
) -> None:
    async with Terrarium(strict=True) as t:
        odd = await t.add_creature(ticking("odd"), agent=_Buggy(bug))
        with pytest.raises(error):
            await t.step(1)

        assert await _failures(t) == []
        assert [due.turn for due in t.due(odd.run_id or "")]


async def test_a_run_with_a_bug_in_it_verifies() -> None:
    async with on_stage() as t:
        await cast_on(t, {"odd": _Buggy("in itself"), "z": Speaker()}, ticking("odd"), ticking("z"))
        await soon(t.step(2))

        assert (await verify(t, t.runs()[0].id)).is_same
