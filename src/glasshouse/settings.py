"""Settings: what the environment says, read once.

Always holds: nothing else in Glasshouse reads the environment.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict


class Settings(BaseSettings):
    """Every setting, each from the variable GLASSHOUSE_<NAME>."""

    model_config = SettingsConfigDict(env_prefix="GLASSHOUSE_", frozen=True, extra="ignore")

    store: Path = Field(
        default=Path("show.glasshouse"), description="The store that commands read and write."
    )
    allow_python_creatures: bool = Field(
        default=False,
        description="Whether `played_by: package.module:Class` in a world's files may run code.",
    )
    act_seconds_max: float = Field(
        default=300.0,
        gt=0,
        allow_inf_nan=False,
        description="How many seconds an act may take, if its manifest names no bound of its own.",
    )


@lru_cache(maxsize=1)
def settings() -> Settings:
    """The settings of this process."""
    return Settings()
