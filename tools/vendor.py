"""Copy the page's third-party modules, fonts and licences from node_modules into the package.

Modules keep their bare names as paths (`vendor/preact/hooks.js`), so that an import map can be made from the files alone.
Relative imports inside a package become bare names too: a page opened from disk cannot load relative ones. The folder is
made aside and moved into place whole; its stamp (the argument) is written before the move.
"""

from __future__ import annotations

import json
import posixpath
import re
import shutil
import sys
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ROOT / "node_modules"
VENDOR = ROOT / "src/glasshouse/web/static/vendor"

# Bare names that the page imports, by the package that holds them.
MODULES = {
    "preact": ("preact", "preact/hooks"),
    "@preact/signals": ("@preact/signals",),
    "@preact/signals-core": ("@preact/signals-core",),
    "htm": ("htm",),
    "d3-dispatch": ("d3-dispatch",),
    "d3-force": ("d3-force",),
    "d3-quadtree": ("d3-quadtree",),
    "d3-timer": ("d3-timer",),
}
# Latin subsets: about 50 kB each.
FONTS = {
    "@fontsource-variable/inter": ("inter-latin-wght-normal",),
    "@fontsource-variable/jetbrains-mono": ("jetbrains-mono-latin-wght-normal",),
    "@fontsource-variable/newsreader": ("newsreader-latin-wght-normal", "newsreader-latin-wght-italic"),
}

RELATIVE_IMPORT = re.compile(r"""(\bfrom\s*|\bimport\s*)(["'])(\.\.?/[^"']+)\2""")
SOURCE_MAP = re.compile(r"//# sourceMappingURL=\S+\n?")


def entry_of(package: str, name: str) -> PurePosixPath:
    """The file of a package, relative to it, that a bare name stands for in a browser."""
    described = json.loads((PACKAGES / package / "package.json").read_text(encoding="utf-8"))
    entry = described["exports"]
    entry = entry.get("." + name.removeprefix(package), entry)
    while isinstance(entry, dict):
        entry = entry.get("browser") or entry.get("import") or entry["default"]
    return PurePosixPath(entry)


def copy_module(package: str, file: PurePosixPath, name: str, folder: Path) -> None:
    """Copy one file as the module of that name, and the files of its package that it imports."""
    target = folder / f"{name}.js"
    if target.exists():
        return
    text = (PACKAGES / package / file).read_text(encoding="utf-8")
    inner: dict[str, PurePosixPath] = {}

    def as_bare_name(found: re.Match[str]) -> str:
        imported = PurePosixPath(posixpath.normpath(file.parent / found[3]))
        bare = f"{package}/{imported.with_suffix('')}"
        inner[bare] = imported
        return f"{found[1]}{found[2]}{bare}{found[2]}"

    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(SOURCE_MAP.sub("", RELATIVE_IMPORT.sub(as_bare_name, text)), encoding="utf-8")
    for bare, imported in inner.items():
        copy_module(package, imported, bare, folder)


def main(stamp: str) -> None:
    """Make the folder anew."""
    folder = VENDOR.with_name("vendor.part")
    for old in (folder, VENDOR):
        shutil.rmtree(old, ignore_errors=True)
    for package, names in MODULES.items():
        for name in names:
            copy_module(package, entry_of(package, name), name, folder)
    (folder / "fonts").mkdir()
    for package, fonts in FONTS.items():
        for font in fonts:
            shutil.copyfile(
                PACKAGES / package / "files" / f"{font}.woff2", folder / "fonts" / f"{font}.woff2"
            )
    (folder / "licences").mkdir()
    for package in (*MODULES, *FONTS):
        licence = folder / "licences" / f"{package.removeprefix('@').replace('/', '-')}.txt"
        shutil.copyfile(PACKAGES / package / "LICENSE", licence)
    (folder / ".stamp").write_text(stamp, encoding="utf-8")
    folder.rename(VENDOR)


if __name__ == "__main__":
    main(sys.argv[1])
