"""Watching a command from outside: its options, the SDK that sends traces and metrics, and logs."""
