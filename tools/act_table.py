"""Write the tables of docs/an-act.md from the table of an act's states: `python -m tools.act_table`.

The engine moves every act by `TABLE` in `runtime/acts/in_flight.py`. The page says the same to a reader. A test fails if the
page says anything else.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from glasshouse.runtime.acts.in_flight import CALLS, STATES, TABLE

PAGE: Final = Path(__file__).resolve().parent.parent / "docs" / "an-act.md"
BEGIN: Final = "<!-- states: written by `python -m tools.act_table` -->\n"
END: Final = "<!-- end of states -->\n"


def written() -> str:
    """The tables: the states, the moves, and what becomes of the calls."""
    states = [f"| **{state}** | {meaning} |" for state, meaning in STATES.items()]
    order = list(STATES)
    moves = [
        f"| **{state}** | {cause} | **{move.state}** | {move.by} | {move.writes} | {move.calls} |"
        for (state, cause), move in sorted(TABLE.items(), key=lambda row: order.index(row[0][0]))
    ]
    calls = [f"| {name} | {meaning} |" for name, meaning in CALLS.items()]
    return "\n".join(
        [
            "| state | what it means |",
            "|---|---|",
            *states,
            "",
            "| from | by this | to | who causes it | what is written | its calls |",
            "|---|---|---|---|---|---|",
            *moves,
            "",
            "| its calls | and the reservation that holds their cost |",
            "|---|---|",
            *calls,
            "",
        ]
    )


def with_tables(page: str) -> str:
    """The page with the tables in the place for them."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"{PAGE.name} has no place for the tables: {BEGIN.strip()} … {END.strip()}")
    return f"{before}{begin}{written()}{end}{after}"


def main() -> None:
    """Write the tables into the page."""
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
