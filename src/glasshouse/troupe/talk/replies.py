"""Replies: which moves answer which, as a table, and whom a temper makes a player.

Always holds: a question is answered or openly refused, an offer taken or declined, a doubt met; what nobody waits for
needs no reply.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Final, NamedTuple

from glasshouse.troupe.reactions import weights_of
from glasshouse.troupe.reading import Identity
from glasshouse.troupe.voice import voice_of

PERFORMING: Final = ("perform-made", "perform-thing", "perform", "perform-for", "perform-plain")
"""How a contestant does what is judged, where nothing can be shown; the one that says most first."""

ANSWERS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "ask-want": ("tell-want", "hold-want", "keep-secret", "want-goal", "tell-self", "no-want"),
        "press-secret": ("keep-secret", "tell-want", "hold-want", "want-goal", "tell-self", "no-want"),
        "ask-why": ("give-reason", "no-reason", *PERFORMING),
        "ask-help": ("help-yes", "set-term", "hold-back", "help-if", "help-no", "help-no-rival"),
        "ask-help-for-chore": ("help-yes", "set-term", "hold-back", "help-if", "help-no", "help-no-rival"),
        "set-term": ("promise", "refuse-term"),
        "hold-back": ("promise-care", "refuse-term"),
        "help-if": ("agree", "refuse-term"),
        "offer-help": ("accept", "decline"),
        "challenge": ("boast", "boast-plain", *PERFORMING),
        "oppose": ("stand-against",),
        "ask-side": ("side-with", "side-other", "side-none"),
        "ask-hold": ("hold-word", "break-word"),
        "ask-part": ("give-part", "give-part-plain"),
        "ask-part-too": ("give-part", "give-part-plain"),
        "ask-stand": ("stand-for", "unsure"),
        "ask-culprit": ("deny-it", "deny-plain", "keep-secret"),
        "ask-event": ("answer-event",),
        "ask-change": ("change-act", "change-hard", "change-none"),
        "accuse": ("reject",),
        "accuse-again": ("reject",),
    }
)
"""What waits for an answer -> the moves that are one."""

ECHOES: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "promise": ("settle",),
        "promise-care": ("settle",),
        "agree": ("settle",),
        "help-yes": ("thank",),
        "help-no": ("bear-no",),
        "help-no-rival": ("bear-no",),
        "refuse-term": ("bear-no",),
        "accept": ("settle-offer",),
        "decline": ("let-be",),
        "boast": ("top", "grudge"),
        "side-with": ("thank-side",),
        "side-other": ("bear-side",),
        "hold-word": ("glad",),
        "break-word": ("betrayed",),
        "give-part": ("take-part",),
        "give-reason": ("take-reason", "refuse-reason"),
        "keep-secret": ("doubt-secret",),
        "favour": ("take-favour",),
        "change-act": ("hear-act",),
    }
)
"""What was told me -> what I say to it, once."""

OVERHEARD: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "tell-want": ("hear-want",),
        "close-deal": ("hear-close",),
        "close-do": ("hear-close",),
        "settle": ("hear-bargain",),
        "help-yes": ("hear-bargain",),
        "help-no": ("hear-refusal",),
        "help-no-rival": ("hear-refusal",),
        "tell-deal": ("hear-deal",),
        "present": ("hear-present",),
        **dict.fromkeys(PERFORMING, ("hear-perform",)),
        "confess": ("hear-confession",),
        "try-won": ("hear-won",),
        "try-lost": ("hear-lost",),
        "count-won": ("take-won", "take-lost"),
    }
)
"""What was told to everybody -> what one of them may say to it."""

FOREIGN: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "offer": ("take-offer", "leave-offer"),
        "accuse": ("own-up", "deny"),
        "order": ("obey", "balk"),
        "warn": ("heed",),
        "greet": ("greet",),
    }
)
"""What a line does that is none of the general talk -> what one says to it."""

ACT_OF: Final[Mapping[str, str]] = MappingProxyType(
    {
        **dict.fromkeys((*ANSWERS, "ask-stand"), "ask"),
        "oppose": "object", "offer-help": "offer", "set-term": "object", "hold-back": "object", "help-if": "offer",
        "accept": "agree", "help-yes": "agree", "promise": "agree", "promise-care": "agree", "agree": "agree", "settle": "agree",
        "take-reason": "agree", "side-with": "agree", "hold-word": "agree", "back": "agree",
        "refuse-reason": "object", "decline": "object", "help-no": "object", "help-no-rival": "object", "refuse-term": "object",
        "stand-against": "object", "break-word": "object", "betrayed": "object", "challenge": "object",
        "note-event": "wonder", "bear-event": "wonder", "return-event": "recall", "narrate": "narrate",
        "reject": "object", "take-favour": "agree", "tell-deal": "extend", "tell-goal": "extend",
    }
)  # fmt: skip
"""Move -> the act whose mood goes with it; with the others goes one that the temper leans to."""


dispositions_cache_identities_max: Final = 512
"""How more players deal with others is worked out again."""
brief_example_words_max: Final = 5
"""Whose examples are no longer than this on average says one thing at a time."""


class Disposition(NamedTuple):
    """How a player deals with others."""

    friendliness: float
    """How likely it agrees where it may refuse, from 0 to 1."""
    register: str
    is_brief: bool
    """Whether it says one thing at a time."""


@lru_cache(maxsize=dispositions_cache_identities_max)
def disposition_of(me: Identity) -> Disposition:
    """How a player's temper has it deal with others."""
    weights = weights_of(me)
    kind = sum(weights.get(act, 0.0) for act in ("agree", "comfort", "offer"))
    cross = sum(weights.get(act, 0.0) for act in ("object", "tease", "oppose"))
    voice = voice_of(me)
    words = [len(example.split()) for example in me.examples]
    is_short = bool(words) and sum(words) <= brief_example_words_max * len(words)
    share = kind / (kind + cross) if kind + cross else 0.5
    lean = 0.25 * ("comfort:" in me.temper)
    return Disposition(
        min(0.95, max(0.05, 1.6 * share - 0.3 + lean)),
        voice.register,
        is_short or voice.register in {"severe", "shy"},
    )
