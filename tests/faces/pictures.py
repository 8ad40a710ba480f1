"""Where the pictures that `make faces` takes are kept, for people to look at."""

from __future__ import annotations

from pathlib import Path

from tests.pages import ROOT

FOLDER = ROOT / "build" / "faces"


def picture_path(name: str) -> Path:
    """Where the picture of this name goes."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    return FOLDER / f"{name}.png"
