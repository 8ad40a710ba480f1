"""A server for assistants, by the Model Context Protocol: they read a store and, if they may, play worlds in it."""
