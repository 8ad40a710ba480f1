"""Build a release and try it as users get it: `make release`.

It builds the sdist and the wheel into `dist/`, installs the wheel into an empty environment for each Python of this machine that
Glasshouse supports, plays a world there, exports it as a page and serves the page. Then it writes the bill of materials and the
checksums, and prints what to upload.

Always holds: the same commit gives the same bytes. Nothing is uploaded.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from glasshouse.manifests.editor_schema import FILES
from tools import sbom

ROOT: Final = Path(__file__).resolve().parent.parent
DIST: Final = ROOT / "dist"
OLDEST: Final = (3, 11)
step_seconds_max: Final = 600
"""A step that takes longer has hung: installing everything takes a minute on a slow machine."""

_WHAT_IT_IS: Final = "import ensurepip, sys, venv; v = sys.version_info; print(v[0], v[1]) if v.releaselevel == 'final' else None"


class Failed(Exception):
    """A step of the release did not do what it should; the message says which and what was printed."""


def run(words: Sequence[str | Path], cwd: Path = ROOT, **more: str) -> str:
    """What a command prints. Variables that would change what is tried are left out."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("GLASSHOUSE_", "PYTHON", "OTEL_"))
    }
    done = subprocess.run(
        [str(word) for word in words], cwd=cwd, env=kept | more, capture_output=True, text=True, check=False,
        timeout=step_seconds_max,
    )  # fmt: skip
    if done.returncode != 0:
        raise Failed(f"{' '.join(map(str, words))}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout.strip()


def time_of_commit() -> str:
    """When the commit was made: the time that stands in what is built."""
    return os.environ.get("SOURCE_DATE_EPOCH") or run(["git", "log", "-1", "--format=%ct"])


def built(folder: Path) -> list[Path]:
    """The sdist, and the wheel that is made of it, as an index or a distribution makes it."""
    epoch = time_of_commit()
    hatch: list[str | Path] = [sys.executable, "-m", "hatchling", "build", "--directory"]
    run([*hatch, folder, "--target", "sdist"], SOURCE_DATE_EPOCH=epoch)
    (sdist,) = folder.glob("*.tar.gz")
    with TemporaryDirectory() as made:
        shutil.unpack_archive(sdist, made, filter="data")
        (source,) = Path(made).iterdir()
        run([*hatch, folder, "--target", "wheel"], cwd=source, SOURCE_DATE_EPOCH=epoch)
    return sorted([sdist, *folder.glob("*.whl")])


def pythons() -> dict[str, str]:
    """Every Python of this machine that is supported, by its version: on the path, from pyenv, from uv."""
    folders = [Path(folder) for folder in os.environ.get("PATH", "").split(os.pathsep) if folder]
    homes = [Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"]
    homes.append(Path(os.environ.get("UV_PYTHON_INSTALL_DIR") or Path.home() / ".local/share/uv/python"))
    folders += [home / "bin" for place in homes if place.is_dir() for home in sorted(place.iterdir())]
    candidates = [sys.executable]
    for folder in folders:
        if folder.is_dir():
            candidates += sorted(
                str(path) for path in folder.iterdir() if re.fullmatch(r"python3\.\d+", path.name)
            )
    found: dict[tuple[int, int], str] = {}
    for candidate in candidates:
        done = subprocess.run([candidate, "-c", _WHAT_IT_IS], capture_output=True, text=True, check=False)
        version = tuple(map(int, done.stdout.split()))
        if done.returncode == 0 and version >= OLDEST:
            found.setdefault((version[0], version[1]), candidate)
    return {".".join(map(str, version)): found[version] for version in sorted(found)}


def check_wheel(wheel: Path, python: str, folder: Path) -> None:
    """Install the wheel with the locked packages, then play, export and serve with it."""
    environment = folder / "environment"
    uv = ROOT / ".venv/bin/uv"
    run([uv, "venv", "--quiet", "--python", python, environment])
    install: list[str | Path] = [uv, "pip", "install", "--quiet", "--python", environment / "bin/python"]
    run([*install, "--require-hashes", "--requirement", ROOT / "requirements/run.txt"])
    run([*install, "--no-deps", wheel])
    glasshouse = environment / "bin/glasshouse"
    home = {
        "HOME": str(folder),
        "XDG_DATA_HOME": str(folder / "data"),
        "XDG_CONFIG_HOME": str(folder / "config"),
    }
    for words in (
        ["--version"],
        ["worlds"],
        ["play", "two-tale-hearth", "--turns", "3"],
        ["replay", "last", "--verify"],
        ["export", "last", "page.html"],
        ["worlds", "pack", "mystery-roots"],
        ["check", "mystery-roots.world.zip"],
    ):
        run([glasshouse, *words], cwd=folder, **home)
    (package,) = environment.glob("lib/python*/site-packages/glasshouse")
    if {file.name for file in (package / "schema").iterdir()} != {*FILES}:
        raise Failed("The wheel lacks schemas for editors.")
    if b'id="record"' not in (folder / "page.html").read_bytes():
        raise Failed("The exported page holds no record.")
    check_page(glasshouse, folder, home)


def check_page(glasshouse: Path, folder: Path, home: dict[str, str]) -> None:
    """Serve the page, and load it with one of its modules."""
    words = [str(glasshouse), "serve", "--port", "0"]
    process = subprocess.Popen(
        words, cwd=folder, env=os.environ | home, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        assert process.stdout is not None
        address = ""
        while not address:
            line = process.stdout.readline()
            if not line:
                raise Failed("serve ended before it said its address.")
            match = re.search(r"http://127\.0\.0\.1:\d+", line)
            address = match[0] if match else ""
        page = loaded(f"{address}/")
        (module, *_) = re.findall(rb'"(?:\./)?(static/[^"]+\.js)"', page)
        if b"import" not in loaded(f"{address}/{module.decode()}") + page:
            raise Failed("The page does not load its modules.")
    finally:
        process.terminate()
        process.wait(step_seconds_max)


def loaded(address: str) -> bytes:
    """What this machine's own server answers."""
    with urllib.request.urlopen(address, timeout=60) as answer:
        content: bytes = answer.read()
        return content


def main() -> None:
    """Build, try and write everything."""
    if run(["git", "status", "--porcelain"]):
        print("The tree has changes that are not committed: this is no release, only a trial.")
    shutil.rmtree(DIST, ignore_errors=True)
    DIST.mkdir()
    files = built(DIST)
    (wheel,) = [file for file in files if file.suffix == ".whl"]
    for version, python in pythons().items():
        begun = time.monotonic()
        with TemporaryDirectory(prefix="glasshouse-release-") as made:
            check_wheel(wheel, python, Path(made))
        print(
            f"Python {version}: installed, played, verified, exported, served ({time.monotonic() - begun:.0f} s)."
        )
    bill = DIST / f"{wheel.name.split('-py3')[0]}.cdx.json"
    bill.write_text(sbom.bill(), encoding="utf-8")
    sums = [f"{sha256(file.read_bytes()).hexdigest()}  {file.name}" for file in [*files, bill]]
    (DIST / "SHA256SUMS").write_text("\n".join(sums) + "\n", encoding="utf-8")
    print("\n".join(["", *sums, ""]))
    names = " ".join(f"dist/{file.name}" for file in files)
    print(f"To publish on the index:       .venv/bin/uv publish {names}")
    print(f"To attach to the release:      {names} dist/{bill.name} dist/SHA256SUMS")
    print(f"The tag:                       git tag -s v{wheel.name.split('-')[1]}")


if __name__ == "__main__":
    try:
        main()
    except Failed as wrong:
        sys.exit(f"make release: {wrong}")
