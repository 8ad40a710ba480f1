"""The page's server: stories as views and streams over HTTP. It reads the ledger, and writes through the terrarium alone."""

from glasshouse.web.app import app

__all__ = ["app"]
