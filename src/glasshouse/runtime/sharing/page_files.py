"""The page's files: which there are, the import map that names them, and the page itself.

Modules import each other by bare names, and one map says where each name is. So the same modules run from this server,
under any path, and from one file that is opened from disk. Always holds: the addresses in the map are relative, so the
page and the hashes that its policy allows are the same wherever it is served. An address holds the hash of its file's
content, so the page names what belongs to it (ADR 0130).
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from string import hexdigits
from typing import Final, NamedTuple

STATIC: Final = (Path(str(files("glasshouse"))) / "web" / "static").resolve()
VENDOR: Final = STATIC / "vendor"
FIRST_STYLES: Final = ("theme", "layout", "later_fonts")
"""Style sheets that the others build on."""
PHONE: Final = "(max-width: 820px), (max-height: 479.98px)"
"""On which screens the page has the form of a phone, or is low, as `page/form.js` has it. Only they load those parts."""
LATER_FOLDERS: Final = (
    "coach",
    "compare",
    "curtain",
    "dialogs",
    "empty",
    "palette",
    "phone",
    "script",
    "share",
    "studio",
    "table",
    "teams",
    "why",
)
"""Folders of the page whose style sheets come with their parts (`page/on_demand.js`), or belong to shared files alone."""
LATER_STYLE: Final = "later_fonts"
"""The style sheet with the fonts that the page loads after its first picture."""
MISSING: Final = "The page's third-party files are missing. Run make setup, then reload."

hash_chars: Final = 12
"""How much of its content's hash stands in the address of a file: enough to tell all versions of a file apart."""
files_hashed_max: Final = 512
"""How many hashes are kept: the page has about 120 files, and a checkout that is edited has some of them twice."""

_IMPORT: Final = re.compile(r"""\b(?:from|import)\s*["']([^"']+)["']""")
_ADDRESS: Final = re.compile(r"""url\("([^"]+)"\)""")


class Page(NamedTuple):
    """The page, and the policy that it is served under."""

    text: str
    policy: str


def has_vendor() -> bool:
    """Whether the third-party files are there."""
    return (VENDOR / "preact.js").is_file()


def modules() -> dict[str, Path]:
    """Every module by its bare name: the page's own, then third-party ones."""
    return {
        name: path for root, under in ((STATIC, "page"), (VENDOR, "")) for name, path in _named(root, under)
    }


def _named(root: Path, under: str) -> Iterator[tuple[str, Path]]:
    for path in sorted((root / under).rglob("*.js")):
        yield path.relative_to(root).with_suffix("").as_posix(), path


def modules_of(entry: str) -> dict[str, Path]:
    """A module, and every module that it imports, itself or by way of others."""
    there = modules()
    needed = dict[str, Path]()
    waiting = [entry]
    while waiting:
        name = waiting.pop()
        if name in there and name not in needed:
            needed[name] = there[name]
            waiting += _IMPORT.findall(there[name].read_text(encoding="utf-8"))
    return dict(sorted(needed.items()))


def styles() -> list[Path]:
    """Every style sheet, in the order in which they are linked."""
    sheets = sorted((STATIC / "page").rglob("*.css"))
    order = {name: number for number, name in enumerate(FIRST_STYLES)}
    return sorted(sheets, key=lambda path: (order.get(path.stem, len(order)), path.as_posix()))


def with_addresses(style: Path, address: Callable[[Path], str]) -> str:
    """A style sheet with the addresses of the files that it names as they are elsewhere."""

    def moved(match: re.Match[str]) -> str:
        return f'url("{address((style.parent / match[1]).resolve())}")'

    return _ADDRESS.sub(moved, style.read_text(encoding="utf-8"))


def import_map(addresses: Mapping[str, str]) -> str:
    """The map of bare names to addresses, as a page holds it."""
    # "</" would end the script element that the map stands in.
    return json.dumps({"imports": dict(addresses)}, indent=1).replace("</", "<\\/")


def without_comments(text: str) -> str:
    """A module without the lines that hold nothing but a comment. All other lines keep their numbers, so that errors say where
    they are. It reads lines, not JavaScript: a test compares the tokens of every module of the page before and after."""
    lines = text.split("\n")
    is_inside = False
    for number, line in enumerate(map(str.strip, lines)):
        if not is_inside and not line.startswith(("//", "/**")):
            continue
        if not is_inside and line.startswith("/**") and "*/" in line and not line.endswith("*/"):
            continue  # Code stands behind it.
        lines[number] = ""
        is_inside = (is_inside or line.startswith("/**")) and not line.endswith("*/")
    return "\n".join(lines)


def hash_of(script: str) -> str:
    """How a policy names a script that stands in the page."""
    return f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'"


class FileAt(NamedTuple):
    """The file at an address, and whether the address holds the hash of its content."""

    path: Path
    has_hash: bool


def address_of(path: Path) -> str:
    """Where the server has a file, seen from the page. With other content it has another address, so a browser may keep
    what is at this one."""
    return f"./static/{hash_in_address(path)}/{path.relative_to(STATIC).as_posix()}"


def hash_in_address(path: Path) -> str:
    """The hash of a file's content."""
    return _content_hash(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=files_hashed_max)
def _content_hash(path: Path, _changed_at: int) -> str:
    return sha256(path.read_bytes()).hexdigest()[:hash_chars]


def file_at(address: str) -> FileAt | None:
    """The file that is meant by an address behind `static/`, with a hash or without one. Of a page that is older than the
    files, the hash is another one: it gets the file as it is now."""
    if "\0" in address:
        return None
    first, _, rest = address.partition("/")
    has_hash = len(first) == hash_chars and not set(first) - set(hexdigits)
    path = (STATIC / (rest if has_hash else address)).resolve()
    if not path.is_relative_to(STATIC) or not path.is_file():
        return None
    return FileAt(path, has_hash and first == hash_in_address(path))


def page() -> Page:
    """The page as the server sends it, made anew only if a file has changed."""
    return _made(max(path.stat().st_mtime_ns for path in (*STATIC.rglob("*.*"), STATIC)))


@lru_cache(maxsize=1)
def _made(_newest: int) -> Page:
    # Each file is a request: style sheets stand in the page, and modules are asked for all at once, since a browser would
    # find out about each only when it has read the one that imports it.
    later = [path for path in styles() if path.parent.name in LATER_FOLDERS]
    named = {path.relative_to(STATIC).as_posix(): path for path in later}
    mapped = import_map({name: address_of(path) for name, path in {**modules(), **named}.items()})
    theme = (STATIC / "theme_first.js").read_text(encoding="utf-8")
    own = [path for path in styles() if path not in later]
    sheets = {path: with_addresses(path, address_of) for path in own}
    style = "\n".join(sheet for path, sheet in sheets.items() if path.stem != LATER_STYLE)
    fonts = "\n".join(sheet for path, sheet in sheets.items() if path.stem == LATER_STYLE)
    entry = modules_of("page/main").values()
    phone = [path for path in modules_of("page/phone/page").values() if path not in entry]
    links = "\n".join(
        [f'  <link rel="modulepreload" href="{address_of(path)}">' for path in entry]
        + [f'  <link rel="modulepreload" media="{PHONE}" href="{address_of(path)}">' for path in phone]
    )
    text = (STATIC / "index.html").read_text(encoding="utf-8")
    start = address_of(modules()["page/main"])
    values = {
        "import map": mapped,
        "theme": theme,
        "styles": style,
        "later fonts": fonts,
        "modules": links,
        "entry": start,
    }
    for name, value in values.items():
        text = text.replace(f"<!-- {name} -->", value)
    policy = {
        "default-src": "'self'",
        "script-src": f"'self' {hash_of(mapped)} {hash_of(theme)}",
        "style-src": f"'self' {hash_of(style)} {hash_of(fonts)}",
        "img-src": "'self' data: blob:",
        "worker-src": "'self'",
        "object-src": "'none'",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
    }
    return Page(text, "; ".join(f"{name} {value}" for name, value in policy.items()))
