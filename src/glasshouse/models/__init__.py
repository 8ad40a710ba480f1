"""Models: what turns a prompt into a completion. The offline troupe is one; others are adapters to servers."""
