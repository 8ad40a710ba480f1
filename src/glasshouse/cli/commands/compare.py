"""`glasshouse compare` shows where two runs part and what each cost.

The comparison is a view; here it is only printed.
"""

from __future__ import annotations

from glasshouse.cli.drawing.comparison import draw_comparison, print_comparison
from glasshouse.cli.options import RUN_NAMES, JsonOption, StoreOption, argument, option
from glasshouse.cli.store_reader import StoreReader, Story, read_store
from glasshouse.views.comparison import compared


def compare(
    first: str = argument("A", f"A run, or a session: {RUN_NAMES}"),
    second: str = argument("B", f"Another: {RUN_NAMES}"),
    *,
    lines: int = option("N", "How many lines that only one has to draw.", 8, min=0, max=400),
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Lay two runs side by side: where they part, what differs, and what each of them cost.

    \b
    Examples:
      glasshouse compare r-1a2b last               a run, and the one that began last
      glasshouse compare r-1a2b r-3c4d --lines 20  with more of what only one of them has
      glasshouse compare r-1a2b last --json        for machines
    """

    async def stories(reader: StoreReader) -> tuple[Story, Story]:
        return await reader.story(first), await reader.story(second)

    a, b = read_store(store, stories)
    comparison = compared((a.name, a.events), (b.name, b.events), a.skews)
    if as_json:
        print_comparison(comparison)
    else:
        draw_comparison(comparison, lines)
