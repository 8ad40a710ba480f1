"""The runtime: the thin asynchronous shell round the rules."""
