"""The index of the docs for assistants: `llms.txt`, whose links lead to the pages as Markdown."""

from __future__ import annotations

import re
from typing import Final

from tools.docs_site.sources import groups_of

SUMMARY: Final = (
    "Glasshouse is a Python runtime for troupes of small language-model agents. Everything that happens is an event in one "
    "ledger, so runs can be replayed, branched, verified and asked why."
)
ENTRY: Final = re.compile(r"^- \[([^\]]+)\]\(([\w/.-]+\.md)\): (.+)$", re.MULTILINE)


def llms_txt(index: str) -> str:
    """The pages that an index lists, by group, with what each is about. Decisions are left out."""
    entries = {path: (title, about) for title, path, about in ENTRY.findall(index)}
    lines = ["# Glasshouse", "", f"> {SUMMARY}", ""]
    for group, listed in groups_of(index).items():
        lines += [f"## {group}", ""]
        lines += [
            f"- [{entries[path][0]}](_sources/{path}.txt): {entries[path][1]}"
            for path in listed
            if path in entries
        ]
        lines.append("")
    return "\n".join(lines)
