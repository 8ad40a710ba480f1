"""Driving a play from inside one of its acts is refused at once, because it would wait for that same act."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import pytest

from glasshouse import Manifest, MemoryStore, Refused, Toolbox, kinds, tool
from glasshouse.assembly import usual_tools
from glasshouse.models.router import ModelRouter
from glasshouse.models.scripted import ScriptedModel
from glasshouse.runtime.acts import inside
from glasshouse.runtime.acts.inside import ActUnderWay, wait_to_be_outside
from glasshouse.runtime.conducting.order import Conducted
from glasshouse.runtime.ports import Proposal
from glasshouse.terrarium import Terrarium
from glasshouse.turns.moment.moment import Moment
from glasshouse.turns.moment.prompt import Completion, Prompt
from tests.runtime.group_calls import expedition
from tests.runtime.stage_crew import (
    Doing,
    Gated,
    Speaker,
    cast_on,
    events_of,
    on_stage,
    said,
    the_end,
    ticking,
    world_of,
)
from tests.runtime.toolkits import speaks, uses
from tests.runtime.troupe import soon
from tests.simulation.test_cut_off_anywhere import NotingStore

CALLS = ["step_one", "step", "run", "finish", "close", "open_world"]
WORDS = "waits for the end of the act"


class Meddler:
    """Tools that drive the show they are used in: one that awaits, and one in a thread that hands it to the loop."""

    def __init__(self, call: str) -> None:
        self.terrarium: Terrarium | None = None
        self._call = call

        @tool
        async def meddle(how: str) -> str:
            """Drive the show."""
            return str(await self.drive())

        @tool
        def meddle_from_afar(how: str) -> str:
            """Drive the show from a thread."""
            assert self._loop is not None
            return str(asyncio.run_coroutine_threadsafe(self.drive(), self._loop).result())

        self.box = Toolbox(meddle, meddle_from_afar)
        self._loop: asyncio.AbstractEventLoop | None = None

    def aim_at(self, terrarium: Terrarium) -> None:
        self.terrarium, self._loop = terrarium, asyncio.get_running_loop()

    async def drive(self) -> Any:
        assert self.terrarium is not None
        given: list[Any] = [run.id for run in self.terrarium.runs()] if self._call == "finish" else []
        if self._call == "open_world":
            given = [world_of(ticking("another"))]
        return await getattr(self.terrarium, self._call)(*given[:1])


@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize("name", ["meddle", "meddle_from_afar"])
@pytest.mark.parametrize("call", CALLS)
async def test_a_tool_that_drives_its_own_show_fails_at_once_in_words_that_the_model_reads(
    call: str, name: str, *, together: bool
) -> None:
    meddler, model = Meddler(call), ScriptedModel(uses(tool=name), speaks(), speaks("b"))
    async with on_stage(models=ModelRouter(model), tools=meddler.box) as t:
        meddler.aim_at(t)
        cast = (ticking("a", tools=(name,), together=together), ticking("b", together=together))
        await t.open_world(world_of(*cast, governor={"max_turns": 1}))

        await soon(t.run())

        (returned,) = await events_of(t, kinds.TOOL_RETURNED)
        assert not returned.payload["is_ok"]
        assert WORDS in returned.payload["text"]
        assert "ask from outside" in returned.payload["text"]
        assert len(await said(t)) == 2
        assert (await the_end(t)).payload["reason"] == "budget"


@pytest.mark.parametrize("call", CALLS)
async def test_whoever_is_asked_to_approve_and_drives_the_show_has_not_said_yes(call: str) -> None:
    meddler = Meddler(call)

    async def approves(proposal: Proposal) -> bool:
        await meddler.drive()
        return True

    async def removes(moment: Moment) -> None:
        await moment.use("group_remove_node", creature="moth")

    async with on_stage(None, {"lead": Doing(removes)}, tools=usual_tools(None, approves)) as t:
        meddler.aim_at(t)
        run = await expedition(t, governor={"max_turns": 1, "max_calls_per_turn": 1})
        await t.disturb(run.id, "Send moth away.")

        await soon(t.step_one())

        (decided,) = await events_of(t, kinds.EDIT_DECIDED)
        assert not decided.payload["is_approved"]
        assert WORDS in decided.payload["reason"]
        assert "moth" in [creature.handle for creature in t.creatures()]


async def test_a_tool_that_is_carried_out_again_after_a_crash_is_inside_its_act_too() -> None:
    meddler, whole = Meddler("run"), NotingStore()
    world = world_of(ticking("a", tools=("meddle",)), governor={"max_turns": 1})
    async with on_stage(
        whole, models=ModelRouter(ScriptedModel(uses(tool="meddle"), speaks())), tools=meddler.box
    ) as t:
        meddler.aim_at(t)
        await t.open_world(world)
        await soon(t.run())
        called = (await events_of(t, kinds.TOOL_CALLED))[0].position or 0
    cut, events = MemoryStore(), 0
    await cut.open(whole.house_id)
    for batch in whole.batches:
        if events < called:
            await cut.commit([batch])
        events += sum(len(write.bodies) for write in batch.writes)
    await cut.close()

    async with on_stage(cut, models=ModelRouter(ScriptedModel(speaks())), tools=meddler.box) as t:
        meddler.aim_at(t)
        assert await events_of(t, kinds.TOOL_RETURNED) == []
        await soon(t.run())

        (returned,) = await events_of(t, kinds.TOOL_RETURNED)
        assert WORDS in returned.payload["text"]


async def test_a_mind_that_closes_its_own_show_fails_and_the_show_goes_on() -> None:
    async with on_stage() as t:

        async def closes(moment: Moment) -> None:
            await t.close()

        await cast_on(t, {"a": Doing(closes), "b": Speaker()}, ticking("a"), ticking("b"))

        await soon(t.step())

        assert WORDS in (await events_of(t, kinds.AGENT_FAILED))[0].payload["reason"]
        assert await said(t) == ["b1"]


async def test_a_tool_may_play_a_show_of_its_own() -> None:
    @tool
    async def rehearse(how: str) -> str:
        """Play a little show."""
        async with on_stage(None, {"c": Speaker()}) as inner:
            await inner.open_world(world_of(ticking("c"), governor={"max_turns": 2}))
            await inner.run()
            return " ".join(await said(inner))

    model = ScriptedModel(uses(tool="rehearse"), speaks())
    async with on_stage(models=ModelRouter(model), tools=Toolbox(rehearse)) as t:
        await t.open_world(world_of(ticking("a", tools=("rehearse",)), governor={"max_turns": 1}))

        await soon(t.run())

        assert [event.payload["text"] for event in await events_of(t, kinds.TOOL_RETURNED)] == ["c1 c2"]


async def test_a_task_that_a_tool_leaves_behind_may_drive_the_show_when_the_act_is_over() -> None:
    left: list[asyncio.Task[Conducted]] = []

    @tool
    async def wind_up(how: str) -> None:
        """Let the show go on later."""
        if not left:
            left.append(asyncio.create_task(t.run()))

    model = ScriptedModel(uses(tool="wind_up"), speaks(), speaks("on we go"), speaks("the end"))
    async with on_stage(models=ModelRouter(model), tools=Toolbox(wind_up)) as t:
        await t.open_world(world_of(ticking("a", tools=("wind_up",)), governor={"max_turns": 3}))

        await soon(t.step_one())
        await soon(left[0])

        assert await said(t) == ["It is bright.", "on we go", "the end"]


@pytest.fixture
def short_acts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A task that an act began waits only a moment for the end of that act."""
    monkeypatch.setattr(inside, "own_act_seconds_max", 0.01)


@pytest.mark.usefixtures("short_acts")
async def test_a_task_that_its_act_waits_for_is_given_up_in_words() -> None:
    house = object()
    with ActUnderWay(house):
        waiting = asyncio.create_task(wait_to_be_outside(house))

        with pytest.raises(Refused, match="do not wait for it there"):
            await soon(waiting)


async def test_a_task_that_outlives_its_act_is_outside() -> None:
    house, may_go_on = object(), asyncio.Event()

    async def asks_later() -> bool:
        await may_go_on.wait()
        await wait_to_be_outside(house)
        return True

    with ActUnderWay(house):
        later = asyncio.create_task(asks_later())
        await asyncio.sleep(0)
    may_go_on.set()

    assert await soon(later)


class Kingmaker:
    """Tools that give privilege in the show they are used in: awaited, and from a thread."""

    def __init__(self, deed: Callable[[Terrarium], Awaitable[object]]) -> None:
        @tool
        async def crown(how: str) -> str:
            """Give a right."""
            return str(await deed(self.terrarium))

        @tool
        def crown_from_afar(how: str) -> str:
            """Give a right from a thread."""
            coroutine: Any = deed(self.terrarium)
            return str(asyncio.run_coroutine_threadsafe(coroutine, self.loop).result())

        self.box = Toolbox(crown, crown_from_afar)
        self.loop = asyncio.get_running_loop()
        self.terrarium: Any = None


RIGHTS: dict[str, Callable[[Terrarium], Awaitable[object]]] = {
    "by a grant": lambda t: t.grant_privilege("keeper"),
    "by a birth": lambda t: t.add_creature(Manifest(name="heir"), is_privileged=True),
}


@pytest.mark.parametrize("name", ["crown", "crown_from_afar"])
@pytest.mark.parametrize("how", RIGHTS)
async def test_no_tool_gives_privilege_to_whoever_uses_it_or_to_anybody_else(how: str, name: str) -> None:
    kings = Kingmaker(RIGHTS[how])
    models = ModelRouter(ScriptedModel(uses(tool=name), speaks()))
    async with on_stage(models=models, tools=kings.box) as t:
        kings.terrarium = t
        await t.open_world(world_of(ticking("keeper", tools=(name,)), governor={"max_turns": 1}))

        await soon(t.run())

        (returned,) = await events_of(t, kinds.TOOL_RETURNED)
        assert "Privilege is not given from inside an act." in returned.payload["text"]
        assert [creature.is_privileged for creature in t.creatures()] == [False]
        assert await events_of(t, kinds.PRIVILEGE_GRANTED) == []


async def test_no_mind_gives_itself_privilege_and_from_outside_it_is_given() -> None:
    refusals: list[str] = []
    async with on_stage() as t:

        async def deed(_moment: Moment) -> None:
            try:
                await t.grant_privilege("keeper")
            except Refused as refusal:
                refusals.append(refusal.reason)

        await cast_on(t, {"keeper": Doing(deed)}, ticking("keeper"))
        await soon(t.step(1))
        creature = await t.grant_privilege("keeper")

        assert refusals == ["Privilege is not given from inside an act."]
        assert creature.is_privileged


async def test_no_mind_takes_privilege_away_and_from_outside_it_is_taken() -> None:
    refusals: list[str] = []
    async with on_stage() as t:

        async def deed(_moment: Moment) -> None:
            try:
                await t.revoke_privilege("keeper")
            except Refused as refusal:
                refusals.append(refusal.reason)

        await cast_on(t, {"keeper": Doing(deed)}, ticking("keeper"))
        await t.grant_privilege("keeper")
        await soon(t.step(1))
        before = t.creature("keeper").is_privileged
        creature = await t.revoke_privilege("keeper")

        assert refusals == ["Privilege is not taken back from inside an act."]
        assert before
        assert not creature.is_privileged


async def test_no_mind_accepts_a_tool() -> None:
    refusals: list[str] = []
    async with on_stage() as t:

        async def deed(moment: Moment) -> None:
            try:
                await t.accept_tool(moment.run_id or "", "weather/forecast")
            except Refused as refusal:
                refusals.append(refusal.reason)

        await cast_on(t, {"keeper": Doing(deed)}, ticking("keeper"))
        await soon(t.step(1))

        assert refusals == ["A tool is not accepted from inside an act."]


def by_a_task_of_a_task(work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
    async def again() -> Any:
        return await asyncio.create_task(work)

    return asyncio.create_task(again())


def handed_to_the_loop(
    work: Coroutine[Any, Any, Any], begin: Callable[[Callable[[], None]], object]
) -> asyncio.Future[Any]:
    """Let somebody else hand the work to the loop: `begin` is given what does that."""
    loop, handed = asyncio.get_running_loop(), asyncio.get_running_loop().create_future()

    def hand_over() -> None:
        future = asyncio.run_coroutine_threadsafe(work, loop)
        loop.call_soon_threadsafe(handed.set_result, asyncio.wrap_future(future, loop=loop))

    async def answer() -> Any:
        return await (await handed)

    begin(hand_over)
    return asyncio.ensure_future(answer())


def from_a_thread_with_the_context(work: Coroutine[Any, Any, Any]) -> asyncio.Future[Any]:
    return handed_to_the_loop(work, lambda hand_over: asyncio.ensure_future(asyncio.to_thread(hand_over)))


def by_a_callback(work: Coroutine[Any, Any, Any]) -> asyncio.Future[Any]:
    return handed_to_the_loop(work, asyncio.get_running_loop().call_soon)


BYWAYS = [asyncio.create_task, by_a_task_of_a_task, from_a_thread_with_the_context, by_a_callback]


@pytest.mark.parametrize("byway", BYWAYS)
@pytest.mark.parametrize("how", RIGHTS)
async def test_no_byway_leads_from_an_act_to_a_right(
    how: str, byway: Callable[[Coroutine[Any, Any, Any]], asyncio.Future[Any]]
) -> None:
    refusals: list[str] = []
    async with on_stage() as t:

        async def deed(_moment: Moment) -> None:
            right: Any = RIGHTS[how](t)
            try:
                await byway(right)
            except Refused as refusal:
                refusals.append(refusal.reason)

        await cast_on(t, {"keeper": Doing(deed)}, ticking("keeper"))

        await soon(t.step(1))

        assert len(refusals) == 1
        assert "act" in refusals[0]
        assert [creature.is_privileged for creature in t.creatures()] == [False]


async def test_a_task_that_an_act_leaves_behind_gives_no_right_either() -> None:
    left: list[asyncio.Task[Any]] = []
    async with on_stage() as t:
        may_go_on = asyncio.Event()

        async def crown_later() -> None:
            await may_go_on.wait()
            await t.grant_privilege("keeper")

        async def deed(_moment: Moment) -> None:
            left.append(asyncio.create_task(crown_later()))

        await cast_on(t, {"keeper": Doing(deed)}, ticking("keeper"))
        await soon(t.step(1))
        may_go_on.set()

        with pytest.raises(Refused, match="not given from inside an act"):
            await soon(left[0])


def in_an_empty_context(work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
    return contextvars.Context().run(asyncio.create_task, work)


def from_a_thread(work: Coroutine[Any, Any, Any]) -> asyncio.Future[Any]:
    return handed_to_the_loop(work, lambda hand_over: threading.Thread(target=hand_over).start())


def by_a_callback_in_an_empty_context(work: Coroutine[Any, Any, Any]) -> asyncio.Future[Any]:
    call_soon, nothing = asyncio.get_running_loop().call_soon, contextvars.Context()
    return handed_to_the_loop(work, lambda hand_over: call_soon(hand_over, context=nothing))


EMPTY_CONTEXTS = [in_an_empty_context, from_a_thread, by_a_callback_in_an_empty_context]


@pytest.mark.parametrize("byway", EMPTY_CONTEXTS)
async def test_what_runs_in_an_empty_context_counts_as_outside_as_the_page_on_security_says(
    byway: Callable[[Coroutine[Any, Any, Any]], asyncio.Future[Any]],
) -> None:
    async with on_stage() as t:

        async def deed(_moment: Moment) -> None:
            await byway(t.grant_privilege("keeper"))

        await cast_on(t, {"keeper": Doing(deed)}, ticking("keeper"))

        await soon(t.step(1))

        assert t.creature("keeper").is_privileged


@pytest.mark.parametrize("byway", EMPTY_CONTEXTS)
@pytest.mark.parametrize("call", ["run", "step_one", "finish"])
async def test_a_call_from_an_empty_context_that_its_act_waits_for_ends_with_the_bound_of_the_act(
    call: str, byway: Callable[[Coroutine[Any, Any, Any]], asyncio.Future[Any]]
) -> None:
    left: list[asyncio.Future[Any]] = []
    async with on_stage() as t:

        async def waits_for_itself(_moment: Moment) -> None:
            if not left:
                given = [run.id for run in t.runs()] if call == "finish" else []
                left.append(byway(getattr(t, call)(*given)))
                await left[0]

        cast = ticking("a", act_seconds_max=0.05), ticking("b")
        await cast_on(t, {"a": Doing(waits_for_itself), "b": Speaker()}, *cast)

        await soon(t.step(1))

        (failed,) = await events_of(t, kinds.AGENT_FAILED)
        assert "took longer than 0.05 seconds" in failed.payload["reason"]
        assert left[0].done()


async def test_whoever_is_outside_gives_rights_while_an_act_is_under_way() -> None:
    thinking = Gated()
    async with on_stage() as t:
        await cast_on(t, {"keeper": thinking}, ticking("keeper"))
        show = asyncio.create_task(t.step(1))
        await soon(thinking.has_begun.wait())

        at_once = await t.grant_privilege("keeper")
        in_a_task = await asyncio.create_task(t.grant_privilege("keeper"))
        in_time = await asyncio.wait_for(t.grant_privilege("keeper"), 5)
        thinking.gate.set()
        await soon(show)

        assert [creature.is_privileged for creature in (at_once, in_a_task, in_time)] == [True] * 3


async def test_a_server_gives_rights_while_a_model_thinks() -> None:
    """A server begins its tasks from callbacks. While no code of a program runs in an act, they cannot be its own."""
    model = SlowModel()
    async with on_stage(models=ModelRouter(model)) as t:
        await t.open_world(world_of(ticking("keeper"), governor={"max_turns": 1}))
        show = asyncio.create_task(t.run())
        await soon(model.is_asked.wait())

        creature = await by_a_callback_in_an_empty_context(t.grant_privilege("keeper"))
        model.may_answer.set()
        await soon(show)

        assert creature.is_privileged


class SlowModel(ScriptedModel):
    """A model that answers when it is let."""

    def __init__(self) -> None:
        super().__init__(speaks())
        self.is_asked, self.may_answer = asyncio.Event(), asyncio.Event()

    async def complete(self, prompt: Prompt) -> Completion:
        self.is_asked.set()
        await self.may_answer.wait()
        return await super().complete(prompt)


async def test_the_task_factory_of_the_programs_loop_is_left_alone() -> None:
    loop = asyncio.get_running_loop()
    factories = [loop.get_task_factory()]

    async def looks(_moment: Moment) -> None:
        factories.append(loop.get_task_factory())

    async with on_stage() as t:
        factories.append(loop.get_task_factory())
        await cast_on(t, {"a": Doing(looks)}, ticking("a"))
        await soon(t.step(1))

    assert len(factories) == 3
    assert len({*factories}) == 1


# The advice to a mind in Python


@pytest.mark.parametrize("tools", [(), ("calculator",)])
async def test_a_mind_without_privilege_reads_who_can_give_it(tools: tuple[str, ...]) -> None:
    refusals: list[str] = []

    async def deed(moment: Moment) -> None:
        try:
            await moment.use("group_stop_node", creature="owl")
        except Refused as refusal:
            refusals.append(str(refusal))

    async with on_stage(tools=usual_tools()) as t:
        await cast_on(t, {"keeper": Doing(deed)}, ticking("keeper", tools=tools))

        await soon(t.step(1))

        assert refusals == [
            (
                "group_stop_node is for privileged creatures, and keeper is none. Let somebody outside call"
                " grant_privilege('keeper'), or write `privileged: true` in its cast."
            )
        ]


async def test_a_privileged_mind_reads_why_a_tool_cannot_succeed_now() -> None:
    answers: list[tuple[bool, str]] = []

    async def deed(moment: Moment) -> None:
        for name, arguments in (
            ("group_add_node", {"use": "cartographer"}),
            ("group_stop_node", {"creature": "moth"}),
            ("group_start_node", {"creature": "moth"}),
        ):
            answer = await moment.use(name, **arguments)
            answers.append((answer.is_ok, answer.text))

    async with on_stage(None, {"lead": Doing(deed)}, tools=usual_tools()) as t:
        await expedition(t, policy={"population_max": 4, "edits_per_turn_max": 1})

        await soon(t.step_one())

        assert answers == [
            (
                False,
                "There are 4 creatures, and the policy allows 4. First take one away with group_remove_node.",
            ),
            (True, "moth rests."),
            (False, "The one change that this turn allows is made. Wait for the next turn."),
        ]


async def test_a_name_that_only_looks_like_a_group_tool_is_no_tool() -> None:
    refusals: list[str] = []

    async def deed(moment: Moment) -> None:
        try:
            await moment.use("group_dance")
        except Refused as refusal:
            refusals.append(str(refusal))

    async with on_stage(None, {"lead": Doing(deed)}, tools=usual_tools()) as t:
        await expedition(t)

        await soon(t.step_one())

        assert refusals[0].startswith("no tool that is offered is called 'group_dance'.")
