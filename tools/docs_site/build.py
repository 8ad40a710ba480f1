"""Build the docs site: `python -m tools.docs_site.build`. It ends with 1 if Sphinx warns or a link leads nowhere.

Always holds: the site asks no other host for anything, and the same tree gives the same bytes.
"""

from __future__ import annotations

import re
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


def make_scrollable_by_key() -> None:
    """Let what scrolls sideways be reached by the keyboard, and give the page's landmarks names of their own."""
    for page in SITE.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        text = text.replace("<pre>", '<pre tabindex="0">').replace(
            '<div class="table-wrapper', '<div tabindex="0" class="table-wrapper'
        )
        text = text.replace(
            '<aside class="sidebar-drawer">', '<aside class="sidebar-drawer" aria-label="All pages">'
        )
        text = re.sub(
            r'<aside class="toc-drawer( no-toc)?">',
            r'<aside class="toc-drawer\1" aria-label="This page">',
            text,
        )
        text = text.replace('<a class="muted-link" href="', '<a href="')
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
    make_scrollable_by_key()
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
