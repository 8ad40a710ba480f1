"""`tournament` and `leaderboard` as somebody at a terminal meets them."""

from pathlib import Path

from tests.journeys.commanding import ESCAPE, objects, on_a_terminal, run

MODELS = "offline,offline:hasty"


def test_two_models_play_and_the_leaderboard_counts_them(tmp_path: Path) -> None:
    store = str(tmp_path / "games.glasshouse")

    result = run("tournament", "twenty-sprouts", "--models", MODELS, "--rounds", "2", "--store", store)

    assert (result.returncode, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert [line.split()[0] for line in lines[:4]] == ["1/4", "2/4", "3/4", "4/4"]
    assert lines[0].startswith("1/4  round 1  guesser: offline, keeper: offline:hasty  ")
    assert "guesser: offline:hasty, keeper: offline" in lines[1]
    assert lines[5].split()[:3] == ["model", "played", "won"]
    assert ESCAPE not in result.stdout
    by_model = objects("leaderboard", "--by", "model", "--store", store)
    assert {standing["name"]: standing["played"] for standing in by_model} == {
        "offline": 4,
        "offline:hasty": 4,
    }
    assert sum(standing["won"] + standing["lost"] + standing["no_contest"] for standing in by_model) == 8
    assert len(run("runs", "--store", store).stdout.splitlines()) == 5


def test_a_tournament_for_machines_tells_matches_and_then_standings(tmp_path: Path) -> None:
    store = str(tmp_path / "games.glasshouse")

    answers = objects("tournament", "mystery-roots", "--models", MODELS, "--rng-seed", "3", "--store", store)

    assert [row["type"] for row in answers] == ["match", "match", "standing", "standing"]
    assert {*answers[0]} == {
        "type",
        "round",
        "rng_seed",
        "run_id",
        "seats",
        "winner",
        "winning_model",
        "why",
        "read_from",
    }
    assert {*answers[2]} == {
        "type",
        "by",
        "name",
        "played",
        "won",
        "lost",
        "no_contest",
        "win_rate",
        "calls",
        "tokens",
        "usd",
    }
    assert [row["rng_seed"] for row in answers[:2]] == [3, 3]


def test_a_troupe_plays_against_one_alone(tmp_path: Path) -> None:
    store = str(tmp_path / "games.glasshouse")

    answers = objects("tournament", "mystery-roots", "--against", "solo", "--store", store)

    first, second, *standings = answers
    assert [[*match["seats"]] for match in (first, second)] == [["troupe", "solo"], ["solo", "troupe"]]
    assert first["read_from"] == second["read_from"]
    assert {standing["name"] for standing in standings} == {"troupe (offline)", "solo (offline)"}
    assert all(standing["played"] == 2 and standing["calls"] > 0 for standing in standings)
    world = "mystery-roots-reading"
    by_team = objects("leaderboard", "--by", "team", "--world", world, "--store", store)
    assert {standing["name"]: standing["played"] for standing in by_team} == {"troupe": 2, "solo": 2}


def test_what_cannot_be_played_is_said_in_words_and_no_store_is_made(tmp_path: Path) -> None:
    store = tmp_path / "games.glasshouse"
    asked = {
        ("thousand-token-wood", "--models", MODELS): (3, "Nobody plays against anybody"),
        ("twenty-sprouts", "--models", "offline,offline:hasti"): (3, "Did you mean 'offline:hasty'?"),
        ("twenty-sprouts", "--models", "offline"): (3, "Name two or more"),
        ("twenty-sprout", "--models", MODELS): (3, "Did you mean"),
        ("twenty-sprouts",): (2, "Name two models"),
        ("twenty-sprouts", "--models", MODELS, "--rounds", "0"): (2, "--rounds"),
    }

    for words, (code, said) in asked.items():
        result = run("tournament", *words, "--store", str(store))
        assert (result.returncode, result.stdout) == (code, ""), words
        assert said in result.stderr, words
    assert not store.exists()


def test_a_leaderboard_of_nothing_says_what_to_do(tmp_path: Path) -> None:
    store = str(tmp_path / "games.glasshouse")
    run("play", "thousand-token-wood", "--turns", "1", "--store", store)

    assert "glasshouse play WORLD" in run("leaderboard", "--store", store).stdout
    assert "--models A,B" in run("leaderboard", "--by", "model", "--store", store).stdout
    assert objects("leaderboard", "--store", store) == []
    of_one = run("leaderboard", "--world", "mystery-roots", "--store", store)
    assert "glasshouse play mystery-roots" in of_one.stdout
    misspelt = run("leaderboard", "--world", "mystery-root", "--store", store)
    assert (misspelt.returncode, misspelt.stdout) == (3, "")
    assert "Did you mean 'mystery-roots'?" in misspelt.stderr


def test_on_a_terminal_the_leaderboard_is_a_table(tmp_path: Path) -> None:
    store = str(tmp_path / "games.glasshouse")
    run("play", "mystery-roots", "--store", store)

    code, shown = on_a_terminal("leaderboard", "--store", store)

    assert code == 0
    assert "hypothesis-former" in shown
    assert "no contest" in shown


def test_a_branch_does_not_double_a_result_unless_it_is_asked_for(tmp_path: Path) -> None:
    store = str(tmp_path / "played.glasshouse")
    run("play", "twenty-sprouts", "--pace", "fast", "--store", store)
    before = objects("leaderboard", "--store", store)
    run("branch", "last", "--at", "30", "--pace", "fast", "--store", store)

    after = objects("leaderboard", "--store", store)
    with_branches = objects("leaderboard", "--branches", "--store", store)
    shown = run("leaderboard", "--store", store).stdout

    assert {standing["branches_left_out"] for standing in before} == {0}
    assert after == [{**standing, "branches_left_out": 1} for standing in before]
    assert [standing["played"] for standing in with_branches] == [
        2 * standing["played"] for standing in before
    ]
    assert shown.endswith("1 branch is left out; --branches counts it, too.\n")
