"""Instructions: the sentences in a prompt that tell its creature how to answer, and that nobody said.

Always holds: every sentence of the forms, and of the last lines that quote nobody, is among them, so that a reply which
recites one is known (ADR 0121). Lists of words and descriptions of tools are not.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from glasshouse.model_values import Form
from glasshouse.turns.moment.character import Character
from glasshouse.turns.moment.moment import Moment
from glasshouse.turns.prompts.context import TRUST, last_line
from glasshouse.turns.prompts.examples import form_sentences

instruction_cache_values_max: Final = 1_024
"""Kept so as not to be computed again: the instructions of a creature's prompts."""


def prompt_texts(moment: Moment) -> tuple[str, ...]:
    """The instructions in the prompts of a moment, and the placeholders of their forms."""
    return _instructions(moment.handle, moment.character, moment.form)


@lru_cache(maxsize=instruction_cache_values_max)
def _instructions(handle: str, character: Character, form: Form) -> tuple[str, ...]:
    return (*form_sentences(form), TRUST, last_line(handle, character))
