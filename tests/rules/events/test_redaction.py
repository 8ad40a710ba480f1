"""Redaction: what a spectator, the audience and a director may read."""

import msgspec
import pytest
from msgspec.structs import replace

from glasshouse.events import kinds, payloads
from glasshouse.events.carried import Carried, CarriedRun, CarriedShape, CarriedTables
from glasshouse.events.codec import content_of
from glasshouse.events.described_tool import DescribedTool, GrantedTool
from glasshouse.events.event import Json, usage_in
from glasshouse.events.model_use import PromptDigests, Usage
from glasshouse.events.redaction import ADD_NODE, ROLES, Role, redacted
from glasshouse.manifests.manifest import Manifest, Voice
from glasshouse.manifests.scenario import CastEntry, Deal, Scenario, ToolServerPlan
from glasshouse.tools.group.requests import AddNode
from tests.rules.events.events_by_hand import A_LINE, a_call, an_event, asked
from tests.rules.events.golden_files import samples

SECRET = ["private", "sealed"]

READS: dict[Role, set[str]] = {
    "spectator": set(),
    "audience": {"private"},
    "director": {"private", "sealed"},
}


@pytest.mark.parametrize("role", ROLES)
def test_a_role_reads_exactly_its_own_share_of_what_is_not_public(role: Role) -> None:
    seen = redacted(A_LINE, role)

    assert {part for part in SECRET if getattr(seen, part) is not None} == READS[role]


@pytest.mark.parametrize("role", ROLES)
def test_everything_public_stays_as_it_is(role: Role) -> None:
    seen, whole = content_of(redacted(A_LINE, role)), content_of(A_LINE)

    assert seen.keys() | set(SECRET) == whole.keys()
    assert all(seen[field] == whole[field] for field in seen if field != "model")


@pytest.mark.parametrize("role", ["spectator", "audience"])
def test_everybody_reads_what_a_call_cost_and_only_a_director_what_was_said_in_it(role: Role) -> None:
    away = a_call(reached=False, error="http://10.0.0.7 refused", completion="")
    spoke = a_call(40, 0.5, completion="It is the fern.", reasoning="Moss listens.", model="small-7b")
    use = replace(asked(away, spoke), shown=PromptDigests("d3", "d4"), is_untrusted=True)

    seen = redacted(an_event(model=use), role)

    assert seen.model is not None
    assert usage_in([seen]) == usage_in([an_event(model=use)]) == Usage(1, 49, 0.5)
    assert [call.has_texts for call in seen.calls] == [False, False]
    assert [call.is_answered for call in seen.calls] == [False, True]
    assert seen.calls[1].milliseconds == 412.0
    text = msgspec.json.encode(seen.model).decode()
    assert [word for word in ("fern", "Moss", "10.0.0.7", "d1", "d2", "d3", "d4") if word in text] == []
    assert redacted(an_event(model=use), "director").model == use


@pytest.mark.parametrize("kind", sorted(kinds.MINDS))
@pytest.mark.parametrize("role", ["audience", "director"])
def test_audience_and_director_read_what_a_creature_thinks(role: Role, kind: str) -> None:
    thought = an_event(kind=kind, payload={"text": "It must be the fern."})

    assert redacted(thought, role).payload == {"text": "It must be the fern."}


@pytest.mark.parametrize("kind", sorted(kinds.MINDS))
def test_a_spectator_sees_that_a_creature_thought_and_not_what(kind: str) -> None:
    thought = an_event(kind=kind, payload={"text": "The fern.", "reason": "The fern.", "rests_on": ["s-1.1"]})

    seen = redacted(thought, "spectator")

    assert not any(seen.payload.values())
    assert (seen.id, seen.kind, seen.actor) == (thought.id, kind, "echo")


PERSONA = {
    "name": "echo",
    "role": "judge",
    "bio": "Keeps the echo.",
    "persona": "A thief.",
    "wants": "The key.",
    "voice": {"examples": ["Hush."]},
    "may_emit": ["agent.spoke"],
    "subscribes_to": [],
}
PUBLIC = {"name": "echo", "role": "judge", "bio": "Keeps the echo."}
WITH_A_MANIFEST: dict[str, tuple[Json, Json]] = {
    kinds.CREATURE_STARTED: ({"handle": "echo", "manifest": PERSONA}, {"handle": "echo", "manifest": PUBLIC}),
    kinds.RUN_STARTED: (
        {"seed": "x", "spawnable": {"echo": PERSONA}},
        {"seed": "x", "spawnable": {"echo": PUBLIC}},
    ),
    kinds.SESSION_FORKED: (
        {"session": "s-1", "change": {"drop": True, "add": [PERSONA], "personas": {"bo": "A spy."}}},
        {"session": "s-1", "change": {"drop": True, "add": [PUBLIC], "personas": {"bo": ""}}},
    ),
}


@pytest.mark.parametrize("kind", sorted(WITH_A_MANIFEST))
def test_a_spectator_reads_handle_role_and_bio_of_a_creature(kind: str) -> None:
    whole, public = WITH_A_MANIFEST[kind]
    event = an_event(kind=kind, payload=whole)

    assert redacted(event, "spectator").payload == public
    assert redacted(event, "audience").payload == redacted(event, "director").payload == whole


def test_a_start_without_a_manifest_stays_as_it_is() -> None:
    again = an_event(kind=kinds.CREATURE_STARTED, payload={"handle": "echo"})

    assert redacted(again, "spectator").payload == {"handle": "echo"}


@pytest.mark.parametrize("role", ["spectator", "audience"])
def test_the_details_of_a_failure_are_the_directors(role: Role) -> None:
    trace = "KeyError in /home/ada/mind.py, line 12"
    act = an_event(
        kind=kinds.AGENT_FAILED, payload={"reason": trace, "attempts": 2, "file": "/home/ada/mind.py"}
    )
    tool = an_event(kind=kinds.TOOL_RETURNED, payload={"tool": "find", "is_ok": False, "text": trace})
    ours = an_event(
        kind=kinds.TOOL_RETURNED, payload={"is_ok": False, "text": "Not here.", "is_engine": True}
    )

    assert redacted(act, role).payload == {"reason": "The act failed.", "attempts": 2}
    assert redacted(tool, role).payload == {"tool": "find", "is_ok": False, "text": "The tool failed."}
    assert redacted(ours, role).payload == ours.payload
    assert redacted(act, "director") == act


@pytest.mark.parametrize("role", ["spectator", "audience"])
def test_everybody_reads_which_rule_refused_a_draft_and_no_word_of_the_draft(role: Role) -> None:
    failed = {"reason": "ada may not emit secret.plan.", "attempts": 1}
    refused = an_event(kind=kinds.AGENT_FAILED, payload={**failed, "rule": "kind"})
    forged = an_event(kind=kinds.AGENT_FAILED, payload={**failed, "rule": "The word is moss."})

    once = redacted(refused, role)

    words = "The draft was refused: it may not emit a line of that kind."
    assert once.payload == {"reason": words, "attempts": 1, "rule": "kind"}
    assert redacted(once, role) == once
    assert redacted(refused, "director") == refused
    assert redacted(forged, role).payload == {"reason": "The act failed.", "attempts": 1}


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
def test_why_a_model_was_not_reached_is_the_directors_and_why_somebody_paused_is_public(role: Role) -> None:
    away = an_event(kind=kinds.RUN_PAUSED, payload={"reason": "http://10.0.0.7 is away.", "is_outage": True})
    asked_for = an_event(kind=kinds.RUN_PAUSED, payload={"reason": "Back at eight."})

    assert redacted(away, role).payload == {"reason": "A model was not reached.", "is_outage": True}
    assert redacted(asked_for, role).payload == {"reason": "Back at eight."}


@pytest.mark.parametrize("kind", [kinds.TOOL_CALLED, kinds.EDIT_PROPOSED])
def test_a_spectator_does_not_read_what_a_model_writes_into_a_manifest(kind: str) -> None:
    arguments = {"handle": "eve", "role": "gardener", "persona": "A spy.", "wants": "The key."}
    written = an_event(kind=kind, payload={"tool": "group_add_node", "arguments": arguments, "number": 1})
    others = an_event(kind=kind, payload={"tool": "paint", "arguments": {"persona": "ada"}, "number": 1})

    assert redacted(written, "spectator").payload["arguments"] == {"handle": "eve", "role": "gardener"}
    assert redacted(written, "audience").payload["arguments"] == arguments
    assert redacted(others, "spectator").payload == others.payload


@pytest.mark.parametrize("kind", sorted(samples()))
def test_every_kind_is_cut_the_same_however_often_and_in_whatever_order(kind: str) -> None:
    event = samples()[kind]

    for index, smaller in enumerate(ROLES):
        for larger in ROLES[index:]:
            assert redacted(redacted(event, larger), smaller) == redacted(event, smaller)


@pytest.mark.parametrize("kind", sorted(samples()))
def test_no_kind_shows_a_spectator_a_persona_or_a_thought(kind: str) -> None:
    event = samples()[kind]

    seen = msgspec.json.encode(redacted(event, "spectator")).decode()

    assert [field for field in ('"persona"', '"wants"', '"voice"', '"thought"') if field in seen] == []


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


@pytest.mark.parametrize("role", ["spectator", "audience"])
def test_only_a_director_reads_where_a_world_was_on_the_disk(role: Role) -> None:
    payload = {"recipe": {"path": "/home/ada/secret/wood", "digest": "0011"}, "goal": "Talk."}
    started = an_event(kind=kinds.RUN_STARTED, payload=payload)

    assert redacted(started, role).payload == {**payload, "recipe": {"path": "", "digest": "0011"}}
    assert redacted(started, "director").payload == payload


@pytest.mark.parametrize("role", ["spectator", "audience"])
def test_how_a_worlds_tool_servers_are_reached_is_for_directors(role: Role) -> None:
    servers = {"weather": {"command": ["python", "/home/me/weather.py"], "url": None, "variables": []}}
    started = replace(
        A_LINE, kind=kinds.RUN_STARTED, payload={"scenario": {"name": "w", "tool_servers": servers}}
    )

    read = redacted(started, role).payload

    assert read["scenario"] == {"name": "w"}
    assert redacted(started, "director").payload["scenario"]["tool_servers"] == servers


# Payloads are made of their structs here. Redaction knows fields by their names: if one is renamed, these tests cannot
# make it, and once they can, the secret is in what a role reads.

HIDDEN = "the-fern"
HIDDEN_MANIFEST = Manifest(name="echo", persona=HIDDEN, wants=HIDDEN, voice=Voice(examples=(HIDDEN,)))
HIDDEN_TOOL = DescribedTool("weather/forecast", HIDDEN, {"title": HIDDEN}, True, "d")
HIDDEN_ARGUMENTS = msgspec.to_builtins(AddNode(handle="eve", persona=HIDDEN, wants=HIDDEN))

FOR_DIRECTORS: dict[str, payloads.Payload] = {
    kinds.RUN_STARTED: payloads.RunStarted(
        recipe=payloads.Recipe(path=HIDDEN, digest="d"),
        scenario=Scenario(
            name="w",
            cast=(CastEntry(use="echo"),),
            deal={"word": Deal(to=("echo",), source=(HIDDEN, "moss"))},
            tool_servers={"weather": ToolServerPlan(command=("python", HIDDEN))},
        ).as_json(),
    ),
    kinds.SESSION_RESTATED: payloads.SessionRestated(
        session="s-1",
        creatures={},
        places={},
        runs={},
        carried=Carried(
            shape=CarriedShape(name="w", turn=1),
            tables=CarriedTables(dealt={"echo": {"word": HIDDEN}}),
            runs={"r-1": CarriedRun(truth={"word": HIDDEN})},
        ),
    ),
    kinds.AGENT_FAILED: payloads.AgentFailed(
        reason=HIDDEN, attempts=1, fault=payloads.Fault(exception=HIDDEN, file=HIDDEN, line=1)
    ),
    kinds.TOOL_RETURNED: payloads.ToolReturned(
        tool="find", number=1, is_ok=False, text=HIDDEN, result={"found": HIDDEN}
    ),
    kinds.RUN_PAUSED: payloads.RunPaused(reason=HIDDEN, is_outage=True, backend=HIDDEN),
}
FOR_THE_AUDIENCE: dict[str, payloads.Payload] = {
    kinds.CREATURE_STARTED: payloads.CreatureStarted(
        creature="echo",
        handle="echo",
        cast_key="echo",
        manifest_digest="d",
        manifest=HIDDEN_MANIFEST.as_json(),
        may_spawn={"echo": HIDDEN_MANIFEST.as_json()},
        granted=[GrantedTool(HIDDEN_TOOL, HIDDEN_TOOL)],
    ),
    kinds.RUN_STARTED: payloads.RunStarted(spawnable={"echo": HIDDEN_MANIFEST.as_json()}),
    kinds.SESSION_FORKED: payloads.SessionForked(
        session="s-1",
        parents=[],
        how="branch",
        at="s-1.1",
        change=payloads.BranchChange(personas={"bo": HIDDEN}, add=[HIDDEN_MANIFEST.as_json()]),
    ),
    kinds.AGENT_PASSED: payloads.ActEnd(reason=HIDDEN),
    kinds.TOOL_CALLED: payloads.ToolCalled(tool=ADD_NODE, arguments=HIDDEN_ARGUMENTS, number=1),
    kinds.EDIT_PROPOSED: payloads.EditProposed(
        tool=ADD_NODE, arguments=HIDDEN_ARGUMENTS, number=1, why="It asked."
    ),
    kinds.TOOL_CHANGED: payloads.ToolChanged(tool=HIDDEN_TOOL, creatures=["echo"]),
}


@pytest.mark.parametrize("kind", sorted(FOR_DIRECTORS))
def test_what_only_a_director_reads_is_hidden_under_the_names_that_payloads_have(kind: str) -> None:
    event = an_event(kind=kind, payload=payloads.builtins_of(FOR_DIRECTORS[kind]))

    reads = [role for role in ROLES if HIDDEN in str(redacted(event, role).payload)]

    assert reads == ["director"]


@pytest.mark.parametrize("kind", sorted(FOR_THE_AUDIENCE))
def test_what_a_spectator_does_not_read_is_hidden_under_the_names_that_payloads_have(kind: str) -> None:
    event = an_event(kind=kind, payload=payloads.builtins_of(FOR_THE_AUDIENCE[kind]))

    reads = [role for role in ROLES if HIDDEN in str(redacted(event, role).payload)]

    assert reads == ["audience", "director"]


@pytest.mark.parametrize(
    ("models", "name"),
    [
        ("/home/ada/shows/models.yaml", "models.yaml"),
        ("C:\\Users\\ada\\models.yaml", "models.yaml"),
        ("local:/home/ada/files/oak-3b.gguf", "local:oak-3b.gguf"),
        ("local:C:\\files\\oak-3b.gguf", "local:oak-3b.gguf"),
        ("local:oak/tall:3b", "local:oak/tall:3b"),
        ("ollama:hub.example/ada/oak:3b", "ollama:hub.example/ada/oak:3b"),
        ("http://127.0.0.1:8080/v1#oak/3b", "http://127.0.0.1:8080/v1#oak/3b"),
        ("local", "local"),
    ],
)
def test_only_a_director_reads_in_which_folder_the_models_of_a_run_were(models: str, name: str) -> None:
    started = an_event(kind=kinds.RUN_STARTED, payload={"models": models})

    assert redacted(started, "director").payload["models"] == models
    roles: tuple[Role, ...] = ("spectator", "audience")
    for role in roles:
        seen = redacted(started, role)
        assert seen.payload["models"] == name
        assert redacted(seen, role) == seen
