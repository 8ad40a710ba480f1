"""Events: what happened, in one strict and immutable shape."""
