"""The ledger, the readers of its events, subscriptions, observers and session files."""
