"""The world: who is here, how they are joined, and what may change. Pure rules, no I/O."""
