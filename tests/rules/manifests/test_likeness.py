"""`like`: a creature that says only what is different from another."""

from pathlib import Path

import pytest

from glasshouse.errors import BadWorld
from glasshouse.manifests.loading import load_creature, load_world, problems_in, read_texts
from glasshouse.manifests.manifest import Manifest
from glasshouse.manifests.texts import texts_of
from glasshouse.manifests.world_files import files_of
from glasshouse.packs.packing import packed_world

OWL = """\
name: owl
title: The Owl
bio: Sees everything.
persona: Old and exact.
cares_about: [mice, moonlight]
voice: {examples: [Hoo.], say_words_max: 30}
schedule: {tick_every: 2}
tools: [dice]
"""
COUSIN = "name: cousin\nlike: owl\ncares_about: [mice]\nvoice: {say_words_max: 12}\ntools: []\n"


def wood(folder: Path, **creatures: str) -> Path:
    world = folder / "wood"
    (world / "creatures").mkdir(parents=True)
    files = {"owl": OWL, "cousin": COUSIN} | creatures
    cast = ", ".join(files)
    (world / "scenario.yaml").write_text(f"name: wood\ngoal: Talk.\ncast: [{cast}]\n")
    for name, text in files.items():
        (world / "creatures" / f"{name}.yaml").write_text(text)
    return world


def test_a_creature_has_the_fields_of_the_one_it_is_like_where_it_says_nothing_else(tmp_path: Path) -> None:
    cousin = load_world(wood(tmp_path)).manifests["cousin"]

    assert cousin == Manifest(
        name="cousin",
        persona="Old and exact.",
        cares_about=["mice"],
        voice={"examples": ("Hoo.",), "say_words_max": 12},
        schedule={"tick_every": 2},
    )
    assert "like" not in cousin.as_json()


def test_likeness_goes_on_from_one_to_the_next(tmp_path: Path) -> None:
    world = wood(tmp_path, chick="name: chick\nlike: cousin\npersona: Small.\n")

    chick = load_world(world).manifests["chick"]

    assert (chick.persona, chick.cares_about, chick.voice.say_words_max) == ("Small.", ("mice",), 12)
    assert load_creature(world / "creatures/chick.yaml") == chick


def test_a_change_of_the_other_changes_the_world(tmp_path: Path) -> None:
    world = wood(tmp_path)
    before = load_world(world).digest
    texts = texts_of(world)
    edited = texts | {"creatures/owl.yaml": texts["creatures/owl.yaml"].replace("exact", "vague")}

    (loaded, problems) = read_texts(world, edited)

    assert problems == []
    assert loaded is not None
    assert loaded.digest != before
    assert loaded.manifests["cousin"].persona == "Old and vague."


@pytest.mark.parametrize(
    ("creatures", "words"),
    [
        ({"cousin": "name: cousin\nlike: owll\n"}, "cousin.yaml:2:7: like: no creature of this world is called 'owll'. Did you mean 'owl'?"),
        ({"cousin": "name: cousin\nlike: cousin\n"}, "cousin.yaml:2:7: like: 'cousin' is like 'cousin': this goes round in a circle."),
        ({"cousin": "name: cousin\nlike: chick\n", "chick": "name: chick\nlike: cousin\n"}, "chick.yaml:2:7: like: 'chick' is like 'cousin' is like 'chick': this goes round"),
        ({"cousin": "name: cousin\nlike: [owl]\n"}, "cousin.yaml:2:7: like: this should be the name of another creature."),
        ({"owl": "name: owl\n : [\n"}, "cousin.yaml:2:7: like: the file of 'owl' cannot be read. Correct it first."),
        ({"owl": OWL.replace("tick_every: 2", "tick_every: 0")}, "cousin.yaml:2:7: schedule.tick_every: this is too small."),
    ],
)  # fmt: skip
def test_a_likeness_that_leads_nowhere_is_refused_with_its_line(
    tmp_path: Path, creatures: dict[str, str], words: str
) -> None:
    world = wood(tmp_path, **creatures)

    assert words in "\n".join(map(str, problems_in(world)))
    with pytest.raises(BadWorld):
        load_world(world)


def test_a_scenario_of_its_own_is_packed_with_those_that_its_creatures_are_like(tmp_path: Path) -> None:
    for name, text in {"owl": OWL, "cousin": COUSIN, "other": "name: other\n"}.items():
        (tmp_path / f"{name}.yaml").write_text(text)
    (tmp_path / "night.yaml").write_text("goal: Talk.\ncast: [cousin]\n")

    world = load_world(tmp_path / "night.yaml")

    assert files_of(world).packed == ("cousin.yaml", "night.yaml", "owl.yaml")
    assert sorted(packed_world(world).files) == [
        "creatures/cousin.yaml",
        "creatures/owl.yaml",
        "scenario.yaml",
    ]
