"""Words that people use for fields, whose names are spelt quite differently: what no likeness of letters finds.

Always holds: a word leads to fields of a scenario or of a creature. The first that exists where the word stands is meant.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

_WORDS: Final[dict[tuple[str, ...], str]] = {
    ("cast",): "actors agents characters creatures members npcs participants people personas players",
    ("opening",): "beginning first_line intro introduction premise scene setting situation start starter",
    ("persona", "opening"): "backstory background context",
    ("persona", "goal"): "about describe description prompt summary",
    ("persona",): "character identity instructions profile system system_prompt",
    (
        "wants",
        "goal",
    ): "aim aims desires goal goals mission motivation objective objectives purpose task wishes",
    ("cares_about",): "interests likes loves values",
    ("temper",): "attitude mood personality temperament traits",
    ("voice",): "speech style tone",
    ("subscribes_to",): "hears listens listens_to receives subscribes",
    ("may_emit",): "emits says speaks writes",
    ("model_profile",): "llm model size",
    ("tools",): "abilities functions skills",
    ("documents",): "docs files knowledge sources",
    ("tool_servers",): "mcp mcp_servers servers",
    ("title",): "display_name headline label",
    ("seeds",): "prompts starters subjects themes topics",
    ("beats",): "events happenings incidents plot timeline",
    ("deal",): "cards roles secret secrets",
    ("ends_when",): "end ending ends finish stop until",
    ("competition",): "contest game judge referee teams winner",
    ("governor",): "budget limits max_calls max_tokens max_turns turns",
    ("language",): "lang locale",
}
_FIELDS: Final = {word: fields for fields, words in _WORDS.items() for word in words.split()}


def field_meant(word: str, known: Collection[str]) -> str | None:
    """The field that somebody means by a word, of those that are known; None if no word of the table fits."""
    fields = _FIELDS.get(word.lower().replace("-", "_").replace(" ", "_"), ())
    return next((field for field in fields if field in known), None)
