"""Contests: tournaments and their results, rehearsals, and what a play will probably cost."""

from glasshouse.public_names import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __path__[0])
