"""The package root: every public name is there, and none costs anything before it is asked for."""

import ast
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import glasshouse
import glasshouse.testing


def homes_for_the_type_checker(package: ModuleType) -> dict[str, str]:
    """Where the imports that only a type checker reads bring each name from."""
    parsed = ast.parse(Path(package.__file__ or "").read_text(encoding="utf-8"))
    guarded = [line for node in parsed.body if isinstance(node, ast.If) for line in node.body]
    brought = [line for line in guarded if isinstance(line, ast.ImportFrom)]
    return {name.name: line.module or "" for line in brought for name in line.names}


def test_every_public_name_comes_from_its_home() -> None:
    missing = [name for name in glasshouse.__all__ if getattr(glasshouse, name, None) is None]

    assert missing == []
    assert sorted(glasshouse._HOMES) == sorted(glasshouse.__all__) == dir(glasshouse)


@pytest.mark.parametrize("package", [glasshouse, glasshouse.testing])
def test_a_type_checker_finds_every_name_where_the_program_does(package: ModuleType) -> None:
    assert homes_for_the_type_checker(package) == package._HOMES


def test_a_name_that_is_not_public_is_refused_in_words() -> None:
    with pytest.raises(AttributeError, match="has no name 'Terarium'"):
        glasshouse.Terarium  # noqa: B018 (asking for the name is what raises)


def test_importing_the_package_brings_nothing_with_it() -> None:
    script = (
        "import sys, glasshouse; print([m for m in ('pydantic', 'msgspec', 'sqlite3') if m in sys.modules])"
    )

    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert told.stdout.strip() == "[]"
