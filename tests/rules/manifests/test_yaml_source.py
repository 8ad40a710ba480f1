"""YAML with positions: only plain data comes out, everything is bounded, and faults are told in words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glasshouse.manifests.problem import Position
from glasshouse.manifests.yaml_source import source_of, yaml_bytes_max, yaml_levels_max


def faults(text: str | bytes) -> list[str]:
    return [str(problem) for problem in source_of(text, "w.yaml").problems]


def test_fields_know_where_they_stand() -> None:
    source = source_of("name: wick\ncast:\n  - ada\n  - {use: bo}\n", "w.yaml")

    assert source.data == {"name": "wick", "cast": ["ada", {"use": "bo"}]}
    positions = {
        (): Position(1, 1),
        ("name",): Position(1, 7),
        ("cast",): Position(3, 3),
        ("cast", 0): Position(3, 5),
        ("cast", 1): Position(4, 5),
        ("cast", 1, "use"): Position(4, 11),
    }
    assert source.root is not None
    assert {at: source.root.position_of(at) for at in positions} == positions


def test_a_key_has_a_place_of_its_own_and_what_is_missing_the_place_round_it() -> None:
    root = source_of("a:\n  b: 1\n", "w.yaml").root

    assert root is not None
    assert root.position_of(("a", "b"), of_key=True) == Position(2, 3)
    assert root.position_of(("a", "b")) == Position(2, 6)
    assert root.position_of(("a", "c", "d")) == Position(2, 3)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("12", 12),
        ("-3", -3),
        ("007", 7),
        ("1.5", 1.5),
        ("2e3", 2000.0),
        ("true", True),
        ("False", False),
        ("", None),
        ("~", None),
        ("null", None),
        ("yes", "yes"),
        ("no", "no"),
        ("on", "on"),
        ("off", "off"),
        ("2024-01-01", "2024-01-01"),
        ("1:30", "1:30"),
        ("0x1f", "0x1f"),
        ("1_000", "1_000"),
        ("'12'", "12"),
        ('"true"', "true"),
        ("|\n  two\n  lines\n", "two\nlines\n"),
    ],
)
def test_a_plain_word_is_text_unless_it_is_a_number_true_false_or_null(written: str, meant: object) -> None:
    source = source_of(f"a: {written}", "w.yaml")

    assert source.problems == ()
    assert source.data == {"a": meant}
    assert type(source.data["a"]) is type(meant)


def test_keys_are_always_text() -> None:
    assert source_of("1: a\ntrue: b\n", "w.yaml").data == {"1": "a", "true": "b"}


def test_without_takes_one_field_out_and_leaves_the_places_of_the_others() -> None:
    root = source_of("a: [x, y, z]\nb: 1\n", "w.yaml").root

    assert root is not None
    rest = root.without(("a", 1)).without(("b",)).without(("c", "d"))

    assert rest.data == {"a": ["x", "z"]}
    assert rest.position_of(("a", 1)) == Position(1, 11)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\na: 2\n", "w.yaml:2:1: a: this key is there twice: first in line 1. Keep one."),
        ("b: {c: 1, c: 2}", "w.yaml:1:11: b.c: this key is there twice: first in line 1. Keep one."),
        ("a: !!python/name:os.system x", "the tag tag:yaml.org,2002:python/name:os.system is not used here."),
        ("a: .nan", "'.nan' is no number that can be kept."),
        ("a: 1e999", "'1e999' is no number that can be kept."),
        ("a: 12345678901234567890", "is no number that can be kept."),
        ("a: &x {b: 1}\nc:\n  <<: *x\n", "w.yaml:3:3: c: '<<' is not used here. Write the fields out."),
    ],
)
def test_what_is_well_written_and_not_used_here_is_told(text: str, message: str) -> None:
    (fault,) = faults(text)

    assert message in fault


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [1, 2\nb: 3", "w.yaml:1:4: this '[' is not closed."),
        ("a: {b: 1", "w.yaml:1:4: this '{' is not closed."),
        ("a: b: c", "w.yaml:1:5: a ':' is not allowed here."),
        ("a: 'x", "w.yaml:1:4: this quotation mark is never closed."),
        ("\ta: 1", "w.yaml:1:1: a tab cannot indent YAML. Use spaces."),
        ("a: @x", "w.yaml:1:4: text cannot begin with '@'. Put it in quotes."),
        ("a:\n  - x\n y", "w.yaml:3:2: this line is not indented like any line above."),
        ("- a\nb: c", "w.yaml:2:1: each item of a list begins with '- '."),
        ("a: [}", "w.yaml:1:5: something is missing before this."),
        ("a: |x", "after '|' or '>' the text begins on the next line"),
        ("a: &", "a name of letters or digits follows '&' and '*'."),
        ('a: "\\q"', "this escape after a backslash does not exist."),
        ("%YAML 3.0\n---\na: 1", "this asks for another version of YAML."),
        ("a: *q", "w.yaml:1:4: nothing above is marked &q"),
        ("a: &q [*q]", "w.yaml:1:8: nothing above is marked &q"),
        ("a: 1\n---\nb: 2", "w.yaml:2:1: a second document begins here."),
        ("? [a]\n: b", "w.yaml:1:3: a key is one word"),
        ("", "w.yaml:1:1: the file is empty."),
        ("# nothing\n", "w.yaml:1:1: the file is empty."),
        ("a: 1\nb: \x00", "w.yaml:2:4: the character '\\x00' cannot stand in YAML."),
        (b"a: 1\nb: \xff", "w.yaml:2:4: this is no UTF-8."),
        ("[" * 100, f"nested deeper than {yaml_levels_max} levels"),
        ("a" * (yaml_bytes_max + 1), "the file has more than 1,048,576 bytes, and no more are read. Cut it."),
    ],
)
def test_what_cannot_be_read_is_told_in_words_with_its_place(text: str | bytes, message: str) -> None:
    (fault,) = faults(text)

    assert message in fault
    assert source_of(text, "w.yaml").root is None


def test_aliases_stand_for_what_they_name_and_cannot_blow_up() -> None:
    laughs = "a0: &a0 [x, x]\n" + "".join(
        f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}, *a{n - 1}]\n" for n in range(1, 20)
    )
    chain = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [[*a{n - 1}]]\n" for n in range(1, 200))

    assert source_of("a: &x [1]\nb: *x\n", "w.yaml").data == {"a": [1], "b": [1]}
    assert "stands for more than 50,000 values" in faults(laughs)[0]
    assert "nested deeper" in faults(chain)[0]
    assert "stands for more than 50,000 values" in faults(f"a: [{'[],' * 50_001}]")[0]


@given(st.text(max_size=60) | st.text(alphabet="ab:-[]{}&*!|>'\"#%@? \n\t,<\\0", max_size=60))
def test_no_text_gives_anything_but_data_or_problems(text: str) -> None:
    source = source_of(text, "w.yaml")

    assert source.root is not None or len(source.problems) == 1
    assert all("\n" not in str(problem) for problem in source.problems)
