"""Agents of other frameworks as creatures: models for pydantic-ai, LangChain and LangGraph, and agent-framework.

Each asks through the moment of an act, so that routing, limits, recording and replay hold for it (ADR 0093). Always holds: a
framework is imported only by the module that is named after it.
"""

from glasshouse.public_names import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __path__[0])
