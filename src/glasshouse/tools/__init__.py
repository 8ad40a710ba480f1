"""Tools that creatures use in the middle of an act."""
