"""A program that plays host to a model in a file: `python local_host.py MODEL DOING`. The tests kill it.

It prints a line when its child is started, and another when the child answers. With DOING `forked`, a process that was
forked and a program that inherits all it can live on beside it.
"""

import asyncio
import os
import subprocess
import sys
import time

from glasshouse.assembly import models_named
from glasshouse.turns.moment.prompt import Prompt

rest_seconds = 600
"""Longer than any test: whoever is left over then ends by itself."""


async def main(model: str, doing: str) -> None:
    models = models_named(f"local:{model}")
    await models.open()
    starting = asyncio.create_task(models.start())
    await asyncio.sleep(0)
    print("begun", flush=True)
    await starting
    if doing == "forked":
        start_others()
    print("up", flush=True)
    if doing == "asking":
        await models.route("fast").model.complete(Prompt("Write.", "A long story.", None, 1, 8_000))
    await asyncio.sleep(rest_seconds)


def start_others() -> None:
    """A forked process, and a program that is given every file that may be inherited."""
    forked = os.fork()
    if not forked:
        time.sleep(rest_seconds)
        os._exit(0)
    print(f"forked {forked}", flush=True)
    program = subprocess.Popen(
        [sys.executable, "-c", f"import time; time.sleep({rest_seconds})"], close_fds=False
    )
    print(f"program {program.pid}", flush=True)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
