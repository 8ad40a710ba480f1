"""The group tools: how a privileged creature changes its own graph."""
