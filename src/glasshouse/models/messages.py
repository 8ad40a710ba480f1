"""Messages: a prompt as the list of messages that chat servers take.

Always holds: a model that has no system role loses no text. Its user message begins with what the system message says.
"""

from __future__ import annotations

from glasshouse.turns.moment.prompt import Prompt


def messages_of(prompt: Prompt, *, has_system_role: bool = True) -> list[dict[str, str]]:
    """The messages of a prompt, each with `role` and `content`."""
    if not has_system_role:
        return [{"role": "user", "content": f"{prompt.system}\n\n{prompt.user}"}]
    return [{"role": "system", "content": prompt.system}, {"role": "user", "content": prompt.user}]
