"""Turns: who is owed an act, and what an act is made of. Pure."""
