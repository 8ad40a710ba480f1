"""The past: any moment of it, read again, grown on from, resumed and asked about."""
