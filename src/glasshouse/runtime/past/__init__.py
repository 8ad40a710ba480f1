"""The past: the world at any earlier event, branches, resumed sessions, and the questions `why` and `who_knew`."""
