"""A registry of npm packages on a real socket, and a clone of the project that is locked to it.

The packages are packed from node_modules, so their hashes are not those of the real lock: the clone gets a lock of its own.
"""

import json
import subprocess
import tarfile
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha512
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from shutil import copyfile
from threading import Thread

from tests.pages import ROOT


class Registry:
    """What a test sees of the registry: its address, and what it was asked for."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.asked: list[str] = []
        self.tarballs: dict[str, bytes] = {}
        """Each by its path."""


@contextmanager
def npm_registry() -> Iterator[Registry]:
    """A registry that is up until the block ends. At first it has nothing."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            registry.asked.append(self.path)
            content = registry.tarballs.get(self.path)
            self.send_response(404 if content is None else 200)
            self.end_headers()
            self.wfile.write(content or b"")

        def log_message(self, *given: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    registry = Registry(f"http://127.0.0.1:{server.server_port}/npm/")
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield registry
    finally:
        server.shutdown()
        server.server_close()


def clone_for(registry: Registry, folder: Path) -> Path:
    """A new clone without node_modules and third-party files, whose lock names packages that this registry has."""
    clone = folder / "clone"
    listed = subprocess.check_output(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT
    )
    for name in filter(None, listed.decode().split("\0")):
        # What these builds do not read is left out, because it is most of the files.
        is_read = name.startswith("docs/schema/") or not name.startswith(("tests/", "docs/", "bench/"))
        if is_read and (ROOT / name).is_file():
            (clone / name).parent.mkdir(parents=True, exist_ok=True)
            copyfile(ROOT / name, clone / name)
            (clone / name).chmod((ROOT / name).stat().st_mode)
    lock = json.loads((clone / "package-lock.json").read_text(encoding="utf-8"))
    for key, entry in lock["packages"].items():
        name = key.removeprefix("node_modules/")
        if name and not entry.get("dev"):
            content = tarball_of(ROOT / key)
            entry["integrity"] = f"sha512-{b64encode(sha512(content).digest()).decode()}"
            file = f"{name.rpartition('/')[2]}-{entry['version']}.tgz"
            registry.tarballs[f"/npm/{name}/-/{file}"] = content
    (clone / "package-lock.json").write_text(json.dumps(lock), encoding="utf-8")
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "A clone"]):
        identity = ["-c", "user.name=clone", "-c", "user.email=clone@example.invalid"]
        subprocess.run(["git", *identity, *command], cwd=clone, check=True, capture_output=True)
    return clone


def tarball_of(package: Path) -> bytes:
    """A package as a registry has it: everything in a folder called `package`."""
    packed = BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz", compresslevel=1) as tarball:
        tarball.add(package, "package")
    return packed.getvalue()
