"""`glasshouse tour` takes a short scripted tour.

The scenes are in `cli.tour_scenes`.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from glasshouse.cli.drawing.screen import Screen, print_json
from glasshouse.cli.options import JsonOption, PaceOption, option
from glasshouse.cli.pace import Pace, pace_here
from glasshouse.cli.prose import say
from glasshouse.cli.tour_scenes import SCRIPT, Scene, opening, scenes, whole_scene
from glasshouse.errors import Refused
from glasshouse.runtime import event_loop

seconds_per_line: Final = 0.16
seconds_per_scene: Final = 0.6


def tour(
    *,
    store: Path | None = option("PATH", "Keep the store in this new file. By default it is a temporary one."),
    pace: PaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Take a short scripted tour: graphs merge, split, fork and are read back.

    It needs no network and no model, and shows the same every time.

    \b
    Examples:
      glasshouse tour                          at the pace of a reader
      glasshouse tour --pace fast              all at once
      glasshouse tour --store my.glasshouse    keep the store that the tour wrote
      glasshouse tour --json | head -n 3       facts for machines, one object a line
    """
    if store is not None and os.path.lexists(store):
        reason = f"{store} exists already, and the tour only ever writes a new file."
        raise Refused(reason, "Choose another --store, or remove that file first.")
    with TemporaryDirectory(prefix="glasshouse-tour-") as folder:
        played = scenes(store or Path(folder) / "tour.glasshouse", Path(folder) / "lux.glass")
        event_loop.run(_show(played, None if as_json else pace_here(pace)))
    if store is not None and not as_json:
        say(f"\nThe store is kept in {store}. Open it with Terrarium(SqliteStore({str(store)!r})).")


async def _show(played: AsyncGenerator[Scene, None], pace: Pace | None) -> None:
    """Each scene drawn, then a pause as long as reading it takes; without a pace, each as one JSON object."""
    screen = Screen()
    count = len(SCRIPT["scenes"])
    async with aclosing(played):
        async for scene in played:
            if pace is None:
                about = {"scene": scene.number, "key": scene.key, "heading": scene.title["heading"]}
                print_json({**about, "facts": scene.facts})
                continue
            drawn = [whole_scene(scene.number, count, scene.title, scene.drawings)]
            if scene.number == 1:
                drawn.insert(0, opening(SCRIPT["opening"], SCRIPT["hint"] if pace is Pace.READING else ""))
            for drawing in drawn:
                screen.draw(drawing)
                if pace is Pace.READING and scene.number < count:
                    lines = len(screen.render_lines(drawing))
                    await asyncio.sleep(seconds_per_scene + seconds_per_line * lines)
