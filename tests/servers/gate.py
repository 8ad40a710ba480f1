"""`Gate`: what a served model says, up to so many answers. The server then answers nobody until there is more room."""

import threading
from math import inf

from glasshouse.turns.moment.prompt import text_digest


class Gate:
    """Answers of a model, of which so many may be given. Each is a function of its prompt."""

    def __init__(self, echoes: str = "") -> None:
        """With `echoes`, every other answer is this line, which the engine asks for again if it is a copy."""
        self.answered = 0
        self.waiting = 0
        self._echoes = echoes
        self._room = inf
        self._moved = threading.Condition()

    def say(self, prompt: str) -> str:
        """An answer, as soon as there is room for it."""
        with self._moved:
            self.waiting += 1
            self._moved.notify_all()
            self._moved.wait_for(lambda: self.answered < self._room)
            self.waiting -= 1
            self.answered += 1
        digest = text_digest(prompt)
        return self._echoes if self._echoes and digest[0] in "01234567" else f"I see {digest[:12]}."

    def wait_until_shut(self) -> None:
        """Wait until somebody waits for more answers."""
        with self._moved:
            self._moved.wait_for(lambda: self.waiting)

    def let(self, more: float) -> None:
        """Give so many more answers, then none."""
        with self._moved:
            self._room = self.answered + more
            self._moved.notify_all()
