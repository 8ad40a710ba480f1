"""Decisions: from an intent to facts, or to a refusal in words."""
