"""The browser of the tests, benches and screenshots: where it is and how it is started."""

from __future__ import annotations

import subprocess
from functools import cache

from tests.pages import ROOT

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
]


class NoChromium(Exception):
    """There is none, and it cannot be installed without asking. The message says the command."""


@cache
def chromium_path() -> str:
    """Where Chromium is."""
    answer = subprocess.run([ROOT / "tools/chromium.sh"], capture_output=True, text=True, check=False)
    if answer.returncode:
        raise NoChromium(answer.stderr.strip())
    return answer.stdout.strip()
