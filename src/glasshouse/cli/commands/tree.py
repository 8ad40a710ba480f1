"""`glasshouse tree` draws the shape of a team, now or at an event."""

from __future__ import annotations

from glasshouse.cli.drawing.graph_tree import draw_tree, print_tree, read_tree
from glasshouse.cli.options import JsonOption, RunOrSessionArgument, StoreOption, option
from glasshouse.cli.store_reader import read_store


def tree(
    name: RunOrSessionArgument = "last",
    *,
    at: str | None = option("K", "After how many events, or after which event by its id. Default: now."),
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Draw the shape of a team: graphs, channels with who listens and sends, creatures, wires, privilege.

    \b
    Examples:
      glasshouse tree                              the graphs of the last run as they are now
      glasshouse tree last --at 40                 as they were after 40 events
      glasshouse tree s-1a2b --json                the graph of a session, for machines
    """
    graphs = read_store(store, lambda reader: read_tree(reader, name, at))
    (print_tree if as_json else draw_tree)(graphs)
