"""`glasshouse disturb`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from glasshouse.cli.exits import in_words
from glasshouse.cli.options import JsonOption, RunArgument, StoreOption

if TYPE_CHECKING:
    from glasshouse.cli.looking import Lookout

EXAMPLES: Final = """\b
Examples:
  glasshouse disturb last "A lantern starts whispering recipes."
  glasshouse disturb r-1a2b "It begins to rain." --store other.glasshouse"""

answer_seconds_max: Final = 2.0
look_seconds: Final = 0.05


def add_to(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command(epilog=EXAMPLES, short_help="Say something to a run that is being played.")(disturb)


def disturb(
    run: RunArgument,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What you say. All of the run hear it.")],
    *,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say something to everybody in a run, from outside, while another process plays it.

    The line is left in the store's inbox. If nobody plays the run now, it waits there for the next play of that run.
    """
    with in_words():
        from glasshouse.cli.drawing.screen import print_json
        from glasshouse.cli.looking import looked_up

        said = _sound(text)
        told = looked_up(store, lambda lookout: _left(lookout, run, said))
        if as_json:
            print_json(told)
        else:
            print(_in_words(told, "" if store is None else f" --store {store}"))


def _sound(text: str) -> str:
    """The text, if a run can hear it."""
    from msgspec.json import encode as encoded

    from glasshouse.errors import Refused
    from glasshouse.events.event import payload_bytes_max
    from glasshouse.world.ids import check_length

    said = text.strip()
    if not said:
        raise Refused("There is nothing to say in an empty text.", "Say something.")
    if any(0xD800 <= ord(char) <= 0xDFFF for char in said):
        raise Refused("The text holds bytes that are no text.", "Write it in UTF-8.")
    check_length("text", said)
    if len(encoded({"text": said})) > payload_bytes_max:
        raise Refused("The text is longer than an event may be.", "Say it in several lines.")
    return said


async def _left(lookout: Lookout, name: str, text: str) -> dict[str, Any]:
    """Leave the line for whoever plays the run; wait a moment for somebody to say it."""
    from glasshouse.cli.storing import holder_of
    from glasshouse.errors import Refused

    run = lookout.run(name)
    if run.is_finished:
        raise Refused(
            f"Run {run.id} has finished, and nobody in it hears anything any more.", "Play the world again."
        )
    holder = holder_of(lookout.store.path)
    number = await lookout.store.put_in_inbox(text, run.id)
    is_heard = holder is not None and await _is_taken(lookout, number)
    return {
        "run_id": run.id,
        "text": text,
        "line": number,
        "status": "heard" if is_heard else "waiting",
        "played_by": holder,
    }


async def _is_taken(lookout: Lookout, number: int) -> bool:
    """Whether the line leaves the inbox soon: it does so in the very commit in which it is said."""
    import asyncio
    import time

    until = time.monotonic() + answer_seconds_max
    while time.monotonic() < until:
        waiting = await lookout.store.read_inbox(number)  # Its number also says how many may be before it.
        if all(line.number != number for line in waiting):
            return True
        await asyncio.sleep(look_seconds)
    return False


def _in_words(told: dict[str, Any], place: str) -> str:
    if told["status"] == "heard":
        return f"Said to {told['run_id']}."
    if told["played_by"] is None:
        return (
            f"Nobody plays this store now. The line waits for the next play of {told['run_id']}:\n"
            f"  glasshouse play --continue {told['run_id']}{place}"
        )
    return (
        f"Left for {told['run_id']}. Process {told['played_by']} plays this store and has not come to it yet:"
        " it does at its next turn, unless that run is paused."
    )
