"""Redaction: what a spectator, the audience and a director may read."""

import pytest

from glasshouse.events import kinds
from glasshouse.events.codec import content_of
from glasshouse.events.event import Json
from glasshouse.events.redaction import ROLES, Role, redacted
from tests.rules.events.events_by_hand import A_LINE, an_event

SECRET = ["private", "sealed", "model"]

READS: dict[Role, set[str]] = {
    "spectator": set(),
    "audience": {"private"},
    "director": {"private", "sealed", "model"},
}


@pytest.mark.parametrize("role", ROLES)
def test_a_role_reads_exactly_its_own_share_of_what_is_not_public(role: Role) -> None:
    seen = redacted(A_LINE, role)

    assert {part for part in SECRET if getattr(seen, part) is not None} == READS[role]


@pytest.mark.parametrize("role", ROLES)
def test_everything_public_stays_as_it_is(role: Role) -> None:
    seen, whole = content_of(redacted(A_LINE, role)), content_of(A_LINE)

    assert seen.keys() | set(SECRET) == whole.keys()
    assert all(seen[field] == whole[field] for field in seen)


@pytest.mark.parametrize("role", ["audience", "director"])
def test_audience_and_director_read_a_thought(role: Role) -> None:
    thought = an_event(kind=kinds.AGENT_THOUGHT, payload={"text": "It must be the fern."})

    assert redacted(thought, role).payload == {"text": "It must be the fern."}


def test_a_spectator_sees_that_a_creature_thought_and_not_what() -> None:
    thought = an_event(kind=kinds.AGENT_THOUGHT, payload={"text": "It must be the fern."})

    seen = redacted(thought, "spectator")

    assert seen.payload == {}
    assert (seen.id, seen.kind, seen.actor) == (thought.id, kinds.AGENT_THOUGHT, "echo")


@pytest.mark.parametrize("role", ROLES)
def test_redacting_leaves_the_event_itself_whole_and_its_position_in_place(role: Role) -> None:
    event = an_event(position=12)

    seen = redacted(event, role)

    assert event == an_event(position=12)
    assert seen.position == 12
    assert redacted(seen, role) == seen


def test_a_smaller_role_never_reads_more_after_a_larger_one_has_cut() -> None:
    for larger, smaller in (("director", "audience"), ("audience", "spectator"), ("director", "spectator")):
        cut_twice = redacted(redacted(A_LINE, larger), smaller)  # type: ignore[arg-type]

        assert cut_twice == redacted(A_LINE, smaller)  # type: ignore[arg-type]


@pytest.mark.parametrize("role", ["spectator", "audience"])
def test_what_was_dealt_is_sealed_in_a_past_that_lives_again(role: Role) -> None:
    carried = {
        "shape": {"name": "moss", "turn": 2},
        "tables": {"missed": {"c-1": {"bo": 1}}, "dealt": {"bo": {"word": "fern"}}},
        "runs": {"r-1": {"usage": {"calls": 3}, "truth": {"word": "fern"}}},
    }
    names: Json = {"creatures": {}, "places": {}, "runs": {}}
    payload = {"session": "s-1", **names, "carried": carried}
    restated = an_event(kind=kinds.SESSION_RESTATED, payload=payload)

    seen = redacted(restated, role)

    assert "fern" not in str(seen.payload)
    kept = seen.payload["carried"]
    assert (kept["tables"], kept["runs"]) == (
        {"missed": {"c-1": {"bo": 1}}},
        {"r-1": {"usage": {"calls": 3}}},
    )
    assert redacted(restated, "director").payload["carried"] == carried


DEALT = {
    "word": {"to": "echo", "from": [["moss", "fern"]], "odd_one": True},
    "day": {"to": "echo", "from": "days.txt"},
}


@pytest.mark.parametrize("role", ["spectator", "audience"])
def test_cards_that_a_scenario_lists_are_as_sealed_as_the_one_that_is_dealt(role: Role) -> None:
    started = an_event(
        kind=kinds.RUN_STARTED, payload={"scenario": {"name": "w", "deal": DEALT}, "seed": "x"}
    )

    seen = redacted(started, role)

    assert seen.payload["scenario"]["deal"] == {
        "word": {"to": "echo", "odd_one": True},
        "day": {"to": "echo", "from": "days.txt"},
    }
    assert (seen.payload["scenario"]["name"], seen.payload["seed"]) == ("w", "x")
    assert redacted(started, "director") == started
    assert redacted(seen, role) == seen


@pytest.mark.parametrize("scenario", [None, "w", {}, {"deal": None}, {"deal": {"word": 3}}])
def test_a_start_without_decks_stays_as_it_is(scenario: object) -> None:
    started = an_event(kind=kinds.RUN_STARTED, payload={"scenario": scenario})

    assert redacted(started, "audience").payload == started.payload
