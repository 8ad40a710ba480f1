"""Messages: a prompt as chat servers take it, with and without a system role."""

from glasshouse.models.messages import messages_of
from glasshouse.turns.moment.prompt import Prompt

PROMPT = Prompt(system="You are echo.", user="It is your turn.")


def test_a_prompt_is_a_system_and_a_user_message() -> None:
    assert messages_of(PROMPT) == [
        {"role": "system", "content": "You are echo."},
        {"role": "user", "content": "It is your turn."},
    ]


def test_without_a_system_role_the_system_text_opens_the_user_message() -> None:
    assert messages_of(PROMPT, has_system_role=False) == [
        {"role": "user", "content": "You are echo.\n\nIt is your turn."}
    ]
