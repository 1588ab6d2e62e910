"""What the environment sets: keys, hosts and folders of this machine.

Apart from the parameters, which are versioned with the work, and from their module, because reading the environment is
slow to import and most commands need none of it.
"""

from __future__ import annotations

from pathlib import Path

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict


class Environment(BaseSettings):
    """Keys and hosts: environment variables only, never params, never logged."""

    model_config = SettingsConfigDict(env_prefix="INFOLD_", extra="ignore")

    api_key: SecretStr | None = Field(default=None, validation_alias="OPENAI_API_KEY")
    base_url: str | None = Field(default=None, validation_alias="OPENAI_BASE_URL")
    embedding_base_url: str | None = None
    state_home: Path | None = None
    qdrant_url: str | None = None
    qdrant_api_key: SecretStr | None = None
    fetch_hosts: str = ""  # hosts of one's own network that may be fetched, with commas between
