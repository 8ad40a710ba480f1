"""Models: what turns a prompt into a completion. The offline troupe is one; others are adapters to servers."""

from glasshouse.public_names import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __path__[0])
