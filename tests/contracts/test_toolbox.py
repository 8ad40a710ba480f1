"""A toolbox: whatever a tool does, there is an answer in words, within bounds of time and size; nobody uses what it was
not granted.
"""

import asyncio
import json
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest

from glasshouse import Manifest, MemoryStore, Refused, Terrarium, Toolbox, kinds, tool
from glasshouse.errors import BadWorld, UnknownName
from glasshouse.manifests.manifest import Reply, Schedule
from glasshouse.models.router import ModelRouter
from glasshouse.models.scripted import ScriptedModel
from glasshouse.runtime.ports import Toolbox as Port
from glasshouse.runtime.tool_context import ToolContext
from glasshouse.tools import running
from glasshouse.tools.toolbox import JoinedTools
from glasshouse.turns.moment.prompt import as_prose
from glasshouse.turns.moment.tools import ToolAnswer, ToolCall
from glasshouse.world.decisions.intents import CallTool

quick_seconds_max = 0.05


async def answer(function: Any, granted: tuple[str, ...] = (), **arguments: Any) -> ToolAnswer:
    """What a creature is told that uses a tool it was granted."""
    box: Port = JoinedTools(Toolbox(function))
    made = function if hasattr(function, "offer") else tool(function)
    async with Terrarium(MemoryStore(), tools=box) as t:
        await t.add_creature(Manifest(name="ada", tools=granted or (made.name,)))
        await t.add_creature(Manifest(name="bo"))
        line = await t.append("bo", _line())
        receipt = await t._house.ledger.change(CallTool("ada", line.id, made.name, arguments, 1))
        context = ToolContext(t._house.ledger, "ada", receipt.events[0], is_untrusted=False)
        return await box.use(ToolCall(made.name, arguments), context)


def _line() -> Any:
    from glasshouse import Draft

    return Draft(kind=kinds.AGENT_SPOKE, payload={"text": "Use it."})


def spells(word: str) -> str:
    """Spell a word."""
    return "-".join(word)


async def adds(first: int, second: int = 2) -> int:
    """Add two numbers."""
    await asyncio.sleep(0)
    return first + second


def raises(word: str) -> str:
    """Break."""
    raise LookupError(f"no {word}\nhere")


async def raises_later(word: str) -> str:
    """Break, awaited."""
    raise LookupError(word)


class Speechless(Exception):
    """A fault that cannot say what it is."""

    def __str__(self) -> str:
        raise RuntimeError("no words")


def raises_speechless(word: str) -> str:
    """Break without words."""
    raise Speechless


async def raises_speechless_later(word: str) -> str:
    """Break without words, awaited."""
    raise Speechless


class Stubborn(str):
    """A text that will not be written down."""

    def encode(self, encoding: str = "utf-8", errors: str = "strict") -> bytes:
        raise RuntimeError("no")


def finds_its_own_text(word: str) -> str:
    """Give back a text of its own sort."""
    return Stubborn(word)


def leaves(word: str) -> str:
    """End the program."""
    raise SystemExit(word)


async def leaves_later(word: str) -> str:
    """End the program, awaited."""
    raise SystemExit(word)


def finds_nothing(word: str) -> str:
    """Look for the first of none."""
    return next(iter(()))


async def finds_nothing_later(word: str) -> str:
    """Look for the first of none, awaited."""
    return next(iter(()))


async def deaf() -> str:
    """Say that it takes something that it does not."""
    return ""


@dataclass
class Stone:
    """A thing."""

    weight: float


def finds(word: str) -> Stone:
    """Find a stone."""
    return Stone(2.5)


def nonsense(word: str) -> object:
    """Give back something that is not data."""
    return {"a": {object()}}


def not_a_number(word: str) -> float:
    """Give back no number."""
    return float("nan")


def nothing(word: str) -> None:
    """Give back nothing."""


def half_a_character(word: str) -> str:
    """Give back half a character."""
    return "\ud83d"


@tool(bytes_max=64)
def floods(word: str) -> str:
    """Give back too much."""
    return word * 100


@tool(seconds_max=quick_seconds_max)
async def sleeps(word: str) -> str:
    """Never end, awaited."""
    await asyncio.Event().wait()
    return word


@tool(seconds_max=quick_seconds_max)
async def stubborn(word: str) -> str:
    """Never end, and not even when asked to."""
    with suppress(asyncio.CancelledError):
        await asyncio.Event().wait()
    await asyncio.Event().wait()
    return word


@pytest.mark.parametrize(
    ("function", "given", "text", "result"),
    [
        (spells, {"word": "moss"}, "m-o-s-s", None),
        (adds, {"first": 1}, "3", 3),
        (adds, {"first": 1, "second": 5}, "6", 6),
        (finds, {"word": "stone"}, '{"weight":2.5}', {"weight": 2.5}),
        (nothing, {"word": "moss"}, "Done.", None),
        (half_a_character, {"word": "moss"}, "?", None),
    ],
)
async def test_what_a_function_gives_back_is_words_for_the_model_and_a_value_for_programs(
    function: Callable[..., Any], given: dict[str, Any], text: str, result: Any
) -> None:
    assert await answer(function, **given) == ToolAnswer(is_ok=True, text=text, result=result)


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (raises, "LookupError: no moss here"),
        (raises_later, "LookupError: moss"),
        (leaves, "SystemExit: moss"),
        (leaves_later, "SystemExit: moss"),
        (raises_speechless, "Speechless"),
        (raises_speechless_later, "Speechless"),
        (finds_nothing, "StopIteration"),
        (finds_nothing_later, "RuntimeError: coroutine raised StopIteration"),
        (nonsense, "nonsense returned something that is not data: dict."),
        (not_a_number, "not_a_number returned something that is not data: float."),
        (floods, "floods gave back 400 bytes, and at most 64 are taken. Ask for less."),
        (sleeps, "sleeps took longer than 0.05 seconds and was given up."),
        (stubborn, "stubborn took longer than 0.05 seconds and was given up."),
    ],
)
async def test_what_goes_wrong_in_a_tool_is_a_failure_that_a_model_can_read(function: Any, text: str) -> None:
    answered = await answer(function, word="moss")

    assert answered == ToolAnswer(is_ok=False, text=text)


async def test_a_text_of_its_own_sort_is_told_as_the_text_that_it_is() -> None:
    assert (await answer(finds_its_own_text, word="moss")).text == "moss"


async def test_a_function_that_does_not_take_what_it_says_it_takes_fails_in_words() -> None:
    deaf.__signature__, deaf.__annotations__ = signature(raises), {"word": str}  # type: ignore[attr-defined]  # A function may lie about itself.

    answered = await answer(deaf, word="moss")

    assert answered == ToolAnswer(
        is_ok=False, text="TypeError: deaf() got an unexpected keyword argument 'word'"
    )


async def test_a_function_that_hangs_is_left_behind_and_after_too_many_none_is_begun(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    release = threading.Event()
    monkeypatch.setattr(running, "threads_left_behind_max", 2)

    @tool(seconds_max=quick_seconds_max)
    def hangs(word: str) -> str:
        """Never end."""
        release.wait()
        return word

    try:
        answers = [await answer(hangs, word="moss") for _ in range(3)]
    finally:
        release.set()

    assert [row.is_ok for row in answers] == [False] * 3
    assert answers[1].text == "hangs took longer than 0.05 seconds and was given up."
    assert answers[2].text == "hangs is not to be had now: too many calls before it have not ended."


async def test_a_tool_that_was_not_granted_is_not_run() -> None:
    answered = await answer(spells, ("calculator",), word="moss")

    assert answered == ToolAnswer(is_ok=False, text="You may not use spells. Your tools: calculator.")


def test_a_signature_becomes_a_schema_and_a_docstring_a_description() -> None:
    @tool
    def weigh(
        thing: Annotated[str, "what to weigh"],
        scale: Literal["barn", "kitchen"],
        times: int = 1,
        share: float | None = None,
        *,
        is_wet: bool = False,
        others: list[str] = [],  # noqa: B006 (never changed)
    ) -> str:
        """Weigh a thing on
        a scale.

        More about it that no model reads.
        """
        return f"{thing} {scale} {times} {share} {is_wet} {others}"

    assert (weigh.offer.name, weigh.offer.description) == ("weigh", "Weigh a thing on a scale.")
    assert weigh.offer.parameters == {
        "type": "object",
        "properties": {
            "thing": {"type": "string", "description": "what to weigh"},
            "scale": {"enum": ["barn", "kitchen"]},
            "times": {"type": "integer"},
            "share": {"type": "number"},
            "is_wet": {"type": "boolean"},
            "others": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["thing", "scale"],
    }
    assert weigh("moss", "barn") == "moss barn 1 None False []"


def _untold(word: str) -> str:
    return word


def told_by(annotations: dict[str, Any], name: str = "word", **more: Any) -> Callable[[], Any]:
    def made() -> Any:
        namespace: dict[str, Any] = {}
        exec(f"def odd({name}):\n    'Be odd.'\n", namespace)
        namespace["odd"].__annotations__ = annotations
        return tool(**more)(namespace["odd"])

    return made


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: tool(_untold), "No tool can be called '_untold'"),
        (lambda: tool(name="untold")(_untold), "says nothing about itself"),
        (lambda: tool(name="group_untold")(spells), "would be a tool of the engine"),
        (told_by({"word": dict}), "takes 'word' as <class 'dict'>"),
        (told_by({}), "takes 'word' as nothing that is told"),
        (told_by({"words": str}, "*words"), "takes \\*words"),
        (told_by({"word": str}, seconds_max=11), "seconds_max of the tool odd is 11"),
        (told_by({"word": str}, bytes_max=0), "bytes_max of the tool odd is 0"),
        (lambda: Toolbox(spells, tool(name="spells")(adds)), "Two tools are called spells"),
    ],
)
def test_what_cannot_be_a_tool_is_refused_when_it_is_made(make: Callable[[], Any], words: str) -> None:
    with pytest.raises(Refused, match=words):
        make()


TIDE = '''
from glasshouse import tool

@tool
def tide(harbour: str) -> str:
    """Tell the tide of a harbour."""
    return f"The tide at {harbour} is out."

async def wind(harbour: str) -> str:
    """Tell the wind at a harbour."""
    return "It blows."
'''


def world_at(folder: Path, tools: str, code: str | None = TIDE) -> Path:
    (folder / "creatures").mkdir(parents=True)
    (folder / "scenario.yaml").write_text(
        "name: harbour\nopening: Fog.\ncast: [pilot]\ngovernor: {max_turns: 1}\n", encoding="utf-8"
    )
    (folder / "creatures" / "pilot.yaml").write_text(
        f"name: pilot\nschedule: {{tick_every: 1}}\ntools: {tools}\n", encoding="utf-8"
    )
    if code is not None:
        (folder / "sea.py").write_text(code, encoding="utf-8")
    return folder


@tool
def label_jar(kind: str, mood: str, thought: str, tool: str, arguments: str) -> str:
    """Write the label of a jar."""
    return f"{kind}, {mood}, {thought}, {tool}, {arguments}"


@pytest.mark.parametrize("form", ["schema", "json", "prose"])
async def test_parameters_may_be_called_as_the_fields_of_a_reply_are(form: Reply) -> None:
    arguments = {"kind": "jam", "mood": "sour", "thought": "plums", "tool": "spoon", "arguments": "none"}
    call = {"kind": "tool.called", "thought": "A label.", "tool": "label_jar", "arguments": arguments}
    asks = as_prose(call) if form == "prose" else json.dumps(call)
    model = ScriptedModel(asks, "SAY: Done." if form == "prose" else '{"kind":"agent.spoke","text":"Done."}')
    manifest = Manifest(name="cook", schedule=Schedule(tick_every=1), tools=("label_jar",), reply=form)
    async with Terrarium(MemoryStore(), models=ModelRouter(model), tools=Toolbox(label_jar)) as t:
        cook = await t.add_creature(manifest)
        await t.step_one()
        events = await t.events(cook.session_id)

    called, returned, said = [event for event in events if event.actor == cook.id][-3:]
    assert (called.payload["arguments"], called.private) == (arguments, {"thought": "A label."})
    assert returned.payload["text"] == "jam, sour, plums, spoon, none"
    assert said.payload["text"] == "Done."


async def test_a_function_in_a_file_beside_a_world_is_a_tool_of_that_world(tmp_path: Path) -> None:
    asks = '{"kind":"tool.called","thought":"","tool":"tide","arguments":{"harbour":"Ayr"}}'
    wind = '{"kind":"tool.called","thought":"","tool":"wind","arguments":{"harbour":"Ayr"}}'
    model = ScriptedModel(asks, wind, '{"kind":"agent.spoke","text":"Out."}')
    async with Terrarium(MemoryStore(), models=ModelRouter(model)) as t:
        run = await t.open_world(world_at(tmp_path / "harbour", "[sea.py:tide, sea.py:wind]"))
        await t.run()

        texts = [e.payload["text"] for e in await t.run_events(run.id) if e.kind == kinds.TOOL_RETURNED]
        assert texts == ["The tide at Ayr is out.", "It blows."]


@pytest.mark.parametrize(
    ("tools", "words"),
    [
        ("[calculater]", "pilot.yaml:3:9: tools: no tool is called 'calculater'. Did you mean 'calculator'?"),
        ("[group_add_node]", "tools: group_add_node comes with privilege and cannot be granted."),
        ("[sea.py:tyde]", "tools: sea.py has no function 'tyde'. Did you mean 'tide'?"),
        ("[lake.py:tide]", "tools: there is no readable file 'lake.py' beside the scenario."),
        ("['../sea.py:tide']", "tools: '../sea.py:tide' is not a tool. Write 'file.py:function'"),
    ],
)
async def test_a_world_that_grants_what_nobody_has_is_refused_with_the_likely_meant_name(
    tmp_path: Path, tools: str, words: str
) -> None:
    world = world_at(tmp_path / "harbour", tools)
    async with Terrarium(MemoryStore()) as t:
        with pytest.raises(BadWorld) as refused:
            await t.open_world(world)

    assert words in str(refused.value)


async def test_a_creature_that_is_added_with_an_unknown_tool_is_refused() -> None:
    async with Terrarium(MemoryStore()) as t:
        with pytest.raises(UnknownName, match="Did you mean 'almanac'"):
            await t.add_creature(Manifest(name="ada", tools=("almanack",)))
