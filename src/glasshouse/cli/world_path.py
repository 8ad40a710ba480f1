"""What somebody wrote to name a world: a path is told from a name, so that a refusal says what is not there."""

from __future__ import annotations

import shlex
from pathlib import Path

from glasshouse.errors import Refused, UnknownName
from glasshouse.manifests.world_folders import YAML_ENDINGS, find_world


def check_world(given: str) -> None:
    """Refuse a name or a path that is none of a world."""
    path = Path(given)
    try:
        find_world(given)
    except UnknownName:
        if path.suffix in YAML_ENDINGS and not path.exists():
            raise Refused(f"There is no file {given}.", "Check the path.") from None
        if "/" in given and not path.exists():
            raise Refused(f"There is no file or folder {given}.", "Check the path.") from None
        if path.suffix == ".zip" and path.is_file():
            advice = f"Install it: glasshouse worlds add {shlex.quote(given)}"
            raise Refused(f"{given} is a packed world.", advice) from None
        if path.is_file() and path.suffix not in YAML_ENDINGS:
            advice = "A world is a folder with a scenario.yaml, or a YAML file with a cast."
            raise Refused(f"{given} is no world file.", advice) from None
        raise
