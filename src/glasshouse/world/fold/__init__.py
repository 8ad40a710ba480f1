"""The fold: from events to the state of the world."""
