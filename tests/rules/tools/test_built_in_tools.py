"""The built-in tools: exact sums, weekdays, and what sun and moon did on days that are known."""

from datetime import date

import pytest

from glasshouse.tools.arithmetic import expression_chars_max, worked_out
from glasshouse.tools.builtin import almanac, calculator, calendar
from glasshouse.tools.sky import day_minutes, moon_lit_percent, moon_phase


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("(3 + 4) * 2 / 5", "2.8"),
        ("0.1 + 0.2", "0.3"),
        ("1/3", "1/3, about 0.333333333333"),
        ("-7 // 2", "-4"),
        ("-7 % 3", "2"),
        ("2^10", "1024"),
        ("2 ** -3", "0.125"),
        ("6 \u00d7 7 \u2212 2 \u00f7 4", "41.5"),
        ("1_000 * 1e3", "1000000"),
        ("-1/8", "-0.125"),
        ("2 ** 255 - 2 ** 255 + 1", "1"),
    ],
)
def test_arithmetic_is_worked_out_exactly(expression: str, value: str) -> None:
    assert calculator(expression) == value


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("1 / (2 - 2)", "divided by zero"),
        ("0 ** -1", "divided by zero"),
        ("9 ** 9 ** 9", "exponent must be a whole number"),
        ("2 ** 0.5", "exponent must be a whole number"),
        ("(9 ** 200) * (9 ** 200)", "too large"),
        ("1e999999999", "too large a number"),
        ("9" * 400, "more than 200 characters"),
        ("__import__('os').getcwd()", "Only numbers"),
        ("True + 1", "Only numbers"),
        ("0x10", "no number in tens"),
        ("3 +", "is no arithmetic"),
        ("", "is no arithmetic"),
        ("(" * 90 + ")" * 90, "Only numbers"),
    ],
)
def test_what_is_no_arithmetic_or_too_large_is_refused_in_words(expression: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        worked_out(expression)


def test_the_longest_expression_is_worked_out() -> None:
    assert worked_out("1+" * (expression_chars_max // 2 - 1) + "1") == str(expression_chars_max // 2)


def test_the_calendar_knows_weekdays_and_counts_days() -> None:
    assert calendar("2024-02-29") == "2024-02-29 is a Thursday."
    assert calendar("2026-03-01", "2026-04-01").endswith("2026-04-01 is a Wednesday, 31 days after that.")
    assert calendar("2026-03-02", "2026-03-01").endswith("is a Sunday, 1 day before that.")
    with pytest.raises(ValueError, match="'soon' is no date"):
        calendar("soon")


@pytest.mark.parametrize(
    ("day", "phase"),
    [
        ("1999-08-11", "new moon"),
        ("2000-01-06", "new moon"),
        ("2024-04-08", "new moon"),
        ("2024-01-18", "first quarter"),
        ("2023-08-31", "full moon"),
        ("2025-09-07", "full moon"),
        ("2026-03-03", "full moon"),
        ("2024-02-02", "last quarter"),
        ("2024-04-10", "waxing crescent"),
        ("2024-01-22", "waxing gibbous"),
        ("2024-01-28", "waning gibbous"),
        ("2024-02-05", "waning crescent"),
    ],
)
def test_the_moon_is_what_it_was_on_days_of_eclipses_and_known_quarters(day: str, phase: str) -> None:
    assert moon_phase(date.fromisoformat(day)) == phase


def test_the_moon_is_lit_as_its_phase_says() -> None:
    assert moon_lit_percent(date(2024, 4, 8)) == 0
    assert moon_lit_percent(date(2026, 3, 3)) == 100
    assert moon_lit_percent(date(2024, 1, 18)) == pytest.approx(50, abs=5)


@pytest.mark.parametrize(
    ("day", "latitude", "hours", "minutes"),
    [
        ("2024-06-20", 51.5, 16, 38),
        ("2024-12-21", 51.5, 7, 50),
        ("2024-03-20", 0.0, 12, 7),
        ("2024-06-20", 60.17, 18, 56),
        ("2024-06-20", -33.87, 9, 54),
    ],
)
def test_days_are_as_long_as_they_are(day: str, latitude: float, hours: int, minutes: int) -> None:
    assert day_minutes(date.fromisoformat(day), latitude) == pytest.approx(hours * 60 + minutes, abs=4)


def test_far_north_the_sun_does_not_set_in_summer_and_does_not_rise_in_winter() -> None:
    assert almanac("2024-06-21", 70)["day_length"] == "24 h 00 min"
    assert almanac("2024-12-21", 70)["day_length"] == "0 h 00 min"
    assert almanac("2024-06-21", 90)["day_length"] == "24 h 00 min"
    with pytest.raises(ValueError, match="latitude"):
        almanac("2024-06-21", 91)
