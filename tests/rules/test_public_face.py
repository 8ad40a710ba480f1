"""The package root: every public name is there, and none costs anything before it is asked for."""

import subprocess
import sys

import pytest

import glasshouse


def test_every_public_name_comes_from_its_home() -> None:
    missing = [name for name in glasshouse.__all__ if getattr(glasshouse, name, None) is None]

    assert missing == []
    assert sorted(glasshouse._HOMES) == sorted(glasshouse.__all__) == dir(glasshouse)


def test_a_name_that_is_not_public_is_refused_in_words() -> None:
    with pytest.raises(AttributeError, match="has no name 'Terarium'"):
        glasshouse.Terarium  # noqa: B018 (asking for the name is what raises)


def test_importing_the_package_brings_nothing_with_it() -> None:
    script = (
        "import sys, glasshouse; print([m for m in ('pydantic', 'msgspec', 'sqlite3') if m in sys.modules])"
    )

    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert told.stdout.strip() == "[]"
