"""What `rehearse` and `doctor` say while they wait: at once, again and again, and a line each in a pipe."""

import asyncio
from io import StringIO

from glasshouse.cli.live.progress_lines import ProgressLines, pipe_seconds


async def test_a_pipe_reads_how_far_it_is_at_once_and_again() -> None:
    stream = StringIO()
    waits: asyncio.Queue[float] = asyncio.Queue()
    next_time = asyncio.Event()

    async def wait(seconds: float) -> None:
        waits.put_nowait(seconds)
        await next_time.wait()
        next_time.clear()

    calls = 0
    async with ProgressLines(stream, wait).watching(lambda: f"{calls} calls"):
        first = await waits.get()
        calls = 7
        next_time.set()
        second = await waits.get()

    assert stream.getvalue() == "0 calls\n7 calls\n"
    assert (first, second) == (pipe_seconds, pipe_seconds)
