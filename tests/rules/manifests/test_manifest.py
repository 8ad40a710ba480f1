"""`Manifest`: strict, a value, and its digest names its content."""

from typing import Any

import pytest
from pydantic import ValidationError

from glasshouse.events import kinds
from glasshouse.manifests.manifest import Manifest, Schedule, Voice
from tests.rules.under_hash_seeds import printed_under_hash_seeds

FULL: dict[str, Any] = {
    "name": "clue-gatherer",
    "role": "judge",
    "persona": "Looks twice.",
    "wants": "the word",
    "cares_about": ["clues", "quiet"],
    "temper": "dry",
    "voice": {"examples": ["Hm."], "never": ["shouts"], "say_words_max": 12},
    "subscribes_to": ["agent.spoke", "question.asked"],
    "may_emit": ["agent.spoke", "judge.verdict"],
    "schedule": {"tick_every": 2, "together": True},
    "model_profile": "tiny",
    "memory": {"window": 3},
    "tools": ["group_status"],
    "reply": "prose",
}


@pytest.mark.parametrize(
    ("where", "manifest"),
    [
        ("colour", {"name": "ada", "colour": "green"}),
        ("voice.colour", {"name": "ada", "voice": {"colour": "green"}}),
        ("schedule.every", {"name": "ada", "schedule": {"every": 2}}),
        ("memory.size", {"name": "ada", "memory": {"size": 2}}),
    ],
)
def test_an_unknown_field_is_refused_and_its_place_named(where: str, manifest: dict[str, Any]) -> None:
    with pytest.raises(ValidationError) as refusal:
        Manifest.model_validate(manifest)

    (error,) = refusal.value.errors()
    assert ".".join(map(str, error["loc"])) == where
    assert error["type"] == "extra_forbidden"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("role", "boss"),
        ("model_profile", "huge"),
        ("reply", "xml"),
        ("schedule", {"tick_every": 0}),
        ("memory", {"window": -1}),
        ("voice", {"say_words_max": 0}),
        ("voice", {"say_words_max": 2**70}),
        ("memory", {"window": 2**70}),
        ("subscribes_to", "agent.spoke"),
        ("may_emit", "agent.spoke"),
        ("persona", 7),
    ],
)
def test_a_value_out_of_bounds_is_refused_and_its_field_named(field: str, value: object) -> None:
    with pytest.raises(ValidationError) as refusal:
        Manifest.model_validate({"name": "ada", field: value})

    assert refusal.value.errors()[0]["loc"][0] == field


def test_a_name_alone_makes_a_worker_that_hears_and_speaks() -> None:
    plain = Manifest(name="ada")

    assert plain.role == "worker"
    assert plain.may_emit == ("agent.spoke",)
    assert plain.subscribes_to == ("agent.spoke",)
    assert plain.schedule.tick_every is None
    assert plain.model_profile == "fast"
    assert plain.memory.window is None
    assert plain.voice.say_words_max == 40
    assert plain.tools == ()
    assert plain.reply == "auto"


@pytest.mark.parametrize(
    ("given", "heard"),
    [
        ({}, ("agent.spoke",)),
        ({"subscribes_to": []}, ()),
        ({"subscribes_to": ["question.asked"]}, ("question.asked",)),
        ({"schedule": {"tick_every": 1}}, ()),
        ({"schedule": Schedule(tick_every=1)}, ()),
        ({"schedule": {"tick_every": 1}, "subscribes_to": ["agent.spoke"]}, ("agent.spoke",)),
        ({"schedule": {}}, ("agent.spoke",)),
        ({"schedule": Schedule()}, ("agent.spoke",)),
        ({"schedule": {"tick_every": None}}, ("agent.spoke",)),
        ({"schedule": {"together": True}}, ("agent.spoke",)),
    ],
)
def test_a_creature_that_nothing_would_wake_hears_what_is_said(
    given: dict[str, Any], heard: tuple[str, ...]
) -> None:
    assert Manifest.model_validate({"name": "ada", **given}).subscribes_to == heard


@pytest.mark.parametrize("kind", sorted(kinds.NEVER_GRANTED))
def test_no_kind_that_creatures_never_write_can_be_granted(kind: str) -> None:
    with pytest.raises(ValidationError, match=f"only the engine writes {kind}; remove it"):
        Manifest(name="ada", may_emit=("agent.spoke", kind))


def test_kinds_of_the_engine_can_be_heard() -> None:
    assert Manifest(name="ada", subscribes_to=(kinds.TOPOLOGY_CHANGED,)).subscribes_to == (
        "topology.changed",
    )


@pytest.mark.parametrize("field", ["subscribes_to", "may_emit"])
@pytest.mark.parametrize("kind", ["agent", "Agent.spoke", "agent.spoke\n", "a-b.c"])
def test_a_malformed_kind_is_refused_with_an_example(field: str, kind: str) -> None:
    with pytest.raises(ValidationError, match=r"is not an event kind\. Write two or more lower-case words"):
        Manifest.model_validate({"name": "ada", field: [kind]})


@pytest.mark.parametrize("name", ["conductor", "terrarium", "visitor", "Ada", "ada~2", "", "a b", "a" * 65])
def test_a_name_that_is_reserved_or_malformed_is_refused_in_words(name: str) -> None:
    with pytest.raises(ValidationError) as refusal:
        Manifest(name=name)

    assert "lower-case letters" in str(refusal.value) or "Choose another" in str(refusal.value)


def test_a_manifest_cannot_be_changed() -> None:
    manifest = Manifest(name="ada")

    with pytest.raises(ValidationError, match="frozen"):
        setattr(manifest, "persona", "Someone else.")  # noqa: B010 (the type checker would refuse the assignment)
    with pytest.raises(ValidationError, match="frozen"):
        setattr(manifest.voice, "say_words_max", 1)  # noqa: B010

    assert manifest == Manifest(name="ada")


@pytest.mark.parametrize("given", [{"name": "ada"}, {"name": "ada", "subscribes_to": []}, FULL])
def test_a_manifest_comes_back_from_its_json_with_the_same_digest(given: dict[str, Any]) -> None:
    manifest = Manifest.model_validate(given)

    back = Manifest.model_validate(manifest.as_json())

    assert back == manifest
    assert back.digest == manifest.digest


def test_what_is_at_its_default_takes_no_room_save_the_two_lists_the_world_reads() -> None:
    assert Manifest(name="ada").as_json() == {
        "name": "ada",
        "may_emit": ["agent.spoke"],
        "subscribes_to": ["agent.spoke"],
    }
    assert Manifest.model_validate(FULL).as_json() == FULL


def test_the_digest_does_not_hang_on_how_the_manifest_was_written() -> None:
    written_out = Manifest(name="ada", persona="", voice=Voice(), may_emit=("agent.spoke",))
    turned_round = Manifest.model_validate(dict(reversed(FULL.items())))

    assert written_out.digest == Manifest(name="ada").digest
    assert turned_round.digest == Manifest.model_validate(FULL).digest


@pytest.mark.parametrize("field", [field for field in FULL if field != "name"])
def test_every_field_is_in_the_digest(field: str) -> None:
    without = Manifest.model_validate({name: value for name, value in FULL.items() if name != field})

    assert without.digest != Manifest.model_validate(FULL).digest


def test_the_digest_is_what_it_always_was() -> None:
    assert Manifest(name="ada").digest == "45a2d40ad0053fab"
    assert Manifest.model_validate(FULL).digest == "640ddaffe6a7d260"


def test_hash_seeds_do_not_show_in_the_digest() -> None:
    program = """
from glasshouse.manifests.manifest import Manifest
print(Manifest(name="ada", cares_about=("a", "b", "c"), may_emit=("x.y", "a.b")).digest)
"""

    assert len(printed_under_hash_seeds(program)) == 1
