"""The labels that contestants wear before a judge: in every part of its prompt, and off again in what it says."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from glasshouse.events import kinds
from glasshouse.events.event import Draft
from glasshouse.turns.moment.character import Character, Voice
from glasshouse.turns.moment.line_text import compact_json
from glasshouse.turns.moment.masks import Masks, Seat, masks_of, seats_of
from glasshouse.turns.moment.moment import Around, Moment, Neighbour, Recent
from glasshouse.turns.moment.playbill import Competition, Playbill
from glasshouse.turns.moment.tools import ToolAnswer, ToolCall, ToolOffer, ToolTalk
from glasshouse.turns.prompts.context import prompt_for, repair_prompt
from glasshouse.turns.replies.reply import Passed, Problem, draft_from
from tests.rules.turns.moments_by_hand import a_moment, said

EVENTS = (
    said(1, "conductor", "The night-moth and the fern sit down.", kinds.WORLD_OBSERVED),
    said(2, "moth-id", "FERN never listens; Night Moth does."),
    said(3, "fern-id", "Who, night-moth?", "vote.cast", who="night-moth", cites=["s-00112233445566aa.2"]),
    said(4, "conductor", "Moths are about, fernlike ones.", kinds.WORLD_OBSERVED),
)
BILL = Playbill(
    goal="The lamps and the weeds quarrel.",
    kinds={"vote.cast": {"who": ["night-moth", "fern"], "text": "string"}},
    competition=Competition("versus", {"lamps": ("night-moth",), "weeds": ("fern",)}),
)
JUDGE = Character(
    name="owl",
    role="judge",
    persona="The owl hears the night-moth and the weeds.",
    may_emit=("judge.verdict", "vote.cast"),
    voice=Voice(("Fern, be brief.",), ("side with the lamps",)),
)
AROUND = Around(
    ("stage",),
    ("stage",),
    (Neighbour("night-moth", "worker", ("stage",)), Neighbour("fern", "worker", ("stage",))),
    2,
    ("fern",),
    ("night-moth",),
)


def _masks(rng_seed: int = 0) -> Masks:
    masks = masks_of(seats_of(BILL.competition, lambda handle: (handle,)), rng_seed)
    assert masks is not None
    return masks


def _before_the_owl(masks: Masks | None, **changes: Any) -> Moment:
    return a_moment(
        EVENTS,
        creature_id="owl-id",
        handle="owl",
        handles={"owl-id": "owl", "moth-id": "night-moth", "fern-id": "fern"},
        character=JUDGE,
        playbill=BILL,
        around=AROUND,
        masks=masks,
        known={"tip": "Watch the fern."},
        **changes,
    )


def test_no_part_of_a_judges_prompt_names_a_contestant() -> None:
    masks = _masks()
    prompt = prompt_for(_before_the_owl(masks))
    again = repair_prompt(prompt, '{"kind": "x"}', "It is no kind.")

    for text in (prompt.system, prompt.user, again.user, str(prompt.schema)):
        assert re.search(r"(?i)\b(night[- ]moth|fern|lamps|weeds)\b", text) is None, text
    moth, fern = masks.label_of("night-moth"), masks.label_of("fern")
    assert f'{moth} (cast, agent.spoke): "{fern} never listens; {moth} does."' in prompt.user
    assert '"Moths are about, fernlike ones."' in prompt.user
    assert f"With you: {moth} (worker, on stage), {fern} (worker, on stage).\n" in prompt.user
    assert f"{moth[:1].upper()}{moth[1:]} and {fern} quarrel." in prompt.system
    assert '"winner": one of contestant A, contestant B, nobody.' in prompt.system


def test_no_name_shows_in_channels_keys_emphasis_or_what_tools_say() -> None:
    masks = _masks()
    heard = (
        said(
            1,
            "moth-id",
            "_fern_ lies--Night Moth--said *fern*-",
            "vote.cast",
            tally={"night-moth": {"fern": 2}},
        ),
    )
    around = Around(
        ("night-moth-owl",), ("fern-owl",), (Neighbour("fern", "worker", ("fern-owl", "stage")),), 1
    )
    offer = ToolOffer(
        "group_channel",
        "Join.",
        {
            "type": "object",
            "properties": {"channel": {"type": "string", "description": "open now: stage, fern-owl"}},
            "required": ["channel"],
        },
    )
    answer = ToolAnswer(is_ok=True, text="fern (worker) is on fern-owl.", is_engine=True)
    moment = replace(
        _before_the_owl(masks, tools=(offer,), talk=(ToolTalk("x", {"channel": "fern-owl"}, answer),)),
        heard=Recent.of(heard),
        around=around,
        known={"fern": 3},
    )

    prompt = prompt_for(moment)
    call = draft_from(
        f'{{"kind":"tool.called","thought":"","tool":"group_channel","arguments":{{"channel":"{masks.label_of("fern")}-owl"}}}}',
        moment,
    )

    for text in (prompt.system, prompt.user):
        assert re.search(r"(?i)(night[-_ ]moth|fern(?!like))", text) is None, text
    assert isinstance(call, ToolCall)
    assert call.arguments == {"channel": "fern-owl"}


@pytest.mark.parametrize(
    "written",
    [
        "night\u2011moth",
        "Night\u2010Moth",
        "night\u2013moth",
        "night\u00admoth",
        "night  moth",
        "NightMoth",
        "nightmoth",
        "night-moths",
        "n\u0131ght-moth",
    ],
)
def test_no_other_dash_blank_or_plural_shows_who_it_is(written: str) -> None:
    masks = _masks()

    covered = masks.over_talk(f"I say {written}, and {written}!")

    assert covered == f"I say {masks.label_of('night-moth')}, and {masks.label_of('night-moth')}!"


@pytest.mark.parametrize("other", ["moth", "night", "tonight-moth", "night-mothering", "the night, moth"])
def test_what_is_no_name_stays_as_it_is(other: str) -> None:
    assert _masks().over_talk(f"I say {other}.") == f"I say {other}."


def test_a_contestant_may_be_called_as_the_words_of_a_schema_are() -> None:
    names = ("string", "object", "creature", "boolean", "fern")
    competition = Competition("judged", contestants=names)
    masks = masks_of(seats_of(competition, lambda handle: (handle,)), 0)
    assert masks is not None
    parameters = {
        "type": "object",
        "properties": {"creature": {"enum": list(names)}, "is_on": {"type": "boolean"}},
        "required": ["creature"],
    }
    moment = replace(
        _before_the_owl(masks, tools=(ToolOffer("lamp", "Turn it.", parameters),)),
        playbill=Playbill(
            kinds={"vote.cast": {"text": "string", "is_on": "boolean", "who": list(names)}},
            competition=competition,
        ),
        around=Around(),
    )

    schema = compact_json(prompt_for(moment).schema)
    call = draft_from(
        f'{{"kind":"tool.called","thought":"","tool":"lamp","arguments":{{"creature":"{masks.label_of("object")}","is_on":true}}}}',
        moment,
    )

    assert '"is_on":{"type":"boolean"}}' in schema
    assert '"required":["creature"]' in schema
    assert isinstance(call, ToolCall)
    assert call.arguments == {"creature": "object", "is_on": True}


@pytest.mark.parametrize(
    "said",
    [
        "You will see that it will hold.",
        "Will you come? Mark my words.",
        "Nobody crosses a bridge twice, and no bridge minds.",
        "It was the mark of a kind hand.",
        "Bridge the gap, and leave your mark.",
        "The thing that will float is every bridge of ours.",
        "He has his own will, and two mark time.",
    ],
)
def test_a_handle_that_is_a_common_word_is_left_where_no_name_is_meant(said: str) -> None:
    masks = Masks(tuple([Seat(name, ((name,),)) for name in ("will", "mark", "bridge")]), 0)

    assert masks.over_talk(said) == said


@pytest.mark.parametrize(
    "said",
    [
        "I agree with will.",
        "Will is right, and Mark knows it.",
        "The bridge never listens.",
        "I told mark the truth, and gave bridge a lamp.",
        "will: you were late.",
        "It was Will, not bridge, and mark's own hand.",
        "What would WILL say to you, mark?",
        "That will lies, mark says.",
        "Between mark and bridge I choose will",
    ],
)
def test_a_handle_that_is_a_common_word_is_covered_where_somebody_is_named(said: str) -> None:
    masks = Masks(tuple([Seat(name, ((name,),)) for name in ("will", "mark", "bridge")]), 0)

    assert re.search(r"(?i)\b(will|mark|bridge)\b", masks.over_talk(said)) is None, masks.over_talk(said)


def test_whoever_is_no_judge_reads_names() -> None:
    prompt = prompt_for(_before_the_owl(None))

    assert "night-moth (cast, agent.spoke)" in prompt.user
    assert '"winner": one of lamps, weeds, nobody.' in prompt.system


def test_a_verdict_says_names_again() -> None:
    masks = _masks()
    moment = _before_the_owl(masks)
    ref = re.findall(r"\[(\d+)\]", prompt_for(moment).user)[1]
    moth, fern = masks.label_of("night-moth"), masks.label_of("fern")
    raw = (
        f'{{"kind":"judge.verdict","thought":"{fern} is loud.","winner":"{moth}",'
        f'"text":"{moth.capitalize()[:-1]}{moth[-1]} was kind; {fern}\'s words were not. Contestants A and B, sit.","cites":["{ref}"]}}'
    )

    reply = draft_from(raw, moment)

    assert isinstance(reply, Draft)
    a, b = ("night-moth", "fern") if moth.endswith("A") else ("fern", "night-moth")
    assert reply.payload == {
        "winner": "lamps",
        "text": f"Night Moth was kind; fern's words were not. {a} and {b}, sit.",
        "cites": [EVENTS[1].id],
    }
    assert reply.private == {"thought": "fern is loud."}


def test_fields_and_silence_say_names_again() -> None:
    masks = _masks()
    moment = _before_the_owl(masks)
    fern = masks.label_of("fern")

    vote = draft_from(f'{{"kind":"vote.cast","thought":"","who":"{fern}","text":"So."}}', moment)
    silence = draft_from(f'{{"kind":"agent.passed","reason":"I wait for {fern}."}}', moment)
    by_name = draft_from(
        '{"kind":"judge.verdict","thought":"","winner":"lamps","text":"x","cites":[]}', moment
    )

    assert isinstance(vote, Draft)
    assert vote.payload["who"] == "fern"
    assert isinstance(silence, Passed)
    assert silence.reason == "I wait for fern."
    assert isinstance(by_name, Problem)
    assert "contestant A" in by_name.text


def test_members_of_a_team_are_told_apart_under_its_label() -> None:
    masks = Masks((Seat("sun", (("ada",), ("bo",))), Seat("rain", (("cy~2", "cy"),))), 0)
    sun, rain = masks.winners["sun"], masks.winners["rain"]

    assert {sun, rain} == {"team A", "team B"}
    assert masks.over_talk("ada, bo and cy~2, once cy.") == f"{sun} 1, {sun} 2 and {rain}, once {rain}."
    assert masks.off(f"{sun} 2 spoke for {sun}, {rain} did not.") == "bo spoke for sun, cy~2 did not."


def test_words_that_only_look_like_labels_stay() -> None:
    masks = _masks()

    assert masks.off("One contestant a day; contestant C is nobody here.") == (
        "One contestant a day; contestant C is nobody here."
    )


@given(st.integers(0, 10**6), st.integers(2, 30))
def test_labels_hang_on_places_and_never_on_names(rng_seed: int, count: int) -> None:
    names = [f"one-{n}" for n in range(count)]
    others = [f"x{n}" for n in reversed(range(count))]

    once, again = (
        Masks(tuple(Seat(name, ((name,),)) for name in seated), rng_seed) for seated in (names, others)
    )

    assert [once.winners[name] for name in names] == [again.winners[name] for name in others]
    assert len({*once.winners.values()}) == count
    assert [once.winner_behind(label) for label in once.winners.values()] == list(once.winners)


def test_the_first_seat_is_not_always_a() -> None:
    firsts = [_masks(rng_seed).label_of("night-moth") for rng_seed in range(200)]

    assert 70 < firsts.count("contestant A") < 130


@pytest.mark.parametrize(
    "competition",
    [
        Competition(),
        Competition("judged", contestants=("fern",)),
        Competition("none", contestants=("a", "b")),
    ],
)
def test_where_there_is_nobody_to_tell_apart_nobody_wears_a_mask(competition: Competition) -> None:
    assert masks_of(seats_of(competition, lambda handle: (handle,)), 0) is None
