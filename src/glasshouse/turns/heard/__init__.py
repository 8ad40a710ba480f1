"""What a creature heard lately and who is around it."""
