"""Contests: tournaments and their results."""
