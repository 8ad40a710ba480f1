"""The path of a line from another process: docs/walks.md names the functions that a real one passes through, on both sides."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

from glasshouse import EventFilter, SqliteStore, Terrarium, kinds
from tests.runtime.footprints import (
    Footprints,
    Function,
    as_rows,
    functions_told,
    not_called_in_order,
    section,
)

HEADING = "The walk of a line from another process"
ROOT = Path(__file__).resolve().parents[2]
TEXT = "A lantern starts whispering recipes."
SENDER = """
import json, sys
import glasshouse.cli.commands.disturb
from glasshouse.cli import main
from tests.runtime.footprints import Footprints

with Footprints() as footprints:
    footprints.is_noting = True
    try:
        main()
    except SystemExit:
        pass
    footprints.is_noting = False
print(json.dumps(footprints.calls))
"""
"""The command line, in a process of its own, which prints the functions that were called."""


async def sent(store: Path, run_id: str) -> list[Function]:
    """Have another process disturb the run; the functions it called."""
    command = [sys.executable, "-c", SENDER, "disturb", run_id, TEXT, "--store", str(store)]
    process = await asyncio.create_subprocess_exec(*command, cwd=ROOT, stdout=asyncio.subprocess.PIPE)
    answer, _ = await process.communicate()
    return [Function(*call) for call in json.loads(answer.splitlines()[-1])]


async def test_a_line_from_another_process_takes_the_walk_that_the_page_tells(tmp_path: Path) -> None:
    store = tmp_path / "show.glasshouse"
    by_sender, _, by_player = section("walks.md", HEADING).partition("In the process that plays")
    with Footprints() as footprints:
        async with Terrarium(SqliteStore(store)) as t:
            run = await t.open_world("thousand-token-wood", rng_seed=0)
            await t.step(1)
            heard = asyncio.create_task(anext(aiter(t.subscribe(EventFilter(kinds=[kinds.USER_INJECTED])))))
            footprints.is_noting = True
            calls_of_sender = await sent(store, run.id)
            event = await heard
            footprints.is_noting = False

    assert event.payload["text"] == TEXT
    check_walk(functions_told(by_sender), calls_of_sender, "cli/commands/disturb.py")
    check_walk(functions_told(by_player), footprints.calls, "runtime/inbox/")


def check_walk(walk: dict[Function, str], calls: list[Function], room: str) -> None:
    """Every function on the page was called, in the order of the page; every one of this room that was called is there."""
    functions = [*walk]
    called = [call for call in dict.fromkeys(calls) if "<" not in call.name]
    in_room = [call for call in called if call.module.startswith(room)]
    of_modules = {function.module for function in functions}
    rows = as_rows([call for call in called if call in in_room or call.module in of_modules], walk)

    assert [call for call in in_room if call not in walk] == [], f"not told; choose from:\n{rows}"
    assert not_called_in_order(functions, calls) == [], f"not called in this order; choose from:\n{rows}"
