"""Prompts: the one place where they are written."""
