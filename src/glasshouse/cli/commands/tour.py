"""`glasshouse tour`."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from glasshouse.cli.live.pace import Pace, pace_here
from glasshouse.cli.options import JsonOption, PaceOption

if TYPE_CHECKING:
    from glasshouse.cli.tour.scenes import Scene

seconds_per_line: Final = 0.16
seconds_per_scene: Final = 0.6


def tour(
    *,
    store: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH", help="Keep the store in this new file. By default it is a temporary one."
        ),
    ] = None,
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
    import asyncio
    from tempfile import TemporaryDirectory

    from glasshouse.cli.tour.scenes import scenes
    from glasshouse.errors import Refused

    if store is not None and os.path.lexists(store):
        raise Refused(
            f"{store} exists already, and the tour only ever writes a new file.",
            "Choose another --store, or remove that file first.",
        )
    with TemporaryDirectory(prefix="glasshouse-tour-") as folder:
        played = scenes(store or Path(folder) / "tour.glasshouse", Path(folder) / "lux.glass")
        asyncio.run(_tell(played) if as_json else _show(played, pace_here(pace)))
    if store is not None and not as_json:
        print(f"\nThe store is kept in {store}. Open it with Terrarium(SqliteStore({str(store)!r})).")


async def _tell(scenes: AsyncGenerator[Scene, None]) -> None:
    """One JSON object for each scene."""
    from glasshouse.cli.drawing.screen import print_json
    from glasshouse.cli.tour.scenes import SCRIPT

    async with aclosing(scenes):
        number = 0
        async for scene in scenes:
            number += 1
            print_json(
                {
                    "scene": number,
                    "key": scene.key,
                    "heading": SCRIPT["scenes"][scene.key]["heading"],
                    "facts": scene.facts,
                }
            )


async def _show(scenes: AsyncGenerator[Scene, None], pace: Pace) -> None:
    """Each scene drawn, then a pause as long as reading it takes."""
    import asyncio

    from rich.console import Group, RenderableType
    from rich.padding import Padding
    from rich.rule import Rule
    from rich.text import Text

    from glasshouse.cli.drawing.screen import Screen
    from glasshouse.cli.tour.scenes import SCRIPT

    screen = Screen()

    async def draw(*drawings: RenderableType, is_last: bool = False) -> None:
        drawing = Group(*drawings)
        screen.draw(drawing)
        if pace is Pace.READING and not is_last:
            lines = len(screen.console.render_lines(drawing))
            await asyncio.sleep(seconds_per_scene + seconds_per_line * lines)

    def indented(drawing: RenderableType) -> RenderableType:
        return Padding.indent(drawing, 2)

    async with aclosing(scenes):
        number = 0
        async for scene in scenes:
            if not number:
                title = Rule(Text(" Glasshouse ", style="bold green"), style="green")
                hint: list[RenderableType] = (
                    [Text(), indented(Text(SCRIPT["hint"], style="dim"))] if pace is Pace.READING else []
                )
                await draw(Text(), title, Text(), indented(Text(SCRIPT["opening"])), *hint)
            number += 1
            heading, call, sentence = SCRIPT["scenes"][scene.key].values()
            counted = (str(number), "bold green"), (f"/{len(SCRIPT['scenes'])}  ", "dim")
            about: list[RenderableType] = [Text(), Text.assemble(*counted, (heading, "bold"))]
            about += [indented(Text(call, style="cyan"))] if call else []
            about += [indented(Text(sentence))]
            shown: list[RenderableType] = [
                part for drawing in scene.drawings for part in (Text(), indented(drawing))
            ]
            await draw(*about, *shown, is_last=number == len(SCRIPT["scenes"]))
