"""Models: they turn a prompt into a completion. Backends for servers and providers, the router from profiles to
models, and models for tests.
"""

from glasshouse.public_names import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __path__[0])
