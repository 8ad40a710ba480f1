"""The lines of a models.yaml that say what a model costs, for whoever pastes them there.

Pure. Always holds: pasted where the sentence says, they are read as what they show.
"""

from __future__ import annotations

import json
import re
from typing import Final, NamedTuple

from glasshouse.events.model_use import Price
from glasshouse.manifests.models_file import ModelsFile, ServerName

context_tokens_usual: Final = 8_192
"""The context of a profile that is proposed: what a model gets that was chosen by its server's name alone."""


class PriceLines(NamedTuple):
    """Where lines go, as the end of a sentence, and the lines."""

    where: str
    lines: list[str]


def price_lines(
    file: ModelsFile | None, path: str, server: ServerName, model: str, price: Price, remark: str
) -> PriceLines:
    """The lines for a models.yaml at this path; for a whole file if there is none yet."""
    line = f"price: {_flow(price)}  # {remark}"
    profiles = {} if file is None else file.profiles
    for name, profile in profiles.items():
        if file is not None and profile.model == model and file.backend_of(profile)[0] == server:
            verb = (
                "in place of the price there"
                if profile.price is not None
                else "with the same indent as its model"
            )
            return PriceLines(f"into {path}, in the profile {name}, {verb}", [f"    {line}"])
    lines = [
        f"  {'fast' if 'fast' not in profiles else _text(_slug(model))}:",
        f"    backend: {server}",
        f"    model: {_text(model)}",
        f"    context_tokens: {context_tokens_usual}",
        f"    {line}",
    ]
    if file is None:
        return PriceLines(f"into a new file {path}", ["profiles:", *lines])
    return PriceLines(f"into {path}, under profiles", lines)


def _flow(price: Price) -> str:
    figures = {
        "input": price.input,
        "output": price.output,
        "cache_read": price.cache_read,
        "cache_write": price.cache_write,
    }
    return f"{{{', '.join(f'{name}: {usd:g}' for name, usd in figures.items() if usd is not None)}}}"


def _slug(model: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", model.lower()).strip("-") or "hosted"


def _text(text: str) -> str:
    """A text of YAML: always in quotation marks, so that no name is read as something else."""
    return json.dumps(text, ensure_ascii=False)
