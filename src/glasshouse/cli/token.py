"""The token of a server: whoever is answered beyond this machine needs one."""

from __future__ import annotations

from glasshouse.cli.command_line import checked_settings
from glasshouse.errors import Refused
from glasshouse.web.access import secret_chars_min
from glasshouse.web.server import is_of_this_machine


def checked_token(host: str, names: list[str] | None, command: str) -> str:
    """The secret of `GLASSHOUSE_TOKEN`, empty if this machine alone is answered. Refused if others need a longer one."""
    secret = checked_settings().token.get_secret_value()
    if len(secret) < secret_chars_min and (secret or names or not is_of_this_machine(host)):
        why = "is too short" if secret else "is not set"
        reason = f"Other machines are answered only with a token of at least {secret_chars_min} characters, and GLASSHOUSE_TOKEN {why}."
        raise Refused(reason, f"Write: GLASSHOUSE_TOKEN=$(openssl rand -hex 16) {command}")
    return secret
