"""The digest of a run: one value for one story, whoever tells it, whenever and wherever."""

from collections.abc import Callable
from hashlib import blake2b
from typing import Any

import msgspec
import pytest
from hypothesis import given
from msgspec.structs import replace

from glasshouse.events import kinds
from glasshouse.events.codec import canonical_json, decoded
from glasshouse.events.digest import digest_of, digest_with_costs
from glasshouse.events.event import CONDUCTOR, Event, Json
from glasshouse.events.model_use import Call, ModelUse
from glasshouse.model_values import Tokens
from tests.rules.events.events_by_hand import A_LINE, NOON, a_call, an_event, asked, payloads
from tests.rules.events.golden_files import FOLDER
from tests.rules.events.stories import a_story, told_in
from tests.rules.under_hash_seeds import printed_under_hash_seeds
from tests.rules.worlds_by_hand import HandWorld

GOLDEN_DIGEST = "e28dbf274d2751cbe2852c2d73beeca3bac24a4eec53223eadee00daaf9d7c0e"
GOLDEN_DIGEST_WITH_COSTS = "f117e128ebcbeb3979ba99908779eae2e8706e83c1c81c3a7604cfd4b7d1783f"

STORY = a_story()


def test_the_story_goes_through_a_merge_a_split_and_a_removal() -> None:
    shapes = [event.payload["kind"] for event in STORY if event.kind == kinds.TOPOLOGY_CHANGED]

    assert {"merge", "split", "nothing"} == set(shapes)


def test_one_story_told_in_two_houses_has_one_digest_and_no_id_in_common() -> None:
    here, there = (
        told_in(HandWorld("here"), "r-1111111111111111"),
        told_in(HandWorld("there"), "r-2222222222222222"),
    )

    assert {event.session_id for event in here}.isdisjoint(event.session_id for event in there)
    assert digest_of(here) == digest_of(there)


def test_one_story_told_twice_in_one_house_has_one_digest_though_creatures_have_other_ids() -> None:
    world = HandWorld()

    once, again = told_in(world, "r-1111111111111111"), told_in(world, "r-2222222222222222")

    assert {event.actor for event in once} >= {"echo", "moss"}
    assert {event.actor for event in again} >= {"echo~2", "moss~2"}
    assert digest_of(once) == digest_of(again)


@pytest.mark.parametrize("run_id", ["first-play", "play.1", "play.2", "stage", "Who is there?"])
def test_the_name_given_to_a_run_does_not_show_in_its_digest(run_id: str) -> None:
    assert digest_of(a_story(run_id)) == digest_of(STORY)


def test_wall_times_positions_and_latencies_do_not_show_in_the_digest() -> None:
    now = an_event(position=1)
    later = an_event(
        created_at=NOON.replace(year=2031),
        position=77,
        model=asked(a_call(milliseconds=9_000.5)),
    )

    assert digest_of([now]) == digest_of([later])


def test_what_a_creature_recalled_shows_in_the_digest() -> None:
    use = asked(a_call())
    recalling = [
        an_event(model=replace(use, recalled=ids))
        for ids in ((), ("s-00112233445566aa.2",), ("s-00112233445566aa.3",))
    ]

    assert len({digest_of([event]) for event in recalling}) == len(recalling)


def test_the_latency_of_every_call_behind_an_event_is_left_out() -> None:
    def with_latency(milliseconds: int) -> Event:
        call = a_call(milliseconds=milliseconds)
        return an_event(model=asked(call, call))

    assert digest_of([with_latency(10)]) == digest_of([with_latency(20)])


def test_milliseconds_that_a_creature_speaks_of_are_content() -> None:
    quick, slow = an_event(payload={"milliseconds": 1}), an_event(payload={"milliseconds": 2})

    assert digest_of([quick]) != digest_of([slow])


@given(payloads())
def test_the_order_of_keys_does_not_show_in_the_digest(payload: Json) -> None:
    # Two ids that were never seen before: they must not be numbered in the order in which somebody wrote them.
    written = {"one": "s-0000000000000001", "other": "s-0000000000000002", "inner": payload}
    turned_round = {"inner": dict(reversed(payload.items())), **dict(reversed(written.items()))}

    first, other = an_event(payload=written), an_event(payload=turned_round)

    assert digest_of([first]) == digest_of([other])


CHANGES: dict[str, Callable[[Event], dict[str, Any]]] = {
    "a word of the payload": lambda event: {"payload": {**event.payload, "text": "Something else."}},
    "a field more in the payload": lambda event: {"payload": {**event.payload, "more": None}},
    "the thought": lambda event: {"private": {"thought": "Something else."}},
    "an empty thought instead of none": lambda event: {"private": {} if event.private is None else None},
    "what is sealed": lambda event: {"sealed": {"word": "ivy"}},
    "the model": lambda event: {"model": ModelUse("strong")},
    "the kind": lambda event: {"kind": "question.asked"},
    "the turn": lambda event: {"turn": event.turn + 1},
    "the time": lambda event: {"lamport": event.lamport + 1},
    "the place": lambda event: {"id": f"{event.session_id}.{event.seq + 900}", "seq": event.seq + 900},
    "the actor": lambda event: {"actor": "conductor" if event.actor != "conductor" else "visitor"},
    "the channel's name": lambda event: {"channel": "cellar"},
    "the channel": lambda event: {"channel_id": event.session_id},
    "the cause": lambda event: {"caused_by": event.id if event.caused_by is None else None},
    "the run": lambda event: {"run_id": event.session_id},
    "the version": lambda event: {"schema_version": event.schema_version + 1},
}


@pytest.mark.parametrize("what", CHANGES)
def test_any_other_content_of_any_event_gives_another_digest(what: str) -> None:
    digest = digest_of(STORY)

    for n, event in enumerate(STORY):
        changed = [*STORY[:n], replace(event, **CHANGES[what](event)), *STORY[n + 1 :]]

        assert digest_of(changed) != digest, event


def test_the_number_under_which_a_model_was_asked_shows_in_the_digest_unless_it_is_the_first() -> None:
    absent, first, second = (
        digest_of([an_event(model=use)])
        for use in (ModelUse("fast"), ModelUse("fast", prompting=1), ModelUse("fast", prompting=2))
    )

    assert absent == first != second


@given(first=payloads(), second=payloads())
def test_two_payloads_have_one_digest_only_if_they_are_one(first: Json, second: Json) -> None:
    digests = digest_of([an_event(payload=first)]), digest_of([an_event(payload=second)])

    assert (digests[0] == digests[1]) == (canonical_json(first) == canonical_json(second))


def test_what_somebody_says_is_never_taken_for_a_renamed_id() -> None:
    said = [A_LINE.id, A_LINE.session_id, A_LINE.run_id, "creature echo", "#0.7", "##0"]
    said += [f"#{number}" for number in range(8)]

    digests = {digest_of([A_LINE, an_event(payload={"text": text})]) for text in said}

    assert len(digests) == len(said)


ANSWERED = a_call(120, 0.25)
LESS_CACHED_OR_BUSY: dict[str, tuple[Call, ...]] = {
    "another part of the prompt was in the cache": (
        replace(ANSWERED, usage=Tokens(20, 9, cache_read=70, cache_write=30)),
    ),
    "another price": (replace(ANSWERED, usd=0.75, price_source="server"),),
    "an unknown price": (replace(ANSWERED, usd=None),),
    "the server was busy first": (a_call(0, reached=False, completion="", error="It is busy."), ANSWERED),
}


@pytest.mark.parametrize("what", LESS_CACHED_OR_BUSY)
def test_what_depends_on_the_other_calls_of_a_server_shows_only_in_the_digest_of_a_file(what: str) -> None:
    event = an_event(model=asked(ANSWERED))
    other = an_event(model=asked(*LESS_CACHED_OR_BUSY[what]))

    assert digest_of([event]) == digest_of([other])
    assert digest_with_costs([event]) != digest_with_costs([other])


def test_what_a_run_cost_in_dollars_shows_only_in_the_digest_of_a_file() -> None:
    ends = [
        an_event(kind=kinds.RUN_FINISHED, payload={"reason": "ended", "tokens": 120, "usd": usd})
        for usd in (0.25, 0.75)
    ]

    assert digest_of(ends[:1]) == digest_of(ends[1:])
    assert digest_with_costs(ends[:1]) != digest_with_costs(ends[1:])


@pytest.mark.parametrize(
    "other", [Tokens(121, 9), Tokens(120, 8), Tokens(120, 9, reasoning=1), Tokens(120, 9, is_estimated=True)]
)
def test_all_tokens_of_a_prompt_and_a_reply_show_in_the_digest(other: Tokens) -> None:
    first, second = an_event(model=asked(a_call())), an_event(model=asked(a_call(usage=other)))

    assert digest_of([first]) != digest_of([second])


def test_leaving_out_doubling_or_swapping_events_gives_another_digest() -> None:
    story = list(STORY)
    shorter, doubled = story[:-1], [*story, story[-1]]
    swapped = [*story[:-2], story[-1], story[-2]]

    assert len({digest_of(telling) for telling in (story, shorter, doubled, swapped, [])}) == 5


def test_who_does_what_shows_though_names_do_not() -> None:
    first = an_event(actor="echo", channel_id=None, caused_by=None)
    same, other = replace(first, actor="echo"), replace(first, actor="moss")

    assert digest_of([first, same]) != digest_of([first, other])
    assert digest_of([first, other]) == digest_of([replace(first, actor="ivy"), replace(other, actor="fern")])


def test_a_body_enters_only_as_its_digest_so_that_it_can_be_erased() -> None:
    asked = {"model": "offline", "system": "d1", "user": "d2", "seed": 7}
    usage = {"input_uncached": 120, "output": 9}
    call = {**asked, "completion": "{}", "reasoning": None, "usage": usage}
    body = {
        "payload": A_LINE.payload,
        "private": A_LINE.private,
        "sealed": A_LINE.sealed,
        "model": {"profile": "fast", "as_of": "#0.6", "calls": [call]},
    }
    header = {
        "id": "#0.7",
        "run_id": "#1",
        "session_id": "#0",
        "graph_id": "#2",
        "lamport": 40,
        "turn": 3,
        "actor": "#3",
        "kind": "agent.spoke",
        "channel_id": "#4",
        "channel": "stage",
        "caused_by": "#0.5",
        "schema_version": 1,
        "body": blake2b(canonical_json(body), digest_size=16).hexdigest(),
    }

    by_hand = blake2b(canonical_json(header) + b"\n", digest_size=32).hexdigest()

    assert digest_of([A_LINE]) == by_hand


def test_the_digest_of_one_event_of_every_kind_is_what_it_always_was() -> None:
    files = [path for path in sorted(FOLDER.iterdir()) if "+" not in path.stem]
    events = [decoded(path.read_bytes()) for path in files]
    came_later = {kinds.SESSION_RESTATED, kinds.PRIVILEGE_REVOKED}
    there_from_the_first = [event for event in events if event.kind not in came_later]

    assert digest_of(there_from_the_first) == GOLDEN_DIGEST
    assert digest_with_costs(there_from_the_first) == GOLDEN_DIGEST_WITH_COSTS


def test_hash_seeds_do_not_show_in_the_digest_or_in_the_bytes() -> None:
    program = """
from hashlib import blake2b
from glasshouse.events.codec import encoded
from glasshouse.events.digest import digest_of, digest_with_costs
from tests.rules.events.stories import a_story
story = a_story()
print(digest_of(story), blake2b(b"".join(map(encoded, story))).hexdigest())
"""

    printed = printed_under_hash_seeds(program)

    assert len(printed) == 1
    assert printed.pop().split()[0] == digest_of(STORY)


def test_a_digest_is_taken_of_any_iterable_and_needs_no_list() -> None:
    assert digest_of(event for event in STORY) == digest_of(STORY)


def test_the_digest_of_stored_bytes_is_the_digest_of_what_was_told() -> None:
    story = list(STORY)

    stored = [msgspec.json.decode(msgspec.json.encode(event), type=Event) for event in story]

    assert digest_of(stored) == digest_of(story)


def test_where_a_world_lies_and_what_ids_its_creatures_got_do_not_show_in_the_digest() -> None:
    def started(path: str, creature: str) -> Event:
        payload = {
            "recipe": {"path": path, "digest": "0011223344556677"},
            "cast": [{"creature": creature, "handle": "echo"}],
        }
        return an_event(
            kind=kinds.RUN_STARTED,
            actor=CONDUCTOR,
            payload=payload,
            sealed={"to": [creature], "facts": {"word": "fern"}},
        )

    assert digest_of([started("/home/ada/wood", "echo")]) == digest_of([started("/srv/wood", "echo~2")])
