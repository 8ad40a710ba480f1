"""The tour on a screen or in a pipe: where its files lie, how fast it goes, in which form it is told."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from rich.console import Console, RenderableType

from glasshouse.cli.drawing.screen import PipeConsole
from glasshouse.cli.performing.pace import Pace
from glasshouse.cli.tour.drawing import Sketchbook
from glasshouse.cli.tour.performance import performed
from glasshouse.cli.tour.scenes import Scene
from glasshouse.cli.tour.story import TITLES
from glasshouse.errors import Refused

seconds_per_line: Final = 0.16
seconds_per_scene: Final = 0.6


def take(store: Path | None, pace: Pace | None, *, as_json: bool) -> None:
    """Perform the tour and show it."""
    if store is not None and os.path.lexists(store):
        raise Refused(
            f"{store} exists already, and the tour only ever writes a new file.",
            "Choose another --store, or remove that file first.",
        )
    with TemporaryDirectory(prefix="glasshouse-tour-") as folder:
        kept = store or Path(folder) / "tour.glasshouse"
        scenes = performed(kept, Path(folder) / "lux.glass")
        if as_json:
            asyncio.run(_told(scenes))
        else:
            asyncio.run(_shown(scenes, _pace(pace)))
    if store is not None and not as_json:
        print(f"\nThe store is kept in {store}. Open it with Terrarium(SqliteStore({str(store)!r})).")


def _pace(wanted: Pace | None) -> Pace:
    return wanted or (Pace.READING if sys.stdout.isatty() else Pace.FAST)


async def _told(scenes: AsyncGenerator[Scene, None]) -> None:
    """One JSON object a line."""
    async with aclosing(scenes):
        number = 0
        async for scene in scenes:
            number += 1
            told = {"scene": number, "key": scene.key, "heading": scene.heading, "facts": scene.facts}
            print(json.dumps(told, ensure_ascii=False), flush=True)


async def _shown(scenes: AsyncGenerator[Scene, None], pace: Pace) -> None:
    """Drawings, each followed by as long a pause as it takes to read it."""
    console, book = PipeConsole(highlight=False), Sketchbook()
    async with aclosing(scenes):
        number = 0
        async for scene in scenes:
            if number == 0:
                await _draw(console, book.opening(is_paced=pace is Pace.READING), pace)
            number += 1
            is_last = number == len(TITLES)
            await _draw(console, book.scene(number, len(TITLES), scene), Pace.FAST if is_last else pace)


async def _draw(console: Console, drawing: RenderableType, pace: Pace) -> None:
    if console.is_terminal:
        console.print(drawing)
    else:
        with console.capture() as captured:
            console.print(drawing)
        print("\n".join(line.rstrip() for line in captured.get().splitlines()))
    if pace is Pace.READING:
        await asyncio.sleep(seconds_per_scene + seconds_per_line * len(console.render_lines(drawing)))
