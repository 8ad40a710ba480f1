"""What a creature heard lately, and which creatures are around it."""
