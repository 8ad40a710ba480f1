"""Who wins twenty questions, and is a hurried evening fairer? Forty games as a table, with a plot.

The question costs a file or ten lines. What-ifs, models and seeds multiply; every row can be played again from its digest.

    pip install glasshouse-agents
    python experiment_with_plot.py                   # also writes who-wins.html: plots that need no network
"""

from pathlib import Path

from glasshouse import experiment

EVENINGS = [{"name": "as is"}, {"name": "hurried", "limits": {"max_turns": 12}}]


def percent(share: float | None) -> str:
    """A share in words; a question mark if nothing was counted."""
    return "?" if share is None else f"{share:.0%}"


def main() -> None:
    """Play, print, plot."""
    table = experiment("twenty-sprouts", rng_seeds=range(20), what_ifs=EVENINGS)

    print("evening  winner           rate  95 % interval")
    for figure in table.summary():
        if figure.measure.startswith("won by"):
            rate = figure.value
            interval = f"{percent(rate.low)} to {percent(rate.high)}"
            bar = "█" * round(20 * (rate.value or 0))
            print(
                f"{figure.what_if:7}  {figure.measure:14}  {percent(rate.value):>5}  {interval:12}  {bar}".rstrip()
            )

    longest = max(table, key=lambda row: row.turns)
    print(f"The longest game: seed {longest.rng_seed}, {longest.turns} turns, won by the {longest.winner}")
    plots = Path("who-wins.html")
    plots.write_text(table.page(), encoding="utf-8")
    print(f"Open {plots} for the plots, seed by seed.")


if __name__ == "__main__":
    main()
