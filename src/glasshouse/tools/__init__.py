"""Tools that creatures use: Python functions, the group tools of the engine, and the tools of servers (`mcp/`)."""

from glasshouse.public_names import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __path__[0])
