"""Minds: what thinks for a creature."""
