"""Skills: what a player can do beside talking, each known by the shape of the answer that is asked for.

Always holds: no skill knows a world, a creature or a world's own kind by name.
"""
