"""Far lines: what a creature searches its memory for, which of the lines found its prompt shows, and how they are cited."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from glasshouse.events import kinds
from glasshouse.events.event import Event
from glasshouse.turns.moment import prompt as prompt_parts
from glasshouse.turns.moment.character import Character, Memory
from glasshouse.turns.moment.masks import masks_of, seats_of
from glasshouse.turns.moment.moment import FarLine, Moment
from glasshouse.turns.moment.playbill import Competition, Playbill
from glasshouse.turns.moment.tools import ToolAnswer, ToolOffer, ToolTalk
from glasshouse.turns.prompts.context import prompt_for, written_for
from glasshouse.turns.prompts.far_lines import chosen_far_lines, told_apart, words_sought
from glasshouse.turns.prompts.lines import (
    cause_words_max,
    event_ids_by_ref,
    memory_lines_max,
    reflections_max,
)
from tests.rules.turns.moments_by_hand import HANDLES, a_moment, a_tick, injected, said
from tests.rules.turns.prompts_read_back import sections_in

QUESTION = said(900, "moth-id", "What became of the copper kettle?")
LONG = Character(name="echo", memory=Memory(window=4, long=True), wants="a lantern")


def far(seq: int, text: str, actor: str = "moth-id", kind: str = kinds.AGENT_SPOKE) -> FarLine:
    return FarLine(said(seq, actor, text, kind), HANDLES.get(actor))


def asked(*events: Event, cause: Event = QUESTION, **changes: Any) -> Moment:
    return a_moment([*events, cause], cause=cause, character=LONG, lines_before=500, **changes)


def recalling(*candidates: FarLine, **changes: Any) -> Moment:
    """The moment of an act whose search found these, the newest first."""
    moment = asked(**changes)
    return replace(moment, recalled=chosen_far_lines(moment, candidates, words_sought(moment)))


def shown_in(moment: Moment) -> list[str]:
    return sections_in(prompt_for(moment).user).get(prompt_parts.REMEMBERED, [])


def test_what_is_sought_are_the_words_of_what_is_answered() -> None:
    assert words_sought(asked()) == ("became", "copper", "kettle")
    assert words_sought(asked(cause=a_tick(901))) == ()
    newest = said(2, "moth-id", "A willow by the ferry.")
    assert words_sought(a_moment([newest], cause=a_tick(901), character=LONG)) == ("willow", "ferry")


def test_of_many_words_the_rarest_are_sought() -> None:
    words = [f"word{chr(97 + n)}ing" for n in range(cause_words_max + 4)]
    common = words[:4]
    cause = said(901, "moth-id", " ".join(words))

    moment = asked(*[said(n, "fern-id", f"{word} again") for n, word in enumerate(common, 1)], cause=cause)

    assert words_sought(moment) == tuple(words[4:])


def test_far_lines_stand_among_the_memories_with_numbers_from_the_end() -> None:
    moment = recalling(far(8, "The kettle is copper."), far(3, "A copper kettle has seven dents."))

    assert shown_in(moment) == [
        '[-2] moth (cast, agent.spoke): "A copper kettle has seven dents."',
        '[-1] moth (cast, agent.spoke): "The kettle is copper."',
    ]
    assert written_for(moment)[1].remembered == tuple(line.event.id for line in moment.recalled)


def test_those_with_most_points_are_kept_and_of_equal_ones_the_newest() -> None:
    once = [far(n, f"Some copper, piece {chr(96 + n)}.") for n in range(20, 10, -1)]
    better = far(5, "The copper kettle became a lantern for echo.")

    kept = chosen_far_lines(asked(), [*once, better], words_sought(asked()))

    assert [line.event.seq for line in kept] == [5, 16, 17, 18, 19, 20]
    assert len(kept) == memory_lines_max


def test_own_reflections_come_first_but_not_all_of_them() -> None:
    reflected = [far(n, f"Copper, {chr(96 + n)}.", "echo-id", kinds.AGENT_REFLECTED) for n in (9, 8, 7, 6)]
    better = [far(n, f"The copper kettle, {chr(96 + n)}.") for n in range(20, 10, -1)]

    kept = chosen_far_lines(asked(), [*better, *reflected], words_sought(asked()))

    own = [line.event.seq for line in kept if line.event.kind == kinds.AGENT_REFLECTED]
    assert own == [7, 8, 9]
    assert len(own) == reflections_max
    assert len(kept) == memory_lines_max


def test_a_text_that_was_said_again_and_a_line_that_is_in_sight_anyway_are_left_out() -> None:
    near = said(899, "fern-id", "Copper is soft.")
    moment = asked(near)
    again = far(7, "The kettle sings.")

    candidates = [
        FarLine(near, "fern"),
        far(9, "Copper is soft.", "fern-id"),
        again,
        far(4, "The kettle sings."),
    ]
    kept = chosen_far_lines(moment, candidates, words_sought(moment))

    assert kept == (again,)


def test_near_and_far_lines_are_weighed_by_the_same_points() -> None:
    near = [said(n, "fern-id", f"The copper kettle, {chr(64 + n)}.") for n in range(1, 6)]
    news = [said(n, "moth-id", f"No. {n}.") for n in range(20, 40)]
    weak = [far(n, f"Copper {chr(96 + n)}.") for n in range(9, 1, -1)]
    moment = asked(*near, *news)
    moment = replace(moment, recalled=chosen_far_lines(moment, weak, words_sought(moment)))

    shown = shown_in(moment)

    assert len(shown) == memory_lines_max
    assert sum("The copper kettle" in line for line in shown) == len(near)
    assert shown[0] == '[-1] moth (cast, agent.spoke): "Copper i."'


def test_a_far_line_can_be_cited_like_any_other() -> None:
    moment = recalling(far(3, "A copper kettle has seven dents."))

    ids = event_ids_by_ref(moment)

    assert ids["-1"] == moment.recalled[0].event.id
    assert list(ids) == ["-1", "501"]


def test_a_visitors_words_taint_an_act_when_they_come_back_and_castmates_words_do_not() -> None:
    offer = ToolOffer("recall", "Remember.", {"type": "object", "properties": {}})

    by_cast = recalling(far(3, "A copper kettle has seven dents."), tools=(offer,))
    by_visitor = replace(by_cast, recalled=(FarLine(injected(3, "A copper kettle falls."), None),))

    assert prompt_for(by_cast).is_untrusted is False
    assert prompt_for(by_visitor).is_untrusted is True


def test_what_the_tool_found_taints_an_act_only_by_strangers_words() -> None:
    offer = ToolOffer("recall", "Remember.", {"type": "object", "properties": {}})
    result_then = {"found": [{"id": "s-1.3", "kind": "agent.spoke", "text": "moth: hm"}]}

    def after(result: object) -> bool | None:
        talk = ToolTalk("recall", {"words": "kettle"}, ToolAnswer(is_ok=True, text="moth: hm", result=result))
        return prompt_for(asked(tools=(offer,), talk=(talk,))).is_untrusted

    assert after(result_then) is False
    assert after({**result_then, "is_untrusted": True}) is True
    assert after(None) is after({"found": "gone"}) is True


def test_a_judge_reads_labels_in_what_it_remembers() -> None:
    competition = Competition("versus", {"moths": ("moth",), "ferns": ("fern",)})
    masks = masks_of(seats_of(competition, lambda handle: (handle,)), 0)
    character = replace(LONG, role="judge")
    moment = replace(asked(playbill=Playbill(competition=competition), masks=masks), character=character)
    moment = replace(moment, recalled=(far(3, "Fern, the copper kettle has seven dents."),))

    (line,) = shown_in(moment)

    assert "moth" not in line.lower()
    assert "fern" not in line.lower()
    assert "contestant" in line
    assert "seven dents" in line


def test_the_tool_tells_each_text_once_and_not_the_question() -> None:
    lines = [
        FarLine(QUESTION, "moth"),
        far(9, "Copper."),
        far(3, "Copper."),
        *[far(n, f"No. {n}.") for n in range(30)],
    ]

    lines_told = told_apart(lines, QUESTION.id)

    assert [line.event.seq for line in lines_told] == [9, 0, 1, 2, 3, 4, 5, 6]
