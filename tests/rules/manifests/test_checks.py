"""Cross checks: each is shown a world it complains about; the sample world has none of it."""

from pathlib import Path
from typing import Any

import pytest

from glasshouse.errors import BadWorld
from glasshouse.events import kinds
from glasshouse.manifests.checked_world import CheckedWorld
from glasshouse.manifests.checks import CHECKS, complaints_about
from glasshouse.manifests.loading import LoadedWorld, load_world, problems_in
from glasshouse.manifests.manifest import Manifest, Schedule
from glasshouse.manifests.scenario import Scenario
from tests.rules.manifests.sample_worlds import CREATURES, SCENARIO, changed, problem_texts, world_at

NAMES = {
    "a cast without a file": (
        changed("  - wick\n", "  - wcik\n"),
        "scenario.yaml:9:5: cast: no creature is called 'wcik'. Did you mean 'wick'?",
    ),
    "a spawnable without a file": (
        changed("[beetle]", "[betle]"),
        "scenario.yaml:19:13: spawnable: no creature is called 'betle'. Did you mean 'beetle'?",
    ),
    "a root that is nobody": (
        changed("language: en", "root: oul"),
        "scenario.yaml:38:7: root: no creature is called 'oul'. Did you mean 'owl'?",
    ),
    "a handle given twice": (
        changed("handle: grey-moth", "handle: wick"),
        "scenario.yaml:10:5: cast: two creatures have the handle 'wick'. Rename one: {use: moth, handle: ...}.",
    ),
    "the past of one who plays under its own handle": (
        changed("handle: grey-moth", "handle: grey-moth, was: wick"),
        (
            "scenario.yaml:10:41: cast.was: the past of 'wick' goes to 'wick' too, and only one can have it."
            " Correct one."
        ),
    ),
    "a channel that is not open": (
        changed("send: [roof]", "send: [rof]"),
        "scenario.yaml:15:14: cast.channels.send: no channel is called 'rof'. Did you mean 'roof'?",
    ),
    "a wire to nobody": (
        changed("wires: [wick]", "wires: [wik]"),
        "scenario.yaml:10:44: cast.wires: no creature of this cast is called 'wik'. Did you mean 'wick'?",
    ),
    "a wire to itself": (
        changed("wires: [wick]", "wires: [{to: grey-moth}]"),
        "scenario.yaml:10:44: cast.wires: 'grey-moth' is wired to itself. Name another creature.",
    ),
    "a condition that cannot be read": (
        changed("wires: [wick]", "wires: [{to: wick, when: text contains owl}]"),
        (
            "scenario.yaml:10:61: cast.wires.when: after 'text' the condition lacks 'is' or 'has'."
            " Write one such as: kind is agent.spoke and text has lantern."
        ),
    ),
    "a condition on a kind that nobody knows": (
        changed("wires: [wick]", "wires: [{to: wick, when: kind is agent.spook}]"),
        "scenario.yaml:10:61: cast.wires.when: no kind is called 'agent.spook'. Did you mean 'agent.spoke'?",
    ),
    "a condition on a field that no line has": (
        changed("wires: [wick]", "wires: [{to: wick, when: tekst has owl}]"),
        (
            "scenario.yaml:10:61: cast.wires.when: no line in this world has a field 'tekst'. Did you mean 'text'?"
            " Write one such as: kind is agent.spoke and text has lantern."
        ),
    ),
    "a prompt that cannot be filled in": (
        changed("wires: [wick]", "wires: [{to: wick, prompt: 'What of {texr}?'}]"),
        "scenario.yaml:10:63: cast.wires.prompt: there is no placeholder {texr}. Did you mean 'text'?",
    ),
    "a prompt with a lone brace": (
        changed("wires: [wick]", "wires: [{to: wick, prompt: 'What of {text?'}]"),
        (
            "scenario.yaml:10:63: cast.wires.prompt: the prompt has a single '{' or '}'. Write it twice for"
            " a literal brace. Write one such as: What do you make of {text}, {handle} asks."
        ),
    ),
    "a prompt that tells what the wire keeps back": (
        changed("wires: [wick]", "wires: [{to: wick, with_content: false, prompt: '{text}'}]"),
        (
            "scenario.yaml:10:84: cast.wires.prompt: a wire without content cannot show {text} in its prompt."
            " Use {handle} and {kind} alone, or let the wire carry the words."
        ),
    ),
    "a team member that is nobody": (
        changed("dark: [grey-moth]", "dark: [gray-moth]"),
        (
            "scenario.yaml:32:12: competition.teams.dark: no creature of the cast is called 'gray-moth'."
            " Did you mean 'grey-moth'?"
        ),
    ),
    "a contestant that is nobody": (
        changed("  referee: names_the_word", "  referee: names_the_word\n  contestants: [owll]"),
        (
            "scenario.yaml:34:17: competition.contestants: no creature of the cast is called 'owll'."
            " Did you mean 'owl'?"
        ),
    ),
    "a deal to nobody": (
        changed("to: wick", "to: moth"),
        "scenario.yaml:25:14: deal.word.to: no creature of the cast is called 'moth'. Did you mean 'grey-moth'?",
    ),
    "a protected nobody": (
        changed("protected: [owl]", "protected: [howl]"),
        "scenario.yaml:27:41: policy.protected: no creature of the cast is called 'howl'. Did you mean 'owl'?",
    ),
    "a cast too large for its policy": (
        changed("population_max: 6", "population_max: 2"),
        "scenario.yaml:27:26: policy.population_max: the cast alone has 3 creatures. Write 3 or more.",
    ),
}

PLAYS = {
    "versus with one team": (
        changed("    dark: [grey-moth]\n", ""),
        (
            "scenario.yaml:29:9: competition.kind: 'versus' needs at least two teams, and there is one."
            " List them under 'teams'."
        ),
    ),
    "overlapping teams": (
        changed("dark: [grey-moth]", "dark: [grey-moth, wick]"),
        (
            "scenario.yaml:32:23: competition.teams.dark: 'wick' already plays for 'light'."
            " Nobody plays twice: remove one."
        ),
    ),
    "a judge who plays": (
        changed("dark: [grey-moth]", "dark: [grey-moth, owl]"),
        (
            "scenario.yaml:32:23: competition.teams.dark: 'owl' may emit judge.verdict, but contestants must not"
            " judge. Let another judge."
        ),
    ),
    "a team called like a creature": (
        changed("    light: [wick]", "    owl: [wick]"),
        "scenario.yaml:31:5: competition.teams.owl: a creature is also called 'owl'. Give the team another name.",
    ),
    "an unknown referee": (
        changed("names_the_word", "names_a_word"),
        (
            "scenario.yaml:33:12: competition.referee: no referee is called 'names_a_word'."
            " Did you mean 'names_the_word'? Your own is 'file.py:function'."
        ),
    ),
    "a referee in no file": (
        changed("names_the_word", "rules.py:winner"),
        "scenario.yaml:33:12: competition.referee: there is no readable file 'rules.py' beside the scenario.",
    ),
    "a referee somewhere else": (
        changed("names_the_word", "../rules.py:winner"),
        (
            "scenario.yaml:33:12: competition.referee: '../rules.py:winner' is not a referee."
            " Write 'file.py:function', with the file beside the scenario."
        ),
    ),
    "a referee that looks at a deal of another name": (
        changed("  word: {to: wick", "  wrod: {to: wick"),
        (
            "scenario.yaml:33:12: competition.referee: names_the_word needs a deal called 'word', and there is 'wrod'."
            " Add it under 'deal'."
        ),
    ),
    "a referee that looks at a deal that is not there": (
        changed("deal:\n  word: {to: wick, from: words.txt}\n", ""),
        (
            "scenario.yaml:31:12: competition.referee: names_the_word needs a deal called 'word', and nothing is dealt."
            " Add it under 'deal'."
        ),
    ),
    "a deck whose name no file can have": (
        changed("from: words.txt", f"from: {'w' * 300}.txt"),
        f"scenario.yaml:25:26: deal.word.from: there is no file '{'w' * 55}...' beside the scenario.",
    ),
    "a referee that needs teams": (
        changed("  kind: versus\n  teams:\n    light: [wick]\n    dark: [grey-moth]\n", "  kind: judged\n"),
        "scenario.yaml:30:12: competition.referee: names_the_word needs two teams. List them under 'teams'.",
    ),
    "an ending by a referee that is not there": (
        changed("  referee: names_the_word\n", "").replace("{kind: judge.verdict}", "{referee: true}"),
        "scenario.yaml:36:22: ends_when.referee: there is no referee. Name one in competition.referee.",
    ),
    "a kind of the engine declared anew": (
        changed("  guess.made:\n", "  agent.spoke: {text: string}\n  guess.made:\n"),
        "scenario.yaml:21:3: kinds.agent.spoke: this kind belongs to the engine and has fixed fields. Choose another name.",
    ),
    "a field that every reply has": (
        changed("    word: string", "    mood: string"),
        "scenario.yaml:22:5: kinds.guess.made.mood: every reply already has a field 'mood'. Choose another name.",
    ),
    "an ending that nobody can bring about": (
        changed("kind: judge.verdict", "kind: judge.verdit"),
        "scenario.yaml:37:19: ends_when.kind: nobody here may emit 'judge.verdit'. Did you mean 'judge.verdict'?",
    ),
    "a turn too full": (
        changed("max_calls_per_turn: 4", "max_calls_per_turn: 2, on_turn_limit: finish"),
        (
            "scenario.yaml:26:47: governor.max_calls_per_turn: in turn 4, 3 creatures tick, but only 2 calls"
            " are allowed. Write max_calls_per_turn: 3 or more, or on_turn_limit: defer."
        ),
    ),
    "a beat beyond the end": (
        changed("turn: 8", "turn: 21"),
        (
            "scenario.yaml:35:12: beats.turn: the run ends at turn 20 (governor.max_turns), before this beat."
            " Change one of the two."
        ),
    ),
    "an unknown placeholder": (
        changed("{seed}", "{sed}"),
        "scenario.yaml:7:10: opening: there is no placeholder {sed}. Only {seed} is filled in.",
    ),
    "a brace alone": (
        changed("{seed}", "{seed"),
        "scenario.yaml:7:10: opening: there is a single '{' or '}'. Only {seed} may be in braces.",
    ),
    "a seed that is not there": (
        changed("seeds:\n  - a green lantern\n  - a broken wick\n", ""),
        "scenario.yaml:4:10: opening: there are no seeds for {seed}. List one under 'seeds'.",
    ),
}


def test_the_sample_world_holds(tmp_path: Path) -> None:
    assert problem_texts(world_at(tmp_path)) == []


@pytest.mark.parametrize("case", NAMES)
def test_names_that_name_nobody_are_told_with_line_and_the_likely_meant(case: str, tmp_path: Path) -> None:
    scenario, expected = NAMES[case]

    assert expected in problem_texts(world_at(tmp_path, scenario))


@pytest.mark.parametrize("case", PLAYS)
def test_plays_that_cannot_be_played_are_told(case: str, tmp_path: Path) -> None:
    scenario, expected = PLAYS[case]

    assert problem_texts(world_at(tmp_path, scenario)) == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "name: wick\nmay_emit: [gues.made, agent.spoke]\n",
            "creatures/wick.yaml:2:12: may_emit: no kind is called 'gues.made'. Did you mean 'guess.made'?",
        ),
        (
            "name: wick\nsubscribes_to: [lamp.lit]\n",
            (
                "creatures/wick.yaml:2:17: subscribes_to: no kind is called 'lamp.lit'."
                " Declare it under 'kinds' of the scenario."
            ),
        ),
        (
            "name: wick\nmay_emit: [run.finished]\n",
            (
                "creatures/wick.yaml:2:11: may_emit: only the engine writes run.finished;"
                " remove it from may_emit"
            ),
        ),
        (
            "name: wick\nmay_emit: [agent.failed]\n",
            "creatures/wick.yaml:2:12: may_emit: only the engine writes agent.failed. Remove it.",
        ),
    ],
)
def test_kinds_of_a_creature_that_no_scenario_declares_are_told(
    text: str, expected: str, tmp_path: Path
) -> None:
    assert problem_texts(world_at(tmp_path, creatures={"wick": text})) == [expected]


def test_a_full_turn_is_no_fault_when_the_rest_waits_or_a_visitor_plays(tmp_path: Path) -> None:
    narrow = changed("max_calls_per_turn: 4", "max_calls_per_turn: 2")
    for_two = changed("max_calls_per_turn: 4", "max_calls_per_turn: 2, on_turn_limit: finish")
    visited = "name: moth\nschedule: {tick_every: 2}\nplayed_by: visitor\n"

    assert problem_texts(world_at(tmp_path, narrow)) == []
    assert problem_texts(world_at(tmp_path, for_two, {"moth": visited})) == []


def test_ticks_that_never_fall_into_one_turn_are_no_fault(tmp_path: Path) -> None:
    limits = "max_turns: 11, on_turn_limit: finish, max_calls_per_turn: 1"
    scenario = changed("max_turns: 20, max_calls_per_turn: 4", limits)
    ticks = {"wick": 3, "moth": 4, "owl": 100}
    creatures = {
        name: f"name: {name}\nmay_emit: [{'judge.verdict' if name == 'owl' else 'guess.made'}]\nschedule: {{tick_every: {every}}}\n"
        for name, every in ticks.items()
    }

    assert problem_texts(world_at(tmp_path, scenario, creatures)) == []
    assert (
        "in turn 12, 2 creatures"
        in problem_texts(world_at(tmp_path, scenario.replace("turns: 11", "turns: 12"), creatures))[0]
    )


def test_a_root_may_be_in_the_cast_or_join_it(tmp_path: Path) -> None:
    assert problem_texts(world_at(tmp_path, changed("language: en", "root: owl"))) == []
    assert problem_texts(world_at(tmp_path, changed("language: en", "root: beetle"))) == []


def test_each_troupe_may_have_a_root_of_its_own(tmp_path: Path) -> None:
    troupes = "troupes:\n  a:\n    root: {}\n    cast: [owl]\n  b:\n    root: wick\n    cast: [wick]\n"

    assert (
        problem_texts(
            world_at(
                tmp_path,
                f"name: w\nkinds: {{guess.made: {{text: string}}}}\n{troupes.format('owl')}",
                name="w",
            )
        )
        == []
    )
    assert (
        problem_texts(
            world_at(
                tmp_path,
                f"name: w\nkinds: {{guess.made: {{text: string}}}}\n{troupes.format('beetle')}",
                name="w",
            )
        )
        == []
    )
    assert problem_texts(
        world_at(
            tmp_path, f"name: w\nkinds: {{guess.made: {{text: string}}}}\n{troupes.format('oul')}", name="w"
        )
    ) == ["scenario.yaml:5:11: troupes.a.root: no creature is called 'oul'. Did you mean 'owl'?"]


ROOTS = {
    "one of another troupe": (
        "troupes:\n  a:\n    cast: [owl, moth]\n    root: wick\n  b: {cast: [wick]}\n",
        (
            "scenario.yaml:6:11: troupes.a.root: 'wick' plays in troupe 'b', but a root must be in its own troupe. "
            "There are owl, moth. If you want a second one, list it in this cast too."
        ),
    ),
    "one of another troupe by its handle there": (
        "troupes:\n  a: {cast: [owl], root: wink}\n  b: {cast: [{use: wick, handle: wink}, moth]}\n",
        (
            "scenario.yaml:4:26: troupes.a.root: 'wink' plays in troupe 'b', but a root must be in its own troupe. "
            "There is owl. If you want a second one, list it in this cast too."
        ),
    ),
    "one of another troupe, where a name like it is in this one": (
        "troupes:\n  a: {cast: [owl, {use: moth, handle: wicket}], root: wick}\n  b: {cast: [wick]}\n",
        (
            "scenario.yaml:4:55: troupes.a.root: 'wick' plays in troupe 'b', but a root must be in its own troupe. "
            "Did you mean 'wicket'? If you want a second one, list it in this cast too."
        ),
    ),
    "one whose troupe has another root": (
        "root: owl\ntroupes:\n  a: {cast: [owl, moth], root: moth}\n  b: {cast: [wick]}\n",
        "scenario.yaml:3:7: root: 'owl' plays in troupe 'a', whose root is 'moth'. Keep one of the two.",
    ),
    "one of no troupe": (
        "root: beetle\ntroupes:\n  a: {cast: [owl, moth]}\n  b: {cast: [wick]}\n",
        "scenario.yaml:3:7: root: no creature is called 'beetle'. There are owl, moth, wick.",
    ),
}


@pytest.mark.parametrize("case", ROOTS)
def test_a_root_beside_troupes_is_refused_where_it_would_not_be_the_one_that_is_named(
    tmp_path: Path, case: str
) -> None:
    troupes, words = ROOTS[case]

    assert problem_texts(
        world_at(tmp_path, f"name: w\nkinds: {{guess.made: {{text: string}}}}\n{troupes}", name="w")
    ) == [words]


@pytest.mark.parametrize(
    "troupes",
    [
        "root: owl\ntroupes:\n  a: {cast: [owl, moth]}\n  b: {cast: [wick]}\n",
        "root: owl\ntroupes:\n  a: {cast: [owl, moth], root: moth}\n  b: {cast: [owl, wick]}\n",
        "troupes:\n  a: {cast: [owl, wick], root: wick}\n  b: {cast: [wick]}\n",
    ],
)
def test_a_root_that_is_of_its_troupe_is_welcome_however_it_is_written(tmp_path: Path, troupes: str) -> None:
    assert (
        problem_texts(
            world_at(tmp_path, f"name: w\nkinds: {{guess.made: {{text: string}}}}\n{troupes}", name="w")
        )
        == []
    )


def test_what_could_not_be_read_is_not_held_against_what_names_it(tmp_path: Path) -> None:
    broken_entry = changed("{use: moth, handle: grey-moth, wires: [wick]}", "{use: 7, handle: grey-moth}")
    broken_creature = {"owl": "name: owl\nrole: juge\n"}

    assert problem_texts(world_at(tmp_path, broken_entry)) == [
        "scenario.yaml:10:11: cast.use: this should be text, not the number 7."
    ]
    assert problem_texts(world_at(tmp_path, SCENARIO, broken_creature)) == [
        "creatures/owl.yaml:2:7: role: 'juge' is not one of worker, judge, narrator, root. Did you mean 'judge'?"
    ]


def test_every_check_complains_of_something_here() -> None:
    sick = Scenario.model_validate(
        {
            "name": "w",
            "opening": "{x}",
            "root": "nobody-here",
            "cast": [
                {
                    "use": "ada",
                    "wires": ["bo", {"to": "cy", "when": "hm", "prompt": "{"}],
                    "channels": {"listen": ["attic"]},
                },
                {"use": "ada"},
                {"use": "cy", "was": "ada"},
            ],
            "kinds": {"agent.spoke": {}},
            "deal": {"card": {"to": "bo", "from": ["x"], "may_say": ["lamp.lit"]}},
            "governor": {"max_turns": 1, "max_calls_per_turn": 1, "on_turn_limit": "finish"},
            "policy": {"population_max": 1},
            "competition": {"kind": "versus", "teams": {"ada": ["ada", "ada"]}, "referee": "x"},
            "beats": [{"turn": 2, "text": "x"}],
            "ends_when": {"kind": "lamp.lit"},
        }
    )
    refereed = Scenario.model_validate({"name": "w", "cast": ["ada"], "ends_when": {"referee": True}})
    undealt = Scenario.model_validate(
        {"name": "w", "cast": ["ada"], "competition": {"kind": "judged", "referee": "names_the_word"}}
    )
    whole = Scenario.model_validate({"name": "w", "cast": ["ada"], "ends_when": {"kind": "lamp.lit"}})
    ada = Manifest(
        name="ada",
        may_emit=("lamp.dimmed", kinds.JUDGE_VERDICT),
        schedule=Schedule(tick_every=1),
        tools=("axe", "recall"),
        reply="prose",
    )
    worlds = [
        CheckedWorld(scenario, {"ada": ada}, ("ada",), tools=frozenset())
        for scenario in (sick, refereed, undealt, whole)
    ]
    worlds.append(CheckedWorld(whole, {"ada": Manifest(name="ada")}, ("ada",), folder=Path("w")))
    read_by_nobody = Scenario.model_validate({"name": "w", "cast": ["ada"], "documents": ["notes/*.md"]})
    worlds.append(CheckedWorld(read_by_nobody, {"ada": Manifest(name="ada")}, ("ada",)))

    silent = [check.__name__ for check in CHECKS if not any(list(check(world)) for world in worlds)]

    assert silent == []
    sound = CheckedWorld(
        Scenario.model_validate({"name": "w", "cast": ["ada"]}),
        {"ada": Manifest(name="ada", schedule=Schedule(tick_every=1))},
        ("ada",),
    )
    assert complaints_about(sound) == []


def test_a_world_made_in_python_is_checked_like_any_other() -> None:
    scenario = Scenario.model_validate(
        {"name": "w", "cast": ["ada", "bo"], "deal": {"w": {"to": "ada", "from": "f"}}}
    )

    with pytest.raises(BadWorld) as refusal:
        LoadedWorld.of(scenario, [Manifest(name="ada", may_emit=("lamp.lit",))])

    assert str(refusal.value).splitlines() == [
        "creature ada: may_emit: no kind is called 'lamp.lit'. Declare it under 'kinds' of the scenario.",
        "scenario: cast: no creature is called 'bo'. There is ada.",
        "scenario: deal.w.from: a world without a folder has no file 'f'. Write a list, or pass decks=.",
    ]


IDLE = {"name": "w", "cast": ["ada", "bo"]}


@pytest.mark.parametrize(
    ("changes", "manifest", "acts"),
    [
        ({}, {}, False),
        ({}, {"schedule": Schedule(tick_every=3)}, True),
        ({}, {"subscribes_to": (kinds.USER_INJECTED,)}, True),
        ({}, {"subscribes_to": (kinds.WORLD_OBSERVED,)}, True),
        ({"root": "bo"}, {}, True),
    ],
)
def test_a_world_where_nobody_can_ever_act_is_refused(
    changes: dict[str, str], manifest: dict[str, Any], acts: bool
) -> None:
    cast = {"ada": Manifest(name="ada", **manifest), "bo": Manifest(name="bo")}
    world = CheckedWorld(Scenario.model_validate(IDLE | changes), cast, tuple(cast), folder=Path("w"))

    complaints = [complaint.text for complaint in complaints_about(world)]

    assert len(complaints) == (not acts)
    assert acts or ("nobody here ever acts" in complaints[0] and "tick_every: 1" in complaints[0])


def test_an_ending_that_nobody_writes_does_not_suggest_a_kind_that_is_refused_elsewhere(
    tmp_path: Path,
) -> None:
    ends = changed("ends_when: {kind: judge.verdict}", "ends_when: {kind: guess.made}")
    misspelt = {"wick": "name: wick\nmay_emit: [guess.maed]\nschedule: {tick_every: 1}\n"}

    assert problem_texts(world_at(tmp_path, ends, misspelt)) == [
        "creatures/wick.yaml:2:12: may_emit: no kind is called 'guess.maed'. Did you mean 'guess.made'?"
    ]


def test_a_name_that_differs_from_its_folder_is_refused(tmp_path: Path) -> None:
    assert problem_texts(world_at(tmp_path, changed("name: lantern-lane", "name: lantern-lan"))) == [
        (
            "scenario.yaml:1:7: name: the folder is called 'lantern-lane', so the name must be 'lantern-lane'."
            " Change one of the two."
        )
    ]


@pytest.mark.parametrize(
    ("function", "fault"),
    [
        ('def owls(hour: int) -> int:\n    "Counts owls."\n', None),
        ("def owls(hour: int) -> int:\n    return 3\n", "says nothing about itself. Give it a docstring"),
        ('def owls(*hours: int) -> int:\n    "Counts owls."\n', "takes 'hours' without a name."),
        ('def owls(hour) -> int:\n    "Counts owls."\n', "give 'hour' a type: str, int"),
        ('async def owls(*, hour: dict) -> int:\n    "Counts owls."\n', "give 'hour' another type: str, int"),
    ],
)
def test_a_tool_that_cannot_be_described_is_refused(tmp_path: Path, function: str, fault: str | None) -> None:
    world = world_at(tmp_path, creatures={"wick": CREATURES["wick"] + "tools: ['counting.py:owls']\n"})
    (world / "counting.py").write_text(function)

    problems = [str(problem) for problem in problems_in(world, tools=frozenset())]

    assert len(problems) == (fault is not None)
    assert fault is None or fault in problems[0]


def test_the_other_ending_of_yaml_is_recognised(tmp_path: Path) -> None:
    world = world_at(tmp_path)
    for path in [*world.rglob("*.yaml")]:
        path.rename(path.with_suffix(".yml"))

    assert problem_texts(world) == []
    assert load_world(world).scenario.name == "lantern-lane"
    (world / "creatures" / "owl.yaml").write_text(CREATURES["owl"])
    assert problem_texts(world) == ["creatures/owl.yaml: there is owl.yml too. Keep one of the two."]
