"""Made-up words: a test that needs a new line each time takes one, so that no line is a repetition or without news."""


def word_for(number: int) -> str:
    """A word of at least four letters that no other number has."""
    return "".join("abcdefghij"[int(digit)] for digit in f"{number:04d}")
