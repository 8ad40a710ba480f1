"""The docs site: the pages of `docs/` and the reference from the source, as HTML in `build/docs` (ADR 0172)."""
