"""Tools that creatures use: Python functions, and those of the engine itself."""
