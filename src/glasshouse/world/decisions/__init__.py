"""Decisions: an intent becomes facts or a refusal."""
