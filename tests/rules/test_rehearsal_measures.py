"""What a rehearsal measures: shares with sound intervals, and what can be counted in replies and lines."""

import pytest

from glasshouse.contests.measures import (
    Rehearsed,
    Sample,
    average,
    language_of,
    measures_of,
    quantile,
    share,
    speaks_for_others,
    text_of,
)
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
    assert text_of('```json\n{"kind": "agent.spoke", "text": "Good evening."}\n```') == "Good evening."
    assert text_of("THINK: hm\nSAY: Good evening.") == "Good evening."
    assert text_of("no reply at all") == ""


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
