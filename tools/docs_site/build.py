"""Build the docs site: `python -m tools.docs_site.build`. It ends with 1 if Sphinx warns or a link leads nowhere.

Always holds: the site asks no other host for anything, and the same tree gives the same bytes.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

from tools.docs_site import sources
from tools.docs_site.llms import llms_txt
from tools.docs_site.site_links import broken_links, foreign_requests

HERE: Final = Path(__file__).resolve().parent
SITE: Final = sources.ROOT / "build/docs"
DIAGRAMS: Final = HERE / "node_modules/@mermaid-js/tiny"


def sphinx() -> int:
    """Let Sphinx write the pages; a warning is an error."""
    shutil.rmtree(SITE, ignore_errors=True)
    options = [
        "-W",
        "--keep-going",
        "-q",
        "-E",
        "-b",
        "html",
        "-c",
        str(HERE),
        "-d",
        str(sources.ROOT / "build/docs-doctrees"),
    ]
    words = [sys.executable, "-m", "sphinx", *options, str(sources.SOURCES), str(SITE)]
    return subprocess.run(words, cwd=sources.ROOT, check=False).returncode  # noqa: S603 (our own words)


MENDED: Final = {
    "<pre>": '<pre tabindex="0">',
    '<div class="table-wrapper': '<div tabindex="0" class="table-wrapper',
    '<p class="caption" role="heading">': '<p class="caption" role="heading" aria-level="2">',
    '<th class="head"><p></p></th>': "<td></td>",
    '<aside class="sidebar-drawer">': '<aside class="sidebar-drawer" aria-label="All pages">',
    '<aside class="toc-drawer': '<aside aria-label="This page" class="toc-drawer',
}
"""What axe finds in the pages of the theme, and what stands there instead: whatever scrolls sideways is reached by the keyboard,
headings have a level, and landmarks a name."""


SEARCH: Final = (
    '<h1>Search</h1><form class="page-search" method="get" action="search.html" role="search" aria-label="The docs">'
    '<input name="q" type="search" aria-label="Search the docs" placeholder="A word, then Enter"></form>'
)
"""What the theme's search page lacks: a title, and a field where no sidebar is open, as on a phone."""


def mend_pages() -> None:
    """Mend what axe finds in the theme's pages."""
    for page in SITE.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        for wrong, right in MENDED.items():
            text = text.replace(wrong, right)
        if "<h1" not in text:
            text = text.replace('id="furo-main-content">', f'id="furo-main-content">{SEARCH}')
        page.write_text(text, encoding="utf-8")


def add_files() -> None:
    """Add what Sphinx does not write: the index for assistants, and what draws diagrams."""
    index = (sources.SOURCES / "index.md").read_text(encoding="utf-8")
    (SITE / "llms.txt").write_text(llms_txt(index), encoding="utf-8")
    shutil.copyfile(DIAGRAMS / "dist/mermaid.tiny.js", SITE / "_static/mermaid.js")
    shutil.copyfile(DIAGRAMS / "LICENSE", SITE / "_static/mermaid.LICENSE")
    shutil.rmtree(SITE / ".doctrees", ignore_errors=True)
    (SITE / ".buildinfo").unlink(missing_ok=True)


def main() -> int:
    """Build the site and check it."""
    sources.gather()
    status = sphinx()
    if status:
        print(
            "make docs: correct what Sphinx warns of above; the pages lie in build/docs-sources.",
            file=sys.stderr,
        )
        return status
    mend_pages()
    add_files()
    faults = [*broken_links(SITE), *foreign_requests(SITE)]
    for fault in faults:
        print(f"make docs: {fault}", file=sys.stderr)
    if not faults:
        print(
            f"The docs are in {(SITE / 'index.html').relative_to(sources.ROOT)}: {len([*SITE.rglob('*.html')])} pages."
        )
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
