"""`glasshouse digest` prints the digest of a run."""

from __future__ import annotations

from glasshouse.cli.drawing.screen import print_json
from glasshouse.cli.options import JsonOption, RunArgument, StoreOption
from glasshouse.cli.store_reader import read_store


def digest(run: RunArgument, *, store: StoreOption = None, as_json: JsonOption = False) -> None:
    """Print the digest of a run: equal wherever and whenever the story is the same.

    \b
    Examples:
      glasshouse digest last                       of the run that began last
      glasshouse digest r-1a2b --json              with the run's whole id and the number of its events
    """
    story = read_store(store, lambda reader: reader.story(run))
    if as_json:
        print_json({**story.ids, "digest": story.digest, "events": len(story.events)})
    else:
        print(story.digest)
