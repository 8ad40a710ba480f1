"""Samples of the docs pass a type checker as a user would run it: mypy, without plugins and without our settings, on a package
that is installed."""

import subprocess
import sys
from pathlib import Path
from textwrap import indent

from tests.pages import ROOT, Fence, samples


def as_module(sample: Fence) -> str:
    """The sample with its imports at the top, and everything else in a coroutine, where it may await."""
    lines = sample.text.splitlines()
    imports = [line for line in lines if line.startswith(("import ", "from "))]
    body = "\n".join("pass" if line in imports else line for line in lines)
    return "\n".join([*imports, "", "async def sample() -> None:", indent(body, "    "), ""])


AS_INSTALLED = """[mypy]
check_untyped_defs = True
[mypy-glasshouse.*]
ignore_errors = True
"""
"""What is installed is read for its types, and not checked itself: that would take most of the time."""


def complaints_of_mypy(modules: dict[str, str], folder: Path) -> str:
    (folder / "mypy.ini").write_text(AS_INSTALLED, encoding="utf-8")
    for name, text in modules.items():
        (folder / name).write_text(text, encoding="utf-8")
    words = [
        sys.executable,
        "-m",
        "mypy",
        "--config-file=mypy.ini",
        "--no-error-summary",
        f"--cache-dir={ROOT / '.mypy_cache' / 'samples'}",
        *sorted(modules),
    ]
    checked = subprocess.run(
        words, cwd=folder, capture_output=True, text=True, check=False, env={"MYPYPATH": str(ROOT / "src")}
    )
    return checked.stdout + checked.stderr


def test_every_sample_passes_a_type_checker(tmp_path: Path) -> None:
    modules = {
        f"{Path(page).stem.replace('-', '_')}_line_{sample.line}.py": as_module(sample)
        for page, sample in samples()
    }

    assert len(modules) > 20
    assert complaints_of_mypy(modules, tmp_path) == ""


def test_a_sample_with_a_wrong_type_is_found(tmp_path: Path) -> None:
    wrong = Fence("python", 1, 'from glasshouse import Manifest\nManifest(name="ada", schedule=3)\n')

    assert "schedule" in complaints_of_mypy({"wrong.py": as_module(wrong)}, tmp_path)
