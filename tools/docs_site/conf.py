"""How Sphinx builds the docs site. `python -m tools.docs_site.build` gathers the sources and calls it."""

from __future__ import annotations

import importlib
import re
from typing import Any

from tools.docs_site.sources import PUBLIC, public_names_of

project = "Glasshouse"
html_title = "Glasshouse"
language = "en"
root_doc = "index"
extensions = ["myst_parser", "sphinx.ext.autodoc"]
html_theme = "furo"
html_theme_options = {"top_of_page_buttons": []}
html_static_path = ["_static"]
html_css_files = ["docs.css"]
html_js_files = ["diagrams.js"]
html_copy_source = True
html_show_sphinx = False
html_show_copyright = False
html_permalinks_icon = "#"
# Summaries are fetched, which a page that was opened from disk may not.
html_show_search_summary = False
templates_path = ["_templates"]
# The same bytes for the same sources.
html_last_updated_fmt = None

myst_heading_anchors = 4
myst_fence_as_directive = ["mermaid"]
suppress_warnings = ["myst.header"]

autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
# Docstrings are written with single backticks, as the other pages are.
default_role = "literal"


def plain_docstring(_app: Any, _what: str, _name: str, _obj: Any, _options: Any, lines: list[str]) -> None:
    """Let a docstring's signs be what they are in Markdown: only backticks mark anything."""
    parts = re.split(r"(`[^`]*`)", "\n".join(lines))
    text = "".join(part if part.startswith("`") else re.sub(r"([*|_\\])", r"\\\1", part) for part in parts)
    lines[:] = text.split("\n")


def import_public_names() -> None:
    """Import every public name before Sphinx does: it would set TYPE_CHECKING, which some libraries do not survive."""
    for name in PUBLIC:
        module = importlib.import_module(name)
        for public in public_names_of(module):
            getattr(module, public)


def setup(app: Any) -> None:
    """Register what this site adds to Sphinx."""
    import_public_names()
    from docutils import nodes
    from sphinx.util.docutils import SphinxDirective

    class Mermaid(SphinxDirective):
        """A diagram, which the browser draws. Without scripts, its text is there."""

        has_content = True

        def run(self) -> list[nodes.Node]:
            text = "\n".join(self.content)
            node = nodes.raw("", f'<pre class="mermaid" tabindex="0">{_escaped(text)}</pre>', format="html")
            return [node]

    app.add_directive("mermaid", Mermaid)
    app.connect("autodoc-process-docstring", plain_docstring)


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
