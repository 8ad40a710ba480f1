"""Limits given to `glasshouse play` and `glasshouse branch`: the same options, in place of the world's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from glasshouse import Agent, Draft, Governor, Moment, kinds, play
from glasshouse.runtime.ports import Proposal
from glasshouse.tools.mcp.tool_server import ToolServer
from tests.journeys.commanding import objects, run

SPROUTS = "twenty-sprouts"


def started(lines: list[dict[str, object]]) -> dict[str, object]:
    """The payload of the run's beginning, among printed events."""
    (payload,) = [line["payload"] for line in lines if line.get("kind") == kinds.RUN_STARTED]
    assert isinstance(payload, dict)
    return payload


@pytest.mark.parametrize("is_short", [False, True])
def test_a_play_takes_limits_in_place_of_the_worlds_own(is_short: bool, tmp_path: Path) -> None:
    calls, tokens, usd = (
        ("calls", "tokens", "usd") if is_short else ("total-calls", "total-tokens", "total-usd")
    )
    words = [f"--max-{calls}", "6", f"--max-{tokens}", "90000", f"--max-{usd}", "0.5"]

    begun = started(objects("play", SPROUTS, *words, "--max-turns", "9", cwd=tmp_path))
    branched = started(objects("branch", "last", *words[:-1], "0.75", "--no-play", cwd=tmp_path))

    limits = begun["limits"]
    assert isinstance(limits, dict)
    given = {"max_turns": 9, "max_total_calls": 6, "max_total_tokens": 90_000, "max_total_usd": 0.5}
    assert {name: limits[name] for name in given} == given
    assert limits["max_calls_per_turn"] == 16
    assert isinstance(branched["limits"], dict)
    assert {name: branched["limits"][name] for name in given} == {**given, "max_total_usd": 0.75}
    assert branched["limits_given"] == begun["limits_given"]


def test_a_limit_ends_the_play_and_what_is_left_is_told(tmp_path: Path) -> None:
    ended = run("play", SPROUTS, "--max-calls", "3", cwd=tmp_path)
    left = run("play", SPROUTS, "--max-usd", "2", "--turns", "1", cwd=tmp_path)
    late = run("play", "--continue", "last", "--max-usd", "3", cwd=tmp_path)
    resumed = run("branch", "last", "--max-usd", "3", "--turns", "1", cwd=tmp_path)

    assert "The end: it stopped at the call limit (max_total_calls)" in ended.stdout
    assert "USD 0.00 of 2.00" in left.stdout
    assert late.returncode != 0
    assert "--max-total-usd is for a new run" in late.stderr
    assert "Changed: its limits are max_total_usd 3.0." in resumed.stdout


def test_play_in_python_takes_agents_tool_servers_and_an_approver(tmp_path: Path) -> None:
    class Guesser(Agent):
        async def act(self, moment: Moment) -> Draft:
            assert moment.handle == "sprout-guesser"
            return Draft(kind="question.asked", payload={"text": "Is it green?"})

    async def nobody(_proposal: Proposal) -> bool:
        return False

    played = play(
        SPROUTS,
        turns=2,
        governor=Governor(max_turns=4),
        agents={"sprout-guesser": Guesser()},
        tool_servers=[ToolServer("weather", url="http://127.0.0.1:9")],
        approver=nobody,
    )

    assert "Is it green?" in [line.text for line in played.lines if line.who == "sprout-guesser"]
