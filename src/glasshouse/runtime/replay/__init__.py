"""Replays: a run driven again from its record."""
