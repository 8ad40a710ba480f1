"""How Glasshouse was installed here: its distribution, its version, and the command that adds an extra.

The distribution is called `glasshouse-agents`, because `glasshouse` on the package index is another project's. Always holds:
no command that is shown installs anything under that other name.
"""

from __future__ import annotations

import os
import shlex
import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urlsplit

import msgspec

from glasshouse.errors import Refused

DISTRIBUTION: Final = "glasshouse-agents"


def installed_version() -> str:
    """The version of the distribution."""
    return distribution(DISTRIBUTION).version


def missing_extra(reason: str, extra: str) -> Refused:
    """The refusal of what needs an extra that is not installed."""
    return Refused(reason, f"Install it with: {command_for_extra(extra)}")


def command_for_extra(extra: str) -> str:
    """The command that adds an extra to this installation, by the tool that made it."""
    origin, installer = _origin_and_installer()
    checkout = _checkout(origin)
    if checkout is not None:
        return _in_checkout(checkout, extra, installer)
    wanted = f"{DISTRIBUTION}[{extra}]"
    # What came from an address comes from there again: the index may have another version, or none.
    source = f'"{wanted} @ {origin["url"]}"' if origin.get("url") else f'"{wanted}"'
    if _has("pipx_metadata.json"):
        return f"pipx install --force {source}"
    if _has("uv-receipt.toml"):
        return f"uv tool install --force {source}"
    return f"{_pip(installer)} install {source}"


def _origin_and_installer() -> tuple[dict[str, Any], str]:
    """Where the distribution came from, empty if from an index, and the program that installed it."""
    try:
        here = distribution(DISTRIBUTION)
    except PackageNotFoundError:  # The package lies on the path without having been installed.
        return {}, ""
    return _origin(here), (here.read_text("INSTALLER") or "").strip()


def _origin(here: Distribution) -> dict[str, Any]:
    try:
        origin = msgspec.json.decode(here.read_text("direct_url.json") or "{}", type=dict[str, Any])
    except msgspec.MsgspecError:
        return {}
    vcs = origin.get("vcs_info")
    if isinstance(vcs, dict) and vcs.get("vcs"):
        revision = f"@{vcs['requested_revision']}" if vcs.get("requested_revision") else ""
        origin["url"] = f"{vcs['vcs']}+{origin.get('url', '')}{revision}"
    return origin


def _checkout(origin: dict[str, Any]) -> Path | None:
    """The folder that is installed in place, if one is."""
    folder = origin.get("dir_info")
    if not isinstance(folder, dict) or not folder.get("editable"):
        return None
    return Path(unquote(urlsplit(str(origin.get("url", ""))).path))


def _in_checkout(checkout: Path, extra: str, installer: str) -> str:
    is_here = checkout == Path.cwd()
    folder = "." if is_here else str(checkout)
    if installer == "uv":
        return f'uv pip install -e "{folder}[{extra}]"'
    pip = os.path.join(sys.prefix, "bin", "pip")
    return f'{shlex.quote(os.path.relpath(pip) if is_here else pip)} install -e "{folder}[{extra}]"'


def _pip(installer: str) -> str:
    return "uv pip" if installer == "uv" else "pip"


def _has(name: str) -> bool:
    """Whether the environment has the file by which its maker keeps track of it."""
    return os.path.isfile(os.path.join(sys.prefix, name))
