"""The past: reading any point of it, branching, resuming, and asking why."""
