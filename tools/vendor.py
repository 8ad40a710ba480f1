"""Copy the page's third-party modules, fonts and licences from a folder of npm packages into the package.

Modules keep their bare names as paths (`vendor/preact/hooks.js`), so that an import map can be made from the files alone.
Always holds: the folder is made aside and moved into place whole. Its stamp says from what it was made, so a second call does
nothing. As a program it copies from node_modules; a build loads the packages itself (`build_hook.py`).
"""

from __future__ import annotations

import json
import re
import shutil
from hashlib import sha256
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "package-lock.json"
VENDOR = ROOT / "src/glasshouse/web/static/vendor"

# Bare names that the page imports, by the package that holds them.
MODULES = {
    "preact": ("preact", "preact/hooks"),
    "@preact/signals": ("@preact/signals",),
    "@preact/signals-core": ("@preact/signals-core",),
    "htm": ("htm",),
    "d3-force": ("d3-force",),
}
# Packages whose modules are many tiny files, by what they export: their one older file is wrapped into a module, since each
# file is a request.
IN_ONE_FILE = {
    "d3-dispatch": ("dispatch",),
    "d3-quadtree": ("quadtree",),
    "d3-timer": ("interval", "now", "timeout", "timer", "timerFlush"),
}
# Latin subsets: about 50 kB each.
FONTS = {
    "@fontsource-variable/inter": ("inter-latin-wght-normal",),
    "@fontsource-variable/jetbrains-mono": ("jetbrains-mono-latin-wght-normal",),
    "@fontsource-variable/newsreader": ("newsreader-latin-wght-normal", "newsreader-latin-wght-italic"),
}

NEEDED = (*MODULES, *IN_ONE_FILE, *FONTS)
"""Every package that something is copied from."""

RELATIVE_IMPORT = re.compile(r"""\b(?:from|import)\s*["']\.""")
SOURCE_MAP = re.compile(r"//# sourceMappingURL=\S+\n?")


def stamp() -> str:
    """What the folder is made from: the locked packages, and the way that they are copied."""
    return sha256(LOCK.read_bytes() + Path(__file__).read_bytes()).hexdigest()


def is_current() -> bool:
    """Whether the folder is there and was made from what is locked now."""
    file = VENDOR / ".stamp"
    return file.is_file() and file.read_text(encoding="utf-8") == stamp()


def entry_of(packages: Path, package: str, name: str) -> PurePosixPath:
    """The file of a package, relative to it, that a bare name stands for in a browser."""
    described = json.loads((packages / package / "package.json").read_text(encoding="utf-8"))
    entry = described["exports"]
    entry = entry.get("." + name.removeprefix(package), entry)
    while isinstance(entry, dict):
        entry = entry.get("browser") or entry.get("import") or entry["default"]
    return PurePosixPath(entry)


def copy_module(packages: Path, package: str, name: str, folder: Path) -> None:
    """Copy the file of a package as the module of that name."""
    text = (packages / package / entry_of(packages, package, name)).read_text(encoding="utf-8")
    if RELATIVE_IMPORT.search(text):
        raise SystemExit(
            f"{name} imports by relative names, which do not load from a file that is opened from disk."
        )
    target = folder / f"{name}.js"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(SOURCE_MAP.sub("", text), encoding="utf-8")


def wrapped(packages: Path, package: str, exported: tuple[str, ...]) -> str:
    """The file of a package that was made for loaders of old, as a module."""
    text = (packages / package / "dist" / f"{package}.js").read_text(encoding="utf-8")
    names = ", ".join(exported)
    return f"const exports = {{}}, module = {{ exports }};\n{text}export const {{ {names} }} = exports;\n"


def make_folder(packages: Path) -> None:
    """Make the folder anew from a folder of packages."""
    folder = VENDOR.with_name("vendor.part")
    for old in (folder, VENDOR):
        shutil.rmtree(old, ignore_errors=True)
    for package, names in MODULES.items():
        for name in names:
            copy_module(packages, package, name, folder)
    for package, exported in IN_ONE_FILE.items():
        (folder / f"{package}.js").write_text(wrapped(packages, package, exported), encoding="utf-8")
    (folder / "fonts").mkdir()
    for package, fonts in FONTS.items():
        for font in fonts:
            shutil.copyfile(
                packages / package / "files" / f"{font}.woff2", folder / "fonts" / f"{font}.woff2"
            )
    (folder / "licences").mkdir()
    for package in NEEDED:
        licence = folder / "licences" / f"{package.removeprefix('@').replace('/', '-')}.txt"
        shutil.copyfile(packages / package / "LICENSE", licence)
    (folder / ".stamp").write_text(stamp(), encoding="utf-8")
    folder.rename(VENDOR)


if __name__ == "__main__" and not is_current():
    make_folder(ROOT / "node_modules")
