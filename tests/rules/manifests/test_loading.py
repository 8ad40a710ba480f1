"""Loading worlds: found by path, here, or in the package; whole and sound, or refused with every problem at once."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from glasshouse.errors import BadWorld, UnknownName
from glasshouse.manifests import world_folders
from glasshouse.manifests.loading import LoadedWorld, load_world, problems_in
from glasshouse.manifests.manifest import Manifest, Schedule
from glasshouse.manifests.scenario import Scenario
from glasshouse.manifests.world_folders import bundled_worlds, find_world, found_worlds
from tests.rules.manifests.sample_worlds import CREATURES, SCENARIO, changed, problem_texts, world_at


def test_a_world_comes_whole_with_creatures_and_decks(tmp_path: Path) -> None:
    folder = world_at(tmp_path)

    world = load_world(folder)

    assert world.scenario.name == "lantern-lane"
    assert list(world.manifests) == ["wick", "moth", "owl", "beetle"]
    assert world.decks == {"word": ("candle", "ember")}
    assert world.path == folder
    assert load_world(folder / "scenario.yaml").digest == world.digest


def test_the_digest_names_what_was_loaded_and_not_how_it_was_written(tmp_path: Path) -> None:
    plain = load_world(world_at(tmp_path / "a")).digest
    rewritten = load_world(world_at(tmp_path / "b", "# a remark\n" + SCENARIO)).digest
    other_goal = load_world(world_at(tmp_path / "c", changed("who lit", "who dimmed"))).digest
    other_creature = load_world(
        world_at(tmp_path / "d", creatures={"beetle": "name: beetle\nwants: x\n"})
    ).digest
    (world_at(tmp_path / "e") / "words.txt").write_text("torch\n")

    assert rewritten == plain
    assert len({plain, other_goal, other_creature, load_world(tmp_path / "e" / "lantern-lane").digest}) == 4


def test_a_creature_nobody_uses_is_checked_and_left_out(tmp_path: Path) -> None:
    idle = load_world(world_at(tmp_path, creatures={"newt": "name: newt\n"}, name="idle"))

    assert "newt" not in idle.manifests
    assert problem_texts(world_at(tmp_path, creatures={"newt": "name: nwet\n"})) == [
        "creatures/newt.yaml:1:7: name: the file is called newt.yaml, so the name must be 'newt'. Change one of the two."
    ]


def test_a_given_path_goes_before_worlds_here_and_those_before_the_bundled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle, here = tmp_path / "bundle", tmp_path / "here"
    monkeypatch.setattr(world_folders, "BUNDLED", bundle)
    in_bundle = world_at(bundle, name="lane")
    assert find_world("lane", here) == in_bundle

    in_worlds = world_at(here / "worlds", changed("title: Lantern Lane", "title: Mine"), name="lane")
    world_at(bundle, name="moor")
    assert find_world("lane", here) == in_worlds
    assert [tuple(world)[:4] for world in found_worlds(here)] == [
        ("lane", "Mine", str(in_worlds), "here"),
        ("moor", "Lantern Lane", str(bundle / "moor"), "bundled"),
    ]
    assert [world.name for world in bundled_worlds()] == ["lane", "moor"]
    assert json.loads(json.dumps(found_worlds(here)))

    at_path = world_at(here, name="lane")
    assert find_world("lane", here) == at_path
    assert find_world(at_path / "scenario.yaml") == at_path


def test_an_unknown_world_names_the_likely_meant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world_at(tmp_path / "worlds")
    monkeypatch.chdir(tmp_path)

    with pytest.raises(UnknownName, match=r"no world is called 'lantern-lan'. Did you mean 'lantern-lane'\?"):
        load_world("lantern-lan")


def test_a_world_whose_scenario_cannot_be_read_is_still_listed(tmp_path: Path) -> None:
    world_at(tmp_path / "worlds", "title: [", name="sick")

    assert ("sick", "") in [(world.name, world.title) for world in found_worlds(tmp_path)]


def test_every_problem_is_told_at_once_by_file_and_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    scenario = (
        "nmae: lane\ncast: [wick, {use: moth, hnadle: m}, owel]\ngovernor: {max_turns: many}\nroot: owll\n"
        "seeds: one\nseeds: two\ngoal:\nbeats: [{turn: 9}]\nlanguage: [en]\n"
    )
    world_at(
        tmp_path,
        scenario,
        {"moth": "name: moth\nrole: narator\nvoice: [x]\n", "wick": "name: wick\n"},
        name="sick",
    )

    with pytest.raises(BadWorld) as refusal:
        load_world("sick")

    assert str(refusal.value).splitlines() == [
        (
            "sick/creatures/moth.yaml:2:7: role: 'narator' is not one of worker, judge, narrator, root."
            " Did you mean 'narrator'?"
        ),
        "sick/creatures/moth.yaml:3:8: voice: this should be a mapping of fields, not a list.",
        "sick/scenario.yaml:1:1: nmae: there is no such field. Did you mean 'name'?",
        "sick/scenario.yaml:2:26: cast.hnadle: there is no such field. Did you mean 'handle'?",
        "sick/scenario.yaml:2:38: cast: no creature is called 'owel'. Did you mean 'owl'?",
        "sick/scenario.yaml:3:23: governor.max_turns: this should be a whole number, not the text 'many'.",
        "sick/scenario.yaml:5:8: seeds: this should be a list, not the text 'one'.",
        "sick/scenario.yaml:6:1: seeds: this key is there twice: first in line 5. Keep one.",
        "sick/scenario.yaml:7:6: goal: this should be text, not empty.",
        "sick/scenario.yaml:8:9: beats.text: this field is missing. Write it.",
        "sick/scenario.yaml:9:11: language: this should be text, not a list.",
    ]
    assert [str(problem) for problem in refusal.value.problems] == str(refusal.value).splitlines()
    assert [str(problem) for problem in problems_in("sick")] == str(refusal.value).splitlines()


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("deal:\n", "deal:\n  'No!': {to: wick, from: [x]}\n", ":25:3: deal.No!: 'No!' is not a field name."),
        ("from: words.txt", "from: word.txt", "there is no file 'word.txt' beside the scenario. Did you mean 'words.txt'?"),
        ("from: words.txt", "from: ../words.txt", "is not beside the scenario."),
        ("from: words.txt", "from: cards.yaml", "cards.yaml should be a YAML list."),
        ("from: words.txt", "from: empty.txt", "the deck is empty."),
        ("from: words.txt", "from: latin.txt", "latin.txt is not UTF-8."),
        ("from: words.txt", "from: torn.yaml", "torn.yaml:1:1: this '[' is not closed."),
        ("max_turns: 20", "max_turns: 2.5", ":26:23: governor.max_turns: this should be a whole number, not the number 2.5."),
        ("max_turns: 20", "max_turns: 0", ":26:23: governor.max_turns: this is too small. Write 1 or more."),
        ("max_turns: 20", "max_turns: 2000000", "this is too large. Write 1,000,000 or less."),
        ("privileged: true", "privileged: yes", "cast.privileged: this should be true or false, not the text 'yes'."),
        ("kind: versus", "kind: verzus", "'verzus' is not one of none, judged, versus. Did you mean 'versus'?"),
        ("kind: versus", "kind: 3", "this should be one of none, judged, versus, not the number 3."),
        ("light: [wick]", "light: []", "competition.teams.light: this is empty. Write at least one item."),
        ("title: Lantern Lane", f"title: {'x' * 16_385}", "this text is too long. Write at most 16,384 characters."),
        ("name: lantern-lane", "name: visitor", "name: 'visitor' is reserved for the engine."),
    ],
)  # fmt: skip
def test_wrong_values_are_told_in_plain_words(old: str, new: str, expected: str, tmp_path: Path) -> None:
    world = world_at(tmp_path, changed(old, new))
    (world / "cards.yaml").write_text("a: 1\n")
    (world / "empty.txt").write_text("# nothing\n")
    (world / "latin.txt").write_bytes(b"caf\xe9\n")
    (world / "torn.yaml").write_text("[a\n")

    problems = problem_texts(world)

    assert any(expected in line for line in problems), problems
    assert not any(word in line for line in problems for word in ("Input", "valid", "pydantic", "Extra"))


def test_a_deck_may_be_a_yaml_list_or_stand_in_the_scenario(tmp_path: Path) -> None:
    in_file = world_at(tmp_path, changed("from: words.txt", "from: cards.yaml"), name="a")
    (in_file / "cards.yaml").write_text("- candle\n- {word: ember, hot: true}\n")
    inline = world_at(tmp_path, changed("from: words.txt", "from: [candle, 7]"), name="b")

    assert load_world(in_file).decks == {"word": ("candle", {"word": "ember", "hot": True})}
    assert load_world(inline).decks == {"word": ("candle", 7)}


def test_a_folder_of_worlds_and_a_single_creature_can_be_checked(tmp_path: Path) -> None:
    world_at(tmp_path, name="well")
    sick = world_at(
        tmp_path, changed("  - wick\n", "  - wik\n"), {"moth": "name: moth\nrol: judge\n"}, name="sick"
    )

    assert {Path(problem.path).parts[-2] for problem in problems_in(tmp_path)} == {"sick", "creatures"}
    assert problems_in(tmp_path / "well") == []
    assert [problem.field for problem in problems_in(sick / "creatures" / "moth.yaml")] == ["rol"]
    assert "there is no scenario.yaml here" in str(problems_in(tmp_path / "well" / "creatures")[0])
    assert "there is no scenario.yaml here" in str(problems_in(tmp_path / "gone")[0])


def test_a_world_can_be_made_in_python_without_files() -> None:
    scenario = Scenario.model_validate(
        {"name": "lane", "cast": ["ada"], "deal": {"w": {"to": "ada", "from": "w.txt"}}}
    )

    world = LoadedWorld.of(
        scenario,
        [Manifest(name="ada", schedule=Schedule(tick_every=1)), Manifest(name="idle")],
        decks={"w": ["candle"]},
    )

    assert list(world.manifests) == ["ada"]
    assert world.decks == {"w": ("candle",)}
    assert world.path is None


def test_a_plain_sentence_still_makes_a_bad_world() -> None:
    assert BadWorld("no.").problems == ("no.",)
    assert str(BadWorld(["a", "b"])) == "a\nb"


def test_listing_worlds_needs_no_schema_library() -> None:
    code = "import sys; from glasshouse.manifests.world_folders import found_worlds; found_worlds(); print('pydantic' in sys.modules)"

    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert ran.stdout == "False\n"


LINES = SCENARIO.splitlines(keepends=True)
SCRAPS = st.sampled_from(
    [
        "[",
        "}",
        ": ",
        "- ",
        "'",
        "null",
        "&a ",
        "*a",
        "!!x ",
        "\t",
        "  ",
        "{}",
        "[]",
        "7",
        "1e999",
        "true",
        "wick",
        "{x}",
    ]
)


@st.composite
def mutations(draw: st.DrawFn) -> str:
    lines = list(LINES)
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(lines) - 1))
        match draw(st.sampled_from(["drop", "double", "swap", "scrap", "value"])):
            case "drop":
                lines[at] = ""
            case "double":
                lines[at] *= 2
            case "swap":
                other = draw(st.integers(0, len(lines) - 1))
                lines[at], lines[other] = lines[other], lines[at]
            case "scrap":
                column = draw(st.integers(0, len(lines[at])))
                lines[at] = lines[at][:column] + draw(SCRAPS | st.text(max_size=3)) + lines[at][column:]
            case _:
                key, colon, _ = lines[at].partition(":")
                lines[at] = f"{key}{colon} {draw(SCRAPS)}\n"
    return "".join(lines)


def loaded_or_problems(folder: Path) -> LoadedWorld | tuple[object, ...]:
    try:
        return load_world(folder)
    except BadWorld as refusal:
        return refusal.problems


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(mutations(), st.sampled_from(sorted(CREATURES)), st.data())
def test_a_mutated_world_loads_or_is_refused_in_words(
    tmp_path: Path, scenario: str, creature: str, data: st.DataObject
) -> None:
    scrap = data.draw(SCRAPS)
    folder = world_at(
        tmp_path, scenario.encode("utf-8", "replace").decode(), {creature: CREATURES[creature] + scrap}
    )

    (folder / "lane.yaml").write_bytes((folder / "scenario.yaml").read_bytes())

    for world in (folder, folder / "lane.yaml"):
        problems = loaded_or_problems(world)

        assert isinstance(problems, LoadedWorld) or (
            problems and all(str(problem).startswith(str(folder)) for problem in problems)
        )


@pytest.mark.parametrize(
    ("file", "name", "advised"),
    [
        ("Gardener.yaml", "Gardener", ""),
        ("Gardener.yaml", "gardener", "Call the file gardener.yaml, and write name: gardener."),
        ("Old Gärtner.yml", "gardener", "Call the file old-gartner.yml, and write name: old-gartner."),
        ("nobody.yaml", "gardener", "Call the file nobody-creature.yaml, and write name: nobody-creature."),
        ("newt.yml", "gardener", "the file is called newt.yml, so the name must be 'newt'."),
    ],
)
def test_no_name_is_advised_that_no_creature_can_have(
    file: str, name: str, advised: str, tmp_path: Path
) -> None:
    (tmp_path / file).write_text(f"name: {name}\n")

    (problem,) = problems_in(tmp_path / file)

    assert (advised or "'Gardener' is not a creature name. Use lower-case letters") in problem.text


def test_a_creature_whose_file_needs_another_name_is_told_once(tmp_path: Path) -> None:
    folder = world_at(tmp_path)
    (folder / "creatures" / "wick.yaml").rename(folder / "creatures" / "Wick.yaml")

    (folder / "one.yaml").write_text("cast: [wick]\n")

    for world in (folder, folder / "one.yaml"):
        (problem,) = problems_in(world)
        assert problem.path.endswith("creatures/Wick.yaml")
        assert problem.text.endswith("Call the file wick.yaml, and write name: wick.")
