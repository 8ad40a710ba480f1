"""The state of the world: what is folded, what is shown, connectivity, lineage, ids."""
