"""What may cost money is told first: an estimate and a token; the same request with that token, or with a cap, spends.

A token is good for one request, once, for an hour. Estimates that wait lie in the state folder, so that another process
may be the one that agrees. Holding caps belongs to `librarian.spend` and `librarian.ledger`.
"""

from __future__ import annotations

import json
import re
import secrets
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from pydantic import Field

from infold.durable.files import Disk
from infold.errors import UsageError
from infold.operations.contract import Message
from infold.text import content_hash

if TYPE_CHECKING:
    from pathlib import Path

    from infold.app import OpenVault
    from infold.librarian.estimate import Estimate

GOOD_SECONDS: Final = 3600.0
_TOKEN: Final = re.compile(r"[0-9a-f]{16}")


class Agreement(Message):
    """What a request that may cost money says about that."""

    token: str | None = None
    """Agrees to the estimate that was answered with this token."""
    max_usd: float | None = Field(default=None, ge=0)
    """Spends at once, and stops before this many dollars are passed."""

    @property
    def is_capped(self) -> bool:
        """Whether the caller named a cap, which is an agreement too."""
        return self.max_usd is not None


class Spending(Agreement):
    """What a request that may cost more says about that."""

    max_tokens: int | None = Field(default=None, ge=0)
    """Spends at once, and stops before this many tokens, prompts and answers together, are passed."""

    @property
    def is_capped(self) -> bool:
        """Whether the caller named a cap, which is an agreement too."""
        return self.max_usd is not None or self.max_tokens is not None


class Quote(Message):
    """What a request will take, each from low to high, and what agrees to it."""

    token: str
    """Send the same request again with this token to go on."""
    model: str
    calls: tuple[int, int]
    tokens: tuple[int, int]
    usd: tuple[float, float] | None
    """Null where the price of the model is unknown."""
    cap: str
    """Which caps hold besides, in words; empty where there are none."""
    good_seconds: float


def quote_first(
    vault: OpenVault, operation: str, request: Agreement, estimate: Callable[[], Estimate | None]
) -> Quote | None:
    """The quote to answer with; None where the request may go on: nothing costs, or it was agreed to.

    `estimate` gives None where there is nothing to do. Raises UsageError for a token that is not of this request.
    """
    librarian = vault.params.librarian
    if librarian.kind != "model":
        return None
    asked = _fingerprint(vault, operation, request)
    if request.token is not None:
        _take(vault.workspace.spending, request.token, asked)
        return None
    if request.is_capped:
        return None
    expected = estimate()
    if expected is None:
        return None
    return Quote(
        token=_keep(vault.workspace.spending, asked),
        model=librarian.model,
        calls=expected.calls,
        tokens=expected.tokens,
        usd=expected.usd,
        cap=_caps(vault),
        good_seconds=GOOD_SECONDS,
    )


def _caps(vault: OpenVault) -> str:
    params = vault.params.librarian
    caps = (
        ("${:g} a run", params.max_usd),
        ("{:,} tokens a run", params.max_tokens),
        ("${:g} a day", params.max_usd_per_day),
        ("{:,} tokens a day", params.max_tokens_per_day),
    )
    return ", ".join(text.format(cap) for text, cap in caps if cap is not None)


def _fingerprint(vault: OpenVault, operation: str, request: Agreement) -> str:
    """What was asked, of whom: another request, model or inbox has another."""
    asked = request.model_copy(update={"token": None}).as_json()
    of = [operation, vault.params.librarian.model_dump(mode="json"), str(vault.workspace.inbox), asked]
    return content_hash(json.dumps(of, sort_keys=True, ensure_ascii=False))


def _keep(folder: Path, asked: str) -> str:
    token = secrets.token_hex(8)
    disk = Disk()
    quotes = folder / "quotes"
    disk.make_folder(quotes)
    now = time.time()
    for old in quotes.iterdir():
        if now - old.stat().st_mtime > GOOD_SECONDS:
            old.unlink(missing_ok=True)
    disk.write_whole(quotes / token, asked.encode())
    return token


def _take(folder: Path, token: str, asked: str) -> None:
    """Uses a token up. Raises UsageError where it is none, too old, or of another request."""
    file = folder / "quotes" / token
    hint = "Ask without a token first; the answer names one."
    if not _TOKEN.fullmatch(token) or not file.is_file() or time.time() - file.stat().st_mtime > GOOD_SECONDS:
        raise UsageError(f"There is no estimate with the token {token!r} (any more).", hint=hint)
    if file.read_text() != asked:
        raise UsageError(f"The token {token!r} was given for another request.", hint=hint)
    try:
        file.unlink()
    except FileNotFoundError as error:  # another caller was quicker
        raise UsageError(f"The token {token!r} was used.", hint=hint) from error
