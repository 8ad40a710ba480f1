"""The command line."""

from glasshouse.cli.app import app, main

__all__ = ["app", "main"]
