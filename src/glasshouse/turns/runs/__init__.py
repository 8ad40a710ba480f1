"""Who acts next and who pays: the agenda, the schedule, purses with their limits, and policy."""
