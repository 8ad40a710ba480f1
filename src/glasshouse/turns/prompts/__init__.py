"""Prompts: the only package that writes them."""
