"""Prices that the package genai-prices lists for hosted models, as proposals.

Always holds: nothing is asked of the network, and no play, estimate or ledger reads a proposal. A price counts only once somebody has
written it into a models.yaml. What is not listed stays unknown and is never nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, date, datetime
from decimal import Decimal
from importlib.metadata import version
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from glasshouse.events.model_use import Price
from glasshouse.installation import missing_extra
from glasshouse.manifests.models_file import ServerName

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo, Provider

PACKAGE: Final = "genai-prices"
PROVIDER_IDS: Final[dict[ServerName, str]] = {
    "openai": "openai",
    "openrouter": "openrouter",
    "anthropic": "anthropic",
    "gemini": "google",
    "mistral": "mistral",
}
"""Each server whose models cost something, as the package calls it."""

_DAY: Final = re.compile(r"\b(20\d\d)-(\d\d)-(\d\d)\b")


class ProposedPrice(NamedTuple):
    """What a hosted model probably costs."""

    listed_as: str
    """The model in the package's list. An alias or a dated name may mean it."""
    price: Price
    source: str
    """The package and its version."""
    known_until: date | None
    """The newest day that its list names: what changed later is not in it. None: it names no day."""
    remarks: tuple[str, ...] = ()
    """What the four figures leave out."""
    address: str = ""
    """Where the provider itself tells its prices."""


def has_price_list() -> bool:
    """Whether the package is installed."""
    return find_spec("genai_prices") is not None


def proposed_price(server: ServerName, model: str, today: date) -> ProposedPrice | None:
    """What the list says of a model; None if it does not know it. Refused if the list is not installed."""
    if not has_price_list():
        raise missing_extra("Prices are proposed by the extra `prices`, which is not installed.", "prices")
    from genai_prices import Usage, calc_price

    at_noon = datetime(today.year, today.month, today.day, 12, tzinfo=UTC)
    try:
        calculated = calc_price(
            Usage(input_tokens=1, output_tokens=1),
            model,
            provider_id=PROVIDER_IDS[server],
            genai_request_timestamp=at_noon,
        )
    except (KeyError, LookupError):
        return None
    price = price_in(vars(calculated.model_price))
    if price is None:
        return None
    return ProposedPrice(
        calculated.model.id,
        price,
        f"{PACKAGE} {version(PACKAGE)}",
        newest_day(_days_in([calculated.provider]), today),
        _remarks(calculated.model, vars(calculated.model_price)),
        (calculated.provider.pricing_urls or [""])[0],
    )


def price_in(listed: dict[str, Any]) -> Price | None:
    """The four figures of a price; None if the one for prompts or for replies is missing, or both are nothing."""
    figures = [
        _figure(listed.get(f"{name}_mtok")) for name in ("input", "output", "cache_read", "cache_write")
    ]
    given, written, cache_read, cache_write = figures
    if given is None or written is None or not (given or written):
        return None
    return Price(given, written, cache_read, cache_write)


def _figure(listed: Any) -> float | None:
    """Dollars for a million tokens. Of a price with steps, that of short prompts: ours are short."""
    figure = getattr(listed, "base", listed)
    return float(figure) if isinstance(figure, Decimal) else None


def _remarks(model: ModelInfo, listed: dict[str, Any]) -> tuple[str, ...]:
    starts = [tier.start for figure in listed.values() for tier in getattr(figure, "tiers", ())]
    remarks = [f"Prompts of more than {min(starts):,} tokens cost more."] if starts else []
    return (*remarks, *(["Its provider will end it."] if model.deprecated else []))


def _days_in(providers: Iterable[Provider]) -> list[date]:
    """The days that a list names: those from which prices hold, and those in the notes of whoever checked them."""
    days: list[date] = []
    for provider in providers:
        texts = [provider.price_comments or ""]
        for model in provider.models:
            texts.append(model.price_comments or "")
            prices = model.prices if isinstance(model.prices, list) else []
            starts = [getattr(price.constraint, "start_date", None) for price in prices]
            days += [day for day in starts if isinstance(day, date)]
        days += [_day(*match) for text in texts for match in _DAY.findall(text)]
    return days


def _day(year: str, month: str, day: str) -> date:
    try:
        return date(int(year), int(month), int(day))
    except ValueError:  # A text may have figures that look like a day.
        return date.min


def newest_day(days: Iterable[date], today: date) -> date | None:
    """The newest of these that is not in the future: lists announce prices, too."""
    return max([day for day in days if date.min < day <= today], default=None)
