"""The general talk: what a player without a script says, by what was done with words and what has happened."""
