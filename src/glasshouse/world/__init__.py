"""The world: its creatures, how they are connected, and what may change. Pure rules, no I/O."""
