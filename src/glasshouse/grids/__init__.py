"""Grids: many runs as one thing, on one machine: worlds by what-ifs by models by seeds by repeats."""

from glasshouse.public_names import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __path__[0])
