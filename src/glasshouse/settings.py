"""Settings: what the environment says, read once; and keys and addresses of models, read when needed.

Always holds: nothing else in Glasshouse reads settings, keys or addresses from the environment. A `.env` file is read
only if somebody names it. Keys are handed on and never kept here.
"""

from __future__ import annotations

import os
import sys
from functools import lru_cache
from pathlib import Path
from typing import Final

from dotenv import dotenv_values
from pydantic import Field, SecretStr, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

MODELS_FILE: Final = "models.yaml"
TOOLS_FILE: Final = "tools.yaml"
MODELS_FOLDER: Final = "~/.cache/glasshouse-models"


class Settings(BaseSettings):
    """Every setting, each from the variable GLASSHOUSE_<NAME>."""

    model_config = SettingsConfigDict(env_prefix="GLASSHOUSE_", frozen=True, extra="ignore")

    store: str = Field(
        default="show.glasshouse",
        description="The store that commands read and write: a file, or postgresql://HOST/DB#HOUSE.",
    )
    models: str = Field(
        default="",
        description="The models that commands play with, as `--models` takes them. Empty: models.yaml, else offline.",
    )
    models_folder: Path = Field(
        default=Path(MODELS_FOLDER),
        description="Where `--models local` looks for GGUF files first.",
    )
    tools: str = Field(
        default="",
        description="The tools.yaml that commands use. Empty: ./tools.yaml, else the one in your config folder.",
    )
    worlds_folder: str = Field(
        default="",
        description="Where `worlds add` puts worlds. Empty: `glasshouse/worlds` in the data folder of this user.",
    )
    allow_world_code: bool = Field(
        default=False,
        description="Whether code that a world names may run: players, tools, referees, servers of tools.",
    )
    act_seconds_max: float = Field(
        default=300.0,
        gt=0,
        allow_inf_nan=False,
        description="How many seconds an act may take, if its manifest names no bound of its own.",
    )
    token: SecretStr = Field(
        default=SecretStr(""),
        description="The secret that the page's links are made from. `serve` needs it for any address but this machine.",
    )
    telemetry: bool = Field(
        default=False,
        description="Whether commands that play or serve send traces and metrics, as the OTEL_ variables say.",
    )
    telemetry_content: bool = Field(
        default=False,
        description="Whether traces hold prompts, replies, and arguments and answers of tools. Thoughts and sealed cards are in them.",
    )

    @field_validator("models")
    @classmethod
    def _has_no_password(cls, models: str) -> str:
        # Refused here, because `doctor` prints the settings.
        if "@" in models.partition("://")[2].partition("/")[0]:
            raise ValueError("an address must not hold a password")
        return models


@lru_cache(maxsize=1)
def settings() -> Settings:
    """The settings of this process."""
    return Settings()


def models_file() -> Path | None:
    """The models.yaml that holds if nobody names models: the one here, else the one in the user's config folder."""
    return _file_of_user(MODELS_FILE)


def tools_file() -> Path | None:
    """The tools.yaml that holds if the command names none: that of the setting, else the one here, else the one in the
    user's config folder."""
    return Path(settings().tools) if settings().tools else _file_of_user(TOOLS_FILE)


def _file_of_user(name: str) -> Path | None:
    config = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    candidates = (Path(name), config / "glasshouse" / name)
    return next((path for path in candidates if path.is_file()), None)


def value_of(variable: str, env_file: Path | None = None) -> str:
    """What a variable of the environment says, else a line of the file named: a key or an address of a server. Empty if
    neither says anything."""
    value = os.environ.get(variable, "")
    if not value and env_file is not None:
        value = dotenv_values(env_file, interpolate=False).get(variable) or ""
    return value.strip()


def has_display() -> bool:
    """Whether a browser can open a window here."""
    return sys.platform == "darwin" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
