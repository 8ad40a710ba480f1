"""Faulty referees beside a world: the error names that world's file, and no line is lost."""

from pathlib import Path

import pytest

from glasshouse import Event, Toolbox, kinds
from glasshouse.errors import BadWorld
from glasshouse.manifests.loading import LoadedWorld, load_world
from tests.runtime.stage_crew import Speaker, events_of, on_stage, the_end
from tests.runtime.troupe import loop_turns, soon

SCENARIO = """
name: w
cast: [ada, bo]
competition: {kind: versus, teams: {sun: [ada], rain: [bo]}, referee: "rules.py:rule"}
ends_when: {referee: true}
governor: {max_turns: 2}
"""
RULES = "from glasshouse.contests import Ruling\n\n\ndef rule(match):\n    "


def _world(folder: Path, rules: str) -> LoadedWorld:
    (folder / "creatures").mkdir()
    for name in ("ada", "bo"):
        (folder / "creatures" / f"{name}.yaml").write_text(f"name: {name}\nschedule: {{tick_every: 1}}\n")
    (folder / "scenario.yaml").write_text(SCENARIO)
    (folder / "rules.py").write_text(rules)
    return load_world(folder)


async def _ended(folder: Path, rules: str) -> Event:
    async with on_stage(minds={"ada": Speaker(), "bo": Speaker()}) as t:
        await t.open_world(_world(folder, rules))
        await soon(t.run())
        return await the_end(t)


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("raise ValueError('no such leaf')", "rule raised ValueError: no such leaf"),
        ("return match.lines[99]", "rule raised IndexError: tuple index out of range"),
        ("raise SystemExit(3)", "rule raised SystemExit: 3"),
        ("return 'sun'", "rule gave back 'sun', which is not a Ruling"),
        ("return Ruling(3, 'Well.')", "rule gave back Ruling(winner=3"),
        ("return Ruling('sun', None)", "rule gave back Ruling(winner='sun', why=None"),
        ("return Ruling('us', 'Well.', ('ada', 3))", "rule gave back Ruling(winner='us'"),
    ],
)
async def test_a_referee_that_breaks_is_told_with_its_file_and_what_was_said_stays(
    tmp_path: Path, rule: str, words: str
) -> None:
    async with on_stage(minds={"ada": Speaker(), "bo": Speaker()}) as t:
        run = await t.open_world(_world(tmp_path, RULES + rule))

        with pytest.raises(BadWorld) as refusal:
            await soon(t.run())
        await (
            loop_turns()
        )  # From Python 3.12 on, `soon` starts no task, and what was said may still be on its way.

        assert f"{tmp_path / 'rules.py'}: the referee {words}" in str(refusal.value)
        assert "Correct it" in str(refusal.value)
        assert [event.actor for event in await events_of(t, kinds.AGENT_SPOKE)] == ["ada"]
        assert t.run_of(run.id).status != "finished"


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        ("import no_such_module\n\n\ndef rule(match): ...", "cannot be loaded (ModuleNotFoundError: "),
        ("raise RuntimeError('early')\n\n\ndef rule(match): ...", "cannot be loaded (RuntimeError: early)"),
        ("raise SystemExit\n\n\ndef rule(match): ...", "cannot be loaded (SystemExit)"),
    ],
)
async def test_a_referee_whose_file_breaks_is_told_when_the_world_is_opened(
    tmp_path: Path, rules: str, words: str
) -> None:
    async with on_stage() as t:
        with pytest.raises(BadWorld) as refusal:
            await t.open_world(_world(tmp_path, rules))

        assert f"{tmp_path / 'rules.py'}: the referee's file {words}" in str(refusal.value)
        assert t.runs() == ()


async def test_a_tool_whose_file_breaks_is_told_when_the_world_is_opened(tmp_path: Path) -> None:
    _world(tmp_path, RULES + "return None")
    tools = "tools: ['sea.py:tide']\n"
    (tmp_path / "creatures" / "ada.yaml").write_text(f"name: ada\nschedule: {{tick_every: 1}}\n{tools}")
    (tmp_path / "sea.py").write_text("import no_such_module\n\n\ndef tide():\n    'The tide.'\n")
    world = load_world(tmp_path)

    async with on_stage(tools=Toolbox()) as t:
        with pytest.raises(BadWorld) as refusal:
            await t.open_world(world)

        assert f"{tmp_path / 'sea.py'}: the tool's file cannot be loaded (ModuleNotFound" in str(
            refusal.value
        )
        assert t.runs() == ()


async def test_a_referee_that_names_somebody_who_does_not_play_leaves_the_contest_open(
    tmp_path: Path,
) -> None:
    end = await _ended(tmp_path, RULES + "return Ruling('martian', 'It came from above.')")

    assert (end.payload["reason"], end.payload["winner"]) == ("no_contest", None)
    assert end.payload["why"] == "It came from above. (The referee named 'martian', who does not play here.)"


async def test_a_tie_is_no_contest_and_the_referees_words_are_kept(tmp_path: Path) -> None:
    end = await _ended(tmp_path, RULES + "return Ruling(None, 'A tie.')")

    assert (end.payload["reason"], end.payload["winner"]) == ("no_contest", None)
    assert end.payload["why"] == "A tie."


@pytest.mark.parametrize("winner", ["'sun'", "'bo'", "'the loud ones', 'Well.', ('ada', 'bo')"])
async def test_teams_creatures_and_those_who_share_a_win_may_be_named(tmp_path: Path, winner: str) -> None:
    why = "" if "Well" in winner else ", 'Well.'"

    end = await _ended(tmp_path, f"{RULES}return Ruling({winner}{why})")

    assert (end.payload["reason"], end.payload["why"]) == ("ended", "Well.")
    assert end.payload["winner"] in winner
