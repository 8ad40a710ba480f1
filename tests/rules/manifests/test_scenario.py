"""`Scenario`: strict, a value, and its JSON leaves nothing to be guessed."""

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from glasshouse.manifests.editor_schema import FILES, editor_schemas, write_editor_schemas
from glasshouse.manifests.manifest import Manifest
from glasshouse.manifests.scenario import CastEntry, Deal, Scenario
from glasshouse.turns.moment.character import character_of
from glasshouse.turns.moment.playbill import playbill_of

ROOT = Path(__file__).resolve().parents[3]


def scenario(**fields: Any) -> Scenario:
    return Scenario.model_validate({"name": "lane", "cast": ["ada", "bo"], **fields})


def faults(**fields: Any) -> list[tuple[str, ...]]:
    with pytest.raises(ValidationError) as refusal:
        scenario(**fields)
    return [tuple(map(str, error["loc"])) for error in refusal.value.errors()]


def test_a_cast_alone_plays_on_one_stage() -> None:
    plain = scenario().as_json()

    assert plain["channels"] == {"stage": {"description": "", "history": "full"}}
    assert plain["cast"][0] == {
        "use": "ada",
        "handle": "ada",
        "privileged": False,
        "channels": {"listen": ["stage"], "send": ["stage"]},
        "wires": [],
    }
    assert plain["governor"] == {
        "max_turns": 100,
        "max_calls_per_turn": None,
        "max_total_calls": 500,
        "max_total_tokens": None,
        "hourly_budget_usd": None,
        "max_wall_minutes": None,
    }


def test_short_forms_and_mappings_say_the_same() -> None:
    short = scenario(cast=["ada", {"use": "bo", "wires": ["ada"]}], channels={"attic": "dust"})
    long = scenario(
        cast=[{"use": "ada", "handle": "ada"}, {"use": "bo", "wires": [{"to": "ada", "with_content": True}]}],
        channels={"attic": {"description": "dust", "history": "full"}},
    )

    assert short.as_json() == long.as_json()


def test_a_root_is_privileged_hears_everything_and_joins_the_cast_if_it_is_not_in_it() -> None:
    channels = {"attic": "", "cellar": ""}
    quiet = {"use": "ada", "channels": {"send": ["attic"]}}

    (listed,) = scenario(cast=[quiet], root="ada", channels=channels).stages["lane"].cast
    *_, joined = scenario(root="cy").stages["lane"].cast

    assert listed.privileged
    assert listed.channels is not None
    assert listed.channels.listen == ("attic", "cellar")
    assert listed.channels.send == ("attic",)
    assert (joined.use, joined.privileged) == ("cy", True)


def test_everybody_can_report_to_a_root() -> None:
    quiet = {"use": "ada", "channels": {"listen": ["stage"]}}
    loud = {"use": "bo", "channels": {"send": ["stage"]}}

    stage = scenario(cast=[quiet, loud, "cy"], root="cy").stages["lane"]
    without = scenario(cast=[quiet, loud, "cy"]).stages["lane"]
    ada, bo, cy = [entry.channels for entry in stage.cast if entry.channels is not None]

    assert tuple(stage.channels or ()) == ("stage", "reports")
    assert (ada.listen, ada.send) == (("stage",), ("reports",))
    assert (bo.listen, bo.send) == ((), ("stage",))
    assert (cy.listen, cy.send) == (("stage", "reports"), ("stage",))
    assert tuple(without.channels or ()) == ("stage",)


def test_each_troupe_may_have_a_root_and_the_scenarios_is_that_of_the_troupe_it_is_in() -> None:
    troupes = {"north": {"cast": ["ada"], "root": "bo"}, "south": {"cast": ["ada"]}, "west": {"cast": ["cy"]}}

    stages = Scenario.model_validate({"name": "lane", "root": "cy", "troupes": troupes}).stages

    assert {name: stage.root for name, stage in stages.items()} == {
        "north": "bo",
        "south": None,
        "west": "cy",
    }
    assert [entry.name for entry in stages["north"].cast if entry.privileged] == ["bo"]


def test_troupes_stand_in_place_of_a_cast_each_with_its_own_channels() -> None:
    two = Scenario.model_validate(
        {
            "name": "lane",
            "channels": {"road": ""},
            "troupes": {"north": {"cast": ["ada"], "channels": {"hill": ""}}, "south": {"cast": ["ada"]}},
        }
    )

    assert {name: tuple(troupe.channels or ()) for name, troupe in two.stages.items()} == {
        "north": ("hill",),
        "south": ("road",),
    }
    assert two.as_json()["troupes"]["north"]["cast"][0]["channels"]["send"] == ["hill"]


def test_its_json_makes_a_playbill_and_the_same_scenario_again() -> None:
    full = scenario(
        title="Lane",
        goal="g",
        kinds={"guess.made": {"word": "string", "sure": ["yes", "no"]}},
        deal={"word": {"to": "ada", "from": ["x", {"word": "y"}]}},
        competition={"kind": "versus", "teams": {"light": ["ada"], "dark": ["bo"]}, "referee": "r"},
        beats=[{"turn": 3, "text": "Wind."}],
        ends_when={"kind": "judge.verdict", "count": 2},
        governor={"on_turn_limit": "finish"},
        language="de",
    )

    playbill = playbill_of(full.as_json())

    assert playbill.kinds == {"guess.made": {"word": "string", "sure": ["yes", "no"]}}
    assert playbill.competition.may_win == ("light", "dark")
    assert (playbill.beats[0].turn, playbill.beats[0].title) == (3, "")
    assert (playbill.ends_when.kind, playbill.ends_when.count) == ("judge.verdict", 2)
    assert (full.limits.on_turn_limit, playbill.language) == ("finish", "de")
    assert json.loads(json.dumps(full.as_json())) == full.as_json()
    assert Scenario.model_validate(full.as_json()).as_json() == full.as_json()
    assert playbill_of(scenario().as_json()).ends_when.kind is None


def test_python_users_write_tuples_lists_and_models() -> None:
    built = Scenario(
        name="lane",
        cast=(CastEntry(use="ada"),),
        deal={"word": Deal(to=("ada",), source=("x",))},
        seeds=("s",),
    )

    assert built.opening == ""
    assert built.as_json()["deal"] == {
        "word": {"to": ["ada"], "from": ["x"], "odd_one": False, "may_say": False}
    }


@pytest.mark.parametrize(
    ("fields", "where"),
    [
        ({"colour": 1}, ("colour",)),
        ({"cast": [{"use": "ada", "hadle": "x"}]}, ("cast", "0", "hadle")),
        ({"cast": ["Ada!"]}, ("cast", "0", "use")),
        ({"cast": ["visitor"]}, ("cast", "0", "use")),
        ({"cast": [{"use": "ada", "handle": "nobody"}]}, ("cast", "0", "handle")),
        ({"cast": [{"use": "ada", "handle": "world"}]}, ("cast", "0", "handle")),
        ({"competition": {"teams": {"nobody": ["ada"]}}}, ("competition", "teams", "nobody", "[key]")),
        ({"competition": {"teams": {"light": []}}}, ("competition", "teams", "light")),
        ({"channels": {"No Way": ""}}, ("channels", "No Way", "[key]")),
        ({"governor": {"max_turns": "12"}}, ("governor", "max_turns")),
        ({"governor": {"max_turns": True}}, ("governor", "max_turns")),
        ({"governor": {"max_turns": 0}}, ("governor", "max_turns")),
        ({"governor": {"hourly_budget_usd": -1}}, ("governor", "hourly_budget_usd")),
        ({"seeds": "one"}, ("seeds",)),
        ({"seeds": {"one"}}, ("seeds",)),
        ({"kinds": {"guess": {}}}, ("kinds", "guess", "[key]")),
        ({"kinds": {"guess.made": {"word": "strin"}}}, ("kinds", "guess.made", "word")),
        ({"kinds": {"guess.made": {"word": [1]}}}, ("kinds", "guess.made", "word")),
        ({"deal": {"word": {"to": "ada", "from": []}}}, ("deal", "word", "from")),
        ({"deal": {"word": {"to": "ada"}}}, ("deal", "word", "from")),
        ({"ends_when": {}}, ("ends_when",)),
        ({"ends_when": {"kind": "judge.verdict", "referee": True}}, ("ends_when",)),
        ({"language": "English please"}, ("language",)),
        ({"cast": []}, ()),
        ({"troupes": {"north": {"cast": ["ada"]}}}, ()),
        ({"beats": [{"turn": 1}]}, ("beats", "0", "text")),
    ],
)
def test_what_does_not_hold_is_refused_at_its_field(fields: dict[str, Any], where: tuple[str, ...]) -> None:
    assert faults(**fields) == [where]


@pytest.mark.parametrize("player", ["visitor", "my_plays.owls:Owl", "owls:Owl"])
def test_a_creature_may_be_played_by_a_visitor_or_a_class(player: str) -> None:
    manifest = Manifest(name="ada", played_by=player)

    assert character_of(manifest.as_json()).played_by == player


@pytest.mark.parametrize("player", ["", "somebody", "owls.Owl", "owls:", ":Owl", "a b:C", "../owls:Owl"])
def test_a_malformed_player_is_refused_with_what_to_write(player: str) -> None:
    with pytest.raises(ValidationError, match=r"Write 'visitor', or a class as 'package\.module:Class'"):
        Manifest(name="ada", played_by=player)


def test_the_schema_files_for_editors_are_current(tmp_path: Path) -> None:
    write_editor_schemas(tmp_path)

    for file, text in editor_schemas().items():
        remedy = "run: python -m glasshouse.manifests.editor_schema docs/schema"
        assert (ROOT / "docs/schema" / file).read_text(encoding="utf-8") == text, remedy
        assert (tmp_path / file).read_text(encoding="utf-8") == text


@pytest.mark.parametrize("file", FILES)
def test_every_field_is_described(file: str) -> None:
    schema = json.loads(editor_schemas()[file])
    models = {file: schema, **schema["$defs"]}
    undescribed = [
        f"{name}.{field}"
        for name, model in models.items()
        for field, about in model.get("properties", {}).items()
        if not about.get("description")
    ]

    assert len(models) > 1
    assert undescribed == []
