"""Stores: where the ledger is kept. Each passes the same contract suite."""
