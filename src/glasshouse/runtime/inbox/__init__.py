"""The inbox: what other processes leave for the one that plays a store. Lines, requests for changes, and guests."""
