"""Who chooses what goes into a context where not all of it fits: the model of the settings, or measured value.

The model is asked only where the caller agreed to what it costs, and value decides where it cannot be had, with the
reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from infold import lazy
from infold.errors import EnvironmentFault, LibrarianFault, SettingInvalid
from infold.knowledge.filling import Candidate, ChosenForm
from infold.librarian.spend import Usage
from infold.operations.spending import Quote, quote_first
from infold.own_loop import in_own_loop

if TYPE_CHECKING:
    from infold.app import OpenVault
    from infold.librarian.compressing import Compression, CompressionRequest
    from infold.librarian.estimate import Estimate
    from infold.operations.knowledge_request import KnowledgeQueryRequest
    from infold.workspace import Workspace


@dataclass(frozen=True, slots=True)
class PieceChoice:
    """What was chosen, by number, None where measured value is to choose; who did, and what it cost or would."""

    decided_by: Literal["request", "value", "model"]
    pieces: tuple[tuple[int, ChosenForm], ...] | None = None
    usage: Usage = field(default_factory=Usage)
    quote: Quote | None = None
    notices: tuple[str, ...] = ()


def choose(vault: OpenVault, request: KnowledgeQueryRequest, candidates: Sequence[Candidate]) -> PieceChoice:
    """The choice for a request. Raises UsageError for a token that is not of it."""
    if request.compression != "auto":
        return PieceChoice("request")
    if vault.params.librarian.kind != "model":
        return PieceChoice("value")
    offer = lazy.knowledge.packing.offered(request.query, candidates, request.max_tokens, request.source)
    if offer is None:
        return PieceChoice("value")
    try:
        quote = quote_first(vault, "knowledge_query", request, lambda: _estimate(vault, offer))
        if quote is not None:
            return PieceChoice("value", quote=quote)
        said, usage = in_own_loop(_asked(vault, vault.capped({"max_usd": request.max_usd}), offer))
    except (LibrarianFault, EnvironmentFault, SettingInvalid) as error:
        why = f"The pieces were chosen by measured value, because the model could not be asked: {error}"
        return PieceChoice("value", notices=(why,))
    return PieceChoice("model", tuple((piece.number, piece.form) for piece in said.pieces), usage)


def _estimate(vault: OpenVault, offer: CompressionRequest) -> Estimate:
    price = vault.model_librarian().spend.price
    return lazy.librarian.compressing.estimate_compression(offer, vault.params.editing.max_corrections, price)


async def _asked(vault: OpenVault, space: Workspace, offer: CompressionRequest) -> tuple[Compression, Usage]:
    librarian = vault.model_librarian(space.params.librarian)
    try:
        return await librarian.compress(offer), librarian.spend.usage
    finally:
        await librarian.close()
