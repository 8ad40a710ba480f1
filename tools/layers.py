"""Write the tables of layers of docs/architecture.md from the import contracts: `python -m tools.layers`.

The contracts of import-linter in pyproject.toml say who may import whom, and `make check` holds the code to them. The page
says the same in a table that is read at one look. A test fails if the page says anything else.

Always holds: nothing is said here that no contract says, but the names of the groups that layers are sorted into.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
PAGE: Final = ROOT / "docs" / "architecture.md"
BEGIN: Final = "<!-- layers: written by `python -m tools.layers` -->\n"
END: Final = "<!-- end of layers -->\n"
PACKAGE: Final = "glasshouse."

GROUPS: Final = {
    "__main__": "faces",
    "testing": "on top",
    "frameworks": "adapters",
    "runtime": "engine",
    "turns": "rules",
    "errors": "base",
}
"""The entry that a group begins with -> the group. It goes down to the next of these entries."""

Contract = dict[str, Any]


def contracts(pyproject: str) -> list[Contract]:
    """The import contracts of a project's file."""
    found: list[Contract] = tomllib.loads(pyproject)["tool"]["importlinter"]["contracts"]
    return found


def layers_of(found: list[Contract], container: str) -> list[list[str]]:
    """The layers of a package, the highest first; entries of one layer do not import each other."""
    (layers,) = [
        contract["layers"]
        for contract in found
        if contract["type"] == "layers" and contract["containers"] == [container]
    ]
    return [[entry.strip() for entry in layer.split("|")] for layer in layers]


def written(found: list[Contract]) -> str:
    """Both tables: the package's, and the runtime's inside."""
    layers = layers_of(found, "glasshouse")
    unknown = GROUPS.keys() - {entry for layer in layers for entry in layer}
    if unknown:
        raise SystemExit(f"GROUPS of tools/layers.py names what no layer has: {', '.join(sorted(unknown))}")
    pure = _names(found, "pure-core", "source_modules")
    rows = ["| group | layer | entries | may import, of the layers below |", "|---|---|---|---|"]
    for number, layer in enumerate(layers):
        group = next((f"**{GROUPS[entry]}**" for entry in layer if entry in GROUPS), "")
        below = [entry for lower in layers[number + 1 :] for entry in lower]
        rights: dict[str, list[str]] = {}
        for entry in layer:
            shown = f"`{entry}` (pure)" if entry in pure else f"`{entry}`"
            rights.setdefault(_allowed(found, entry, below), []).append(shown)
        for allowed, entries in rights.items():
            rows.append(f"| {group} | {number + 1} | {', '.join(entries)} | {allowed} |")
            group = ""
    inside = ["| layer of `runtime/` | entries |", "|---|---|"]
    for number, layer in enumerate(layers_of(found, "glasshouse.runtime"), start=1):
        inside.append(f"| {number} | {_listed(layer)} |")
    return "\n".join([*rows, "", *inside, ""])


def _allowed(found: list[Contract], entry: str, below: list[str]) -> str:
    """What an entry may import: of those below, all that no contract keeps from it."""
    kept_from_it = _protected_from(found, entry) | _forbidden_to(found, entry)
    allowed = [name for name in below if name not in kept_from_it]
    if not below:
        return "nothing"
    if len(allowed) == len(below):
        return "all"
    if len(allowed) * 2 > len(below):
        return f"all but {_listed([name for name in below if name in kept_from_it])}"
    return f"only {_listed([*allowed, *_excepted(found, entry)])}"


def _protected_from(found: list[Contract], entry: str) -> set[str]:
    return {
        name.removeprefix(PACKAGE)
        for contract in found
        if contract["type"] == "protected" and PACKAGE + entry not in contract["allowed_importers"]
        for name in contract["protected_modules"]
    }


def _forbidden_to(found: list[Contract], entry: str) -> set[str]:
    return {
        name.removeprefix(PACKAGE)
        for contract in found
        if contract["type"] == "forbidden" and PACKAGE + entry in contract["source_modules"]
        for name in contract["forbidden_modules"]
    }


def _excepted(found: list[Contract], entry: str) -> list[str]:
    """Modules that an entry may import although what they stand in is forbidden to it."""
    pairs = [
        ignored.split(" -> ")
        for contract in found
        if contract["type"] == "forbidden" and PACKAGE + entry in contract["source_modules"]
        for ignored in contract.get("ignore_imports", [])
    ]
    return [imported.removeprefix(PACKAGE) for _, imported in pairs]


def _names(found: list[Contract], contract_id: str, key: str) -> set[str]:
    (contract,) = [contract for contract in found if contract["id"] == contract_id]
    return {name.removeprefix(PACKAGE) for name in contract[key]}


def _listed(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def with_tables(page: str, tables: str) -> str:
    """The page with these tables in the place for them."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"{PAGE.name} has no place for the tables: {BEGIN.strip()} … {END.strip()}")
    return f"{before}{begin}{tables}{end}{after}"


def main() -> None:
    """Write the tables into the page."""
    found = contracts((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8"), written(found)), encoding="utf-8")


if __name__ == "__main__":
    main()
