"""Load locked packages from the npm registry of this machine, by name, version and hash, without node.

Always holds: what is unpacked has the hash that package-lock.json names, whatever the registry sent. No registry is named here:
which one a machine uses is its own business (`registry()`).
"""

from __future__ import annotations

import json
import os
import re
import shutil
import ssl
import subprocess
import sys
import tarfile
from base64 import b64encode
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha512
from io import BytesIO
from pathlib import Path, PurePosixPath
from urllib.error import URLError
from urllib.request import urlopen

tarball_bytes_max = 32 * 1024 * 1024
unpacked_bytes_max = 128 * 1024 * 1024
answer_seconds_max = 60
loads_at_once = 6


class NotLoaded(Exception):
    """A package could not be loaded; the message says why."""


def registry() -> str | None:
    """The address of the registry: npm's variable, else npm's files, else what an installed npm answers; None if none knows."""
    return _setting("registry") or _answer_of_npm()


def _setting(name: str) -> str | None:
    """A setting of npm, from the environment or its files."""
    variables = {variable.lower(): value for variable, value in os.environ.items()}
    if variables.get(f"npm_config_{name}"):
        return variables[f"npm_config_{name}"]
    files = [Path(variables.get("npm_config_userconfig") or Path.home() / ".npmrc")]
    files += [Path(variables.get("npm_config_globalconfig") or "/etc/npmrc")]
    for file in files:
        lines = file.read_text(encoding="utf-8", errors="replace").splitlines() if file.is_file() else []
        for line in lines:
            key, _, value = line.partition("=")
            if key.strip() == name and value.strip():
                return os.path.expandvars(value.strip().strip("\"'"))
    return None


def _answer_of_npm() -> str | None:
    """What npm says, which also knows the registry that it uses where nobody has named one."""
    npm = shutil.which("npm") or shutil.which("npm", path=str(Path(sys.executable).parent))
    if npm is None:
        return None
    # Its node may lie beside it, outside the path.
    path = os.pathsep.join([str(Path(npm).parent), os.environ.get("PATH", os.defpath)])
    asked = subprocess.run(  # noqa: S603 (an npm of this machine, with fixed words)
        [npm, "config", "get", "registry"],
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    answer = asked.stdout.strip()
    return answer if asked.returncode == 0 and answer.startswith(("http://", "https://")) else None


def load(names: Iterable[str], lock: Path, folder: Path, address: str) -> None:
    """Load these packages, as a lock file names them, and unpack each into a folder of its name."""
    locked = json.loads(lock.read_text(encoding="utf-8"))["packages"]
    certificates = ssl.create_default_context(cafile=_setting("cafile"))

    def load_one(name: str) -> None:
        entry = locked[f"node_modules/{name}"]
        content = _tarball(address, name, entry["version"], certificates)
        if f"sha512-{b64encode(sha512(content).digest()).decode()}" not in entry["integrity"].split():
            raise NotLoaded(f"{name} {entry['version']} has another hash than package-lock.json names")
        _unpack(content, folder / name)

    with ThreadPoolExecutor(loads_at_once) as threads:
        list(threads.map(load_one, names))


def _tarball(address: str, name: str, version: str, certificates: ssl.SSLContext) -> bytes:
    if not re.match("https?://", address):
        raise NotLoaded(f"{address!r} is not the address of a registry")
    url = f"{address.rstrip('/')}/{name}/-/{name.rpartition('/')[2]}-{version}.tgz"
    context = certificates if url.startswith("https:") else None
    try:
        with urlopen(url, timeout=answer_seconds_max, context=context) as answer:  # noqa: S310 (checked above)
            content: bytes = answer.read(tarball_bytes_max + 1)
    except (URLError, OSError) as wrong:
        raise NotLoaded(f"{name} {version}: {getattr(wrong, 'reason', wrong)}") from wrong
    if len(content) > tarball_bytes_max:
        raise NotLoaded(f"{name} {version} has more than {tarball_bytes_max:,} bytes")
    return content


def _unpack(content: bytes, folder: Path) -> None:
    """Write the plain files of a tarball, without the folder that all of them are in."""
    size = 0
    with tarfile.open(fileobj=BytesIO(content), mode="r:gz") as tarball:
        for member in tarball:
            parts = PurePosixPath(member.name).parts[1:]
            file = tarball.extractfile(member) if member.isfile() else None
            if file is None or not parts or ".." in parts:
                continue
            size += member.size
            if size > unpacked_bytes_max:
                raise NotLoaded(f"{folder.name} unpacks to more than {unpacked_bytes_max:,} bytes")
            target = folder.joinpath(*parts)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(file.read())
