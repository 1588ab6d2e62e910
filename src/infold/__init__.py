"""infold folds new text into the notes you already have.

    import infold

    with infold.open("~/notes") as vault:
        print(vault.search("bleeding radiators").results)

Importing this package loads nothing else; what an opened vault can do is in `infold.app`.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as `typing` has it, for which no search waits
if TYPE_CHECKING:
    from typing import Any

    from infold.app import OpenVault
    from infold.app import open_vault as open  # noqa: A004 - said with its package: infold.open

__all__ = ["OpenVault", "__version__", "open"]

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    if name not in {"open", "OpenVault"}:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    app = import_module("infold.app")
    return app.open_vault if name == "open" else app.OpenVault
