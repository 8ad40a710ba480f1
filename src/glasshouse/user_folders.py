"""Where Glasshouse keeps what a user installs: the folder of installed worlds, by the convention of the platform.

Always holds: it is read from the environment each time, because worlds are looked for before any settings are needed. The
setting `worlds_folder` is the same variable.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Final

WORLDS_FOLDER: Final = "GLASSHOUSE_WORLDS_FOLDER"
"""The variable that names another folder."""


def worlds_folder() -> Path:
    """The folder of the worlds that this user has installed. It need not be there."""
    named = os.environ.get(WORLDS_FOLDER, "")
    return Path(named).expanduser() if named else _data_folder() / "glasshouse" / "worlds"


def _data_folder() -> Path:
    """Where programs keep data of this user."""
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    named = Path(os.environ.get("XDG_DATA_HOME", ""))
    # A relative path there is to be ignored, says the convention.
    return named if named.is_absolute() else Path.home() / ".local" / "share"
