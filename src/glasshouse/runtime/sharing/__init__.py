"""The page's files, and a run as one file that shows it from disk."""
