"""Tools on the real command line: `check` knows which there are, a world with its own tool plays and verifies."""

from pathlib import Path

from tests.journeys.commanding import run

SEA = '''"""Tools of the harbour."""


def tide(harbour: str) -> str:
    """Tell the tide of a harbour."""
    return f"The tide at {harbour} is out."
'''


def harbour(folder: Path, tools: str) -> Path:
    world = folder / "harbour"
    (world / "creatures").mkdir(parents=True)
    (world / "scenario.yaml").write_text(
        "name: harbour\nopening: Fog.\ncast: [pilot]\ngovernor: {max_turns: 2}\n", encoding="utf-8"
    )
    (world / "creatures" / "pilot.yaml").write_text(
        f"name: pilot\nschedule: {{tick_every: 1}}\ntools: {tools}\n", encoding="utf-8"
    )
    (world / "sea.py").write_text(SEA, encoding="utf-8")
    return world


def test_check_names_the_tool_that_was_likely_meant(tmp_path: Path) -> None:
    done = run("check", str(harbour(tmp_path, "[almanack]")), cwd=tmp_path)

    assert done.returncode == 1
    assert "pilot.yaml:3:9: tools: no tool is called 'almanack'. Did you mean 'almanac'?" in done.stdout


def test_a_world_with_a_tool_of_its_own_is_sound_plays_and_verifies(tmp_path: Path) -> None:
    world = harbour(tmp_path, "[sea.py:tide, almanac]")

    assert run("check", str(world), cwd=tmp_path).returncode == 0
    assert run("play", str(world), cwd=tmp_path).returncode == 0
    assert run("replay", "last", "--verify", cwd=tmp_path).returncode == 0
