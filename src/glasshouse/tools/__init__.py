"""Tools that creatures use: Python functions, and those of the engine itself."""

from glasshouse.public_names import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __path__[0])
