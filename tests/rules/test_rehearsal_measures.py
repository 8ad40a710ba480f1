"""What a rehearsal measures: shares with sound intervals, and what can be counted in replies and lines."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from msgspec.structs import replace

from glasshouse.contests.measures import (
    Rehearsed,
    Sample,
    average,
    language_of,
    measures_of,
    quantile,
    ratio,
    share,
    speaks_for_others,
    text_in_reply,
)
from glasshouse.events.event import Event, Json
from glasshouse.events.model_use import Call, ModelUse
from glasshouse.models import Completion, Prompt, Tokens

CITING = {
    "anyOf": [
        {
            "type": "object",
            "properties": {
                "kind": {"const": "judge.verdict"},
                "text": {"type": "string"},
                "cites": {"type": "array", "items": {"enum": ["3", "7"]}},
            },
        }
    ]
}


def event(
    actor: str,
    kind: str,
    payload: Json | None = None,
    replies: Sequence[str] = (),
    turn: int = 1,
    **more: Any,
) -> Event:
    calls = tuple([Call("m", "s", "u", 0, completion=reply, usd=0.5) for reply in replies])
    model = ModelUse("fast", calls=calls) if calls else None
    return Event(
        id="s-1.2",
        session_id="s-1",
        graph_id="g-1",
        seq=2,
        lamport=2,
        turn=turn,
        actor=actor,
        kind=kind,
        payload=payload or {},
        created_at=datetime(2026, 1, 1, tzinfo=UTC),
        caused_by="s-1.1" if calls else None,
        model=model,
        **more,
    )


def test_a_share_has_wilsons_interval_also_for_all_and_none() -> None:
    assert [round(x or 0, 3) for x in (share([True] * 10).low, share([True] * 10).high)] == [0.722, 1.0]
    assert [round(x or 0, 3) for x in (share([False] * 10).low, share([False] * 10).high)] == [0.0, 0.278]
    half = share([True, False] * 50)
    assert (half.value, round(half.low or 0, 3), round(half.high or 0, 3), half.n) == (0.5, 0.404, 0.596, 100)
    assert share([]).value is None


def test_means_and_quantiles_come_with_intervals_and_n() -> None:
    middle = average([1.0, 2.0, 3.0])
    assert (middle.value, middle.n) == (2.0, 3)
    assert middle.low == pytest.approx(2 - 1.96 / 3**0.5)
    median = quantile([float(n) for n in range(100)], 0.5)
    assert (median.value, median.low, median.high, median.n) == (50.0, 40.0, 59.0, 100)
    assert quantile([], 0.95).value is None


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The lantern is on the hill and nobody has seen it.", "en"),
        ("Die Laterne ist auf dem Hügel, und ich habe sie nicht gesehen.", "de"),
        ("La lanterne est sur la colline et nous ne savons pas pour qui.", "fr"),
        ("灯笼在山上,没有人看见它。", "zh"),
        ("Hm.", None),
    ],
)
def test_the_language_of_a_line_is_told_by_its_small_words(text: str, language: str | None) -> None:
    assert language_of(text) == language


@pytest.mark.parametrize(
    ("text", "is_script"),
    [
        ("ada: Hello.\nbo: Hello yourself.", True),
        ("Hello.\n**bo**: Hello yourself.", True),
        ("I told bo: never again.", False),
        ("Hello.", False),
    ],
)
def test_a_text_that_is_written_like_a_script_speaks_for_others(text: str, is_script: bool) -> None:
    assert speaks_for_others(text, ["ada", "bo"]) is is_script


def test_the_text_of_a_reply_is_found_in_every_form() -> None:
    assert text_in_reply('```json\n{"kind": "agent.spoke", "text": "Good evening."}\n```') == "Good evening."
    assert text_in_reply("THINK: hm\nSAY: Good evening.") == "Good evening."
    script = "KIND: agent.spoke\nSAY: Good evening.\nbo: And to you.\nMOOD: calm"
    assert text_in_reply(script) == "Good evening.\nbo: And to you."
    assert speaks_for_others(text_in_reply(script), ["ada", "bo"])
    assert text_in_reply("no reply at all") == ""


def test_a_ratio_has_the_interval_of_its_sums() -> None:
    assert ratio([]).value is None
    assert (ratio([(5, 10)]).value, ratio([(5, 10)]).n) == (0.5, 1)
    even = ratio([(40, 100)] * 20)
    assert (even.value, even.low, even.high) == (0.4, 0.4, 0.4)
    mixed = ratio([(0, 100), (80, 100)] * 50)
    assert (mixed.value, mixed.n) == (0.4, 100)
    assert mixed.high == pytest.approx(0.4 + 1.96 * 0.402 / 10, abs=0.001)
    assert (ratio([(0, 1), (9, 9)]).high, ratio([(1, 1), (0, 9)]).low) == (1.0, 0.0)


FERN = {"kind": "agent.spoke", "text": "It is a fern."}


@pytest.mark.parametrize(
    ("replies", "said", "leaks"),
    [
        (
            [json.dumps(FERN), '{"kind": "agent.spoke", "text": "It is green."}'],
            "It is green.",
            [True, False],
        ),
        (["KIND: agent.spoke\nSAY: A FERN, then."], "A [sealed], then.", [True]),
        (["KIND: agent.spoke\nTHINK: a fern\nSAY: It is green."], "It is green.", [False]),
        ([json.dumps({**FERN, "kind": "judge.verdict"})], "It is a fern.", []),
    ],
)
def test_a_leak_is_counted_where_a_reply_says_the_word_also_if_the_line_did_not(
    replies: list[str], said: str, leaks: list[bool]
) -> None:
    kind = "judge.verdict" if "verdict" in replies[0] else "agent.spoke"
    played = (
        event(
            "conductor",
            "cards.dealt",
            sealed={"to": ["ada"], "facts": {"word": "fern", "tale": "A long tale of ferns."}},
        ),
        event("ada", kind, {"text": said}, replies),
        event(
            "bo",
            "agent.spoke",
            {"text": "Is it a fern?"},
            ['{"kind": "agent.spoke", "text": "Is it a fern?"}'],
        ),
        event(
            "ada", "agent.spoke", {"text": "A fern, yes."}, [json.dumps(FERN)]
        ),  # It is no secret any more.
    )

    measure = measures_of(Rehearsed((), (played,), ("ada", "bo"), ("",)))["leaks"]

    assert (measure.n, measure.value) == (len(leaks), sum(leaks) / len(leaks) if leaks else None)


def test_a_reply_that_repeats_a_line_is_counted_also_if_another_took_its_place() -> None:
    said = "The kettle was warm at five, and nobody was up."
    again, new = (
        json.dumps({"text": said.upper()}),
        json.dumps({"text": "The gate was locked the whole night."}),
    )
    played = (
        event("bo", "agent.spoke", {"text": said}, [json.dumps({"text": said})]),
        event("ada", "agent.spoke", {"text": "The gate was locked the whole night."}, [again, new]),
        event("ada", "agent.spoke", {"text": "Yes."}, ['{"text": "Yes."}']),
        event("ada", "agent.spoke", {"text": "Yes."}, ['{"text": "Yes."}']),
    )

    measure = measures_of(Rehearsed((), (played,), ("ada", "bo"), ("",)))["near-duplicate"]

    assert (measure.n, measure.value) == (5, 0.2)


def test_what_a_turn_cost_has_an_interval_and_one_unknown_price_makes_it_unknown() -> None:
    turns = [event("conductor", "turn.started", turn=turn) for turn in (1, 2)]
    spoke = [
        event("ada", "agent.spoke", {"text": "x"}, [json.dumps(FERN)] * turn, turn=turn) for turn in (1, 2)
    ]

    usd = measures_of(Rehearsed((), ((*turns, *spoke),), ("ada",), ("",)))["usd a turn"]
    bare = replace(spoke[1], model=ModelUse("fast", calls=(Call("m", "", "", 0),)))
    unknown = measures_of(Rehearsed((), ((*turns, spoke[0], bare),), ("ada",), ("",)))["usd a turn"]

    assert (usd.value, usd.n) == (0.75, 2)
    assert usd.low == pytest.approx(0.75 - 1.96 * 0.25)
    assert (unknown.value, unknown.n) == (None, 2)


@pytest.mark.parametrize(("language", "value"), [("de", 1.0), ("de-AT", 1.0), ("en", 0.0), ("pl", None)])
def test_a_language_that_cannot_be_told_is_not_counted(language: str, value: float | None) -> None:
    text = "Die Laterne ist auf dem Hügel, und ich habe sie nicht gesehen."
    played = (event("ada", "agent.spoke", {"text": text}, [json.dumps({"text": text})]),)

    assert measures_of(Rehearsed((), (played,), ("ada",), ("",), language))["language"].value == value


def test_replies_are_counted_by_what_is_wrong_with_them() -> None:
    prompt = Prompt("s", "u", CITING)
    raw = (
        '```\n{"kind": "judge.verdict", "text": "The moss.", "cites": ["3", "8"]}\n```',
        "KIND: judge.verdict\nSAY: The moss.\nCITES: 3, 7",
        '{"kind": "judge.verdict", "text": "As an AI language model I cannot judge."}',
    )
    finishes = ("stop", "length", "stop")
    answered = [
        Sample(prompt, Completion(text, "m", Tokens(60, 9, cache_read=40), finish=finish, load_ms=1_500.0))  # type: ignore[arg-type]
        for text, finish in zip(raw, finishes, strict=True)
    ]

    measures = measures_of(Rehearsed((*answered, Sample(prompt)), (), ("ada",), ()))

    counted = {
        name: (measures[name].value, measures[name].n) for name in ("fenced", "refused", "cut by length")
    }
    assert counted == {"fenced": (1 / 3, 3), "refused": (1 / 3, 3), "cut by length": (1 / 3, 3)}
    assert (measures["citation accuracy"].value, measures["citation accuracy"].n) == (0.75, 4)
    assert (measures["cached share"].value, measures["prompt tokens"].value) == (0.4, 100)
    assert measures["load seconds"].value == 1.5
    assert measures["uptake"].value is None
