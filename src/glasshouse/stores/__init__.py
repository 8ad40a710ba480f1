"""Stores: where the ledger is kept. Every store passes the same contract suite."""
