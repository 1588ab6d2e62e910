"""What the environment sets: keys, hosts and folders of this machine. The one place that reads it.

Apart from the parameters, which are versioned with the work. A name counts in capitals or not, wherever it is read.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False  # as `typing` has it, which takes longer to load than all of this
if TYPE_CHECKING:
    from pathlib import Path

    from pydantic import SecretStr

VARIABLES = {
    "INFOLD_VAULT": "the folder of notes, where `--vault` does not name it",
    "INFOLD_STATE": "what infold keeps about that vault, where `--state` does not name it",
    "INFOLD_STATE_HOME": "the folder of all state folders, of models and of what `infold init` remembers",
    "INFOLD_RESIDENT": "`0`: no search is asked of a resident process, and none is started",
    "INFOLD_SESSIONS": "the folder of transcripts",
    "OPENAI_API_KEY": "the key of a model's or an embedding service's endpoint",
    "OPENAI_BASE_URL": "the address of an OpenAI-compatible endpoint; else OpenAI's",
    "INFOLD_EMBEDDING_BASE_URL": "the address of an embedding service, where it is not that of the model",
    "INFOLD_QDRANT_URL": "a Qdrant server that holds the vectors; else they are kept in the state folder",
    "INFOLD_QDRANT_API_KEY": "the key of that server",
    "INFOLD_FETCH_HOSTS": "hosts of your own network whose pages may be fetched, with commas between",
    "INFOLD_BROWSER": "the Chromium that shows pages which need their scripts; else one that PATH knows",
    "INFOLD_MCP_TOKEN": "what MCP clients must show over HTTP, where `--token` does not say it",
    "INFOLD_SERVE_TOKEN": "what everyone must show to `infold serve`, where `--token` does not say it",
    "INFOLD_SERVED": "the vaults that a worker of flows may work on; `infold flows up` sets it",
    "PREFECT_API_URL": "a Prefect server that carries flows out, where none of the vault's own runs",
    "PREFECT_HOME": "Prefect's own folder; else one in the state folder",
    "HF_ENDPOINT": "where models are pulled from; else the Hugging Face Hub",
    "HF_HUB_OFFLINE": "set to 1, nothing is pulled",
    "XDG_DATA_HOME": "the user's data folder, on systems that have it",
    "XDG_RUNTIME_DIR": "the session's folder for sockets",
    "TZ": "the time zone in which days begin",
    "PATH": "where `git` is found",
    "VISUAL": "the editor that `infold open` starts",
    "EDITOR": "the same, where VISUAL names none",
    "DISPLAY": "whether there is a screen to open links on",
    "NO_COLOR": "no colours",
    "FORCE_COLOR": "colours also where nobody looks",
    "TERM": "`dumb` is a terminal without colours",
}

SECRETS = ("OPENAI_API_KEY", "INFOLD_QDRANT_API_KEY", "INFOLD_MCP_TOKEN", "INFOLD_SERVE_TOKEN")


class Environment:
    """The variables of `VARIABLES` as they are now; `given` ones count first. A key shows in no message and no log."""

    def __init__(self, **given: str) -> None:
        names = sorted(os.environ, reverse=True)  # capitals come last, and so count
        self._values = {name.upper(): os.environ[name] for name in names if name.upper() in VARIABLES}
        self._values |= {name.upper(): value for name, value in given.items()}

    def __repr__(self) -> str:
        return f"Environment({', '.join(sorted(self._values))})"

    def get(self, name: str) -> str | None:
        """A variable of the table; None where it is not set, or empty."""
        if name not in VARIABLES:
            raise KeyError(name)
        return self._values.get(name) or None

    @property
    def vault(self) -> Path | None:
        """The folder of notes."""
        return self._path("INFOLD_VAULT")

    @property
    def state(self) -> Path | None:
        """The state folder of that vault."""
        return self._path("INFOLD_STATE")

    @property
    def sessions(self) -> Path | None:
        """The folder of transcripts."""
        return self._path("INFOLD_SESSIONS")

    @property
    def api_key(self) -> SecretStr | None:
        """The key of an endpoint."""
        return self._secret("OPENAI_API_KEY")

    @property
    def base_url(self) -> str | None:
        """The address of an endpoint."""
        return self.get("OPENAI_BASE_URL")

    @property
    def embedding_base_url(self) -> str | None:
        """The address of an embedding service."""
        return self.get("INFOLD_EMBEDDING_BASE_URL")

    @property
    def qdrant_url(self) -> str | None:
        """A Qdrant server."""
        return self.get("INFOLD_QDRANT_URL")

    @property
    def qdrant_api_key(self) -> SecretStr | None:
        """The key of that server."""
        return self._secret("INFOLD_QDRANT_API_KEY")

    @property
    def fetch_hosts(self) -> str:
        """Hosts of one's own network that may be fetched, with commas between."""
        return self.get("INFOLD_FETCH_HOSTS") or ""

    @property
    def browser(self) -> str:
        """INFOLD_BROWSER: the program that shows pages; '' where the system's is to be found."""
        return self.get("INFOLD_BROWSER") or ""

    def _path(self, name: str) -> Path | None:
        value = self.get(name)
        if not value:
            return None
        from pathlib import Path

        return Path(value).expanduser()

    def _secret(self, name: str) -> SecretStr | None:
        value = self.get(name)
        if value is None:
            return None
        from pydantic import SecretStr

        return SecretStr(value)
