"""Fetching a world from a git address, without letting the repository do anything.

Always holds: nothing is checked out, so that no hook, filter, large-file pointer or submodule of the repository is ever used; its
files are read as objects of one commit. The user's own configuration of git is left out, and only transports that are named here
are spoken. What is fetched is bounded in time and bytes.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

from glasshouse.errors import Refused, in_brief
from glasshouse.packs.archive import files_max, world_bytes_max
from glasshouse.packs.paths import folder_of_world

git_seconds_max: Final = 120
"""A fetch that takes longer is ended: one commit of a small repository comes in seconds."""
fetched_bytes_max: Final = 64 * 1_048_576
"""A repository whose newest commit has more, packed, is refused: git may write no larger file."""
entries_max: Final = 20_000
"""A commit with more files is refused: all of their names are read to find the world."""

_TRANSPORTS: Final = ("https", "ssh", "file")
_WITH_SCHEME: Final = re.compile(r"(?:git\+)?([a-z][a-z0-9+.-]*)://(.*)", re.IGNORECASE | re.DOTALL)
_WITH_COLON: Final = re.compile(r"[A-Za-z0-9_][\w.-]*@[A-Za-z0-9][\w.-]*:(?!:)\S+")
_REVISION: Final = re.compile(r"[A-Za-z0-9_][\w./-]{0,199}")
_COMMIT: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_PLAIN_MODES: Final = frozenset({"100644", "100755"})
_LFS: Final = b"version https://git-lfs.github.com/spec/"
_SAFELY: Final = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.sshCommand=ssh -o BatchMode=yes",
    "credential.helper=",
    "fetch.recurseSubmodules=false",
    "fetch.unpackLimit=1",
    "gc.auto=0",
    "http.followRedirects=initial",
    "maintenance.auto=false",
    "protocol.allow=never",
    "submodule.recurse=false",
    "transfer.fsckObjects=true",
    "uploadpack.packObjectsHook=",
)
_KEPT_VARIABLES: Final = frozenset(
    {"HOME", "LANG", "LC_ALL", "PATH", "SSH_AUTH_SOCK", "TMPDIR", "USER", "SSL_CERT_FILE", "SSL_CERT_DIR"}
    | {name for word in ("http", "https", "all", "no") for name in (f"{word}_proxy", f"{word.upper()}_PROXY")}
)
_BOUNDED: Final = (
    "import os, resource, sys; most = int(sys.argv[1]); resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)); "
    "os.execvp(sys.argv[2], sys.argv[2:])"
)
"""What limits a program's files before it becomes git."""


class Entry(NamedTuple):
    """A file of a commit."""

    path: str
    mode: str
    size: int
    object_id: str


class Commit(NamedTuple):
    """Files of one commit."""

    address: str
    commit: str
    files: dict[str, bytes]
    """By path from the folder of the world."""
    name: str
    """What that folder is called; at the top: what the repository is called."""


def is_git_address(text: str) -> bool:
    """Whether a text is an address instead of a path."""
    return bool(_WITH_SCHEME.fullmatch(text) or _WITH_COLON.fullmatch(text)) or "::" in text.partition("/")[0]


def checked_address(text: str) -> str:
    """An address that git may be given; anything else is refused."""
    match = _WITH_SCHEME.fullmatch(text)
    scheme = match[1].lower() if match else "ssh"
    if (match is None and not _WITH_COLON.fullmatch(text)) or scheme not in _TRANSPORTS:
        raise Refused(
            f"A world is not fetched from {in_brief(text)}.",
            "Give an address such as https://HOST/NAME.git, ssh://HOST/NAME.git or git@HOST:NAME.git, a folder or a file.",
        )
    rest = match[2] if match else text
    if match and rest.lower().endswith(".zip"):
        raise Refused("This is the address of a file.", "Download it, then: glasshouse worlds add FILE")
    if re.search(r"[\x00-\x20\x7f]", text) or rest.startswith("-") or "@-" in rest:
        raise Refused(f"{in_brief(text)} is no address.", "Write it without spaces.")
    if scheme == "https" and "@" in rest.partition("/")[0]:
        raise Refused(
            "An address must not hold a name or a password: it is kept.", "Use ssh://, or add a folder."
        )
    return f"{scheme}://{rest}" if match else text


def world_at(text: str, revision: str = "", world: str = "") -> Commit:
    """The files of the world in a repository, at its newest commit or at the revision named."""
    address = checked_address(text)
    if revision and not _REVISION.fullmatch(revision):
        raise Refused(f"{in_brief(revision)} is no revision.", "Name a branch, a tag or a commit.")
    with TemporaryDirectory(prefix="glasshouse-git-") as made:
        repository = Path(made)
        _git(repository, "init", "--quiet", "--bare", "--template=")
        # `--` keeps what follows from being read as an option.
        _git(
            repository,
            "fetch",
            "--quiet",
            "--depth=1",
            "--no-tags",
            "--",
            address,
            revision or "HEAD",
            on=address,
        )
        commit = _git(repository, "rev-parse", "--verify", "FETCH_HEAD^{commit}").decode().strip()
        if not _COMMIT.fullmatch(commit):
            raise Refused(f"{address} has no commit there.", "Name a branch, a tag or a commit with --at.")
        entries = _entries(_git(repository, "ls-tree", "-r", "-z", "--full-tree", "-l", commit))
        folder = folder_of_world([entry.path for entry in entries], world)
        chosen = [
            entry for entry in entries if entry.path.startswith(folder) and not _is_hidden(entry.path, folder)
        ]
        _check(chosen)
        files = {path[len(folder) :]: content for path, content in _contents(repository, chosen).items()}
    return Commit(address, commit, files, folder.rstrip("/").rpartition("/")[2] or _name_of(address))


def _is_hidden(path: str, folder: str) -> bool:
    """Whether a file is for git or for a service, and not for the world."""
    return any(part.startswith(".") for part in path[len(folder) :].split("/"))


def _entries(listing: bytes) -> list[Entry]:
    entries = []
    for line in listing.split(b"\0")[:-1]:
        facts, _, path = line.partition(b"\t")
        mode, _, object_id, size = facts.decode("ascii").split()
        try:
            entries.append(Entry(path.decode("utf-8"), mode, int(size) if size.isdigit() else 0, object_id))
        except UnicodeDecodeError as wrong:
            raise Refused("A file's name is no UTF-8.", "Ask for a repository with plain names.") from wrong
    if len(entries) > entries_max:
        raise Refused(
            f"The repository has more than {entries_max:,} files.", "Ask for one of the world alone."
        )
    return entries


def _check(entries: list[Entry]) -> None:
    """Refuse what is no plain file, before a byte of it is read; and what is too large."""
    for entry in entries:
        if entry.mode not in _PLAIN_MODES:
            noun = {"120000": "a link", "160000": "a submodule"}.get(entry.mode, "no plain file")
            raise Refused(f"{in_brief(entry.path)} is {noun}.", "A shared world has plain files only.")
    if len(entries) > files_max:
        raise Refused(
            f"The world has more than {files_max} files.", "Ask for one without what it does not need."
        )
    if sum(entry.size for entry in entries) > world_bytes_max:
        raise Refused(f"The world has more than {world_bytes_max:,} bytes.", "Ask for a smaller one.")


def _contents(repository: Path, entries: list[Entry]) -> dict[str, bytes]:
    """What is in files of a commit, by path."""
    ids = "".join(f"{entry.object_id}\n" for entry in entries)
    answer = _git(repository, "cat-file", "--batch", given=ids.encode())
    contents: dict[str, bytes] = {}
    at = 0
    for entry in entries:
        begin = answer.index(b"\n", at) + 1
        contents[entry.path] = answer[begin : begin + entry.size]
        at = begin + entry.size + 1
        if contents[entry.path].startswith(_LFS):
            raise Refused(
                f"{in_brief(entry.path)} is only a pointer to a large file.",
                "Ask for a repository that holds the file itself.",
            )
    return contents


def _name_of(address: str) -> str:
    last = re.split(r"[/:]", address.rstrip("/"))[-1]
    return last.removesuffix(".git")


def _git(repository: Path, *words: str, on: str = "", given: bytes = b"") -> bytes:
    """What git prints. It gets no setting of the user, asks nobody, and writes no large file."""
    program = shutil.which("git")
    if program is None:
        raise Refused("git is not installed here.", "Install it, or add a file or a folder.")
    settings = [word for setting in (*_SAFELY, *_allowed(on)) for word in ("-c", setting)]
    command = [sys.executable, "-I", "-S", "-c", _BOUNDED, str(fetched_bytes_max), program, *settings, *words]
    environment = {name: value for name, value in os.environ.items() if name in _KEPT_VARIABLES} | {
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_DIR": str(repository),
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_LFS_SKIP_SMUDGE": "1",
    }
    try:
        done = subprocess.run(  # noqa: S603 (every word is ours, but for an address and a revision that were checked)
            command, cwd=repository, env=environment, input=given, capture_output=True, check=False,
            timeout=git_seconds_max,
        )  # fmt: skip
    except subprocess.TimeoutExpired as late:
        raise Refused(
            f"git took more than {git_seconds_max} seconds.", "Clone it yourself, and add the folder."
        ) from late
    if done.returncode == -signal.SIGXFSZ or b"signal 25" in done.stderr:
        raise Refused(f"The repository has more than {fetched_bytes_max:,} bytes.", "Ask for a smaller one.")
    if done.returncode != 0:
        raise Refused(f"git could not read {on or 'what it fetched'}: {_last_line(done.stderr)}.", _ADVICE)
    return done.stdout


_ADVICE: Final = "Check the address and --at, or clone it yourself and add the folder."


def _allowed(address: str) -> tuple[str, ...]:
    """The one transport that an address needs."""
    match = _WITH_SCHEME.fullmatch(address)
    return (f"protocol.{match[1].lower() if match else 'ssh'}.allow=always",) if address else ()


def _last_line(said: bytes) -> str:
    lines = [line.strip() for line in said.decode("utf-8", "replace").splitlines() if line.strip()]
    wrong = [line for line in lines if line.startswith(("fatal:", "error:"))] or lines
    return "".join(letter for letter in (wrong[0] if wrong else "it says nothing") if letter.isprintable())[
        :200
    ].rstrip(".")
