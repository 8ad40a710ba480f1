"""What it costs to post something, by whichever way it goes."""

from typing import Annotated

from glasshouse import tool

Grams = Annotated[int, "how many grams it weighs"]


@tool
def eel_tariff(grams: Grams) -> str:
    """Tell what it costs to post so many grams by eel."""
    return f"{grams} grams, under the pier: {2 + grams // 20} pence, or one true word"


@tool
def gull_tariff(grams: Grams) -> str:
    """Tell what it costs to post so many grams by gull."""
    return f"{grams} grams, through the air: {grams // 10} pence, and half of it arrives"


@tool
def bottle_tariff(grams: Grams) -> str:
    """Tell what it costs to post so many grams in a bottle."""
    return f"{grams} grams, in a bottle: nothing, and {grams} years"
