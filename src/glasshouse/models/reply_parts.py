"""`ReplyParts`: the text and the reasoning of a reply as they come, and the checks that each server model makes on them.

Always holds: a reply that has come to a long run of white space, or is too long, is read no further. Servers are not believed: what
they count and what they enforce is compared with what was sent.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any, Final

import msgspec

from glasshouse.errors import ModelMisconfigured
from glasshouse.events.event import Json
from glasshouse.model_values import Finish, Tokens
from glasshouse.models.schema_check import fits
from glasshouse.runtime.call_time import CallTime
from glasshouse.runtime.ports import CallProgress, OnProgress, OnText
from glasshouse.turns.moment.prompt import (
    Prompt,
    chars_per_token_min,
    completion_chars_max,
    reasoning_chars_max,
    reported_chars_max,
    tokens_guessed,
)

chars_per_token_usual: Final = 4
"""About how many characters of English a token has, to tell somebody who looks on how much has come."""
blank_chars_max: Final = 200
"""After this much white space in a row, a reply is in a loop."""


class ReplyParts:
    """What has come of a reply so far."""

    def __init__(
        self, time: CallTime, on_text: OnText | None = None, on_progress: OnProgress | None = None
    ) -> None:
        self.time = time
        """The time of the call, which goes on anew with each piece."""
        self.is_stopped = False
        """Whether reading ended because the reply was in a loop or too long."""
        self.first_text_ms = 0.0
        self.began = perf_counter()
        self._on_text = on_text
        self._on_progress = on_progress
        self._read = -1
        self._pieces = 0
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._text_chars = self._reasoning_chars = self._blank = 0

    def add(self, text: object, reasoning: object = None) -> bool:
        """Add a piece. True if the rest need not be read."""
        thought = reasoning if isinstance(reasoning, str) else ""
        piece = text if isinstance(text, str) else _joined(text)
        if thought or piece:
            self._pieces += 1
            self.time.note_token()
        if thought:
            self._reasoning.append(thought)
            self._reasoning_chars += len(thought)
        if piece:
            self._add_text(piece)
        if self._on_progress is not None and (thought or piece):
            self._on_progress(CallProgress(tokens=self._tokens_so_far))
        is_too_long = self._text_chars > completion_chars_max or self._reasoning_chars > reasoning_chars_max
        self.is_stopped |= is_too_long or self._blank > blank_chars_max
        return self.is_stopped

    def _add_text(self, piece: str) -> None:
        words = piece.rstrip()
        self._blank = len(piece) - len(words) + (0 if words else self._blank)
        self._text.append(piece)
        self._text_chars += len(piece)
        self.first_text_ms = self.first_text_ms or self.milliseconds
        if self._on_text is not None:
            self._on_text(piece)

    def note_read(self, tokens: int, tokens_all: int) -> None:
        """So many tokens of the prompt are read. Only if they are more than before, the call has made progress."""
        if tokens <= self._read or self._pieces:
            return
        self._read = tokens
        self.time.note_read()
        if self._on_progress is not None:
            self._on_progress(CallProgress(tokens, tokens_all))

    @property
    def _tokens_so_far(self) -> int:
        """About how many tokens have come: servers on one's own machine send each by itself, others several at once."""
        return max(self._pieces, (self._text_chars + self._reasoning_chars) // chars_per_token_usual)

    @property
    def milliseconds(self) -> float:
        """The time since the request was made."""
        return (perf_counter() - self.began) * 1000

    @property
    def text(self) -> str:
        """The text so far."""
        return "".join(self._text)[:completion_chars_max]

    @property
    def reasoning(self) -> str:
        """The reasoning so far."""
        return "".join(self._reasoning)[:reasoning_chars_max]

    def tokens_estimated(self, prompt: Prompt) -> Tokens:
        """A cautious estimate of what the call used, for servers that do not count."""
        given = tokens_guessed(prompt.system) + tokens_guessed(prompt.user)
        written = self._text_chars + self._reasoning_chars
        return Tokens(given, -(-written // chars_per_token_min), is_estimated=True)

    def answer(self, prompt: Prompt, finish: Finish) -> tuple[str, str | None]:
        """The text and the reasoning. Some servers put the whole reply where the reasoning belongs."""
        text = self.text
        reasoning = self.reasoning
        if finish == "stop" and not text.strip() and reasoning:
            before, mark, rest = reasoning.partition("KIND:" if prompt.form == "prose" else "{")
            if mark == "KIND:" or isinstance(json_in(mark + rest), dict):
                return mark + rest, before.strip() or None
        return text, reasoning or None


def _joined(content: Any) -> str:
    """The text of a message whose content is a list of parts."""
    if not isinstance(content, list):
        return ""
    texts = [part.get("text") for part in content if isinstance(part, dict)]
    return "".join([text for text in texts if isinstance(text, str)])


def json_in(text: str) -> Any:
    """The value of a text that is JSON and nothing else; None if it is not."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return None


def is_schema_dropped(text: str, schema: Json) -> bool:
    """Whether a finished reply shows that the server did not enforce the schema."""
    value = json_in(text)
    return not isinstance(value, dict) or not fits(value, schema)


def check_prompt_is_whole(prompt: Prompt, tokens: Tokens, backend: str, model: str, instead: str) -> None:
    """Refuse an answer to a prompt that the server cut. It did if it read fewer tokens than the prompt has words, because
    no tokenizer joins words."""
    chars = len(prompt.system) + len(prompt.user)
    if (
        tokens.is_estimated or tokens.input * 5 >= chars
    ):  # Cheaper than counting words, and true of nearly all prompts.
        return
    words = len(prompt.system.split()) + len(prompt.user.split())
    if words > tokens.input:
        reason = (
            f"{backend} read only {tokens.input:,} tokens of a prompt of {words:,} words: it cut the prompt."
        )
        raise ModelMisconfigured(reason, instead, model, usage=tokens)


def count_in(counts: object, *names: str) -> int | None:
    """The first of these counts that a server gives; None if it gives none of them."""
    if isinstance(counts, dict):
        for name in names:
            value = counts.get(name)
            if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 2**53:
                return int(value)
    return None


def name_in(*values: object) -> str:
    """The names among these values, in one short text."""
    return " ".join(str(value) for value in values if value and isinstance(value, str | int))[
        :reported_chars_max
    ]
