"""For tests of your own worlds: play a world offline in one call, script a model, count calls.

Always holds: nothing here writes a file or uses the network, unless a model that you give does. With the offline
troupe, the same world and seeds give the same `digest`.
"""

from glasshouse.public_names import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __path__[0])
