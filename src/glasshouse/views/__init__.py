"""Views: pure folds of events into what people look at; and, for programs, every value that a call gives back."""

from glasshouse.public_names import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __path__[0])
