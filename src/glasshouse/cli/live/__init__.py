"""Playing live on a terminal: pace, keys and lines."""
