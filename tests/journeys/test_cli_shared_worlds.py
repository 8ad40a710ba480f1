"""Worlds as people share them: packed, added from a file, a folder or a repository, replaced, removed, and brought by packages."""

import json
import os
import pty
import shutil
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from glasshouse.cli.live.start import WITHOUT_MODEL
from glasshouse.manifests.world_folders import found_worlds
from glasshouse.packs.installed import install
from glasshouse.packs.origin import Origin
from tests.journeys.commanding import environment, objects, run
from tests.journeys.understudy import understudy

SCENARIO = "name: pond\ntitle: The Pond\ngoal: Talk.\ncast: [ada, bo]\n"
ADA = "name: ada\npersona: Ada.\nschedule: {tick_every: 1}\n"
BO = "name: bo\npersona: Bo.\n"


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    """A user's data folder of its own."""
    return {"XDG_DATA_HOME": str(tmp_path / "data")}


def pond(folder: Path, version: str = "", scenario: str = SCENARIO, **more: str) -> Path:
    world = folder / "pond"
    shutil.rmtree(world, ignore_errors=True)
    (world / "creatures").mkdir(parents=True)
    (world / "scenario.yaml").write_text(scenario + (f'version: "{version}"\n' if version else ""))
    (world / "creatures/ada.yaml").write_text(ADA)
    (world / "creatures/bo.yaml").write_text(BO)
    for name, text in more.items():
        (world / name.replace("__", ".")).write_text(text)
    return world


def test_a_world_is_packed_added_played_and_removed(tmp_path: Path, home: dict[str, str]) -> None:
    pond(tmp_path / "worlds", "1.0", script__txt="", draft__txt="", README__md="A pond.\n")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()

    made = run("worlds", "pack", "pond", cwd=tmp_path)
    added = run("worlds", "add", str(tmp_path / "pond.world.zip"), "--yes", cwd=elsewhere, **home)
    (listed,) = [world for world in objects("worlds", cwd=elsewhere, **home) if world["world"] == "pond"]
    played = run("play", "pond", "--turns", "1", cwd=elsewhere, **home)

    assert "pond.world.zip: pond, 5 files" in made.stdout
    assert "Left out, since the world does not name them: draft.txt" in made.stdout
    assert "pond 1.0 (The Pond), 5 files" in added.stdout
    assert "  2 creatures: ada, bo" in added.stdout
    assert (listed["where"], listed["version"], listed["from"]) == ("installed", "1.0", "pond.world.zip")
    assert (played.returncode, played.stderr) == (0, "")
    assert run("worlds", "remove", "pond", "--yes", cwd=elsewhere, **home).returncode == 0
    assert "no world is called 'pond'" in run("play", "pond", cwd=elsewhere, **home).stderr
    assert [path.name for path in (tmp_path / "data/glasshouse/worlds/.kept").iterdir()] == []


def test_the_same_world_packs_to_the_same_bytes_wherever_and_whenever(tmp_path: Path) -> None:
    packs = []
    for number, where in enumerate(("a", "b")):
        world = pond(tmp_path / where)
        os.utime(world / "scenario.yaml", (number, number))
        (world / "creatures/bo.yaml").chmod(0o600 + number * 0o40)
        run("worlds", "pack", str(world), "--to", f"{where}.zip", cwd=tmp_path)
        packs.append((tmp_path / f"{where}.zip").read_bytes())

    assert packs[0] == packs[1]


def test_nothing_is_installed_without_a_yes_and_nothing_that_runs_without_one_to_that(
    tmp_path: Path, home: dict[str, str]
) -> None:
    code = "def who_won(match):\n    raise SystemExit('it ran')\n"
    plan = "competition: {contestants: [ada, bo], referee: 'rules.py:who_won'}\ntool_servers: {clock: {command: [python3, clock.py]}}\n"
    plain = pond(tmp_path / "plain")
    coded = pond(tmp_path / "coded", scenario=SCENARIO + plan, rules__py=code, clock__py="")

    def add(world: Path, *options: str) -> subprocess.CompletedProcess[str]:
        return run("worlds", "add", str(world), *options, cwd=tmp_path, **home)

    assert "Agree with --yes" in add(plain).stderr
    refused = add(coded, "--yes")
    assert "It brings code or commands. Agree with --allow-code." in refused.stderr
    assert "  code: rules.py:who_won" in refused.stdout
    assert "  tool server: clock: python3 clock.py" in refused.stdout
    assert not (tmp_path / "data/glasshouse/worlds").exists()
    assert add(coded, "--allow-code").returncode == 0
    played = run("play", "pond", cwd=tmp_path, GLASSHOUSE_ALLOW_WORLD_CODE="0", **home)
    assert played.returncode == 3
    assert "GLASSHOUSE_ALLOW_WORLD_CODE" in played.stderr


def test_at_a_terminal_the_command_asks(tmp_path: Path, home: dict[str, str]) -> None:
    world = pond(tmp_path)
    answers = {}
    for answer in ("n", "y"):
        mine, theirs = pty.openpty()
        os.write(mine, f"{answer}\n".encode())
        env = environment(TERM="dumb", COLUMNS="80", **home)
        process = understudy().begin(["worlds", "add", str(world)], env, tmp_path, [theirs, theirs, theirs])
        os.close(theirs)
        shown = b""
        try:
            while some := os.read(mine, 4096):
                shown += some
        except OSError:
            pass  # Linux says so when the other end of a terminal is closed.
        answers[answer] = (process.wait(), shown.decode())
        os.close(mine)

    assert "Install pond? [y/N]" in answers["n"][1]
    assert (answers["n"][0], answers["y"][0]) == (3, 0)
    assert (tmp_path / "data/glasshouse/worlds/pond/scenario.yaml").is_file()


def test_a_newer_version_replaces_an_older_one_and_not_the_other_way_round(
    tmp_path: Path, home: dict[str, str]
) -> None:
    def add(version: str, *options: str) -> subprocess.CompletedProcess[str]:
        return run("worlds", "add", str(pond(tmp_path, version)), "--yes", *options, cwd=tmp_path, **home)

    def installed() -> str:
        (world,) = [world for world in objects("worlds", cwd=tmp_path, **home) if world["world"] == "pond"]
        return str(world["version"])

    assert add("1.9").returncode == 0
    run("play", "pond", "--turns", "1", cwd=tmp_path, **home)
    assert add("1.10").returncode == 0
    assert installed() == "1.10"
    assert "is installed already" in add("1.10").stdout
    older = add("1.2")
    assert (older.returncode, installed()) == (3, "1.10")
    assert "pond 1.10 is installed, and this is 1.2. To install the older one: --force" in older.stderr
    assert add("1.2", "--force").returncode == 0
    assert installed() == "1.2"
    # Runs of the first version keep their record.
    (recorded,) = [
        json.loads(line) for line in run("runs", "--json", cwd=tmp_path, **home).stdout.splitlines()
    ]
    assert recorded["world"] == "pond"
    assert run("replay", "last", "--verify", cwd=tmp_path, **home).returncode == 0


def test_a_world_here_hides_an_installed_one_and_a_bundled_name_is_refused(
    tmp_path: Path, home: dict[str, str]
) -> None:
    pond(tmp_path / "worlds")

    hidden = run("worlds", "add", "worlds/pond", "--yes", cwd=tmp_path, **home)
    packed = run("worlds", "pack", "mystery-roots", cwd=tmp_path)
    bundled = run("worlds", "add", "mystery-roots.world.zip", "--yes", cwd=tmp_path, **home)
    removed = run("worlds", "remove", "mystery-roots", "--yes", cwd=tmp_path, **home)

    assert "The world pond in ./worlds hides it here." in hidden.stdout
    assert "A world called 'mystery-roots' comes with Glasshouse." in bundled.stderr
    assert (packed.returncode, "worlds add" in packed.stdout) == (0, False)
    assert "so nobody can add this one. Give it another name, and pack it again." in packed.stderr
    assert "no installed world is called 'mystery-roots'. There is pond." in removed.stderr


def test_a_world_of_a_folder_of_worlds_is_named(tmp_path: Path, home: dict[str, str]) -> None:
    shutil.copytree(pond(tmp_path / "worlds"), tmp_path / "worlds" / "lake")
    (tmp_path / "worlds" / "lake" / "scenario.yaml").write_text(SCENARIO.replace("pond", "lake"))

    def added(*words: str) -> str:
        tried = run("worlds", "add", *words, "--yes", cwd=tmp_path, **home)
        return tried.stdout if tried.returncode == 0 else tried.stderr

    assert "There are several worlds. Name one with --world: lake, pond." in added("worlds")
    assert "There is no world 'sea'. Name one with --world: lake, pond." in added("worlds", "--world", "sea")
    assert "pond is a single world, not 'sea'." in added("worlds/pond", "--world", "sea")
    assert "pond is installed" in added("worlds/pond", "--world", "pond")
    assert "lake is installed" in added("worlds", "--world", "lake")
    assert "lake is installed already" in added(".", "--world", "lake")


def test_a_pack_is_checked_like_a_folder(tmp_path: Path) -> None:
    pond(tmp_path, "1.0")
    run("worlds", "pack", "pond", cwd=tmp_path)
    with zipfile.ZipFile(tmp_path / "bad.zip", "w") as bad:
        bad.writestr("pond/scenario.yaml", "cast: [ada]\n")
        bad.writestr("pond/creatures/ada.yaml", "name: ada\npersonna: Ada.\n")
        bad.writestr("pond/creatures/bo.yaml", "name: bo\nversion: 2\n")

    sound = run("check", "pond.world.zip", cwd=tmp_path)
    wrong = run("check", "bad.zip", cwd=tmp_path)

    assert sound.returncode == 0
    assert sound.stdout.startswith("pond.world.zip: sound.\npond 1.0 (The Pond)")
    assert wrong.returncode == 1
    assert (
        "pond/creatures/ada.yaml:2:1: personna: there is no such field. Did you mean 'persona'?"
        in wrong.stdout
    )


HOSTILE = {
    "outside": [("../pond/scenario.yaml", "leads out of the world's folder")],
    "absolute": [("/tmp/scenario.yaml", "leads out of the world's folder")],
    "backslashes": [("pond\\scenario.yaml", "means something else")],
    "device": [("pond/scenario.yaml", ""), ("pond/nul.md", "name of a device")],
    "twins": [("pond/scenario.yaml", ""), ("pond/Scenario.yaml", "one file on some systems")],
}


@pytest.mark.parametrize("sort", HOSTILE)
def test_a_hostile_pack_is_refused_in_words(tmp_path: Path, home: dict[str, str], sort: str) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as made:
        for name, _ in HOSTILE[sort]:
            entry = zipfile.ZipInfo("x")
            entry.filename = name
            made.writestr(entry, SCENARIO)

    refused = run("worlds", "add", "x.zip", "--allow-code", cwd=tmp_path, **home)

    assert refused.returncode == 3
    assert HOSTILE[sort][-1][1] in refused.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"x.zip"}


def repository(folder: Path) -> Path:
    """A repository whose configuration and attributes would run programs if anybody let them."""
    made = folder / "made"
    pond(made / "worlds", "1.0")
    (made / ".gitattributes").write_text("* filter=evil\n")
    (made / ".gitmodules").write_text('[submodule "x"]\n\tpath = x\n\turl = ext::touch evil\n')
    git(made, "init", "--quiet", "--initial-branch=main")
    git(made, "add", "--all")
    git(made, "commit", "--quiet", "--message=One")
    return made


def git(folder: Path, *words: str) -> str:
    config = (
        "-c",
        "user.name=Ada",
        "-c",
        "user.email=ada@example.org",
        "-c",
        "commit.gpgsign=false",
        "-c",
        "core.hooksPath=/dev/null",
    )
    done = subprocess.run(["git", *config, *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def test_a_world_is_added_from_a_repository_at_a_commit_that_is_kept(
    tmp_path: Path, home: dict[str, str]
) -> None:
    made = repository(tmp_path)
    address = f"file://{made}"
    first = git(made, "rev-parse", "HEAD")
    pond(made / "worlds", "2.0")
    git(made, "commit", "--all", "--quiet", "--message=Two")

    run("worlds", "add", address, "--at", first, "--yes", cwd=tmp_path, **home)
    (before,) = [world for world in objects("worlds", cwd=tmp_path, **home) if world["world"] == "pond"]
    (change,) = objects("worlds", "add", f"git+{address}", "--yes", cwd=tmp_path, **home)

    assert (before["version"], before["from"]) == ("1.0", f"{address}@{first}")
    assert (change["change"], change["version"]) == ("replaced", "2.0")
    assert change["commit"] == git(made, "rev-parse", "HEAD")


def test_nothing_of_a_repository_runs_and_links_and_submodules_are_refused(
    tmp_path: Path, home: dict[str, str]
) -> None:
    made = repository(tmp_path)
    evil = tmp_path / "evil"
    for hook in ("post-checkout", "post-merge", "reference-transaction", "pre-auto-gc"):
        (made / ".git/hooks" / hook).write_text(f"#!/bin/sh\ntouch {evil}\n")
        (made / ".git/hooks" / hook).chmod(0o755)
    settings = tmp_path / "gitconfig"
    settings.write_text(
        f'[filter "evil"]\n\tsmudge = touch {evil}\n\trequired = true\n[core]\n\thooksPath = {made}/.git/hooks\n'
    )
    linked = made / "worlds/pond/creatures/link.yaml"
    more = {"GIT_CONFIG_GLOBAL": str(settings), "GIT_TEMPLATE_DIR": str(made / ".git"), **home}

    added = run("worlds", "add", f"file://{made}", "--yes", cwd=tmp_path, **more)
    linked.symlink_to("/etc/passwd")
    git(made, "add", "--all")
    git(made, "commit", "--quiet", "--message=Link")
    link = run("worlds", "add", f"file://{made}", "--yes", cwd=tmp_path, **home)
    git(made, "rm", "--quiet", "--cached", "worlds/pond/creatures/link.yaml")
    commit = git(made, "rev-parse", "HEAD")
    git(made, "update-index", "--add", "--cacheinfo", f"160000,{commit},worlds/pond/inner")
    git(made, "commit", "--quiet", "--message=Submodule")
    submodule = run("worlds", "add", f"file://{made}", "--yes", cwd=tmp_path, **home)

    assert added.returncode == 0, added.stderr
    assert "link.yaml' is a link" in link.stderr
    assert "inner' is a submodule" in submodule.stderr
    assert not evil.exists()


@pytest.mark.parametrize(
    "address",
    [
        "ext::sh -c 'touch evil'",
        "http://example.org/x.git",
        "git://example.org/x.git",
        "https://ada:secret@example.org/x.git",
        "ssh://-oProxyCommand=touch/x.git",
        "fd::17/x",
    ],
)
def test_addresses_that_run_something_or_are_not_protected_are_refused(
    tmp_path: Path, home: dict[str, str], address: str
) -> None:
    refused = run("worlds", "add", address, "--allow-code", cwd=tmp_path, **home)

    assert refused.returncode == 3
    assert "secret" not in refused.stderr
    assert [*tmp_path.iterdir()] == []


KILLED = """
import os, sys
from glasshouse.packs import installed
from glasshouse.packs.origin import Origin
at, count, calls = sys.argv[1], int(sys.argv[2]), 0
whole = getattr(os, at)
def killed(*given, **named):
    global calls
    calls += 1
    if calls == count:
        os.kill(os.getpid(), 9)
    return whole(*given, **named)
setattr(os, at, killed)
installed.install("pond", {"scenario.yaml": b"new", "creatures/ada.yaml": b"new"}, Origin("new"))
"""


@pytest.mark.parametrize(
    ("at", "count"),
    [("mkdir", 1), ("mkdir", 2), ("symlink", 1), ("fsync", 1), ("fsync", 3), ("replace", 1), ("fsync", 6)],
)
def test_after_a_kill_there_is_the_old_world_or_the_new_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: str, count: int
) -> None:
    monkeypatch.setenv("GLASSHOUSE_WORLDS_FOLDER", str(tmp_path / "worlds"))
    old = {"scenario.yaml": b"old", "creatures/ada.yaml": b"old"}
    install("pond", old, Origin("old"))

    done = subprocess.run([sys.executable, "-c", KILLED, at, str(count)], check=False, timeout=60)
    world = tmp_path / "worlds/pond"
    texts = {path.read_bytes() for path in (world / "scenario.yaml", world / "creatures/ada.yaml")}

    assert done.returncode == -signal.SIGKILL
    assert texts in ({b"old"}, {b"new"})
    install("pond", old, Origin("old"))
    assert (world / "scenario.yaml").read_bytes() == b"old"
    assert len([*(tmp_path / "worlds/.kept").iterdir()]) == 1


def test_packages_bring_worlds_and_are_not_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = tmp_path / "site"
    shutil.copytree(pond(tmp_path), site / "acme_worlds/stages/pond")
    (site / "acme_worlds/__init__.py").write_text("raise SystemExit('it was imported')\n")
    about = site / "acme_worlds-2.1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-worlds\nVersion: 2.1\n")
    (about / "entry_points.txt").write_text(
        "[glasshouse.worlds]\nacme = acme_worlds.stages\nbad = ../../etc\n"
    )
    monkeypatch.syspath_prepend(str(site))

    (world,) = [world for world in found_worlds(tmp_path) if world.where == "package"]
    played = run("play", "pond", "--turns", "1", cwd=tmp_path / "site")

    assert (world.name, world.title, world.package) == ("pond", "The Pond", "acme-worlds 2.1")
    assert (played.returncode, played.stderr) == (0, f"glasshouse: {WITHOUT_MODEL}\n")
    assert "acme_worlds" not in sys.modules
