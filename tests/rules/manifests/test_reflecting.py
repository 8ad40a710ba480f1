"""`memory.reflect_every`: what is refused, with file, line and words."""

from __future__ import annotations

from pathlib import Path

import pytest

from glasshouse.manifests.loading import problems_in

CREATURE = "name: ada\nschedule: {tick_every: 1}\n"


def problems(folder: Path, more: str) -> list[str]:
    world = folder / "shed"
    (world / "creatures").mkdir(parents=True)
    scenario = "name: shed\ncast: [ada]\ngovernor: {max_turns: 3}\n"
    (world / "scenario.yaml").write_text(scenario, encoding="utf-8")
    (world / "creatures" / "ada.yaml").write_text(CREATURE + more, encoding="utf-8")
    return [str(problem).partition("shed/")[2] for problem in problems_in(world, tools=frozenset())]


@pytest.mark.parametrize(
    ("memory", "problem"),
    [
        ("{reflect_every: 0}", "3:25: memory.reflect_every: this is too small. Write 1 or more."),
        ("{reflect_every: -3}", "3:25: memory.reflect_every: this is too small. Write 1 or more."),
        ("{reflect_every: 1001}", "3:25: memory.reflect_every: this is too large. Write 1,000 or less."),
        (
            "{reflect_every: 2.5}",
            "3:25: memory.reflect_every: this should be a whole number, not the number 2.5.",
        ),
        (
            "{reflect_evry: 2}",
            "3:10: memory.reflect_evry: there is no such field. Did you mean 'reflect_every'?",
        ),
    ],
)
def test_a_cadence_that_cannot_be_is_refused_with_its_line(tmp_path: Path, memory: str, problem: str) -> None:
    assert problems(tmp_path, f"memory: {memory}\n") == [f"creatures/ada.yaml:{problem}"]


def test_a_visitor_is_asked_for_no_reflections(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, "played_by: visitor\nmemory: {reflect_every: 2}\n")

    assert problem.startswith("creatures/ada.yaml:3:12: played_by: a visitor is asked for no reflections;")


@pytest.mark.parametrize("every", [1, 1000])
def test_a_cadence_within_its_bounds_is_accepted(tmp_path: Path, every: int) -> None:
    assert problems(tmp_path, f"memory: {{reflect_every: {every}}}\n") == []
