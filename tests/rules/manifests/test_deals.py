"""What a scenario deals: to one, to several alike, and to an odd one its own."""

from pathlib import Path
from typing import Any

import pytest

from glasshouse.errors import BadWorld
from glasshouse.manifests.loading import LoadedWorld, load_world, problems_in
from glasshouse.manifests.manifest import Manifest, Schedule
from glasshouse.manifests.opening import opening_of
from glasshouse.manifests.scenario import Scenario

TICKS = Schedule(tick_every=1)
CAST = ("ada", "bo", "cy", "dee")
PAIRS = [["pond", "puddle"], ["reed", "rush"], ["lamp", "candle"]]


def _world(deal: dict[str, Any]) -> LoadedWorld:
    scenario = Scenario.model_validate({"name": "w", "cast": list(CAST), "deal": deal})
    return LoadedWorld.of(scenario, [Manifest(name=name, schedule=TICKS) for name in CAST])


def _dealt(world: LoadedWorld, rng_seed: int) -> dict[str, Any]:
    (troupe,) = opening_of(world, run_id="r", seed=None, rng_seed=rng_seed).troupes
    return {member.handle or "": member.dealt for member in troupe.members}


def test_the_opening_shows_the_seed_as_it_is_written() -> None:
    scenario = Scenario.model_validate(
        {"name": "w", "cast": ["ada"], "opening": "It is {seed}.", "seeds": ["a {x}"]}
    )

    opened = opening_of(
        LoadedWorld.of(scenario, [Manifest(name="ada", schedule=TICKS)]), run_id="r", seed=None, rng_seed=1
    )

    assert opened.opening == "It is a {x}."


def test_several_are_dealt_the_same_card() -> None:
    world = _world({"word": {"to": ["ada", "cy"], "from": ["pond", "reed", "lamp"]}})

    dealt = _dealt(world, 3)

    assert dealt["ada"] == dealt["cy"] is not None
    assert dealt["bo"] is dealt["dee"] is None


def test_all_but_one_share_the_first_of_a_pair_and_the_odd_one_has_the_second() -> None:
    world = _world({"word": {"to": list(CAST), "from": PAIRS, "odd_one": True}})

    for rng_seed in range(40):
        words = [dealt["word"] for dealt in _dealt(world, rng_seed).values()]
        first, second = next(pair for pair in PAIRS if words[0] in pair)
        assert sorted(words) == sorted([first, first, first, second])


def test_the_seed_picks_the_odd_one_and_everybody_has_a_turn_at_it() -> None:
    world = _world({"word": {"to": list(CAST), "from": PAIRS, "odd_one": True}})
    seconds = {second for _, second in PAIRS}

    def odd_ones() -> list[str]:
        hands = [_dealt(world, rng_seed) for rng_seed in range(40)]
        return [next(name for name, dealt in hand.items() if dealt["word"] in seconds) for hand in hands]

    assert set(odd_ones()) == {*CAST}
    assert odd_ones() == odd_ones()


def test_pairs_may_stand_in_a_text_file(tmp_path: Path) -> None:
    folder = tmp_path / "w"
    (folder / "creatures").mkdir(parents=True)
    for name in CAST:
        (folder / "creatures" / f"{name}.yaml").write_text(f"name: {name}\nschedule: {{tick_every: 1}}\n")
    (folder / "pairs.txt").write_text("# near twins\npond | puddle\n\nreed | rush\n")
    (folder / "scenario.yaml").write_text(
        "name: w\ncast: [ada, bo, cy, dee]\ndeal:\n  word: {to: [ada, bo, cy], from: pairs.txt, odd_one: true}\n"
    )

    world = load_world(folder)

    assert [list(pair) for pair in world.decks["word"]] == [["pond", "puddle"], ["reed", "rush"]]
    (folder / "pairs.txt").write_text("pond\n")
    (problem,) = problems_in(folder)
    assert (problem.line, problem.text) == (
        4,
        "'pond' is not a pair. For 'odd_one' write [one, other], or 'one | other' in text.",
    )


@pytest.mark.parametrize(
    ("deal", "words"),
    [
        ({"to": ["ada", "ada"], "from": PAIRS}, "a handle is in 'to' twice. Name each once."),
        ({"to": "ada", "from": PAIRS, "odd_one": True}, "'odd_one' needs at least two handles."),
        ({"to": ["ada", "bo"], "from": [["pond", "pond"]], "odd_one": True}, "is not a pair."),
        ({"to": ["ada", "bo"], "from": [["a", "b", "c"]], "odd_one": True}, "is not a pair."),
        ({"to": ["ada", "bo"], "from": ["pond |"], "odd_one": True}, "is not a pair."),
        ({"to": ["ada", "ob"], "from": PAIRS, "odd_one": True}, "is called 'ob'"),
        ({"to": [], "from": PAIRS}, "at least 1"),
    ],
)
def test_a_deal_that_cannot_be_dealt_is_refused_in_words(deal: dict[str, Any], words: str) -> None:
    with pytest.raises((BadWorld, ValueError), match=words):
        _world({"word": deal})
