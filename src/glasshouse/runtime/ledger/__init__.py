"""The ledger, and everything that reads it."""
