"""The tour: a short scripted play on a real store, in which graphs merge, split, fork and are read back."""
