"""Who hears what: over channels and over wires."""
