"""Referees in a file beside a world: read by the checks, and never run."""

from pathlib import Path

from tests.rules.manifests.sample_worlds import changed, problem_texts, world_at


def test_a_referee_in_a_file_beside_the_world_is_found_and_never_run(tmp_path: Path) -> None:
    world = world_at(tmp_path, changed("names_the_word", "rules.py:winner"))
    rules = world / "rules.py"

    rules.write_text("raise SystemExit\ndef winner(): ...\n")
    assert problem_texts(world) == []

    rules.write_text("def winer(): ...\n")
    assert "rules.py has no plain function 'winner'. Did you mean 'winer'?" in problem_texts(world)[0]

    rules.write_text("async def winner(match): ...\n")
    assert "rules.py has no plain function 'winner'." in problem_texts(world)[0]

    rules.write_text("\ndef winner(:\n")
    assert (
        "competition.referee: rules.py is not valid Python: line 2, invalid syntax. Correct it."
        in problem_texts(world)[0]
    )

    rules.write_bytes(b"def winner(match): ...\n\0")
    assert "rules.py is not valid Python: " in problem_texts(world)[0]
