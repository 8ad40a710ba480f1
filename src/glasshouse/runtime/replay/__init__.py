"""Replay: runs the engine again with the recorded answers of a run."""
