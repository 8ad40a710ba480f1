"""`glasshouse mcp` as an assistant uses it: a real client of the SDK, and a real process behind it."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from glasshouse import ModelRouter, Refused, SqliteStore, Terrarium, kinds
from glasshouse.errors import UnknownName
from glasshouse.events.model_use import FREE, Price
from glasshouse.mcp_server.server import message_bytes_max
from glasshouse.mcp_server.shared_store import SharedStore, plays_max
from glasshouse.mcp_server.tools import Tools, play_minutes_max
from glasshouse.stores.store_address import StoreAddress
from glasshouse.turns.moment.prompt import PROFILES, Completion, Prompt
from tests.journeys.commanding import GLASSHOUSE, environment, objects, run, run_anew
from tests.servers.imitating_server import imitating_server

TOKEN = "a secret of more than sixteen characters"
WOOD = "thousand-token-wood"
answer_seconds_max = 120


class Assistant:
    """A client, and everything it was answered."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.answers: list[str] = []

    async def ask(self, tool: str, **arguments: Any) -> Any:
        """What a tool answers."""
        answer = await self.client.call_tool(tool, arguments)
        self.answers.append(answer.model_dump_json())
        assert not answer.is_error, answer.content
        return answer.structured_content

    async def refusal(self, tool: str, **arguments: Any) -> str:
        """Why a tool refuses."""
        answer = await self.client.call_tool(tool, arguments)
        self.answers.append(answer.model_dump_json())
        assert answer.is_error, answer.content
        return str(answer.content[0].text)  # type: ignore[union-attr]

    async def played(self, run_id: str) -> list[dict[str, Any]]:
        """Every line of a run, read by cursor until it has ended."""
        lines: list[dict[str, Any]] = []
        stage: dict[str, Any] = {"cursor": 0, "has_more": True, "run": {"state": "playing"}}
        while stage["has_more"] or stage["run"]["state"] == "playing":
            stage = await self.ask("read_stage", run=run_id, cursor=stage["cursor"], wait_seconds=30)
            lines += stage["lines"]
        return lines


@asynccontextmanager
async def assistant(store: Path, *words: str) -> AsyncIterator[Assistant]:
    """An assistant that has started the server by itself."""
    words_after = [*GLASSHOUSE[1:], "mcp", "--store", str(store), *words]
    server = StdioServerParameters(
        command=GLASSHOUSE[0], args=words_after, env=environment(), cwd=store.parent
    )
    async with Client(server, read_timeout_seconds=answer_seconds_max) as client:
        yield Assistant(client)


@contextmanager
def serving(store: Path, *words: str, **more: str) -> Iterator[list[str]]:
    """The server over HTTP: what it says until it is ready."""
    process = subprocess.Popen(
        [*GLASSHOUSE, "mcp", "--http", "0", "--store", str(store), *words],
        env=environment(**more),
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        said: list[str] = []
        while not said or "Stop it with Ctrl-C" not in said[-1]:
            said.append(process.stdout.readline())
            assert said[-1], "it ended"
        yield said
    finally:
        process.terminate()
        last, _ = process.communicate(timeout=answer_seconds_max)
    assert process.returncode == 0
    assert "Stopped." in last


@asynccontextmanager
async def over_http(address: str, token: str = "") -> AsyncIterator[Assistant]:
    headers = {"authorization": f"Bearer {token}"} if token else {}
    async with (
        httpx2.AsyncClient(headers=headers, trust_env=False, timeout=answer_seconds_max) as http,
        Client(streamable_http_client(address, http_client=http)) as client,
    ):
        yield Assistant(client)


async def private_texts(store: Path) -> set[str]:
    """Every thought in a store."""
    async with Terrarium(SqliteStore(store, is_guest=True)) as terrarium:
        events = [event for each in terrarium.runs() for event in await terrarium.run_events(each.id)]
    return {
        str(event.private["thought"]) for event in events if event.private and event.private.get("thought")
    }


async def test_an_assistant_plays_reads_disturbs_branches_and_asks_why(tmp_path: Path) -> None:
    store = tmp_path / "show.glasshouse"
    # A play takes minutes on it, so that it still goes on when it is disturbed.
    with imitating_server("ollama", kinds=(kinds.AGENT_SPOKE,), delay_seconds=2.0) as server:
        async with assistant(store, "--allow-play", "--models", server.url) as asked:
            tools = (await asked.client.list_tools()).tools
            worlds = await asked.ask("list_worlds")
            checked = await asked.ask("check_world", world=WOOD)
            begun = await asked.ask("play", world=WOOD, max_turns=4)
            said = await asked.ask("disturb", run=begun["run"], text="A lantern whispers recipes.")
            server.delay_seconds = 0.0
            lines = await asked.played(begun["run"])
            last = next(line for line in reversed(lines) if line["kind"] == "line")
            why = await asked.ask("why", run=begun["run"], event=last["event"])
            knew = await asked.ask("who_knew", run=begun["run"], event=last["event"])
            branch = await asked.ask(
                "branch", run=begun["run"], at=said["event"], disturb="A hen walks in.", max_turns=3
            )
            branched = await asked.played(branch["run"])
            listed = await asked.ask("runs")

    changing = {tool.name for tool in tools if tool.annotations and not tool.annotations.read_only_hint}
    assert changing == {"play", "disturb", "branch", "finish"}
    assert WOOD in [world["name"] for world in worlds["worlds"]]
    assert checked["is_sound"]
    assert (begun["state"], begun["is_played_here"]) == ("playing", True)
    assert "A lantern whispers recipes." in [line["text"] for line in lines if line["kind"] == "visitor"]
    assert why["causes"][0]["text"] == last["text"]
    assert last["who"] in [knower["who"] for knower in knew["knowers"] if knower["how"] == "said"]
    assert branch["branch_of"] == begun["run"]
    assert "A hen walks in." in [line["text"] for line in branched]
    assert [each["run"] for each in listed["runs"]] == [branch["run"], begun["run"]]
    thoughts = await private_texts(store)
    assert thoughts
    assert not [thought for thought in thoughts if json.dumps(thought)[1:-1] in "\n".join(asked.answers)]


async def test_a_server_that_only_reads_refuses_to_play_and_reads_beside_one_that_plays(
    tmp_path: Path,
) -> None:
    store = tmp_path / "show.glasshouse"
    run("play", WOOD, "--turns", "1", "--store", str(store))
    async with (
        Terrarium(store) as terrarium,
        assistant(store, "--allow-play") as may,
        assistant(store) as reads,
    ):
        playing = terrarium.runs()[0]
        refused = [
            await reads.refusal("play", world=WOOD),
            await reads.refusal("disturb", run=playing.id, text="Hello?"),
            await reads.refusal("branch", run=playing.id, at=f"{playing.session_id}.1"),
            await reads.refusal("finish", run=playing.id),
        ]
        stage = await reads.ask("read_stage", run=playing.id)
        held = await may.refusal("play", world=WOOD)
        happens = terrarium.subscribe()
        left = await may.ask("disturb", run=playing.id, text="Rain.")
        next_lines = reads.ask("read_stage", run=playing.id, cursor=stage["cursor"], wait_seconds=30)
        following = asyncio.create_task(next_lines)
        await terrarium.step()
        followed = await following
        # Whoever has the store open takes the line from its inbox, now and then.
        while (await anext(happens)).kind != kinds.USER_INJECTED:
            pass
        await happens.aclose()
        heard = await reads.ask("read_stage", run=playing.id, cursor=stage["cursor"])

    assert all("--allow-play" in refusal for refusal in refused)
    assert stage["lines"]
    assert re.search(r"is being written by process \d+", held)
    assert left["event"] is None
    assert re.search(r"Process \d+ has the store open", left["note"])
    assert followed["lines"]
    assert "Rain." in [line["text"] for line in heard["lines"]]


async def test_an_assistant_stops_what_it_plays(tmp_path: Path) -> None:
    # A play takes minutes on it, so that it still plays when it is finished.
    with imitating_server("ollama", delay_seconds=2.0) as server:
        async with assistant(tmp_path / "show.glasshouse", "--allow-play", "--models", server.url) as asked:
            begun = await asked.ask("play", world=WOOD, max_turns=1_000)
            finished = await asked.ask("finish", run=begun["run"])
            await asked.played(begun["run"])
            (listed,) = (await asked.ask("runs"))["runs"]
            again = await asked.refusal("finish", run=begun["run"])
            server.delay_seconds = 0.0
            other = await asked.ask("play", world=WOOD, max_turns=1)
            await asked.played(other["run"])

    assert finished["run"] == begun["run"]
    assert (listed["state"], listed["turns"] < 1_000) == ("finished", True)
    assert "stopped" in json.dumps(listed)
    assert "not being played here" in again


async def test_what_does_not_fit_is_refused_in_words(tmp_path: Path) -> None:
    async with assistant(tmp_path / "show.glasshouse", "--allow-play") as asked:
        refusals = [
            await asked.refusal("runs"),
            await asked.refusal("check_world", world="../secrets"),
            await asked.refusal("play", world=str(tmp_path)),
            await asked.refusal("play", world=WOOD, max_dollars=1),
            await asked.refusal("play", world=WOOD, max_turns=0),
            await asked.refusal("no_tool"),
        ]

    words = [
        "There is no store",
        "no world",
        "no world",
        "has no max_dollars",
        "greater than",
        "Unknown tool",
    ]
    assert [
        (word, refusal) for word, refusal in zip(words, refusals, strict=True) if word not in refusal
    ] == []


@pytest.mark.parametrize("is_flooded", [False, True])
def test_stdout_holds_the_protocol_alone_and_a_signal_or_a_flood_ends_it(
    is_flooded: bool, tmp_path: Path
) -> None:
    command = [*GLASSHOUSE, "mcp", "--store", str(tmp_path / "show.glasshouse")]
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    about = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "it", "version": "1"},
    }
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": about}
    with subprocess.Popen(command, env=environment(), text=True, **pipes) as process:  # type: ignore[call-overload]
        process.stdin.write(json.dumps(hello) + "\n")
        process.stdin.flush()
        first = process.stdout.readline()
        if is_flooded:
            process.stdin.write("x" * (message_bytes_max + 1))
        else:
            process.terminate()
        rest, errors = process.communicate(timeout=answer_seconds_max)

    assert json.loads(first)["result"]["serverInfo"]["name"] == "glasshouse"
    assert (rest, process.returncode) == ("", 0)
    assert "Traceback" not in errors


def test_it_ends_at_once_if_nobody_can_speak_to_it(tmp_path: Path) -> None:
    command = [*GLASSHOUSE, "mcp", "--store", str(tmp_path / "show.glasshouse")]
    ended = subprocess.run(
        command,
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=answer_seconds_max,
        check=False,
    )

    assert (ended.returncode, ended.stdout, ended.stderr) == (0, b"", b"")


async def test_over_http_a_token_says_who_may_play(tmp_path: Path) -> None:
    store = tmp_path / "show.glasshouse"
    with serving(store, "--allow-play", GLASSHOUSE_TOKEN=TOKEN) as said:
        address = said[0].split()[-1]
        plays, reads = [line.split()[-1] for line in said if "Bearer" in line]
        async with over_http(address, plays) as director:
            begun = await director.ask("play", world=WOOD, max_turns=1)
            lines = await director.played(begun["run"])
        async with over_http(address, reads) as spectator:
            refused = await spectator.refusal("play", world=WOOD)
            stage = await spectator.ask("read_stage", run=begun["run"])
        async with httpx2.AsyncClient(trust_env=False, timeout=answer_seconds_max) as stranger:
            body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
            denied = await stranger.post(address, json=body)
            elsewhere = await stranger.post(address, json=body, headers={"host": "evil.example"})

    assert lines
    assert stage["lines"] == lines
    assert "Only a director's token plays" in refused
    assert (denied.status_code, elsewhere.status_code) == (401, 421)


async def test_over_http_without_a_token_this_machine_alone_is_answered(tmp_path: Path) -> None:
    store = tmp_path / "show.glasshouse"
    run("play", WOOD, "--turns", "1", "--store", str(store))
    with serving(store) as said:
        address = said[0].split()[-1]
        async with over_http(address) as asked:
            listed = await asked.ask("runs")
            refused = await asked.refusal("play", world=WOOD)
        async with httpx2.AsyncClient(trust_env=False, timeout=answer_seconds_max) as stranger:
            elsewhere = await stranger.post(address, json={}, headers={"origin": "http://evil.example"})
    others = run("mcp", "--http", "0", "--host", "0.0.0.0", "--store", str(store))

    assert listed["count"] == 1
    assert "--allow-play" in refused
    assert elsewhere.status_code == 403
    assert others.returncode != 0
    assert "GLASSHOUSE_TOKEN" in others.stderr


class Held:
    """The offline troupe at a price, once it may answer."""

    name = "held"

    def __init__(self) -> None:
        self.may_answer = asyncio.Event()
        self._troupe = ModelRouter().route("fast").model

    async def complete(self, prompt: Prompt) -> Completion:
        await self.may_answer.wait()
        return await self._troupe.complete(prompt)


@asynccontextmanager
async def held_tools(store: Path, *, price: Price | None) -> AsyncIterator[tuple[Tools, Held, SharedStore]]:
    model = Held()
    route = ModelRouter().route("fast")._replace(model=model, name="held", price=price)
    shared = SharedStore(
        StoreAddress(store), lambda: ModelRouter(dict.fromkeys(PROFILES, route)), act_seconds_max=60
    )
    try:
        yield Tools(shared), model, shared
    finally:
        model.may_answer.set()
        await shared.close()


@pytest.mark.parametrize("price", [Price(1.0, 2.0), None])
async def test_a_model_that_may_cost_something_needs_a_limit_in_dollars(
    price: Price | None, tmp_path: Path
) -> None:
    store = tmp_path / "show.glasshouse"
    run("play", WOOD, "--turns", "1", "--store", str(store))
    async with held_tools(store, price=price) as (tools, _, _):
        before = (await tools.runs()).runs[0]
        first = (await tools.read_stage(before.run)).lines[0].event
        with pytest.raises(Refused, match="max_usd"):
            await tools.play(WOOD)
        with pytest.raises(Refused, match="max_usd"):
            await tools.branch(before.run, first)
        with pytest.raises(Refused, match="max_usd"):
            await tools.disturb(before.run, "Hello?")
        assert (await tools.runs()).count == 1


async def test_a_play_is_bounded_and_the_store_is_held_no_longer_than_it_lasts(tmp_path: Path) -> None:
    store = tmp_path / "show.glasshouse"
    async with held_tools(store, price=Price(1.0, 2.0)) as (tools, model, shared):
        begun = [await tools.play(WOOD, max_turns=1, max_usd=0.5) for _ in range(plays_max)]
        with pytest.raises(Refused, match="being played already"):
            await tools.play(WOOD, max_turns=1, max_usd=0.5)
        async with shared.read() as terrarium:
            limits = terrarium.run_of(begun[0].run).governor
        model.may_answer.set()
        cursors = dict.fromkeys([each.run for each in begun], 0)
        while any(shared.is_played(each) for each in cursors):
            for each, cursor in cursors.items():
                cursors[each] = (await tools.read_stage(each, cursor, wait_seconds=30)).cursor
        ended = await tools.runs()
        await shared.close()
        async with Terrarium(store):  # Nobody holds it any more.
            pass

    assert (limits.max_total_usd, limits.hourly_budget_usd) == (0.5, None)
    assert limits.max_wall_minutes == play_minutes_max
    assert [each.state for each in ended.runs] == ["finished"] * plays_max


def test_without_the_extra_one_sentence_names_it(tmp_path: Path) -> None:
    (tmp_path / "mcp.py").write_text("raise ModuleNotFoundError(name='mcp')\n")

    refused = run_anew("mcp", cwd=tmp_path, PYTHONPATH=str(tmp_path))

    assert refused.stdout == ""
    assert '[mcp]"' in refused.stderr
    assert "Traceback" not in refused.stderr


async def test_runs_and_events_are_named_as_on_the_command_line(tmp_path: Path) -> None:
    store = tmp_path / "show.glasshouse"
    run("play", WOOD, "--turns", "3", "--store", str(store))
    run("play", "twenty-sprouts", "--turns", "3", "--run-id", "r-abcd", "--store", str(store))
    (last,) = objects("why", "last", "--store", str(store))
    answered, number = last["event_id"], last["number"]
    numbered = objects("why", "9", "--run", "r-abcd", "--store", str(store))[0]["event_id"]
    async with held_tools(store, price=FREE) as (tools, _, _):
        newest, wood = [each.run for each in (await tools.runs()).runs]

        assert newest == "r-abcd"
        assert (await tools.why()).event == answered
        assert (await tools.why("abc", "last")).event == answered
        assert (await tools.why("last", 9)).event == (await tools.why("last", "9")).event == numbered
        assert (await tools.who_knew("last", answered)).event == answered
        assert (await tools.why(wood[:6], "last")).event != answered
        assert (await tools.read_stage("last")).run.run == "r-abcd"
        with pytest.raises(Refused, match=r"has [0-9]+ events"):
            await tools.why("last", 9_999)
        with pytest.raises(UnknownName, match="no session of r-abcd"):
            await tools.why("last", f"{(await tools.why(wood)).event}")
        with pytest.raises(UnknownName, match="no run"):
            await tools.why("r-nobody")

        branches = [
            await tools.branch("last", number, disturb="A hen walks in.", max_turns=4),
            await tools.branch("abcd", "last", drop=True, max_turns=4),
            await tools.branch("r-abcd", replace_with="No.", max_turns=4),
            await tools.branch(max_turns=4),
        ]

    assert [branch.branch_of for branch in branches] == ["r-abcd"] * 3 + [branches[2].run]
    assert branches[0].branch_at == answered


async def test_dollars_are_those_of_the_whole_run_and_an_hour_has_its_own(tmp_path: Path) -> None:
    store = tmp_path / "show.glasshouse"
    async with held_tools(store, price=Price(1.0, 2.0)) as (tools, _, shared):
        both = await tools.play(WOOD, max_turns=1, max_usd=0.5, hourly_usd=0.25)
        hourly = await tools.play(WOOD, max_turns=1, hourly_usd=0.75)
        async with shared.read() as terrarium:
            limits = [terrarium.run_of(each.run).governor for each in (both, hourly)]

    assert [(each.max_usd, each.hourly_usd) for each in (both, hourly)] == [(0.5, 0.25), (None, 0.75)]
    assert [each.hourly_budget_usd for each in limits] == [0.25, 0.75]
    assert limits[0].max_total_usd == 0.5
