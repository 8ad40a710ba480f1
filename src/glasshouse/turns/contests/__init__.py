"""Contests: verdicts and referees."""
