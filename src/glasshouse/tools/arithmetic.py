"""Arithmetic expressions, evaluated exactly and within bounds. No code is executed.

Always holds: numbers are fractions, so a value is rounded only where the text says `about`. Numbers that are too large
are refused.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Final

expression_chars_max: Final = 200
"""The calculator refuses a longer expression."""
number_bits_max: Final = 1_024
"""The calculator refuses a larger number."""
exponent_size_max: Final = 256
"""The calculator refuses a larger exponent."""
digits_shown_max: Final = 12
"""The calculator rounds a value with more decimal places, and also shows it as a fraction."""
exponent_digits_max: Final = 3
"""The calculator refuses a number with more digits after `e`."""

_AS_TYPED: Final = str.maketrans({"\u00d7": "*", "\u00b7": "*", "\u00f7": "/", "\u2212": "-"})
"""Printed signs, and the operators that Python parses for them."""
_SIGNS: Final[dict[type[ast.operator], Callable[[Fraction, Fraction], Fraction]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: lambda left, right: Fraction(left // right),
    ast.Mod: operator.mod,
}


def worked_out(expression: str) -> str:
    """The value of an expression as text: exact where it can be written out, else as a fraction and rounded."""
    if len(expression) > expression_chars_max:
        raise ValueError(
            f"The expression has more than {expression_chars_max} characters. Work it out in parts."
        )
    written = expression.translate(_AS_TYPED).replace("^", "**").strip()
    try:
        tree = ast.parse(written, mode="eval")
    except (SyntaxError, RecursionError, MemoryError) as wrong:
        raise ValueError(f"{expression!r} is no arithmetic. Write numbers, + - * / and brackets.") from wrong
    return shown(_value(tree.body, written))


def shown(value: Fraction) -> str:
    """A fraction as text: whole, decimal, or as a quotient with a rounded value."""
    if value.denominator == 1:
        return str(value.numerator)
    rest = value.denominator
    tens = 0
    for prime in (2, 5):
        count = 0
        while rest % prime == 0:
            rest = rest // prime
            count = count + 1
        tens = max(tens, count)
    if rest == 1 and tens <= digits_shown_max:
        return _decimal(value, tens)
    return f"{value.numerator}/{value.denominator}, about {_decimal(value, digits_shown_max)}"


def _decimal(value: Fraction, digits: int) -> str:
    scaled = round(abs(value) * 10**digits)
    whole, part = divmod(scaled, 10**digits)
    return f"{'-' if value < 0 else ''}{whole}.{part:0{digits}d}"


def _value(node: ast.expr, written: str) -> Fraction:
    match node:
        case ast.Constant(value=int() | float()) if not isinstance(node.value, bool):
            return _bounded(_literal(ast.get_source_segment(written, node) or ""))
        case ast.UnaryOp(op=ast.USub()):
            return -_value(node.operand, written)
        case ast.UnaryOp(op=ast.UAdd()):
            return _value(node.operand, written)
        case ast.BinOp(op=ast.Pow()):
            return _power(_value(node.left, written), _value(node.right, written))
        case ast.BinOp() if type(node.op) in _SIGNS:
            left = _value(node.left, written)
            right = _value(node.right, written)
            if not right and isinstance(node.op, ast.Div | ast.FloorDiv | ast.Mod):
                raise ValueError("Nothing can be divided by zero.")
            return _bounded(_SIGNS[type(node.op)](left, right))
    raise ValueError("Only numbers, + - * / // % ** and brackets can be worked out.")


def _literal(text: str) -> Fraction:
    """The exact value of a literal: 0.1 is one tenth, not the nearest float."""
    if len(text.lower().partition("e")[2]) > exponent_digits_max:
        raise ValueError(f"{text} is too large a number.")
    try:
        return Fraction(text.replace("_", ""))
    except ValueError as wrong:
        raise ValueError(f"{text} is no number in tens.") from wrong


def _power(number: Fraction, exponent: Fraction) -> Fraction:
    if exponent.denominator != 1 or abs(exponent) > exponent_size_max:
        raise ValueError(f"An exponent must be a whole number of at most {exponent_size_max}.")
    if not number and exponent < 0:
        raise ValueError("Nothing can be divided by zero.")
    bits = max(number.numerator.bit_length(), number.denominator.bit_length())
    if bits * abs(exponent) > number_bits_max:
        raise ValueError("The number would be too large.")
    return Fraction(number ** int(exponent))


def _bounded(value: Fraction) -> Fraction:
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > number_bits_max:
        raise ValueError("The number is too large.")
    return value
