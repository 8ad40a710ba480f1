"""Tools that creatures use: Python functions, and the engine's own group tools."""

from glasshouse.public_names import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __path__[0])
