"""Which creature acts next and which run pays: the agenda, the schedule, purses with their limits, and policy."""
