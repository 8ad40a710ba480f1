"""A small world that holds, as text, and ways to write it with something changed."""

from pathlib import Path

from glasshouse.manifests.loading import problems_in

SCENARIO = """\
name: lantern-lane
title: Lantern Lane
goal: Find out who lit the lantern.
seeds:
  - a green lantern
  - a broken wick
opening: "At dusk somebody finds {seed}."
cast:
  - wick
  - {use: moth, handle: grey-moth, wires: [wick]}
  - use: owl
    privileged: true
    channels:
      listen: [lane, roof]
      send: [roof]
channels:
  lane: where all is said
  roof: {description: up there, history: since_joined}
spawnable: [beetle]
kinds:
  guess.made:
    word: string
    sure: [yes, no]
deal:
  word: {to: wick, from: words.txt}
governor: {max_turns: 20, max_calls_per_turn: 4}
policy: {population_max: 6, protected: [owl]}
competition:
  kind: versus
  teams:
    light: [wick]
    dark: [grey-moth]
  referee: names_the_word
beats:
  - {turn: 8, text: The wind turns.}
disturbances: [A bell rings.]
ends_when: {kind: judge.verdict}
language: en
"""

CREATURES = {
    "wick": "name: wick\npersona: Burns.\nmay_emit: [agent.spoke, guess.made]\nschedule: {tick_every: 1}\n",
    "moth": "name: moth\nsubscribes_to: [guess.made]\nschedule: {tick_every: 2}\n",
    "owl": "name: owl\nrole: judge\nmay_emit: [judge.verdict]\nschedule: {tick_every: 4}\n",
    "beetle": "name: beetle\n",
}


def world_at(
    folder: Path,
    scenario: str = SCENARIO,
    creatures: dict[str, str] | None = None,
    name: str = "lantern-lane",
) -> Path:
    """Write a world into a folder; creatures given here stand in place of the sample's. The sample is called like its
    folder."""
    world = folder / name
    scenario = scenario.replace("name: lantern-lane\n", f"name: {name}\n", 1)
    (world / "creatures").mkdir(parents=True, exist_ok=True)
    (world / "scenario.yaml").write_text(scenario, encoding="utf-8")
    (world / "words.txt").write_text("candle\n\n# not this\nember\n", encoding="utf-8")
    for creature, text in {**CREATURES, **(creatures or {})}.items():
        (world / "creatures" / f"{creature}.yaml").write_text(text, encoding="utf-8")
    return world


def changed(old: str, new: str) -> str:
    """The sample's scenario with one part written differently."""
    assert SCENARIO.count(old) == 1, old
    return SCENARIO.replace(old, new)


def problem_texts(world: Path) -> list[str]:
    """What is wrong with a world, without the folder it is in."""
    return [str(problem).replace(f"{world}/", "") for problem in problems_in(world)]
