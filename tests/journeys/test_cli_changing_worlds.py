"""Worlds whose graph changes, as somebody meets them who plays them on the command line and looks again afterwards."""

from pathlib import Path
from typing import Any

import pytest

from tests.journeys.commanding import objects, on_a_terminal, run


def played(world: str, cwd: Path, *more: str) -> list[str]:
    """What is read in a pipe, line by line."""
    result = run("play", world, "--store", "show.glasshouse", *more, cwd=cwd)
    assert (result.returncode, result.stderr) == (0, "")
    return result.stdout.splitlines()


def place_of(lines: list[str], beginning: str) -> int:
    """Where a line stands that begins like this."""
    return next(at for at, line in enumerate(lines) if line.startswith(beginning))


def last_line_of(lines: list[str], handle: str) -> int:
    """Where somebody's last line stands."""
    return max(at for at, line in enumerate(lines) if line.startswith(f"{handle}: "))


def used(events: list[dict[str, Any]], tool: str) -> list[dict[str, Any]]:
    calls = [event for event in events if event.get("kind") == "tool.called"]
    return [call["payload"]["arguments"] for call in calls if call["payload"]["tool"] == tool]


def test_a_rescue_is_read_as_a_meeting_help_a_parting_and_two_logs(tmp_path: Path) -> None:
    lines = played("hatbox-and-cello", tmp_path)

    trouble = place_of(lines, "world: [II. Cardboard]")
    met = place_of(
        lines,
        "(skipper brings bow-mender to hatbox, and maestro, bow-mender and metronome come within hearing)",
    )
    divided = place_of(lines, "world: [III. The mill race]")
    parted = place_of(
        lines,
        "(skipper takes bow-mender off hatbox, and maestro, bow-mender and metronome go out of hearing)",
    )
    assert trouble < met < divided < parted
    assert any(line.startswith("bow-mender: ") for line in lines[met:divided])
    assert lines[last_line_of(lines, "hatpin")].startswith("hatpin: Log of the hatbox, closed at sea")
    assert lines[last_line_of(lines, "metronome")].startswith("metronome: Log of the cello, ")
    assert parted < last_line_of(lines, "hatpin") < last_line_of(lines, "metronome")


def test_the_whole_cast_of_several_troupes_stands_above_the_first_scene(tmp_path: Path) -> None:
    store = str(tmp_path / "show.glasshouse")

    code, shown = on_a_terminal(
        "play", "hatbox-and-cello", "--pace", "fast", "--turns", "1", "--store", store
    )

    head, _, _ = shown.partition("The dam has gone")
    assert code == 0
    assert [name in head for name in ("skipper", "hatpin", "maestro", "metronome")] == [True] * 4


def test_the_keeper_goes_and_both_halves_play_on_to_letters_nobody_carries(tmp_path: Path) -> None:
    lines = played("keeper-of-dusk", tmp_path)

    went = "moonflower, nightjar and glow-clerk go out of hearing"
    gone = place_of(lines, f"(sundial sends dusk-keeper away, and {went})")
    assert place_of(lines, "world: [II. The lamp is put down]") < gone
    assert [line for line in lines[gone:] if line.startswith("dusk-keeper: ")] == []
    assert lines[last_line_of(lines, "spotted-clerk")].endswith("The day.")
    assert gone < last_line_of(lines, "spotted-clerk")
    assert gone < last_line_of(lines, "glow-clerk")


def test_an_expedition_is_read_with_everybody_who_comes_in_and_goes(tmp_path: Path) -> None:
    events = objects("play", "far-end-of-the-attic", "--store", "show.glasshouse", cwd=tmp_path)
    shown = objects("replay", "last", "--store", "show.glasshouse", cwd=tmp_path)
    deeds = [line["used"]["deed"] for line in shown if line.get("used")]
    came = [arguments["use"] for arguments in used(events, "group_add_node")]

    assert len(set(came)) >= 3
    assert [deed for deed in deeds if deed.startswith("hires ")] == [f"hires {name}" for name in came]
    away = [deed for deed in deeds if deed.startswith("sends ")]
    assert away == [f"sends {arguments['creature']} away" for arguments in used(events, "group_remove_node")]
    assert [line for line in shown if line.get("voice") == "change"] == []
    assert all(wire["source"] == "brigadier" for wire in used(events, "group_wire"))
    assert events[-1]["played"]["reason"] == "ended"


@pytest.mark.parametrize("world", ["hatbox-and-cello", "keeper-of-dusk", "far-end-of-the-attic"])
def test_the_same_number_plays_the_same_and_the_record_can_be_verified(world: str, tmp_path: Path) -> None:
    once = played(world, tmp_path, "--rng-seed", "5", "--run-id", "r-00aa11bb22cc33d0")
    again = played(world, tmp_path, "--rng-seed", "5", "--run-id", "r-00aa11bb22cc33d1")

    verified = run("replay", "r-00aa11bb22cc33d0", "--verify", "--store", "show.glasshouse", cwd=tmp_path)

    ours = [line for line in once if "r-00aa11bb22cc33d0" not in line]
    assert ours == [line for line in again if "r-00aa11bb22cc33d1" not in line]
    assert (verified.returncode, verified.stderr) == (0, "")


def test_after_a_disturbance_with_nobody_to_ask_the_rescue_is_refused_in_words_and_the_play_ends(
    tmp_path: Path,
) -> None:
    store = ("--store", "show.glasshouse")
    run("play", "hatbox-and-cello", "--turns", "3", "--run-id", "r-00aa11bb22cc33d0", *store, cwd=tmp_path)
    run("disturb", "r-00aa11bb22cc33d0", "A pike looks in over the brim.", *store, cwd=tmp_path)

    events = objects("play", "--continue", "r-00aa11bb22cc33d0", *store, cwd=tmp_path)

    decided = [event["payload"] for event in events if event.get("kind") == "edit.decided"]
    assert decided
    assert {event["is_approved"] for event in decided} == {False}
    assert events[-1]["played"]["reason"] == "ended"
