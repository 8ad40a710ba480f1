"""`glasshouse lineage` and `glasshouse tree`."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from glasshouse.cli.exits import in_words
from glasshouse.cli.options import JsonOption, RunOrSessionArgument, StoreOption

LINEAGE_EXAMPLES: Final = """\b
Examples:
  glasshouse lineage                           the sessions of the last run
  glasshouse lineage s-1a2b                    a session, what it grew from, what grew from it
  glasshouse lineage last --json               one session a line, for machines"""

TREE_EXAMPLES: Final = """\b
Examples:
  glasshouse tree                              the graphs of the last run as they are now
  glasshouse tree last --at 40                 as they were after 40 events
  glasshouse tree s-1a2b --json                the graph of a session, for machines"""


def add_to(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    app.command(epilog=LINEAGE_EXAMPLES, short_help="Draw how sessions descend from one another.")(lineage)
    app.command(epilog=TREE_EXAMPLES, short_help="Draw graphs, channels, creatures and wires.")(tree)


def lineage(
    name: RunOrSessionArgument = "last", *, store: StoreOption = None, as_json: JsonOption = False
) -> None:
    """Draw the sessions of a run, or around a session: merges and splits as lanes, the oldest first."""
    with in_words():
        from glasshouse.cli.drawing.lineage import draw_lineage, lineage_seen, tell_lineage
        from glasshouse.cli.looking import looked_up

        found = looked_up(store, lambda lookout: lineage_seen(lookout, name))
        (tell_lineage if as_json else draw_lineage)(found)


def tree(
    name: RunOrSessionArgument = "last",
    *,
    at: Annotated[
        str | None,
        typer.Option(
            metavar="K", help="After how many events, or after which event by its id. By default: now."
        ),
    ] = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Draw the shape of a team: graphs, channels with who listens and sends, creatures, wires, privilege."""
    with in_words():
        from glasshouse.cli.drawing.tree import draw_tree, tell_tree, tree_seen
        from glasshouse.cli.looking import looked_up

        found = looked_up(store, lambda lookout: tree_seen(lookout, name, at))
        (tell_tree if as_json else draw_tree)(found)
