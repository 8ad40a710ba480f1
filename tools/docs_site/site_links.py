"""Read a built site: links that lead nowhere, and what a page would ask another host for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from html import unescape
from pathlib import Path
from typing import Final
from urllib.parse import unquote

LINK: Final = re.compile(r'<(?:a|link|img|script)\b[^>]*?\s(?:href|src)="([^"]*)"')
ASKED: Final = re.compile(
    r'<(?:img|script|iframe|source)\b[^>]*?\ssrc="((?:https?:)?//[^"]*)"'
    r'|<link\b(?=[^>]*rel="(?:stylesheet|preload|preconnect|icon)")[^>]*?\shref="((?:https?:)?//[^"]*)"'
)
MARKDOWN_LINK: Final = re.compile(r"\]\(([^)\s#]+)\)")


@cache
def _names_in(page: Path) -> frozenset[str]:
    return frozenset(re.findall(r'\sid="([^"]+)"', page.read_text(encoding="utf-8")))


def broken_links(site: Path) -> Iterator[str]:
    """Every link of a site, and of its llms.txt, that leads to no file or no place in it."""
    for page in sorted(site.rglob("*.html")):
        for link in sorted(set(LINK.findall(page.read_text(encoding="utf-8")))):
            if fault := _fault(unescape(link), page):
                yield f"{page.relative_to(site)}: {fault}"
    for link in MARKDOWN_LINK.findall((site / "llms.txt").read_text(encoding="utf-8")):
        if not (site / link).is_file():
            yield f"llms.txt: {link} is not there"


def _fault(link: str, page: Path) -> str | None:
    if re.match(r"[a-z][a-z+.-]*:", link) or link.startswith("//"):
        return None
    path, _, anchor = link.partition("#")
    target = page if not path else (page.parent / unquote(path.partition("?")[0])).resolve()
    if not target.exists():
        return f"{link} is not there"
    if anchor and target.suffix == ".html" and unquote(anchor) not in _names_in(target):
        return f"{link} has no such place"
    return None


def foreign_requests(site: Path) -> Iterator[str]:
    """What the pages and style sheets of a site would ask another host for."""
    for page in sorted(site.rglob("*.html")):
        for asked in ASKED.finditer(page.read_text(encoding="utf-8")):
            yield f"{page.relative_to(site)} asks {asked[1] or asked[2]}"
    for sheet in sorted(site.rglob("*.css")):
        for asked_by_sheet in re.findall(
            r"(?:url\(|@import )[\"']?((?:https?:)?//[^)\"']+)", sheet.read_text(encoding="utf-8")
        ):
            yield f"{sheet.relative_to(site)} asks {asked_by_sheet}"
