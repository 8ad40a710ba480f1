"""Lines: one physical line an event, refs, escapes, bounds, and tables that are moved on."""

import json

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from msgspec.structs import replace

from glasshouse.events import kinds
from glasshouse.events.event import Event
from glasshouse.turns.moment import line_text
from glasshouse.turns.moment.line_text import ELLIPSIS
from glasshouse.turns.prompts import lines
from tests.rules.turns.moments_by_hand import HANDLES, Line, a_moment, a_tick, injected, lines_of, said
from tests.rules.turns.prompts_read_back import spoken


def the_line(event: Event) -> Line:
    (line,) = lines_of(a_moment([event], cause=a_tick(99)))
    return line


def test_a_line_shows_its_speaker_its_origin_its_kind_its_text_and_its_other_fields() -> None:
    event = said(1, "moth-id", 'I say "no".', "answer.given", answer="no", sure=0.5)

    line = the_line(event)

    assert (
        line.text == f'[{line.ref}] moth (cast, answer.given): "I say \\"no\\"." {{"answer":"no","sure":0.5}}'
    )


@pytest.mark.parametrize(
    ("actor", "kind", "shown"),
    [
        ("visitor", kinds.USER_INJECTED, "visitor (visitor, user.injected)"),
        ("conductor", kinds.WORLD_OBSERVED, "world (world, world.observed)"),
        ("echo-id", kinds.AGENT_SPOKE, "echo (cast, agent.spoke)"),
        ("long-gone", kinds.AGENT_SPOKE, "somebody (cast, agent.spoke)"),
    ],
)
def test_every_actor_has_a_name_that_is_no_id(actor: str, kind: str, shown: str) -> None:
    assert f"] {shown}: " in the_line(said(1, actor, "Rain.", kind)).text


def test_what_has_no_words_is_no_line_and_neither_are_thoughts_of_others() -> None:
    silent = [
        said(n, "moth-id", "x", kind) for n, kind in enumerate(sorted(kinds.WITHOUT_WORDS | kinds.ENGINE))
    ]
    inner = [said(100 + n, "moth-id", "mine alone", kind) for n, kind in enumerate(sorted(kinds.INNER))]
    own = [said(200 + n, "echo-id", "my own", kind) for n, kind in enumerate(sorted(kinds.INNER))]

    heard = lines_of(a_moment([*silent, *inner, *own], cause=a_tick(999)))

    assert [line.event_id for line in heard] == [event.id for event in own]


def test_lines_are_numbered_by_what_the_creature_has_heard() -> None:
    events = [
        said(1, "moth-id", "Rain."),
        said(2, "moth-id", "mine alone", kinds.AGENT_THOUGHT),
        said(3, "fern-id", "Rain."),
        said(4, "moth-id", "Rain."),
    ]

    heard = lines_of(a_moment(events, lines_before=8))

    assert [(line.ref, line.event_id[-2:]) for line in heard] == [("9", ".1"), ("10", ".3"), ("11", ".4")]
    assert heard[0].text.startswith("[9] moth (cast, ")


def test_a_number_depends_on_what_is_heard_and_on_nothing_else() -> None:
    event = said(1, "moth-id", "Rain.")

    elsewhere = replace(event, id="s-ffffffffffffffff.9", turn=8, lamport=77, run_id=None)

    assert the_line(elsewhere).text == the_line(event).text


def test_a_cause_out_of_sight_of_the_recent_events_is_still_a_line() -> None:
    old = said(1, "moth-id", "Rain.")

    heard = lines_of(a_moment([said(2, "moth-id", "Rain."), said(3, "fern-id", "Snow.")], cause=old))

    assert [line.event_id for line in heard] == [old.id, said(2, "", "").id, said(3, "", "").id]
    assert [line.ref for line in heard] == ["0", "1", "2"]


def test_events_that_are_cited_show_as_refs_and_those_out_of_sight_not_at_all() -> None:
    clue = said(1, "fern-id", "Mud on the sill.", "clue.found")
    gone = f"{clue.session_id}.900"
    idea = said(2, "moth-id", "The owl did it.", "hypothesis.formed", cites=[clue.id, gone], against=gone)

    first, second = lines_of(a_moment([clue, idea]))

    assert spoken(second.text).fields == {"cites": [first.ref]}


def test_a_long_text_is_cut_with_an_ellipsis_and_long_fields_are_cut_or_left_out() -> None:
    event = said(1, "moth-id", "m" * 9_999, "note.left", a="n" * 9_999, b=["o" * 999] * 9, c="p")

    line = spoken(the_line(event).text)

    assert line.text == "m" * (line_text.line_chars_max - 1) + ELLIPSIS
    assert line.fields == {"a": "n" * (line_text.field_chars_max - 1) + ELLIPSIS, "c": "p"}


def test_a_payload_without_text_has_an_empty_one() -> None:
    assert spoken(the_line(said(1, "moth-id", None, "guess.made", word="fern")).text)[4:] == (
        "",
        {"word": "fern"},
    )


UNSAFE = (
    "\x00\t\n\r\x0b\x0c\x1b\x1c\x7f\x85\u061c\u200b\u200e\u200f\u2028\u2029\u202e\u2066\u2069\ufeff\U000e0041"
)


@pytest.mark.parametrize("bad", UNSAFE)
def test_no_unsafe_character_stands_raw_in_a_line(bad: str) -> None:
    line = the_line(said(1, "moth-id", f"a{bad}b", "note.left", more=f"c{bad}d"))

    assert bad not in line.text
    assert spoken(line.text)[4:] == (f"a{bad}b", {"more": f"c{bad}d"})


@given(st.text(), st.dictionaries(st.text(), st.text(), max_size=3))
def test_whatever_a_visitor_says_is_one_line_that_reads_back_as_it_was_said(
    text: str, fields: dict[str, str]
) -> None:
    text = text.encode("utf-8", "ignore").decode()
    fields = {k: v for k, v in fields.items() if k != "text" and (k + v).isprintable()}
    written = json.dumps([text, fields], ensure_ascii=False, separators=(",", ":"))
    assume(line_text.defanged(written) == written)  # What looks like a control token gets a space.

    line = the_line(replace(injected(1, text), payload={"text": text, **fields}))

    assert len(line.text.splitlines()) == 1
    assert spoken(line.text)[1:] == ("visitor", "visitor", kinds.USER_INJECTED, text, fields)


TELLINGS = st.lists(
    st.tuples(
        st.sampled_from([*HANDLES, "visitor"]),
        st.sampled_from(["Rain?", "Snow, echo.", "The moss is wet.", "Owls."]),
        st.sampled_from([kinds.AGENT_SPOKE, kinds.AGENT_THOUGHT, kinds.TURN_STARTED, kinds.USER_INJECTED]),
    ),
    min_size=1,
    max_size=30,
)


@given(TELLINGS, st.data())
def test_a_table_that_was_moved_on_is_the_table_that_is_made_at_once(
    spoken: list[tuple[str, str, str]], data: st.DataObject
) -> None:
    events = [said(n, *line) for n, line in enumerate(spoken, start=1)]
    ends = data.draw(st.lists(st.integers(0, len(events)), min_size=1, max_size=6))
    lines._numbered_cache.clear()

    for end in ends:
        start = max(0, end - 8)
        before = len([event for event in events[:start] if line_text.is_line_for("echo-id", event)])
        moment = a_moment(events[start:end], cause=a_tick(99), lines_before=before)
        kept, table = lines_of(moment), lines._numbered_cache["", "echo-id"]
        lines._numbered_cache.clear()
        made, fresh = lines_of(moment), lines._numbered_cache["", "echo-id"]
        lines._numbered_cache["", "echo-id"] = table

        assert kept == made
        assert _index(table) == _index(fresh)


def _index(table: lines.NumberedLines) -> list[object]:
    """What a table knows of the lines that its creature can see."""
    first, gone = table.first, table.first - table.base
    by_index = [
        {key: seen for key, indexes in by.items() if (seen := [n - first for n in indexes if n >= first])}
        for by in (table.kinds, table.said_by, {"all": table.said})
    ]
    seen_again = {body: index - first for body, index in table.newest_with.items() if index >= first}
    return [
        *by_index,
        seen_again,
        {word: where >> gone for word, where in table.words.items() if where >> gone},
        [where >> gone for where in (table.striking, table.reflected, table.said_again, table.not_ascii)],
        table.naming("echo-id", "echo", table.stop) >> gone,
    ]


@given(TELLINGS, st.data())
def test_a_table_that_others_moved_on_is_the_table_that_is_made_at_once(
    spoken: list[tuple[str, str, str]], data: st.DataObject
) -> None:
    events = [said(n, *line) for n, line in enumerate(spoken, start=1)]
    looks = st.tuples(st.sampled_from(sorted(HANDLES)), st.integers(0, len(events)))
    lines._numbered_cache.clear()

    for creature_id, end in data.draw(st.lists(looks, min_size=1, max_size=8)):
        lines_so_far = [event for event in events[:end] if line_text.is_line_for(creature_id, event)]
        moment = a_moment(
            lines_so_far[-8:],
            cause=a_tick(99),
            creature_id=creature_id,
            handle=HANDLES[creature_id],
            lines_before=max(0, len(lines_so_far) - 8),
        )
        kept, index = lines_of(moment), _index(lines._numbered_cache["", creature_id])
        shared = dict(lines._numbered_cache)
        lines._numbered_cache.clear()
        made, fresh = lines_of(moment), lines._numbered_cache["", creature_id]
        lines._numbered_cache.update(shared)

        assert kept == made
        assert index == _index(fresh)


def test_a_creature_with_a_new_handle_is_shown_by_it_in_all_its_lines() -> None:
    events = [said(1, "moth-id", "Rain."), said(2, "moth-id", "Snow.")]
    lines_of(a_moment(events))

    renamed = lines_of(a_moment(events, handles={**HANDLES, "moth-id": "dusk"}))

    assert all("] dusk (cast, " in line.text for line in renamed)


def test_the_caches_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "numbered_cache_keys_max", 3)
    monkeypatch.setattr(line_text, "reading_cache_events_max", 5)
    lines._numbered_cache.clear()
    line_text._reading_cache.clear()

    for number in range(9):
        lines_of(a_moment([said(number, "moth-id", f"{number}")], creature_id=f"c{number}"))

    assert len(lines._numbered_cache) == 3
    assert ("", "c8") in lines._numbered_cache
    assert len(line_text._reading_cache) == 5
