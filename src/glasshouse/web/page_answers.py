"""The page and its files as answers: without comments, compressed, and kept by browsers for as long as they are the same.

Always holds: a file whose address holds the hash of its content never changes there, so browsers keep it and do not ask again.
Under any other address, and for the page itself, they ask each time whether it is still the same.
"""

from __future__ import annotations

import gzip
import mimetypes
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from fastapi import FastAPI, Request, Response
from fastapi.responses import HTMLResponse

from glasshouse.runtime.sharing import page_files
from glasshouse.web.access import Denied
from glasshouse.web.packed import content_tag, is_known, unpacks

files_kept_max: Final = 512
"""How many files a process keeps compressed: the page has about 120, and a checkout that is edited has some of them twice."""
kept_seconds: Final = 365 * 24 * 3600
"""How long browsers keep a file: a year, the longest that is usual."""
_ASKED_AGAIN: Final = "no-cache"
_KEPT: Final = f"public, max-age={kept_seconds}, immutable"
_ALWAYS: Final = {
    "x-content-type-options": "nosniff",
    "vary": "accept-encoding",
}
_SMALLEST: Final = 9
"""The level of gzip for what is compressed once."""
_TYPES: Final = {
    ".js": "text/javascript",
    ".css": "text/css",
    ".woff2": "font/woff2",
    ".svg": "image/svg+xml",
    ".webmanifest": "application/manifest+json",
}
"""What some systems do not know, or call otherwise."""
_PACKED_ALREADY: Final = frozenset({".woff2", ".png"})


class Content(NamedTuple):
    """What is sent, and the same compressed; none if it is compressed by itself."""

    plain: bytes
    packed: bytes | None


def add_page(served: FastAPI) -> None:
    """Serve the page and its files."""

    @served.get("/", include_in_schema=False)
    def page(request: Request) -> Response:
        """The page."""
        if not page_files.has_vendor():
            return HTMLResponse(page_files.MISSING, status_code=503)
        text, policy = page_files.page()
        answer = _answer(request, _text_content(text), "text/html", content_tag(text, policy), _ASKED_AGAIN)
        answer.headers["content-security-policy"] = policy
        return answer

    @served.api_route("/static/{address:path}", methods=["GET", "HEAD"], include_in_schema=False)
    def file(request: Request, address: str) -> Response:
        """One of the page's files."""
        named = page_files.file_at(address)
        if named is None:
            raise Denied(404, "The page has no such file. Reload it: there may be a newer release.")
        content = _file_content(named.path, named.path.stat().st_mtime_ns)
        guessed = _TYPES.get(named.path.suffix) or mimetypes.guess_type(named.path.name)[0]
        kept = _KEPT if named.has_hash else _ASKED_AGAIN
        return _answer(
            request,
            content,
            guessed or "application/octet-stream",
            page_files.hash_in_address(named.path),
            kept,
        )


def _answer(request: Request, content: Content, media_type: str, tag: str, kept: str) -> Response:
    headers = {**_ALWAYS, "cache-control": kept}
    if kept != _KEPT:  # What is kept is never asked for again, and there are a hundred such files.
        headers |= {"etag": f'W/"{tag}"', "referrer-policy": "no-referrer"}
    if is_known(request, tag):
        return Response(status_code=304, headers=headers)
    body = content.plain
    if content.packed is not None and unpacks(request.headers.get("accept-encoding", "")):
        body = content.packed
        headers["content-encoding"] = "gzip"
    return Response(body, media_type=media_type, headers=headers)


@lru_cache(maxsize=1)
def _text_content(text: str) -> Content:
    plain = text.encode()
    return Content(plain, gzip.compress(plain, _SMALLEST, mtime=0))


@lru_cache(maxsize=files_kept_max)
def _file_content(path: Path, _changed_at: int) -> Content:
    plain = path.read_bytes()
    if path.suffix in _PACKED_ALREADY:
        return Content(plain, None)
    if path.suffix == ".js" and not path.is_relative_to(page_files.VENDOR):  # Theirs hold their licences.
        plain = page_files.without_comments(plain.decode()).encode()
    return Content(plain, gzip.compress(plain, _SMALLEST, mtime=0))
