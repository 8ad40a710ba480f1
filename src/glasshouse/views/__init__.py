"""Views: pure folds of events into what people look at."""
