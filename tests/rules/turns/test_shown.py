"""Which lines a prompt shows: the context builder names the event behind each of them."""

import re

from hypothesis import given
from hypothesis import strategies as st

from glasshouse.events import kinds
from glasshouse.events.event import Event
from glasshouse.events.shown import Shown, decoded_shown, encoded_shown
from glasshouse.turns.moment.character import Character, Memory
from glasshouse.turns.moment.moment import Moment
from glasshouse.turns.prompts.context import written_for
from glasshouse.world.hearing.wires import Handed
from tests.rules.turns.moments_by_hand import SESSION, a_moment, injected, lines_of, said

OTHER = "s-ffeeddccbbaa9988"


def refs_in(user: str, heading: str, *, until: str) -> list[str]:
    """The numbers of the lines that a prompt has in one section."""
    section = user.partition(f"{heading}\n")[2].partition(f"\n{until}")[0]
    return re.findall(r"^\[([0-9]+)\]", section, flags=re.MULTILINE)


def refs_of(moment: Moment, ids: tuple[str, ...]) -> list[str]:
    """The numbers that these events have in a moment."""
    by_id = {line.event_id: line.ref for line in lines_of(moment)}
    return [by_id[event_id] for event_id in ids]


def test_every_line_of_the_discussion_is_named() -> None:
    events = [said(n, "moth-id", f"Line {n} of the pond.") for n in range(1, 7)]

    shown = written_for(a_moment(events))[1]

    assert shown.discussion == tuple([event.id for event in events])
    assert shown.answered == (events[-1].id,)


@given(st.lists(st.text(max_size=40), min_size=1, max_size=12), st.integers(1, 12), st.integers(0, 900))
def test_what_is_named_is_what_the_prompt_holds_whatever_was_said_and_cut(
    spoken: list[str], window: int, room: int
) -> None:
    events = [said(n, ("moth-id", "fern-id")[n % 2], text) for n, text in enumerate(spoken, start=1)]
    moment = a_moment(
        events,
        character=Character(name="echo", memory=Memory(window=window)),
        context_tokens_max=1_200 + room,
    )

    prompt, shown = written_for(moment)

    assert refs_in(prompt.user, "THE DISCUSSION", until="AROUND YOU") == refs_of(moment, shown.discussion)
    assert refs_in(prompt.user, "WHAT YOU REMEMBER", until="WHAT YOU ANSWER") == refs_of(
        moment, shown.remembered
    )
    assert refs_in(prompt.user, "WHAT YOU ANSWER NOW", until="You are") == refs_of(moment, shown.answered)


def test_lines_that_were_cut_are_not_named() -> None:
    events = [said(n, "moth-id", f"Line {n}. " + "pond " * 60) for n in range(1, 8)]

    cut = written_for(a_moment(events, context_tokens_max=1_400))[1]
    whole = written_for(a_moment(events))[1]

    assert 0 < len(cut.discussion) < len(whole.discussion)
    assert whole.discussion[-len(cut.discussion) :] == cut.discussion


def test_a_scene_that_left_the_discussion_a_disturbance_and_what_is_remembered_have_their_own_sections() -> (
    None
):
    scene = said(1, "conductor", "A pond at dusk.", kinds.WORLD_OBSERVED)
    thrown = injected(2, "A hen walks in.")
    events = [scene, thrown, said(3, "moth-id", "A hen?")]

    def shown_with(window: int) -> Shown:
        return written_for(a_moment(events, character=Character(name="echo", memory=Memory(window=window))))[
            1
        ]

    assert shown_with(1) == Shown(
        discussion=(events[2].id,), scene=(scene.id,), remembered=(thrown.id,), answered=(events[2].id,)
    )
    assert shown_with(8) == Shown(
        discussion=tuple([event.id for event in events]),
        disturbances=(thrown.id,),
        answered=(events[2].id,),
    )


def test_a_scene_without_words_is_not_named() -> None:
    empty = said(1, "conductor", "", kinds.WORLD_OBSERVED)

    assert written_for(a_moment([empty, said(2, "moth-id", "Hm.")]))[1].scene == ()


def test_an_older_cause_is_named_and_one_whose_words_were_kept_back_is_not() -> None:
    older = said(1, "moth-id", "Long ago.")
    kept_back = said(2, "moth-id", None)
    wire = Handed(with_content=False)
    recent: list[Event] = [said(9, "fern-id", "Lately.")]

    assert written_for(a_moment(recent, cause=older))[1].answered == (older.id,)
    assert written_for(a_moment(recent, cause=kept_back, handed=wire))[1].answered == ()


def test_a_tick_answers_no_line() -> None:
    assert written_for(a_moment([said(1, "echo-id", "Mine.")]))[1].answered == ()


def test_what_was_shown_reads_back_as_it_was_kept() -> None:
    calls = (
        Shown(
            discussion=(f"{SESSION}.4", f"{SESSION}.5", f"{OTHER}.12", f"{SESSION}.9"),
            remembered=(f"{SESSION}.1", f"{SESSION}.2", f"{SESSION}.11"),
            answered=(f"{SESSION}.9",),
        ),
        Shown(),
    )

    body = encoded_shown(calls)

    discussion, remembered = f"{SESSION}.4 5 {OTHER}.12 {SESSION}.9", f"{SESSION}.1 2 11"
    shown = f'"discussion":"{discussion}","remembered":"{remembered}","answered":"{SESSION}.9"'
    assert body == f"[{{{shown}}},{{}}]"
    assert decoded_shown(body) == calls
