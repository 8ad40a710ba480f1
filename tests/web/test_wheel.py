"""The page as users get it: from a wheel, built and installed."""

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from glasshouse import Terrarium
from glasshouse.manifests.editor_schema import editor_schemas
from glasshouse.runtime.sharing import page_files
from tests.journeys.commanding import run
from tests.pages import ROOT
from tests.web.packed import record_in
from tests.web.served import served


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


def test_a_wheel_carries_the_schemas_for_editors(installed: Path) -> None:
    carried = {path.name: path.read_text(encoding="utf-8") for path in (installed / "schema").iterdir()}

    assert carried == editor_schemas()


def test_the_page_of_an_installed_wheel_finds_every_module_and_style_sheet(installed: Path) -> None:
    script = "from glasshouse.runtime.sharing import page_files; print(page_files.__file__); print(page_files.page().text)"
    # -P keeps the checkout out of the path; the folder of the wheel comes before everything installed.
    environment = os.environ | {"PYTHONPATH": str(installed.parent)}
    answer = subprocess.run(
        [sys.executable, "-P", "-c", script], env=environment, check=True, capture_output=True, text=True
    )
    where, _, page = answer.stdout.partition("\n")
    assert where.startswith(str(installed))
    # The hash of a file's content stands in its address, and not in its path.
    addresses = [f"static/{path}" for path in re.findall(r'"\./static/(?:[0-9a-f]{12}/)?([^"]+)"', page)]
    assert len([address for address in addresses if "/vendor/" in address]) > 10
    assert len([address for address in addresses if "/page/" in address]) > 20
    assert [address for address in addresses if not (installed / "web" / address).is_file()] == []


def test_an_installed_wheel_shares_a_run_as_one_file(installed: Path, tmp_path: Path) -> None:
    environment = os.environ | {"PYTHONPATH": str(installed.parent), "GLASSHOUSE_STORE": "show.glasshouse"}
    for words in (("play", "two-tale-hearth", "--turns", "2"), ("export", "last", "--html")):
        command = [sys.executable, "-P", "-m", "glasshouse", *words]
        subprocess.run(command, env=environment, cwd=tmp_path, check=True, capture_output=True)

    assert record_in((tmp_path / "two-tale-hearth.html").read_bytes())["world"] == "two-tale-hearth"


async def test_a_page_without_its_third_party_files_says_what_to_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_files, "VENDOR", tmp_path)
    async with Terrarium() as t, served(t) as house:
        page = await house.client.get("/")
        assert page.status_code == 503
        assert page.text == "The page's third-party files are missing. Run make setup, then reload."


def test_serve_says_at_once_that_third_party_files_are_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_files, "VENDOR", tmp_path)

    result = run("serve", "--port", "0", "--store", str(tmp_path / "show.glasshouse"))

    assert result.returncode == 3
    assert "Run make setup" in result.stderr
    assert not (tmp_path / "show.glasshouse").exists()
