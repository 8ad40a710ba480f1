"""For tests of your own worlds: play one offline in one call, script a model, count calls.

Always holds: nothing here reaches the network or writes a file; the same world and seeds give the same `digest`.
"""

from glasshouse.public_names import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __path__[0])
