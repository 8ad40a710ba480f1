"""Instructions: the sentences in a prompt that tell its creature how to answer, and that nobody said.

Always holds: every sentence of the forms, and of the last lines that quote nobody, is among them, with the persona and the
goal, so that a reply which recites one is known (ADR 0121). Lists of words and descriptions of tools are not.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from glasshouse.model_values import Form
from glasshouse.turns.moment.character import Character
from glasshouse.turns.moment.moment import Moment
from glasshouse.turns.prompts.closing import closing_sentences
from glasshouse.turns.prompts.context import TRUST
from glasshouse.turns.prompts.forms import form_sentences

instruction_cache_values_max: Final = 1_024
"""Kept so as not to be computed again: the instructions of a creature's prompts."""


def prompt_texts(moment: Moment) -> tuple[str, ...]:
    """The instructions in the prompts of a moment, and the placeholders of their forms."""
    return _instructions(moment.handle, moment.character, moment.playbill.goal, moment.form)


@lru_cache(maxsize=instruction_cache_values_max)
def _instructions(handle: str, character: Character, goal: str, form: Form) -> tuple[str, ...]:
    # What a creature wants is left out: that it may say.
    about = (character.persona, goal)
    return (
        *form_sentences(character, form),
        TRUST,
        *closing_sentences(handle, character, form),
        *filter(None, about),
    )
