"""Memory: the window that drops its older half, what is salient, what is never repeated."""

import re
from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glasshouse.events import kinds
from glasshouse.events.event import Event
from glasshouse.events.shown import Shown
from glasshouse.turns.moment import prompt as prompt_parts
from glasshouse.turns.moment.character import Character, Memory, Role
from glasshouse.turns.moment.line_text import content_words, is_line_for
from glasshouse.turns.moment.moment import Moment
from glasshouse.turns.prompts import lines
from glasshouse.turns.prompts.context import prompt_for, written_for
from glasshouse.turns.prompts.lines import (
    cause_words_max,
    disturbances_max,
    memory_lines_max,
    reflections_max,
    window_start,
)
from tests.rules.turns.moments_by_hand import HANDLES, a_moment, a_tick, injected, said
from tests.rules.turns.prompts_read_back import discussion_in, sections_in, spoken


def plain(seq: int, text: str | None = None) -> Event:
    return said(seq, "moth-id", text or f"No. {seq}.")


def under(moment: Moment, heading: str) -> list[str]:
    return [spoken(line).text for line in sections_in(prompt_for(moment).user).get(heading, [])]


def remembering(window: int, role: Role = "worker", wants: str = "") -> Character:
    return Character(name="echo", role=role, memory=Memory(window=window), wants=wants)


def test_a_full_window_drops_its_older_half_and_fills_again() -> None:
    shown = []
    for count in range(7, 15):
        moment = a_moment([plain(n) for n in range(1, count + 1)])
        shown.append([line.text for line in discussion_in(prompt_for(moment).user)])

    assert [len(lines) for lines in shown] == [7, 8, 5, 6, 7, 8, 5, 6]
    assert shown[2][0] == "No. 5."


@given(st.integers(1, 60), st.integers(0, 600))
def test_the_window_shows_between_half_of_it_and_all_of_it(window: int, count: int) -> None:
    shown = count - window_start(window, count)

    assert min(count, window / 2) <= shown <= window


@given(st.integers(1, 20), st.integers(1, 80), st.integers(0, 30))
def test_the_windows_place_does_not_depend_on_how_much_of_the_past_was_handed_over(
    window: int, count: int, forgotten: int
) -> None:
    events = [plain(n) for n in range(1, count + 1)]
    before = min(forgotten, max(0, count - window))
    character = remembering(window)

    whole = discussion_in(prompt_for(a_moment(events, character=character)).user)
    part = discussion_in(prompt_for(a_moment(events[before:], character=character, lines_before=before)).user)

    assert [line.text for line in part] == [line.text for line in whole]


def test_a_window_of_none_shows_no_discussion_but_the_cause() -> None:
    user = prompt_for(a_moment([plain(1)], character=remembering(0))).user

    assert prompt_parts.DISCUSSION not in sections_in(user)
    assert '"No. 1."' in user


def test_a_judge_sees_all_there_is_of_every_kind() -> None:
    events = [said(n, "moth-id", f"Number {n}.", f"sort_{n % 7}.told") for n in range(1, 60)]

    shown = discussion_in(prompt_for(a_moment(events, character=remembering(4, role="judge"))).user)

    assert [line.text for line in shown] == [f"Number {n}." for n in range(1, 60)]
    assert len({line.kind for line in shown}) == 7


def test_an_old_line_about_what_is_asked_comes_to_mind() -> None:
    old = plain(1, "The lantern hangs in the willow.")
    moment = a_moment([old, *[plain(n) for n in range(2, 60)], plain(60, "Who took the lanterns")])

    assert under(moment, prompt_parts.REMEMBERED) == ["The lantern hangs in the willow."]


@pytest.mark.parametrize(
    "character",
    [Character(name="echo", wants="to find the lantern"), Character(name="echo", cares_about=("lanterns",))],
)
def test_an_old_line_about_what_a_creature_is_after_comes_to_mind(character: Character) -> None:
    events = [plain(1, "A lantern!"), *[plain(n) for n in range(2, 60)]]

    assert under(a_moment(events, character=character), prompt_parts.REMEMBERED) == ["A lantern!"]


def test_a_line_that_names_me_comes_to_mind_and_one_that_only_sounds_like_it_does_not() -> None:
    events = [plain(1, "Well, Echo!"), plain(2, "An echo-chamber."), *[plain(n) for n in range(3, 60)]]

    assert under(a_moment(events), prompt_parts.REMEMBERED) == ["Well, Echo!"]


def test_the_nearest_lines_and_those_that_say_more_of_the_cause_or_weigh_more_come_to_mind() -> None:
    filler = [plain(n) for n in range(100, 200)]
    asked = plain(300, "lantern willow river")
    alike = [plain(n, f"A lantern, {n}.") for n in range(1, 20)]
    better = [
        plain(20, "lantern, willow, river, all."),
        said(21, "fern-id", "The lantern is guilty.", kinds.JUDGE_VERDICT),
        plain(22, "Whose lantern?"),
    ]

    lines = under(a_moment([*alike[:5], *better, *alike[5:], *filler, asked]), prompt_parts.REMEMBERED)

    assert lines[:3] == [better[0].payload["text"], better[1].payload["text"], better[2].payload["text"]]
    assert lines[3:] == ["A lantern, 17.", "A lantern, 18.", "A lantern, 19."]


def test_what_was_heard_lately_comes_to_mind_before_what_says_a_little_more_but_is_long_past() -> None:
    old = plain(1, "The lantern, the willow.")
    late = [plain(n, f"A lantern, {n}.") for n in range(201, 201 + memory_lines_max)]
    between, after = [plain(n) for n in range(2, 200)], [plain(n) for n in range(300, 310)]

    lines = under(
        a_moment([old, *between, *late, *after, plain(400, "lantern willow")]), prompt_parts.REMEMBERED
    )

    assert lines == [event.payload["text"] for event in late]


def test_own_reflections_come_first_to_mind_and_others_never() -> None:
    own = [said(n, "echo-id", f"I learn, {n}.", kinds.AGENT_REFLECTED) for n in range(1, 6)]
    others = [said(n, "moth-id", f"He learns, {n}.", kinds.AGENT_REFLECTED) for n in range(6, 9)]
    asked = [plain(n, f"A lantern, {n}?") for n in range(9, 40)]

    lines = under(a_moment([*own, *others, *asked]), prompt_parts.REMEMBERED)

    assert lines[:reflections_max] == ["I learn, 3.", "I learn, 4.", "I learn, 5."]
    assert len(lines) == memory_lines_max
    assert not any("He learns" in line for line in lines)


def test_what_was_heard_longer_ago_than_memory_reaches_is_gone() -> None:
    events = [plain(1, "The lantern!"), *[plain(n) for n in range(2, 400)], plain(400, "A lantern.")]

    assert under(a_moment(events), prompt_parts.REMEMBERED) == []


TEXTS = st.sampled_from(["A lantern?", "The willow.", "Echo, look!", "Rain.", "Lantern in the willow."])
KINDS = st.sampled_from([kinds.AGENT_SPOKE, kinds.USER_INJECTED, kinds.AGENT_REFLECTED, kinds.WORLD_OBSERVED])


@given(st.lists(st.tuples(TEXTS, KINDS), max_size=60))
def test_memory_is_bounded_and_repeats_neither_the_discussion_nor_itself(
    spoken: list[tuple[str, str]],
) -> None:
    events = [said(n, "echo-id", text, kind) for n, (text, kind) in enumerate(spoken)]
    moment = a_moment(events, cause=a_tick(99), character=remembering(4, wants="a lantern"))

    shown = {
        heading: under(moment, heading)
        for heading in (prompt_parts.DISCUSSION, prompt_parts.DISTURBANCES, prompt_parts.REMEMBERED)
    }

    remembered = shown[prompt_parts.REMEMBERED]
    assert len(remembered) == len(set(remembered)) <= memory_lines_max
    assert not set(remembered) & {*shown[prompt_parts.DISCUSSION], *shown[prompt_parts.DISTURBANCES]}


def test_disturbances_are_the_newest_a_full_window_would_hold() -> None:
    old, new = (
        [injected(n, f"Old {n}") for n in range(1, 4)],
        [injected(n, f"New {n}") for n in range(10, 15)],
    )
    lines = [*old, *[plain(n) for n in range(4, 10)], *new, plain(20)]

    assert under(a_moment(lines), prompt_parts.DISTURBANCES) == ["New 12", "New 13", "New 14"]
    assert len(under(a_moment(lines), prompt_parts.DISTURBANCES)) == disturbances_max
    assert under(a_moment([*old, *[plain(n) for n in range(4, 13)]]), prompt_parts.DISTURBANCES) == []


WORDS = (
    *("lantern", "willow", "river", "candle", "mirror", "garden", "winter", "bottle", "cellar", "saddle"),
    *("pepper", "hammer", "anchor", "basket", "kettle", "ladder", "Echo", "moth", "été"),
)
SORTS = (*[kinds.AGENT_SPOKE] * 4, kinds.AGENT_REFLECTED, kinds.JUDGE_VERDICT, kinds.WORLD_OBSERVED)


def random_line(seq: int, dice: Random) -> Event:
    text = " ".join(dice.choices(WORDS, k=dice.choice((1, 1, 2, 3, 16)))) + dice.choice(("", "", "?"))
    actor = dice.choice((*HANDLES, "visitor"))
    return said(seq, actor, text, kinds.USER_INJECTED if actor == "visitor" else dice.choice(SORTS))


def remembered_by_the_rule(moment: Moment, shown: Shown) -> list[str]:
    """The events that ADR 0095 lets a creature remember beside what its prompt shows already, line by line."""
    events = list(moment.recent_events)
    by_id = {event.id: event for event in events}
    words = {event.id: content_words(event.payload["text"]) for event in events}
    is_seen = {*shown.discussion, *shown.scene, *shown.disturbances, *shown.answered}
    texts_seen = {by_id[event_id].payload["text"] for event_id in is_seen if event_id in by_id}
    in_how_many = Counter([word for event in events for word in words[event.id]])
    asked = words[events[-1].id if moment.is_tick else moment.cause.id]
    asked = tuple(sorted([word for word in asked if word in in_how_many], key=in_how_many.__getitem__))
    interests = content_words(moment.character.wants)
    striking = (kinds.USER_INJECTED, kinds.JUDGE_VERDICT, kinds.AGENT_REFLECTED, kinds.WORLD_OBSERVED)
    scored = []
    for at, event in enumerate(events):
        text = event.payload["text"]
        if text in texts_seen or any(text == later.payload["text"] for later in events[at + 1 :]):
            continue
        names_me = re.search(rf"\b{moment.handle}\b", text, re.IGNORECASE) is not None
        points = len([word for word in asked[:cause_words_max] if word in words[event.id]])
        points += any(word in words[event.id] for word in interests)
        points += "?" in text or event.kind in striking
        points += names_me and event.actor != moment.creature_id
        if points:
            is_newer = len(events) - at <= lines.recent_lines_min
            scored.append((min(points, 4) + is_newer, at))
    best = [events[at] for _, at in sorted(scored, reverse=True)]
    reflections = [event for event in best if event.kind == kinds.AGENT_REFLECTED][:reflections_max]
    others = [event for event in best if event.kind != kinds.AGENT_REFLECTED]
    chosen = [*reflections, *others[: memory_lines_max - len(reflections)]]
    return [event.id for event in events if event in chosen]


@given(st.integers(0, 1_000_000))
def test_what_is_remembered_is_what_the_rule_says_for_whoever_looks_whenever(seed: int) -> None:
    dice = Random(seed)
    events = [random_line(seq, dice) for seq in range(1, 100)]
    with pytest.MonkeyPatch.context() as patch:
        # Lines leave sight, and are dropped, after fewer lines than in a house.
        for name, lines_max in (("heard_lines_max", 24), ("recent_lines_min", 12), ("lines_gone_max", 16)):
            patch.setattr(lines, name, lines_max)
        patch.setattr(lines, "_numbered_cache", {})
        for stop in sorted(dice.sample(range(20, 100), 12)):
            creature_id = dice.choice(("echo-id", "moth-id"))
            heard = [event for event in events[:stop] if is_line_for(creature_id, event)]
            moment = a_moment(
                heard[-24:],
                cause=dice.choice((heard[-1], dice.choice(heard[-24:]), a_tick(10_000))),
                creature_id=creature_id,
                handle=HANDLES[creature_id],
                lines_before=max(0, len(heard) - 24),
                character=remembering(4, wants="a lantern, a mirror"),
            )

            _, shown = written_for(moment)

            assert list(shown.remembered) == remembered_by_the_rule(moment, shown)
