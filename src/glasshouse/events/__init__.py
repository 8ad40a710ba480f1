"""Events: immutable records of what happened, all of one strict type."""

from glasshouse.public_names import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __path__[0])
