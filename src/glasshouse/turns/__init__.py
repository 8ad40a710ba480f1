"""Turns: the pure rules of which creature acts next, what it sees, and how its reply is read."""
