"""`glasshouse lineage` draws the sessions of a run as lanes."""

from __future__ import annotations

from glasshouse.cli.drawing.session_lanes import draw_lineage, print_lineage, read_lineage
from glasshouse.cli.options import JsonOption, RunOrSessionArgument, StoreOption
from glasshouse.cli.store_reader import read_store


def lineage(
    name: RunOrSessionArgument = "last", *, store: StoreOption = None, as_json: JsonOption = False
) -> None:
    """Draw the sessions of a run, or around a session: merges and splits as lanes, the oldest first.

    \b
    Examples:
      glasshouse lineage                           the sessions of the last run
      glasshouse lineage s-1a2b                    a session, what it grew from, what grew from it
      glasshouse lineage last --json               one session a line, for machines
    """
    sessions = read_store(store, lambda reader: read_lineage(reader, name))
    (print_lineage if as_json else draw_lineage)(sessions)
