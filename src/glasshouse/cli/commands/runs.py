"""`glasshouse runs` lists the runs in a store."""

from __future__ import annotations

import csv
import sys
from typing import Any, Final

from glasshouse.cli.command_line import CommandLine, store_path, world_to_try
from glasshouse.cli.drawing.screen import Screen, draw_table, facts_of, print_json
from glasshouse.cli.options import JsonOption, StoreOption, flag
from glasshouse.cli.prose import say
from glasshouse.cli.store_reader import StoreReader, read_store, short_id_chars, short_ids
from glasshouse.errors import Refused

CSV_COLUMNS: Final = (
    "run_id",
    "world",
    "seed",
    "rng_seed",
    "status",
    "reason",
    "winner",
    "turns",
    "calls",
    "tokens",
    "usd",
    "digest",
    "replay",
)
"""What `--csv` tells of each run. What is unknown or has not happened is empty."""


def runs(
    *,
    store: StoreOption = None,
    as_csv: bool = flag("--csv", "Print a table for spreadsheets, with digests and replay commands."),
    as_json: JsonOption = False,
) -> None:
    """List the runs in a store, also while one is being played.

    \b
    Examples:
      glasshouse runs                              every run in the store, the oldest first
      glasshouse runs --store other.glasshouse     of another store
      glasshouse runs --json | tail -n 1           the last one, for machines
      glasshouse runs --csv                        a table: who won, what it cost, how to replay it
    """
    if as_csv and as_json:
        raise Refused("--csv and --json are two formats.", "Leave one of them out.")
    if as_csv:
        _print_csv(read_store(store, _facts_with_digests), CommandLine.on(store_path(store)))
        return
    listed = read_store(store, _facts)
    if as_json:
        print_json(*listed)
    elif listed:
        _draw(listed)
    else:
        say(
            f"There is no run yet. Play one: {CommandLine.on(store_path(store)).call('play', world_to_try())}"
        )


async def _facts(reader: StoreReader) -> list[dict[str, Any]]:
    facts = []
    for run in reader.terrarium.runs():
        first = await reader.terrarium.event(f"{run.session_id}.1")
        origin = reader.terrarium.session(run.session_id).origin
        about = {
            "run_id": run.id,
            "world": run.scenario,
            "title": run.title,
            "status": run.status,
        }
        ending = {"reason": None if run.finished is None else run.finished.reason, "winner": run.winner}
        past = {"branch_of": run.branch_of, "how": None if run.branch_of is None else origin}
        played = facts_of(
            run, "seed", "rng_seed", "turns", "calls", "tokens", "usd", "session_id", "graph_ids"
        )
        facts.append(
            {
                **about,
                **ending,
                **past,
                **played,
                "began": first.created_at.isoformat(),
                "is_edited": run.is_edited,
            }
        )
    return facts


async def _facts_with_digests(reader: StoreReader) -> list[dict[str, Any]]:
    facts = await _facts(reader)
    return [{**run, "digest": (await reader.story(run["run_id"])).digest} for run in facts]


def _print_csv(listed: list[dict[str, Any]], command_line: CommandLine) -> None:
    # Imported here: the server's parts take longer than the list of runs.
    from glasshouse.web.csv_answers import cells_of

    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    for run in listed:
        replay = command_line.call("replay", run["run_id"], "--verify")
        writer.writerow(cells_of(CSV_COLUMNS, {**run, "replay": replay}))


def _draw(listed: list[dict[str, Any]]) -> None:
    short = short_ids([run["run_id"] for run in listed])
    rows = []
    for run in listed:
        parent = run["branch_of"]
        how = "branch" if run["how"] == "branch" else "resumed"
        grown_from = "" if parent is None else f"{short.get(parent, parent[:short_id_chars])} ({how})"
        began = run["began"][5:16].replace("T", " ")
        world = f"{run['world']} (edited)" if run["is_edited"] else run["world"]
        played = (world, run["reason"] or run["status"], run["winner"] or "")
        counts = (str(run["turns"]), str(run["calls"]))
        rows.append((short[run["run_id"]], grown_from, *played, *counts, began, run["seed"]))
    headings = ["run", "grown from", "world", "status", "winner", "turns", "calls", "began", "seed"]
    if not any(run["branch_of"] for run in listed):
        headings.remove("grown from")
        rows = [(name, *cells) for name, _, *cells in rows]
    draw_table(Screen(), headings, rows, loose=("world", "winner", "seed"), spare=("seed", "calls", "began"))
