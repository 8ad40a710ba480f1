"""`glasshouse disturb` says something to a run that another process plays.

It writes to the inbox of the store and to nothing else.
"""

from __future__ import annotations

import time
from typing import Any, Final

import msgspec

from glasshouse.cli.command_line import CommandLine, store_path
from glasshouse.cli.drawing.screen import Screen, print_json
from glasshouse.cli.options import JsonOption, StoreOption, argument
from glasshouse.cli.prose import say
from glasshouse.cli.store_reader import StoreReader, in_words, read_store
from glasshouse.errors import Refused
from glasshouse.events.event import event_id, payload_bytes_max, seq_digits_max
from glasshouse.events.payloads import UserInjected
from glasshouse.world.state.ids import check_length

answer_seconds_max: Final = 2.0
"""`disturb` waits at most this long for its line to be heard."""
_LONGEST_EVENT_ID: Final = event_id(f"s-{'0' * 16}", 10**seq_digits_max - 1)
"""What the event of a second graph may hold beside the text."""


def disturb(
    run: str = argument("RUN", "A run: its id, the beginning of its id, or `last`."),
    text: str = argument("TEXT", "What to say to everybody in the run."),
    *,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say something to everybody in a run, from outside, while another process plays it.

    The line is left in the store's inbox. If nobody plays the run now, it waits there for the next play of that run.

    \b
    Examples:
      glasshouse disturb last "A lantern starts whispering recipes."
      glasshouse disturb r-1a2b "It begins to rain." --store other.glasshouse
    """
    said = _checked(text)
    left = read_store(store, lambda reader: _left(reader, run, said))
    if as_json:
        print_json(left)
    elif left["status"] == "heard":
        say(f"Said to {left['run_id']}.")
    elif left["played_by"] is None:
        Screen().draw(f"Nobody plays this store now. The line waits for the next play of {left['run_id']}:")
        print(f"  {CommandLine.on(store_path(store)).call('play', '--continue', left['run_id'])}")
    else:
        holder = f"{in_words(left['played_by']).capitalize()} plays this store and has not read it yet"
        Screen().draw(
            f"Left for {left['run_id']}. {holder}: it does at its next turn, unless that run is paused."
        )


def _checked(text: str) -> str:
    """The text, if a run can hear it."""
    said = text.strip()
    if not said:
        raise Refused("There is nothing to say in an empty text.", "Say something.")
    if any(0xD800 <= ord(char) <= 0xDFFF for char in said):
        raise Refused("The text holds bytes that are no text.", "Write it in UTF-8.")
    check_length("text", said)
    if len(msgspec.json.encode(UserInjected(said, _LONGEST_EVENT_ID))) > payload_bytes_max:
        raise Refused("The text is longer than an event may be.", "Say it in several lines.")
    return said


async def _left(reader: StoreReader, name: str, text: str) -> dict[str, Any]:
    """Leave the line in the inbox, and wait a moment for the process that plays the run to read it."""
    run = reader.run(name)
    if run.is_finished:
        reason = f"Run {run.id} has finished, and nobody in it hears anything any more."
        raise Refused(reason, "Play the world again.")
    holder = await reader.address.holder()
    number = await reader.store.put_line(text, run.id)
    status = "heard" if holder is not None and await _is_read(reader, number) else "waiting"
    return {"run_id": run.id, "text": text, "line": number, "status": status, "played_by": holder}


async def _is_read(reader: StoreReader, number: int) -> bool:
    """Whether the line leaves the inbox soon: it does so in the very commit in which it is said."""
    until = time.monotonic() + answer_seconds_max
    seen = ""
    while (seconds := until - time.monotonic()) > 0:
        seen = await reader.store.wait_for_more(seen, seconds)
        waiting = await reader.store.lines(number)  # At most `number` lines can stand before it.
        if all(line.number != number for line in waiting):
            return True
    return False
