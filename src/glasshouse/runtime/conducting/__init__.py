"""The show: whose act is next, in one graph and in many, and how it ends."""
