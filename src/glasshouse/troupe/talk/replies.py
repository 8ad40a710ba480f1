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

ANSWERS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "ask-want": ("tell-want",),
        "ask-why": ("give-reason", "no-reason"),
        "ask-way": ("give-way",),
        "ask-help": ("help-yes", "help-no"),
        "ask-progress": ("progress",),
        "ask-still": ("still",),
        "ask-care": ("give-reason", "no-reason"),
        "ask-goal": ("give-plan",),
        "ask-event": ("answer-event",),
        "ask-scene": ("answer-scene",),
        "ask-opinion": ("opinion",),
        "ask-view": ("answer-view",),
        "ask-hope": ("answer-hope",),
        "doubt": ("stand",),
        "oppose": ("stand-against",),
        "offer-help": ("accept", "decline"),
        "accuse": ("reject",),
        "accuse-again": ("reject",),
    }
)
"""What waits for an answer -> the moves that are one. Of two, the temper chooses: the first is the friendly one."""

ECHOES: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "accept": ("settle",),
        "decline": ("let-be",),
        "help-yes": ("thank",),
        "help-no": ("bear-no",),
        "stand": ("yield-doubt",),
        "progress": ("hear-progress",),
        "still": ("hear-progress",),
        "give-plan": ("take-plan",),
        "give-way": ("hear-way",),
        "give-reason": ("take-reason", "refuse-reason"),
        "no-reason": ("refuse-reason",),
        "tell-care": ("take-care", "shrug-care"),
        "tell-fact": ("take-reason",),
        "keep-secret": ("hear",),
        "favour": ("take-favour",),
    }
)
"""What somebody told -> what one may say to it, once."""

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
        "ask-want": "ask", "ask-why": "ask", "ask-way": "ask", "ask-help": "ask", "ask-progress": "ask", "ask-still": "ask",
        "ask-care": "ask", "ask-goal": "ask", "ask-event": "ask", "ask-scene": "ask", "ask-opinion": "ask",
        "ask-view": "ask", "ask-hope": "ask",
        "offer-help": "offer", "accept": "agree", "help-yes": "agree", "take-reason": "agree", "take-plan": "agree",
        "settle": "agree", "doubt": "object", "refuse-reason": "object", "decline": "object", "help-no": "object",
        "stand": "object", "oppose": "object", "stand-against": "object", "note-event": "wonder", "bear-event": "wonder", "return-event": "recall",
        "narrate": "narrate", "close": "favour", "tell-goal": "extend", "reject": "object", "take-favour": "agree",
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
