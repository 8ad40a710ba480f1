"""How the troupe changes its circle: by what the manifest says to do, by what was said, and by what its tools answered.

The prompts are written by hand in the form that the context builder gives them, so that every decision here rests on
what stands in this file.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from glasshouse.troupe.directions import directions_of
from glasshouse.troupe.model import answer
from glasshouse.troupe.reading import identity_of
from glasshouse.turns.moment.prompt import Prompt

TEXT = {"type": "string"}
HANDLES = ["lead", "scout", "diver", "rook@tower", "wren@orchard"]
SEEDS = range(12)


def branch(kind: str, required: tuple[str, ...] = ("text",), **fields: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"kind": {"const": kind}, "thought": TEXT, "mood": TEXT, **fields},
        "required": ["kind", "thought", *required],
        "additionalProperties": False,
    }


def tool(name: str, required: tuple[str, ...], **fields: Any) -> dict[str, Any]:
    dry_run = {"type": "boolean", "description": "true: only say what would happen"}
    arguments = {
        "type": "object",
        "properties": {**fields, "dry_run": dry_run},
        "required": [*required],
        "additionalProperties": False,
    }
    return branch("tool.called", ("tool", "arguments"), tool={"const": name}, arguments=arguments)


ADD = tool("group_add_node", ("use",), use={"enum": ["diver", "cook"]}, handle=TEXT)
REMOVE = tool("group_remove_node", ("creature",), creature={"enum": ["scout", "diver"]})
WIRE = tool(
    "group_wire",
    ("action", "source", "target"),
    action={"enum": ["add"]},
    source={"enum": HANDLES[:3]},
    target={"enum": HANDLES[:3]},
    with_content={"type": "boolean"},
)
CHANNEL = tool(
    "group_channel",
    ("action",),
    action={"enum": ["open", "close", "join", "leave"]},
    channel=TEXT,
    creature={"enum": HANDLES},
    direction={"enum": ["listen", "send", "both"]},
)
STATUS = tool("group_status", (), scope={"enum": ["graph", "terrarium"]})
ALL = (ADD, REMOVE, CHANNEL, WIRE, STATUS)
PASS = {
    "type": "object",
    "properties": {"kind": {"const": "agent.passed"}, "reason": TEXT},
    "required": ["kind", "reason"],
    "additionalProperties": False,
}
SENDING = (
    "To come home. Send for the diver when somebody speaks of wrecks or anchors. Send for the cook when somebody "
    "speaks of supper. Hand each of them your orders. Send each one home when its work is done."
)
JOINING = (
    "To stay afloat. When there is a leak and we are sinking, join the wren to us. "
    "Once we are mended and the storm is over, part from our guests."
)
ALONE = ("With you: scout (worker, on deck).", "You hear: deck.", "You speak on: deck.")


def prompt(
    wants: str,
    *said: str,
    around: tuple[str, ...] = ALONE,
    scene: str = "Open water.",
    tools_said: tuple[str, ...] = (),
    tools: tuple[dict[str, Any], ...] = ALL,
    kinds: tuple[str, ...] = ("order.given",),
    seed: int = 0,
) -> Prompt:
    """What `lead` gets: what it wants, what was said by whom, who is around, what its tools said."""
    schema = {"anyOf": [*(branch(kind, text=TEXT) for kind in kinds), *tools, PASS]}
    lines = [
        f'[{n + 1}] {who} (cast, {kind}): "{text}"' for n, (who, kind, text) in enumerate(map(split, said))
    ]
    user = [
        *(["THE DISCUSSION", *lines] if lines else []),
        *("AROUND YOU", *around),
        *("THE SCENE", json.dumps(scene)),
        *(["WHAT YOUR TOOLS SAID", *tools_said] if tools_said else []),
        *("WHAT YOU ANSWER NOW", "It is your turn."),
        "You are lead. Speak in your own voice, calm. At most 34 words.",
    ]
    system = f"You are lead, root.\nA captain.\nYou want: {wants}\nSpeak English.\n\nHOW TO ANSWER\nOne JSON object."
    return Prompt(system, "\n".join(user), schema, seed, 400)


def split(line: str) -> tuple[str, str, str]:
    """`scout/kind: text` in its parts."""
    who, _, text = line.partition(": ")
    handle, _, kind = who.partition("/")
    return handle, kind or "agent.spoke", text


def answered(given: Prompt) -> dict[str, Any]:
    reply: dict[str, Any] = json.loads(answer(given))
    return reply


def used(given: Prompt) -> dict[str, Any] | None:
    """The tool and its arguments, if one is used."""
    reply = answered(given)
    if reply["kind"] != "tool.called":
        return None
    return {"tool": reply["tool"], **reply["arguments"]}


def test_a_direction_is_a_condition_and_a_deed_whichever_comes_first() -> None:
    me = identity_of(
        f"You are lead, root.\nA captain.\nYou want: {JOINING} Send for the cook when there is supper.\n"
    )

    first, second, third = directions_of(me)

    assert first.cue == {"leak", "sink"}
    assert first.is_to("join")
    assert first.names("wren@orchard")
    assert not first.names("rook@tower")
    assert second.cue == {"mend", "storm"}
    assert second.is_to("part")
    assert third.cue == {"supper"}
    assert third.deed == "send for the cook"


@pytest.mark.parametrize("seed", SEEDS)
def test_a_specialist_is_sent_for_when_the_talk_calls_for_one(seed: int) -> None:
    asked = prompt(SENDING, "scout: There is an old wreck under the bow.", seed=seed)

    assert used(asked) == {"tool": "group_add_node", "use": "diver"}


@pytest.mark.parametrize("seed", SEEDS)
def test_nobody_is_sent_for_who_was_not_called_for_or_is_there_already(seed: int) -> None:
    idle = prompt(SENDING, "scout: The gulls are late.", seed=seed)
    around = ("With you: scout (worker, on deck), diver (worker, on lead-diver).", *ALONE[1:])
    there = prompt(SENDING, "scout: There is an old wreck.", around=around, seed=seed)

    assert used(idle) is None
    assert used(there) is None


def test_who_was_sent_for_is_wired_and_then_spoken_of() -> None:
    around = ("With you: scout (worker, on deck), diver (worker, on lead-diver).", *ALONE[1:])
    born = 'group_add_node {"use":"diver"} answered: "diver is born."'
    wired = 'group_wire {"action":"add","source":"lead","target":"diver"} answered: "Done."'
    said = "scout: There is an old wreck under the bow."

    after_birth = used(prompt(SENDING, said, around=around, tools_said=(born,)))
    handed = (*around, "Your lines are handed to: diver.")
    line = answered(prompt(SENDING, said, around=handed, tools_said=(born, wired)))

    assert after_birth == {"tool": "group_wire", "action": "add", "source": "lead", "target": "diver"}
    assert line["kind"] == "order.given"
    assert "Diver" in line["text"]


def test_who_was_sent_for_is_put_on_the_channel_that_the_manifest_names() -> None:
    wants = f"{SENDING} Put them on the deck."
    around = ("With you: scout (worker, on deck), diver (worker, on lead-diver).", *ALONE[1:])
    handed = (*around, "Your lines are handed to: diver.")
    on_deck = (around[0].replace("on lead-diver", "on lead-diver, deck"), *handed[1:])
    born = 'group_add_node {"use":"diver"} answered: "diver is born."'
    said = "scout: There is an old wreck under the bow."

    joined = used(prompt(wants, said, around=handed, tools_said=(born,)))

    assert joined == {
        "tool": "group_channel",
        "action": "join",
        "channel": "deck",
        "creature": "diver",
        "direction": "both",
    }
    assert used(prompt(wants, said, around=on_deck, tools_said=(born,))) is None
    assert used(prompt(SENDING, said, around=handed, tools_said=(born,))) is None


@pytest.mark.parametrize("seed", SEEDS)
def test_who_says_that_the_work_is_done_is_sent_home(seed: int) -> None:
    around = ("With you: scout (worker, on deck), diver (worker, on lead-diver).", *ALONE[1:])

    done = prompt(SENDING, "diver/work.done: That is cut loose.", around=around, seed=seed)
    busy = prompt(SENDING, "diver/work.told: It is dark down there.", around=around, seed=seed)

    assert used(done) == {"tool": "group_remove_node", "creature": "diver"}
    assert used(busy) is None


def test_before_strangers_are_joined_one_asks_who_is_about() -> None:
    scene = "There is a leak below, and the boat is sinking."
    status = 'group_status {"scope":"terrarium"} answered: "Other graphs: orchard, with wren@orchard."'

    first = used(prompt(JOINING, "scout: My feet are wet.", scene=scene))
    second = used(prompt(JOINING, "scout: My feet are wet.", scene=scene, tools_said=(status,)))

    assert first == {"tool": "group_status", "scope": "terrarium"}
    assert second == {
        "tool": "group_channel",
        "action": "join",
        "channel": "deck",
        "creature": "wren@orchard",
        "direction": "both",
    }


@pytest.mark.parametrize("seed", SEEDS)
def test_nobody_is_joined_while_nothing_is_wrong(seed: int) -> None:
    assert used(prompt(JOINING, "scout: A leak is a word with a hole in it.", seed=seed)) is None


def test_a_guest_is_let_go_when_it_is_over_and_not_before() -> None:
    around = (
        "With you: scout (worker, on deck), wren (worker, on deck, orchard).",
        "You hear every channel here: deck, orchard.",
        "You speak on: deck.",
    )
    over = "Everything is mended and the storm is gone."

    before = used(prompt(JOINING, "wren: Hold this.", around=around, scene="The storm goes on."))
    after = used(prompt(JOINING, "wren: Hold this.", around=around, scene=over))

    assert before is None
    assert after == {"tool": "group_channel", "action": "leave", "channel": "deck", "creature": "wren"}


def test_what_was_refused_is_not_tried_again_in_the_act_and_is_spoken_of() -> None:
    scene = "There is a leak below, and the boat is sinking."
    status = 'group_status {"scope":"terrarium"} answered: "Other graphs: orchard, with wren@orchard."'
    asked = {"action": "join", "channel": "deck", "creature": "wren@orchard", "direction": "both"}
    refused = f'group_channel {json.dumps(asked)} failed: "Nobody is there to allow it."'

    line = answered(prompt(JOINING, "scout: My feet are wet.", scene=scene, tools_said=(status, refused)))

    assert line["kind"] == "order.given"
    assert "Wren" in line["text"]


def test_a_leaving_is_weighed_first_where_the_manifest_says_so() -> None:
    wants = "To be just. When the scout asks for leave, weigh what it costs and then release the scout."
    asks = "scout/leave.asked: Let me go home."
    weighed = 'group_remove_node {"creature":"scout","dry_run":true} answered: "The graph would split."'

    first = used(prompt(wants, asks))
    second = used(prompt(wants, asks, tools_said=(weighed,)))

    assert first == {"tool": "group_remove_node", "creature": "scout", "dry_run": True}
    assert second == {"tool": "group_remove_node", "creature": "scout"}


@pytest.mark.parametrize("seed", SEEDS)
def test_a_kind_that_waits_for_its_hour_is_said_when_the_hour_comes_and_once(seed: int) -> None:
    wants = "To carry on. When the lamp is heavy and the wick is short, ask for leave."
    kinds = ("word.carried", "leave.asked")
    heavy = "The lamp has grown heavy, and the wick is short."

    early = answered(prompt(wants, "scout: Hello.", tools=(), kinds=kinds, seed=seed))
    now = answered(prompt(wants, "scout: Hello.", scene=heavy, tools=(), kinds=kinds, seed=seed))
    mine = "lead/leave.asked: I ask for leave."
    later = answered(prompt(wants, mine, "scout: Hello.", scene=heavy, tools=(), kinds=kinds, seed=seed))

    assert [reply["kind"] for reply in (early, now, later)] == ["word.carried", "leave.asked", "word.carried"]


@pytest.mark.parametrize("seed", SEEDS)
def test_without_directions_group_tools_are_left_alone(seed: int) -> None:
    said = ("scout: There is a wreck, a leak and supper, and we are sinking.",)

    assert used(prompt("To see the sea.", *said, tools=ALL[1:], seed=seed)) is None


def test_the_number_behind_another_graphs_name_changes_nothing_but_the_name() -> None:
    def answer_about(name: str) -> str:
        status = f'group_status {{"scope":"terrarium"}} answered: "Other graphs: {name}."'
        return answer(prompt(SENDING, "scout: The gulls are late.", tools_said=(status,)))

    assert answer_about("wren@orchard") == answer_about("wren@orchard~2")


WRITE = tool("group_add_node", ("handle", "persona"), handle=TEXT, role=TEXT, persona=TEXT, wants=TEXT)
WRITING = "To come home. Send for a bell founder when somebody speaks of the cracked bell."


@pytest.mark.parametrize("seed", SEEDS)
def test_a_specialist_nobody_wrote_is_written_where_the_schema_offers_it(seed: int) -> None:
    said = "scout: The bell is cracked from lip to crown."

    written = used(prompt(WRITING, said, tools=(WRITE, STATUS), seed=seed))
    not_offered = used(prompt(WRITING, said, tools=ALL, seed=seed))
    not_called_for = used(prompt(WRITING, "scout: The wind is up.", tools=(WRITE, STATUS), seed=seed))

    assert written == {
        "tool": "group_add_node",
        "handle": "bell-founder",
        "role": "bell founder",
        "persona": "Knows what a bell founder knows, and says it plainly.",
        "wants": "To tell lead what a bell founder would do.",
    }
    assert not_offered is None
    assert not_called_for is None


def test_whoever_is_written_is_written_once() -> None:
    around = ("With you: scout (worker, on deck), bell-founder (worker, on lead-bell-founder).", *ALONE[1:])

    again = used(
        prompt(WRITING, "scout: The bell is cracked from lip to crown.", tools=(WRITE, STATUS), around=around)
    )

    assert again is None


def test_who_is_listed_is_sent_for_and_not_written() -> None:
    both = tool("group_add_node", (), use={"enum": ["diver", "cook"]}, handle=TEXT, persona=TEXT)

    sent_for = used(prompt(SENDING, "scout: There is an anchor down there.", tools=(both,)))

    assert sent_for == {"tool": "group_add_node", "use": "diver"}
