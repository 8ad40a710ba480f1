"""Agents written in Python that ask models: by `moment.ask`, or by their own means, counted by `moment.spending`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from glasshouse import (
    Agent,
    BudgetExceeded,
    Draft,
    Governor,
    Manifest,
    ModelRouter,
    Moment,
    Refused,
    Terrarium,
    Toolbox,
    kinds,
    tool,
    verify,
)
from glasshouse.errors import ModelFailed, ModelUnreachable
from glasshouse.events.model_use import Call, Price
from glasshouse.models import Completion, Prompt, Route, Tokens
from glasshouse.runtime.clock import HandMovedClock
from glasshouse.turns.moment.prompt import PROFILES
from tests.runtime.stage_crew import Doing, ledger_of, ticking

ADA = Manifest(name="ada", schedule={"tick_every": 1}, subscribes_to=())
PRICE = Price(input=1.0, output=2.0)


class Counting:
    """Answers with the number of the call."""

    def __init__(self) -> None:
        self.calls = 0
        self.at_once = self.at_once_most = 0

    async def complete(self, prompt: Prompt) -> Completion:
        self.calls += 1
        self.at_once += 1
        self.at_once_most = max(self.at_once, self.at_once_most)
        await asyncio.sleep(0)
        self.at_once -= 1
        return Completion(f"answer {self.calls}", "counting", Tokens(10, 5))


def said(text: str) -> Draft:
    return Draft(kind=kinds.AGENT_SPOKE, payload={"text": text})


async def asks_twice(moment: Moment) -> Draft:
    first = await moment.ask(Prompt("Be short.", f"Turn {moment.turn}?"))
    second = await moment.ask(Prompt("Be shorter.", f"Not {first.text}?"))
    return said(f"{first.text}, {second.text}")


async def spends(moment: Moment, **cost: Any) -> Draft:
    async with moment.spending("its own", tokens_max=100, usd_max=0.5) as call:
        call.report(input_tokens=40, output_tokens=20, prompt="Well?", reply="Well.", **cost)
    return said(f"I asked in turn {moment.turn}.")


def stage(model: Counting, **more: Any) -> Terrarium:
    route = Route(model, "counting", 8_192, 256, price=PRICE)
    return Terrarium(models=ModelRouter(dict.fromkeys(PROFILES, route)), **more)


async def play(
    deed: Callable[[Moment], Awaitable[Any]], turns: int = 3, manifest: Manifest = ADA, **more: Any
) -> tuple[Terrarium, Counting]:
    """A terrarium in which ada has done this in some turns; it is open still."""
    model = Counting()
    t = await stage(model, **more).__aenter__()
    await t.add_creature(manifest, agent=Doing(deed))
    await t.step(turns)
    return t, model


async def calls_in(t: Terrarium) -> list[Call]:
    return [call for event in await ledger_of(t) for call in event.calls]


def run_id_of(t: Terrarium) -> str:
    (run,) = t.runs()
    return run.id


async def asks_and_uses_a_tool(moment: Moment) -> Draft:
    first = await moment.ask(Prompt("Which way?", "Say.", is_untrusted=False))
    depth = await moment.use("depth", at=first.text)
    second = await moment.ask(Prompt("So?", depth.text))
    async with moment.spending("its own", tokens_max=9) as call:
        call.report(input_tokens=1, output_tokens=1)
    return said(second.text)


async def uses_a_tool_inside_its_call(moment: Moment) -> Draft:
    async with moment.spending("its own", tokens_max=9) as call:
        answer = await moment.use("depth", at="the middle")
        call.report(input_tokens=1, output_tokens=1)
    return said(answer.text)


async def asks_and_fails(moment: Moment) -> Draft:
    answer = await moment.ask(Prompt("Be short.", "Well?"))
    raise ValueError(f"{answer.text} is no number")


async def asks_and_passes(moment: Moment) -> Draft:
    await moment.ask(Prompt("Be short.", "Well?"))
    return Draft(kind=kinds.AGENT_PASSED, payload={"reason": "Nothing to add."})


@tool
def depth(at: str) -> str:
    """How deep the pond is."""
    return f"two feet at {at}"


@pytest.mark.parametrize(
    "deed",
    [asks_twice, spends, asks_and_uses_a_tool, uses_a_tool_inside_its_call, asks_and_fails, asks_and_passes],
    ids=lambda f: f.__name__,
)
async def test_a_run_whose_agents_ask_is_replayed_without_model_and_agent(
    deed: Callable[[Moment], Awaitable[Any]],
) -> None:
    manifest = ADA.model_copy(update={"tools": ("depth",)})
    t, model = await play(deed, manifest=manifest, tools=Toolbox(depth))
    calls = model.calls

    verification = await verify(t, run_id_of(t))
    await t.close()

    assert verification.is_same, verification
    assert model.calls == calls


class Oracle(Agent):
    """Named by a manifest; asks its model."""

    async def act(self, moment: Moment) -> Draft | None:
        return await asks_twice(moment)


async def test_a_creature_whose_manifest_names_its_class_is_replayed_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GLASSHOUSE_ALLOW_WORLD_CODE", "1")
    async with stage(Counting()) as t:
        await t.add_creature(ADA.model_copy(update={"played_by": f"{__name__}:Oracle"}))
        await t.step(2)

        assert [event.actor for event in await ledger_of(t) if event.calls] == ["ada", "ada"]
        assert (await verify(t, run_id_of(t))).is_same


async def test_a_run_that_a_limit_ended_in_an_agents_act_is_replayed() -> None:
    t, model = await play(asks_twice, turns=9, governor=Governor(max_total_calls=3))

    verification = await verify(t, run_id_of(t))
    spent = t.run_of(run_id_of(t)).usage
    await t.close()

    assert verification.is_same, verification
    assert (model.calls, spent.calls) == (3, 3)


async def test_what_an_agent_reports_is_recorded_and_counted() -> None:
    t, model = await play(lambda moment: spends(moment, usd=0.25), turns=2)

    first, second = await calls_in(t)
    usage = t.run_of(run_id_of(t)).usage
    why = await t.why((await ledger_of(t))[-1].id, role="director")
    await t.close()

    assert (first.model, first.completion, first.usage, first.usd) == (
        "its own",
        "Well.",
        Tokens(40, 20),
        0.25,
    )
    assert first.is_own
    assert second.is_own
    assert (usage.calls, usage.tokens, usage.usd) == (2, 120, 0.5)
    assert [asked.user for asked in why.links[0].prompts] == ["Well?"]
    assert model.calls == 0


@pytest.mark.parametrize(
    ("limits", "calls"),
    [
        (Governor(max_total_calls=2), 2),
        (Governor(max_total_tokens=199), 2),  # 60 + 60 spent: the worst case of 100 fits twice.
        (Governor(hourly_budget_usd=0.99), 2),  # 0.25 + 0.25 spent: the worst case of 0.5 fits twice.
    ],
    ids=["calls", "tokens", "dollars"],
)
async def test_a_limit_refuses_an_own_call_before_it_is_made(limits: Governor, calls: int) -> None:
    made = 0

    async def deed(moment: Moment) -> Draft:
        nonlocal made
        async with moment.spending("its own", tokens_max=100, usd_max=0.5) as call:
            made += 1
            call.report(input_tokens=40, output_tokens=20, usd=0.25)
        return said(f"I asked in turn {moment.turn}.")

    t, _ = await play(deed, turns=9, governor=limits)
    run, recorded = t.runs()[0], await calls_in(t)
    await t.close()

    assert (made, len(recorded)) == (calls, calls)
    assert run.status in {"finished", "paused"}


async def test_an_own_call_of_unknown_price_fits_no_limit_in_dollars() -> None:
    async def deed(moment: Moment) -> Draft:
        async with moment.spending("its own", tokens_max=100):
            raise AssertionError("it was made")

    t, _ = await play(deed, governor=Governor(hourly_budget_usd=9.0))
    calls = await calls_in(t)
    await t.close()

    assert calls == []


@pytest.mark.parametrize("is_late", [True, False], ids=["too late", "fails"])
async def test_an_own_call_that_reports_nothing_costs_its_worst_case(
    is_late: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop = asyncio.get_running_loop()
    time_of_loop = loop.time

    async def deed(moment: Moment) -> Draft:
        async with moment.spending("its own", tokens_max=100, usd_max=0.5):
            if is_late:  # The loop's clock is moved by hand: nobody has to be quick.
                monkeypatch.setattr(loop, "time", lambda: time_of_loop() + 3_600.0)
                await asyncio.Event().wait()
            raise ConnectionError("the line is dead")

    t, _ = await play(deed, turns=1, manifest=ADA.model_copy(update={"act_seconds_max": 60.0}))
    (call,) = await calls_in(t)
    last, verification = (await ledger_of(t))[-1], await verify(t, run_id_of(t))
    await t.close()

    assert (call.usage.total, call.usage.is_estimated, call.usd) == (100, True, 0.5)
    assert call.error == (
        "The call was cut off before it was answered." if is_late else "ConnectionError: the line is dead"
    )
    assert last.kind == kinds.AGENT_FAILED
    assert verification.is_same, verification


async def test_calls_that_an_agent_makes_at_once_come_one_after_another_and_overshoot_nothing() -> None:
    async def deed(moment: Moment) -> Draft:
        answers = await asyncio.gather(*[moment.ask(Prompt("Be short.", f"{n}?")) for n in range(5)])
        return said(", ".join(answer.text for answer in answers))

    t, model = await play(deed, turns=3, governor=Governor(max_total_calls=7))
    run, recorded = t.runs()[0], await calls_in(t)
    verification = await verify(t, run.id)
    await t.close()

    assert (model.calls, len(recorded), run.usage.calls) == (7, 7, 7)
    assert model.at_once_most == 1
    assert verification.is_same, verification


@pytest.mark.parametrize("in_a_task", [False, True])
async def test_a_call_inside_a_block_of_spending_is_refused(in_a_task: bool) -> None:
    async def deed(moment: Moment) -> Draft:
        async with moment.spending("its own", tokens_max=100) as call:
            call.report(input_tokens=1, output_tokens=1)
            asked = moment.ask(Prompt("Be short.", "Well?"))
            await (asyncio.create_task(asked) if in_a_task else asked)
        return said("Never.")

    t, model = await play(deed, turns=1)
    last = (await ledger_of(t))[-1]
    await t.close()

    assert last.kind == kinds.AGENT_FAILED
    assert "moment.spending" in last.payload["reason"]
    assert model.calls == 0


@pytest.mark.parametrize("count", [-1, float("nan"), float("inf"), 10**15, "many", True, 1.5])
async def test_counts_that_no_ledger_can_keep_are_refused(count: Any) -> None:
    refused: list[Refused] = []

    async def deed(moment: Moment) -> Draft:
        async with moment.spending("its own", tokens_max=100) as call:
            with pytest.raises(Refused) as caught:
                call.report(input_tokens=count, output_tokens=1)
            refused.append(caught.value)
        return said("Well.")

    t, _ = await play(deed, turns=1)
    await t.close()

    assert len(refused) == 1


async def test_an_agent_can_live_with_a_limit() -> None:
    async def deed(moment: Moment) -> Draft:
        try:
            return await spends(moment)
        except BudgetExceeded:
            return said("I am poor.")

    t, _ = await play(deed, turns=3, governor=Governor(max_total_tokens=150))
    texts = [event.payload["text"] for event in await ledger_of(t) if event.kind == kinds.AGENT_SPOKE]
    verification = await verify(t, run_id_of(t))
    await t.close()

    assert texts == ["I asked in turn 1.", "I am poor.", "I am poor."]
    assert verification.is_same, verification


@pytest.mark.parametrize("failure", [ModelUnreachable("Nobody is there."), ModelFailed("It broke.")], ids=str)
async def test_a_run_that_paused_in_an_agents_act_and_went_on_is_replayed(failure: Exception) -> None:
    class Away(Counting):
        """Is not there for its third to its tenth call."""

        async def complete(self, prompt: Prompt) -> Completion:
            if 2 <= self.calls < 10:
                self.calls += 1
                raise failure
            return await super().complete(prompt)

    async with stage(Away(), clock=HandMovedClock()) as t:
        await t.add_creature(ADA, agent=Doing(asks_twice))
        for _ in range(12):
            await t.step(1)
            paused = t.run_of(run_id_of(t)).paused
            if paused:
                await t.continue_run(run_id_of(t))
        spoken = [event for event in await ledger_of(t) if event.kind == kinds.AGENT_SPOKE]

        assert len(spoken) > 2
        verification = await verify(t, run_id_of(t))
        assert verification.is_same, verification


async def test_a_call_stays_reserved_while_its_agent_uses_a_tool() -> None:
    has_used_tool = asyncio.Event()
    under_way: list[str] = []
    seen: list[list[str]] = []

    async def spend(moment: Moment, tool: str | None = None) -> Draft:
        async with moment.spending("its own", tokens_max=100) as call:
            under_way.append(moment.handle)
            if tool is not None:
                await moment.use(tool, at="the middle")
                has_used_tool.set()
            for _ in range(100):
                await asyncio.sleep(0)
            seen.append([*under_way])
            under_way.remove(moment.handle)
            call.report(input_tokens=10, output_tokens=10)
        return said("Well.")

    async def waits_and_spends(moment: Moment) -> Draft:
        await has_used_tool.wait()
        return await spend(moment)

    limits = Governor(max_total_tokens=150)
    async with stage(Counting(), tools=Toolbox(depth), governor=limits) as t:
        uses = ticking("ada", together=True, tools=("depth",))
        ada = await t.add_creature(uses, agent=Doing(lambda moment: spend(moment, "depth")))
        bo = ticking("bo", together=True)
        await t.add_creature(bo, graph=ada.graph_id, agent=Doing(waits_and_spends))
        await asyncio.wait_for(t.step(1), 60)

    assert seen == [["ada"], ["bo"]]
