"""`glasshouse compare` shows where two runs diverge and what each cost.

The comparison is a view; here it is only printed.
"""

from __future__ import annotations

from glasshouse.cli.drawing.comparison import draw_comparison, print_comparison
from glasshouse.cli.options import RUN_NAMES, JsonOption, RoleName, RoleOption, StoreOption, argument, option
from glasshouse.cli.store_reader import StoreReader, read_store
from glasshouse.views.comparison import Comparison


def compare(
    first: str = argument("A", f"A run, or a session: {RUN_NAMES}"),
    second: str = argument("B", f"Another: {RUN_NAMES}"),
    *,
    lines: int = option("N", "Show at most N lines that only one run has.", 8, min=0, max=400),
    role: RoleOption = RoleName.AUDIENCE,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Compare two runs: where they diverge, what differs, and what each cost.

    \b
    Examples:
      glasshouse compare r-1a2b last               a run, and the one that began last
      glasshouse compare r-1a2b r-3c4d --lines 20  with more of what only one of them has
      glasshouse compare r-1a2b last --json        for machines
    """

    async def comparison_in(reader: StoreReader) -> Comparison:
        a, _ = await reader.run_or_session(first)
        b, _ = await reader.run_or_session(second)
        return await reader.terrarium.compare(a, b, role=role.value)

    comparison = read_store(store, comparison_in)
    if as_json:
        print_comparison(comparison)
    else:
        draw_comparison(comparison, lines)
