"""`resume` as somebody meets it who was interrupted, or who has edited a world and wants to go on."""

import re
import shutil
from pathlib import Path

import pytest

from glasshouse.manifests.world_folders import BUNDLED
from tests.journeys.commanding import objects, run
from tests.journeys.terminals import Terminal

WOOD = "thousand-token-wood"
PARENT = "r-00aa11bb22cc33d0"


def digest_in(text: str) -> str:
    (digest,) = re.findall(r"digest ([0-9a-f]{64})", text)
    return str(digest)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A folder with a world of one's own."""
    shutil.copytree(BUNDLED / WOOD, tmp_path / "wood")
    scenario = tmp_path / "wood" / "scenario.yaml"
    scenario.write_text(scenario.read_text().replace(f"name: {WOOD}", "name: wood"))
    return tmp_path


def edit(home: Path) -> None:
    """Let the critic be another, let echo go, let a moth come."""
    creatures = home / "wood" / "creatures"
    echo = (creatures / "echo.yaml").read_text()
    (creatures / "moth.yaml").write_text(echo.replace("name: echo", "name: moth"))
    (creatures / "echo.yaml").unlink()
    critic = (creatures / "critic.yaml").read_text()
    (creatures / "critic.yaml").write_text(critic.replace("persona: >-", "persona: >-\n  Newly in love."))
    scenario = home / "wood" / "scenario.yaml"
    cast = "cast: [seedkeeper, pocket-actor, echo, critic]"
    text = scenario.read_text()
    assert cast in text
    scenario.write_text(text.replace(cast, "cast: [seedkeeper, moth, pocket-actor, critic]"))


def test_a_run_that_was_left_goes_on_in_place_as_if_never_stopped(home: Path) -> None:
    whole = run("play", "wood", "--store", "whole.glasshouse", cwd=home)
    run("play", "wood", "--run-id", PARENT, "--turns", "5", cwd=home)

    some = run("resume", "--turns", "3", cwd=home)
    rest = run("resume", PARENT, cwd=home)

    assert (some.returncode, some.stderr) == (0, "")
    assert some.stdout.startswith(f"{PARENT} continues in place, where it was left: turn 5.\n\n")
    assert "turn 8 of 20" in some.stdout
    assert digest_in(rest.stdout) == digest_in(whole.stdout)
    assert len(objects("runs", cwd=home)) == 1


def test_after_ctrl_c_it_goes_on_in_place_as_if_never_stopped(home: Path) -> None:
    whole = run("play", "wood", "--store", "whole.glasshouse", cwd=home)
    with Terminal("play", "wood", cwd=home) as seat:
        seat.wait_for("i disturb")
        seat.press("\n")
        seat.wait_for("turn 1/20")
        seat.press("\x03")
        code = seat.end()

    rest = run("resume", cwd=home)

    assert code == 130
    assert " continues in place, where it was left: turn " in rest.stdout
    assert digest_in(rest.stdout) == digest_in(whole.stdout)


def test_an_edited_world_is_played_on_with_each_ones_own_past(home: Path) -> None:
    run("play", "wood", "--run-id", PARENT, "--turns", "6", cwd=home)
    edit(home)

    result = run("resume", cwd=home)

    head, _, rest = result.stdout.partition("\n\n")
    (old, new) = objects("runs", cwd=home)
    assert (result.returncode, result.stderr) == (0, "")
    assert head.splitlines() == [
        f"The world of {PARENT} was edited: it is stopped, and {new['run_id']} continues it.",
        "with a past: seedkeeper, pocket-actor, critic",
        "new: moth",
        "gone: echo",
        f"limits: max_turns 20, 6 used; max_calls_per_turn 16; max_total_calls 160, {old['calls']} used",
    ]
    assert (old["reason"], new["branch_of"], new["how"]) == ("stopped", PARENT, "resume")
    assert "\nmoth: " in rest
    assert "\necho: " not in rest
    (stage,) = objects("show", "last", cwd=home)
    handles = [creature["handle"] for creature in stage["stage"]["cast"].values()]
    assert handles == ["seedkeeper", "moth", "pocket-actor", "critic"]
    told_by = [note["handle"] for note in stage["stage"]["agent_notes"]]
    assert "echo" in told_by
    assert "moth" in told_by


def test_the_newcomer_of_an_edited_world_has_heard_nothing_of_what_was_said_before(home: Path) -> None:
    run("play", "wood", "--run-id", PARENT, "--turns", "6", cwd=home)
    edit(home)
    run("resume", cwd=home)

    events = objects("show", "last", "--ledger", cwd=home)
    past = [event["id"] for event in events if event.get("run_id") == PARENT]
    first = {
        who: next(e for e in events if e["kind"] == "agent.spoke" and e["actor"] == who) for who in ("moth",)
    }
    kept = next(e for e in events if e["actor"].startswith("pocket-actor~") and e["kind"] == "agent.spoke")
    new = objects("why", first["moth"]["id"], cwd=home)[0]["links"][0]["lines"]
    old = objects("why", kept["id"], cwd=home)[0]["links"][0]["lines"]
    assert not [line for line in new if line["event_id"] in past]
    assert [line for line in old if line["event_id"] in past]


def test_as_it_was_nothing_that_was_edited_counts(home: Path) -> None:
    whole = run("play", "wood", "--store", "whole.glasshouse", cwd=home)
    run("play", "wood", "--run-id", PARENT, "--turns", "6", cwd=home)
    edit(home)

    result = run("resume", "--as-was", cwd=home)

    assert " continues in place" in result.stdout
    assert digest_in(result.stdout) == digest_in(whole.stdout)


def test_a_run_that_is_over_is_resumed_as_a_child(home: Path) -> None:
    run("play", "wood", "--run-id", PARENT, "--turns", "6", cwd=home)
    edit(home)
    run("resume", "--turns", "1", cwd=home)

    again = run("resume", PARENT, "--turns", "1", cwd=home)
    shape = run("resume", PARENT, "--as-was", "--turns", "1", cwd=home)

    assert f"continues {PARENT}, with its world as it was edited since.\n" in again.stdout
    assert f"continues {PARENT}, in the very shape it had.\n" in shape.stdout
    assert "with a past: seedkeeper, pocket-actor, echo, critic\n" in shape.stdout
    assert "new:" not in shape.stdout
    assert len(objects("runs", cwd=home)) == 4


def test_a_session_that_was_imported_is_resumed_in_another_house(home: Path) -> None:
    run("play", "wood", "--turns", "6", cwd=home)
    run("export", "last", "play.glass", cwd=home)
    (imported,) = objects("import", "play.glass", "--store", "other.glasshouse", cwd=home)
    edit(home)

    answers = objects(
        "resume", imported["session_id"], "--turns", "2", "--store", "other.glasshouse", cwd=home
    )

    resumed, played = answers[0]["resumed"], answers[-1]["played"]
    assert (resumed["how"], resumed["is_edited"]) == ("recipe", True)
    assert (resumed["new"], resumed["gone"]) == (["moth"], ["echo"])
    assert played["turns"] == 8


def test_a_world_that_has_moved_is_asked_for_and_nothing_has_changed(home: Path) -> None:
    run("play", "wood", "--run-id", PARENT, "--turns", "6", cwd=home)
    (home / "wood").rename(home / "grove")

    lost = run("resume", cwd=home)
    misspelt = run("resume", "--world", "./grvoe", cwd=home)
    result = run("resume", "--world", "grove", "--turns", "1", cwd=home)

    assert (lost.returncode, lost.stdout) == (3, "")
    assert "is not where it was" in lost.stderr
    assert "--world" in lost.stderr
    assert misspelt.returncode == 3
    assert "grvoe" in misspelt.stderr
    assert result.stdout.startswith(f"{PARENT} continues in place")


def test_a_broken_world_stops_nothing(home: Path) -> None:
    run("play", "wood", "--run-id", PARENT, "--turns", "6", cwd=home)
    scenario = home / "wood" / "scenario.yaml"
    scenario.write_text(scenario.read_text().replace("cast:", "cats:"))

    result = run("resume", cwd=home)

    assert result.returncode == 3
    assert "cats" in result.stderr
    assert objects("runs", cwd=home)[0]["status"] == "playing"


def test_words_that_do_not_go_together_are_refused(home: Path) -> None:
    run("play", "wood", "--turns", "1", cwd=home)

    both = run("resume", "--as-was", "--world", "wood", cwd=home)
    nobody = run("resume", "r-nobody", cwd=home)
    nothing = run("resume", "--store", "none.glasshouse", cwd=home)

    assert [result.returncode for result in (both, nobody, nothing)] == [3, 3, 3]
    assert "Leave one of the two away." in both.stderr
    assert not (home / "none.glasshouse").exists()


def test_limits_given_to_a_branch_hold_on_and_resume_says_so(home: Path) -> None:
    run("play", "wood", "--run-id", PARENT, "--turns", "2", cwd=home)
    run("branch", PARENT, "--max-total-calls", "9", cwd=home)
    scenario = home / "wood" / "scenario.yaml"
    scenario.write_text(scenario.read_text().replace("max_turns: 20", "max_turns: 30"))

    result = run("resume", cwd=home)

    assert "limits: max_turns 30, " in result.stdout
    assert "max_total_calls 9, 9 used, given by the caller" in " ".join(result.stdout.split())


@pytest.mark.parametrize("by", ["play", "branch"])
def test_a_limit_given_with_the_value_it_has_holds_on(home: Path, by: str) -> None:
    given = ("--max-turns", "20", "--turns", "3")
    run("play", "wood", "--run-id", PARENT, *(given if by == "play" else ("--turns", "2")), cwd=home)
    if by == "branch":
        run("branch", PARENT, *given, cwd=home)
    scenario = home / "wood" / "scenario.yaml"
    scenario.write_text(scenario.read_text().replace("max_turns: 20", "max_turns: 30"))

    result = run("resume", "--turns", "1", cwd=home)

    said = " ".join(result.stdout.split())
    used = 3 if by == "play" else 5
    assert f"limits: max_turns 20, {used} used, given by the caller; max_calls_per_turn 16; max_total" in said


def test_beats_of_an_edited_world_whose_turn_is_over_are_named(home: Path) -> None:
    run("play", "wood", "--run-id", PARENT, "--turns", "4", cwd=home)
    scenario = home / "wood" / "scenario.yaml"
    late = "  - {turn: 2, title: A knock, text: Somebody knocks.}\n  - {turn: 15, text: It is late.}\n"
    scenario.write_text(scenario.read_text().replace("beats:\n", f"beats:\n{late}"))

    result = run("resume", PARENT, "--turns", "1", cwd=home)

    said = " ".join(result.stdout.split())
    assert "not shown, because the turns of these new beats are over: turn 2, “A knock”" in said
    assert "turn 15" not in said
