"""What each role reads: a play that holds every sort of secret, and every reader, stream and file searched for them."""
# ruff: noqa: ASYNC240 (a test may wait for its own small files)

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest

from glasshouse import Agent, Draft, Manifest, Observer, SqliteStore, Terrarium, kinds
from glasshouse.assembly import usual_agent
from glasshouse.errors import ModelUnreachable, Refused
from glasshouse.events.event import usage_in
from glasshouse.events.redaction import ROLES, Role
from glasshouse.manifests.loading import LoadedWorld
from glasshouse.manifests.scenario import Scenario
from glasshouse.model_values import Tokens
from glasshouse.models.router import ModelRouter
from glasshouse.runtime.past.what_if import WhatIf
from glasshouse.tools.toolbox import Toolbox
from glasshouse.turns.moment.moment import Moment
from glasshouse.turns.moment.prompt import Completion, Prompt
from glasshouse.views.comparison import compared
from tests.journeys.commanding import run

MAY_READ: dict[str, Role] = {
    "spoken-words": "spectator",
    "bio-of-ada": "spectator",
    "tool-argument": "spectator",
    "tool-answer": "spectator",
    "private-thought": "audience",
    "private-mood": "audience",
    "thought-event": "audience",
    "reflection-event": "audience",
    "reason-to-pass": "audience",
    "persona-of-ada": "audience",
    "wants-of-ada": "audience",
    "cares-of-ada": "audience",
    "temper-of-ada": "audience",
    "voice-of-ada": "audience",
    "never-of-ada": "audience",
    "persona-of-spawnable": "audience",
    "persona-of-newcomer": "audience",
    "persona-in-branch": "audience",
    "persona-by-model": "audience",
    "wants-by-model": "audience",
    "sealed-fact": "director",
    "card-dealt": "director",
    "card-in-the-deck": "director",
    "unusable-completion": "director",
    "model-reasoning": "director",
    "address-of-server": "director",
    "address-of-outage": "director",
    "path-of-mind": "director",
    "path-of-tool": "director",
}
"""Each secret of the play, and the smallest role that may read it."""

PROMPT = "You are ada"
"""Prompts begin so. They are in no file; only a director reads them."""
CROWD, RUN = "r-00aa11bb22cc33d0", "r-00bb11bb22cc33d1"


def secrets_beyond(role: Role) -> list[str]:
    return [secret for secret, least in MAY_READ.items() if ROLES.index(least) > ROLES.index(role)]


def leaks_in(text: str, role: Role) -> list[str]:
    beyond = secrets_beyond(role)
    return [secret for secret in (*beyond, *([PROMPT] if beyond else [])) if secret in text]


ADA = Manifest(
    name="ada",
    bio="The bio-of-ada.",
    persona="The persona-of-ada.",
    wants="The wants-of-ada.",
    cares_about=("cares-of-ada",),
    temper="temper-of-ada",
    voice={"examples": ["voice-of-ada"], "never": ["never-of-ada"]},
    may_emit=(kinds.AGENT_SPOKE, kinds.AGENT_THOUGHT, kinds.AGENT_REFLECTED),
    schedule={"tick_every": 1},
    tools=("find", "tell"),
)
BO = Manifest(name="bo", schedule={"tick_every": 2})
MOTH = Manifest(name="moth", persona="The persona-of-spawnable.")
LEAD = Manifest(name="lead", schedule={"tick_every": 1})
DEE = Manifest(name="dee", subscribes_to=(kinds.AGENT_SPOKE,), model_profile="tiny")
CY = Manifest(name="cy", persona="The persona-of-newcomer.")


def reply(kind: str, **fields: Any) -> str:
    return json.dumps({"kind": kind, "thought": "private-thought", "mood": "private-mood", **fields})


REPLIES: tuple[str | Exception, ...] = (
    ModelUnreachable("http://address-of-server is away."),
    reply(kinds.AGENT_REFLECTED, text="reflection-event", rests_on=["1"]),
    reply(kinds.AGENT_THOUGHT, text="thought-event"),
    # A reply without a thought would get its model's reasoning as one, which an audience may read.
    json.dumps({"kind": kinds.AGENT_PASSED, "thought": "private-thought", "reason": "reason-to-pass"}),
    reply(kinds.TOOL_CALLED, tool="tell", what="tool-argument"),
    reply(kinds.TOOL_CALLED, tool="find", what="tool-argument"),
    reply(kinds.AGENT_SPOKE, text="spoken-words"),
    reply("unusable-completion.kind", text="unusable-completion"),
    reply("unusable-completion.kind", text="unusable-completion"),
    reply(kinds.AGENT_SPOKE, text="spoken-words"),
)


LEADING = (
    reply(
        kinds.TOOL_CALLED,
        tool="group_add_node",
        handle="eve",
        role="gardener",
        persona="persona-by-model",
        wants="wants-by-model",
    ),
    reply(kinds.AGENT_SPOKE, text="spoken-words"),
)


class Candid:
    """A model that says one reply after the other, and what it costs."""

    name = "candid"

    def __init__(self) -> None:
        self.replies, self.leading = iter(REPLIES), iter(LEADING)

    async def complete(self, prompt: Prompt) -> Completion:
        replies = self.leading if "You are lead" in prompt.system else self.replies
        answer = next(replies, REPLIES[-1])
        if isinstance(answer, Exception):
            raise answer
        assert isinstance(answer, str)
        return Completion(answer, self.name, Tokens(70, 30), usd=0.25, reasoning="model-reasoning")


class Away:
    """A model whose server is away. It has its own circuit: the other model is asked all the same."""

    name = "away"

    async def complete(self, prompt: Prompt) -> Completion:
        raise ModelUnreachable("http://address-of-outage is away.")


class Broken(Agent):
    """Code with a mistake."""

    async def act(self, moment: Moment) -> Draft | None:
        raise KeyError("path-of-mind")


def find(what: str) -> str:
    """Find something."""
    raise FileNotFoundError(2, "No such file", f"/home/ada/path-of-tool/{what}.txt")


def tell(what: str) -> str:
    """Tell something."""
    return f"tool-answer to {what}"


def the_world() -> LoadedWorld:
    deal = {"word": {"to": "ada", "from": ["card-in-the-deck", "card-dealt"]}}
    fields: Any = {"name": "secretive", "cast": ["ada", "bo"], "spawnable": ["moth"], "deal": deal}
    return LoadedWorld.of(Scenario.model_validate(fields), [ADA, BO, MOTH])


@asynccontextmanager
async def house(path: Path) -> AsyncIterator[Terrarium]:
    def agent_for(manifest: Manifest) -> Agent:
        return Broken() if manifest.name == "bo" else usual_agent(manifest)

    models, tools = ModelRouter({"fast": Candid(), "tiny": Away()}), Toolbox(find, tell)
    async with Terrarium(SqliteStore(path), models=models, tools=tools, agent_for=agent_for) as t:
        yield t


async def play_everything(path: Path) -> None:
    """A run in which a model writes a creature and another is away; one with every other secret; a branch of it."""
    async with house(path) as t:
        crowd: Any = {"name": "crowd", "cast": [{"use": "lead", "privileged": True}, "dee"]}
        crowd["policy"] = {"spawn": "written"}
        await t.open_world(LoadedWorld.of(Scenario.model_validate(crowd), [LEAD, DEE]), run_id=CROWD)
        await t.run(CROWD, turns=2)
        assert t.run_of(CROWD).status == "paused"
        await t.open_world(the_world(), run_id=RUN)
        await t.run(RUN, turns=8)
        spoken = Draft(
            kind=kinds.AGENT_SPOKE, payload={"text": "spoken-words"}, sealed={"word": "sealed-fact"}
        )
        last = await t.append("ada", spoken)
        change = WhatIf(personas={"ada": "The persona-in-branch."}, add=(CY,), disturb="A hen walks in.")
        branch = await t.branch(t.creature("ada").session_id, last.id, change)
        await t.run(branch.id, turns=1)
        for run_id in (CROWD, RUN, branch.id):
            await t.finish(run_id)


@pytest.fixture(scope="module")
def secretive_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("roles") / "show.glasshouse"
    asyncio.run(play_everything(path))
    return path


# Readers in Python: each gives all that a role can get from it.

Reader = Callable[[Terrarium, Role, Path], Awaitable[object]]


async def sessions_of(t: Terrarium) -> list[str]:
    return [graph.session_id for graph in t.graphs()]


async def exported(t: Terrarium, role: Role, folder: Path, suffix: str) -> str:
    texts = []
    for number, session_id in enumerate(await sessions_of(t)):
        path = await t.export(session_id, folder / f"{role}-{number}{suffix}", role=role)
        raw = path.read_bytes()
        texts.append((gzip.decompress(raw) if suffix == ".glass" else raw).decode())
    return "".join(texts)


async def as_glass(t: Terrarium, role: Role, folder: Path) -> object:
    return await exported(t, role, folder, ".glass")


async def as_jsonl(t: Terrarium, role: Role, folder: Path) -> object:
    return await exported(t, role, folder, ".jsonl")


async def as_imported(t: Terrarium, role: Role, folder: Path) -> object:
    """Everything that the reader of a file can ask for, as the director of another store."""
    answers: list[object] = []
    await exported(t, role, folder, ".glass")
    async with Terrarium() as other:
        sessions = [await other.import_file(path) for path in sorted(folder.glob(f"{role}-*.glass"))]
        for session in sessions:
            events = await other.events(session.id)
            answers += [events, *[await other.why(event.id, role="director") for event in events]]
        with suppress(Refused):
            answers.append(await other.run_events((await other.branch(sessions[0].id)).id))
    return answers


async def as_subscriber(t: Terrarium, role: Role, _folder: Path) -> object:
    head, events = (await t.run_events(RUN))[-1], []
    async for event in t.subscribe(after=0, role=role):
        events.append(event)
        if event.id == head.id:
            return events
    raise AssertionError("the stream ended early")


async def as_observer(t: Terrarium, role: Role, _folder: Path) -> object:
    """What observers hold and what their callbacks get, fed by a terrarium and fed by hand."""
    diffs: list[object] = []
    fed_live, fed_by_hand = Observer(role=role), Observer(role=role)
    for observer in (fed_live, fed_by_hand):
        observer.on_diff(lambda diff: diffs.append([diff.patch, diff.new_lines]))
    is_read = asyncio.Event()
    fed_live.on_diff(lambda _: is_read.set() if fed_live.view.run is not None else None)
    t.observe(fed_live)
    await is_read.wait()
    for event in [event for played in t.runs() for event in await t.run_events(played.id)]:
        fed_by_hand.consume(event)
    return [fed_live.view, fed_by_hand.view, diffs]


async def as_one_who_asks_why(t: Terrarium, role: Role, _folder: Path) -> object:
    return [
        await t.why(event.id, role=role) for played in t.runs() for event in await t.run_events(played.id)
    ]


async def as_one_who_compares(t: Terrarium, role: Role, _folder: Path) -> object:
    _, first, second = [played.id for played in t.runs()]
    alone = compared((first, await t.run_events(first)), ("nothing", ()), role=role)
    return [await t.compare(first, second, role=role), alone]


READERS: list[Reader] = [
    as_glass,
    as_jsonl,
    as_imported,
    as_subscriber,
    as_observer,
    as_one_who_asks_why,
    as_one_who_compares,
]


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("read", READERS)
async def test_no_reader_gets_more_than_its_role_may_read(
    secretive_store: Path, tmp_path: Path, read: Reader, role: Role
) -> None:
    async with Terrarium(SqliteStore(secretive_store, is_guest=True)) as t:
        answer = await read(t, role, tmp_path)

    text = answer if isinstance(answer, str) else msgspec.json.encode(answer).decode() + repr(answer)
    assert leaks_in(text, role) == []
    assert "spoken-words" in text


async def test_the_play_holds_every_secret(secretive_store: Path, tmp_path: Path) -> None:
    """Otherwise the other tests would find nothing because there is nothing."""
    async with Terrarium(SqliteStore(secretive_store, is_guest=True)) as t:
        whole = await exported(t, "director", tmp_path, ".jsonl")
        audience = await exported(t, "audience", tmp_path, ".jsonl")
        spectator = await exported(t, "spectator", tmp_path, ".jsonl")

    text_by_role = {"director": whole, "audience": audience, "spectator": spectator}
    for role in ROLES:
        readable = [secret for secret in MAY_READ if secret not in secrets_beyond(role)]
        assert [secret for secret in readable if secret not in text_by_role[role]] == []


@pytest.mark.parametrize("role", ROLES)
async def test_everybody_reads_what_it_cost(secretive_store: Path, role: Role) -> None:
    async with Terrarium(SqliteStore(secretive_store, is_guest=True)) as t:
        spent = usage_in(await t.run_events(RUN))
        head, seen = (await t.run_events(RUN))[-1], []
        async for event in t.subscribe(after=0, role=role):
            seen += [event] if event.run_id == RUN else []
            if event.id == head.id:
                break
        observer = Observer(run_id=RUN, role=role)
        for event in seen:
            observer.consume(event)

    assert spent.usd == spent.calls / 4 > 0
    assert usage_in(seen) == spent
    assert (observer.view.counters.calls, observer.view.counters.tokens) == (spent.calls, spent.tokens)


# The command line

WITH_A_ROLE = (
    ("show", RUN),
    ("show", RUN, "--json"),
    ("show", RUN, "--ledger"),
    ("show", RUN, "--ledger", "--json"),
    ("show", "last", "--numbers", "--lines", "200"),
    ("show", "last", "--ledger", "--json"),
    ("compare", RUN, "last", "--lines", "400"),
    ("compare", RUN, "last", "--json"),
    ("play", "--watch", "--run-id", RUN),
    ("play", "--watch", "--run-id", RUN, "--json"),
    ("play", "--watch", "--json"),
    ("show", CROWD, "--json"),
    ("show", CROWD, "--ledger", "--json"),
    ("play", "--watch", "--run-id", CROWD, "--json"),
    ("compare", RUN, CROWD, "--json"),
)
"""Commands that take `--as`."""

WITHOUT_A_ROLE = (
    (("replay", RUN), "spectator"),
    (("replay", RUN, "--json"), "spectator"),
    (("replay", RUN, "--minds"), "audience"),
    (("replay", RUN, "--minds", "--json"), "audience"),
    (("play", "--watch", "--run-id", RUN), "spectator"),
    (("play", "--watch", "--run-id", RUN, "--minds"), "audience"),
    (("play", "--watch", "--run-id", RUN, "--json"), "audience"),
    (("runs",), "spectator"),
    (("runs", "--json"), "spectator"),
    (("lineage", RUN), "spectator"),
    (("lineage", RUN, "--json"), "spectator"),
    (("tree", RUN), "spectator"),
    (("tree", "last", "--json"), "spectator"),
    (("leaderboard", "--json"), "spectator"),
    (("digest", RUN, "--json"), "spectator"),
    (("show", RUN), "spectator"),
    (("compare", RUN, "last", "--json"), "audience"),
)
"""Commands that show what one role may read, unless another role is asked for."""


def answer(*words: str) -> str:
    result = run(*words)
    assert result.returncode == 0, result.stderr
    return result.stdout + result.stderr


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("words", WITH_A_ROLE, ids=" ".join)
def test_no_command_shows_more_than_its_role_may_read(
    secretive_store: Path, words: tuple[str, ...], role: Role
) -> None:
    shown = answer(*words, "--as", role, "--store", str(secretive_store))

    assert leaks_in(shown, role) == []
    assert "spoken-words" in shown


@pytest.mark.parametrize(("words", "role"), WITHOUT_A_ROLE)
def test_a_command_without_a_role_shows_no_more_than_its_own(
    secretive_store: Path, words: tuple[str, ...], role: Role
) -> None:
    assert leaks_in(answer(*words, "--store", str(secretive_store)), role) == []


def numbers_of(store: Path, *wanted: str) -> Iterator[str]:
    result = run("show", RUN, "--ledger", "--json", "--store", str(store)).stdout.splitlines()
    by_kind = {json.loads(line)["kind"]: number for number, line in enumerate(result, start=1)}
    yield from (str(by_kind[kind]) for kind in wanted)


@pytest.mark.parametrize("role", ROLES)
def test_asking_about_an_event_shows_no_more_than_the_role_may_read(
    secretive_store: Path, role: Role
) -> None:
    store = ("--run", RUN, "--as", role, "--store", str(secretive_store))
    asked = (
        kinds.AGENT_REFLECTED,
        kinds.AGENT_THOUGHT,
        kinds.AGENT_PASSED,
        kinds.AGENT_FAILED,
        kinds.AGENT_SPOKE,
    )

    numbers = [*numbers_of(secretive_store, *asked, kinds.TOOL_RETURNED, kinds.CREATURE_STARTED)]
    for number in numbers:
        for words in (("why",), ("why", "--json"), ("who-knew",), ("who-knew", "--json")):
            shown = answer(words[0], number, *words[1:], *store)
            assert leaks_in(shown, role) == [], (*words, number)
            asks_model = words[0] == "why" and number == numbers[0]
            assert (PROMPT in shown) >= (asks_model and role == "director")


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("suffix", [".glass", ".jsonl"])
def test_a_file_from_the_command_line_holds_no_more_than_its_role_may_read(
    secretive_store: Path, tmp_path: Path, role: Role, suffix: str
) -> None:
    path = tmp_path / f"play{suffix}"
    answer("export", RUN, str(path), "--as", role, "--store", str(secretive_store))

    raw = path.read_bytes()
    text = (gzip.decompress(raw) if suffix == ".glass" else raw).decode()
    assert leaks_in(text, role) == []
    assert "spoken-words" in text


def test_a_bio_stands_under_the_name(secretive_store: Path) -> None:
    lines = answer("show", RUN, "--store", str(secretive_store)).splitlines()

    assert lines[lines.index("  ada") + 1] == "    The bio-of-ada."
