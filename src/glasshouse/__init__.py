"""Glasshouse: a runtime for troupes of small language-model agents that live under glass.

The names that most programs need. Others are in `glasshouse.contests`, `errors`, `events`, `frameworks`, `grids`, `manifests`,
`models`, `testing`, `tools` and `views`; `docs/reference/api.md` lists them all.
"""

from glasshouse.public_names import public_names

__version__ = "0.1.0"
__getattr__, __dir__, __all__ = public_names(__name__, __path__[0])
