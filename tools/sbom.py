"""Write a bill of materials from the lock files: `python -m tools.sbom FILE`, CycloneDX as JSON.

What a user gets is told apart from what only its makers use: packages that Glasshouse needs are `required`, those that its extras
name are `optional`, and all others, which the extras need in their turn or only development needs, are `excluded`. Modules and fonts of the page are `required`, since the
wheel carries them.

Always holds: the same lock files give the same bytes. No address of a registry is in it: a package is named by its type, name,
version and hashes.
"""

from __future__ import annotations

import base64
import json
import re
import sys
import tomllib
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import quote

from tools import vendor

ROOT: Final = Path(__file__).resolve().parent.parent
LOCKS: Final = {"run.txt": "required", "local.txt": "optional", "dev.txt": "excluded"}
"""The lock files of Python packages, and what their packages are for. The first that has a package decides."""
BUILDS: Final = frozenset(
    {"editables", "hatchling", "packaging", "pathspec", "pluggy", "tomlkit", "trove-classifiers"}
)
"""Packages of run.txt that only build: an installed Glasshouse does not need them."""
OF_MAKERS: Final = frozenset({"build", "dev", "test"})
"""Extras that no user installs."""


class Locked(NamedTuple):
    """A package that a lock file pins."""

    name: str
    version: str
    marker: str
    hashes: tuple[str, ...]


def locked_in(text: str) -> Iterator[Locked]:
    """The packages of a requirements file."""
    for entry in re.split(r"\n(?=\S)", text.replace("\\\n", "").strip()):
        head, *hashes = re.split(r"\s+--hash=sha256:", entry)
        named, _, marker = head.partition(";")
        name, _, version = named.strip().partition("==")
        if version:
            yield Locked(name, version, marker.strip(), tuple(sorted(each.strip() for each in hashes)))


def components(root: Path = ROOT) -> list[dict[str, Any]]:
    """Every locked package, by its address as a package."""
    listed: dict[str, dict[str, Any]] = {}
    extras = named_by_extras(root)
    for file, scope in LOCKS.items():
        for locked in locked_in((root / "requirements" / file).read_text(encoding="utf-8")):
            actual = "excluded" if locked.name in BUILDS else scope
            actual = "optional" if actual == "excluded" and locked.name in extras else actual
            listed.setdefault(f"pkg:pypi/{locked.name}@{locked.version}", _of_python(locked, actual))
    packages = json.loads((root / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    for path, facts in packages.items():
        if path.startswith("node_modules/"):
            component = _of_page(path.rpartition("node_modules/")[2], facts)
            listed.setdefault(component["purl"], component)
    return [listed[purl] for purl in sorted(listed)]


def named_by_extras(root: Path) -> set[str]:
    """The packages that the extras for users name."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [needs for extra, needs in project["optional-dependencies"].items() if extra not in OF_MAKERS]
    return {re.split(r"[\[<>=!~; ]", need)[0].lower() for needs in wanted for need in needs}


def _of_python(locked: Locked, scope: str) -> dict[str, Any]:
    purl = f"pkg:pypi/{locked.name}@{locked.version}"
    component = {
        "type": "library",
        "bom-ref": purl,
        "name": locked.name,
        "version": locked.version,
        "scope": scope,
    }
    component["purl"] = purl
    # Each distribution of a version has a hash of its own; a lock has them all.
    hashes = [{"alg": "SHA-256", "content": digest} for digest in locked.hashes]
    extra = {"properties": [{"name": "glasshouse:marker", "value": locked.marker}]} if locked.marker else {}
    return {**component, "hashes": hashes, **extra}


def _of_page(name: str, facts: dict[str, Any]) -> dict[str, Any]:
    purl = f"pkg:npm/{quote(name, safe='/')}@{facts['version']}"
    algorithm, _, digest = str(facts.get("integrity", "")).partition("-")
    hashes = [{"alg": "SHA-512", "content": base64.b64decode(digest).hex()}] if algorithm == "sha512" else []
    component: dict[str, Any] = {
        "type": "library",
        "bom-ref": purl,
        "name": name,
        "version": facts["version"],
    }
    component |= {
        "scope": "required" if name in vendor.NEEDED else "excluded",
        "purl": purl,
        "hashes": hashes,
    }
    if licence := facts.get("license"):
        component["licenses"] = [{"expression": licence}]
    return component


def bill(root: Path = ROOT) -> str:
    """The bill of materials of this checkout, as text."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    purl = f"pkg:pypi/{project['name']}@{project['version']}"
    about = {
        "type": "application",
        "bom-ref": purl,
        "name": project["name"],
        "version": project["version"],
        "purl": purl,
    }
    parts = components(root)
    named = json.dumps([about, parts], sort_keys=True)
    written = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, named)}",
        "version": 1,
        "metadata": {"component": {**about, "licenses": [{"expression": project["license"]}]}},
        "components": parts,
        "dependencies": [
            {"ref": purl, "dependsOn": [part["purl"] for part in parts if part["scope"] == "required"]}
        ],
    }
    return json.dumps(written, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(bill(), encoding="utf-8")
