"""Break the code on purpose, one place at a time, and see whether the tests find it.

    python tools/mutations.py --check              is every text of mutations.toml in the code, exactly once?
    python tools/mutations.py                      break each place and run the tests that the file names for it
    python tools/mutations.py --only 3 17          only these, by their number in the file
    python tools/mutations.py --whole              run every test but those of the browser for what the named tests miss
    python tools/mutations.py --without cli_why    leave tests out whose path has this in it
    python tools/mutations.py --root ../other      the same places in another checkout, with its tests and its .venv

Run it before and after a change of the tests: what was red before must be red after. A place that stays green is a test that
is missing, or a change that nobody can see; say in the file which.

Always holds: the checkout is not changed. A broken copy of `src` is put before it on the path of Python, so the tests, and the
commands that they start, import the copy.

To mend an entry whose text is gone: look in `git log -S'old text'` for where it went, and name the new file or write the new
text. Choose texts that say one thing and are unlikely to be reformatted.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

HERE = Path(__file__).resolve().parent
PACKAGE = Path("src/glasshouse")


@dataclass(frozen=True)
class Mutation:
    """One place to break."""

    number: int
    file: str
    old: str
    new: str
    tests: tuple[str, ...]

    def fault(self, root: Path) -> str:
        """Why it cannot be made in this checkout; empty if it can."""
        path = root / PACKAGE / self.file
        if not path.is_file():
            return f"{self}: there is no such file. Where did the code go? git log -S'{self.old}'"
        count = path.read_text("utf-8").count(self.old)
        missing = [test for test in self.tests if not (root / test).exists()]
        if count != 1:
            return f"{self}: its text is there {count} times, not once: {self.old}"
        return f"{self}: there are no tests {', '.join(missing)}" if missing else ""

    def make_in(self, package: Path) -> None:
        """Break the place in a copy of the package."""
        path = package / self.file
        path.write_text(path.read_text("utf-8").replace(self.old, self.new), "utf-8")

    def __str__(self) -> str:
        return f"{self.number:>2} {self.file}"


def mutations_in(file: Path) -> list[Mutation]:
    """All that a file lists."""
    listed = tomllib.loads(file.read_text("utf-8"))["mutation"]
    return [
        Mutation(number, entry["file"], entry["old"], entry["new"], tuple(entry["tests"]))
        for number, entry in enumerate(listed, start=1)
    ]


def test_files(root: Path, named: tuple[str, ...], without: list[str]) -> list[str]:
    """The files of the tests that are named, in this order, without those that are left out."""
    files: list[Path] = []
    for name in named:
        path = root / name
        files += sorted(path.rglob("test_*.py")) if path.is_dir() else [path]
    paths = [str(file.relative_to(root)) for file in files]
    return [path for path in paths if not any(part in path for part in without)]


def first_red(root: Path, mutation: Mutation, tests: list[str]) -> str:
    """The first test that finds it; empty if none does."""
    if not tests:
        return ""
    with TemporaryDirectory(prefix="mutation-") as folder:
        Path(folder).chmod(0o755)  # Some tests become another user.
        source = Path(folder) / "src"
        shutil.copytree(root / "src", source, ignore=shutil.ignore_patterns("__pycache__"))
        mutation.make_in(source / "glasshouse")
        command = [
            root / ".venv/bin/python",
            "-m",
            "pytest",
            "-x",
            "-q",
            "-p",
            "no:cacheprovider",
            "-rfE",
            *tests,
        ]
        found = [os.environ["PYTHONPATH"]] if os.environ.get("PYTHONPATH") else []
        env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(source), *found])}
        done = subprocess.run(  # noqa: S603 (pytest of this checkout, with tests that a file of ours names)
            command, cwd=root, env=env, capture_output=True, text=True, check=False
        )
    if done.returncode == 0:
        return ""
    reds = [line for line in done.stdout.splitlines() if line.startswith(("FAILED ", "ERROR "))]
    return reds[0].split()[1] if reds else f"pytest ended with {done.returncode}"


def told(root: Path, mutation: Mutation, without: list[str], *, is_whole: bool) -> str:
    """One line about a place: which test finds it."""
    red = first_red(root, mutation, test_files(root, mutation.tests, without))
    if not red and is_whole:
        red = first_red(root, mutation, test_files(root, ("tests",), [*without, "tests/browser"]))
    return f"{'red  ' if red else 'GREEN'} {mutation}: {red or mutation.old}"


def main() -> int:
    """Break the places that were asked for; how many the tests missed."""
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--check", action="store_true")
    words.add_argument("--only", type=int, nargs="+", metavar="N")
    words.add_argument("--whole", action="store_true")
    words.add_argument("--without", nargs="+", default=[], metavar="PART")
    words.add_argument("--root", type=Path, default=HERE.parent)
    words.add_argument("--jobs", type=int, default=2)
    asked = words.parse_args()
    root = asked.root.resolve()
    every = mutations_in(HERE / "mutations.toml")
    wanted = [mutation for mutation in every if asked.only is None or mutation.number in asked.only]
    if faults := [fault for mutation in wanted if (fault := mutation.fault(root))]:
        print(*faults, sep="\n", file=sys.stderr)
        return 2
    if asked.check:
        print(f"{len(wanted)} places can be broken.")
        return 0
    missed = 0
    with ThreadPoolExecutor(asked.jobs) as pool:
        tell = lambda mutation: told(root, mutation, asked.without, is_whole=asked.whole)  # noqa: E731
        for line in pool.map(tell, wanted):
            missed += line.startswith("GREEN")
            print(line, flush=True)
    print(f"{len(wanted)} places broken, {len(wanted) - missed} found by the tests.")
    return min(missed, 1)


if __name__ == "__main__":
    sys.exit(main())
