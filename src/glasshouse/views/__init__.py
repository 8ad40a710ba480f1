"""Views: pure folds of events into what people look at, and the values that calls return to programs."""

from glasshouse.public_names import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __path__[0])
