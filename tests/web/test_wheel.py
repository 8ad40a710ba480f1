"""The page as users get it: from a wheel, built and installed."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.pages import ROOT


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package as it stands where a wheel was installed."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return folder / "site" / "glasshouse"


def test_a_wheel_carries_the_third_party_modules_fonts_and_licences_of_the_page(installed: Path) -> None:
    vendor = installed / "web/static/vendor"
    files = {path.relative_to(vendor).as_posix() for path in vendor.rglob("*") if path.is_file()}

    assert {"preact.js", "preact/hooks.js", "@preact/signals.js", "htm.js", "d3-force.js"} <= files
    assert len([name for name in files if name.startswith("fonts/")]) == 4
    assert len([name for name in files if name.startswith("licences/")]) == 11
    assert ".stamp" not in files
