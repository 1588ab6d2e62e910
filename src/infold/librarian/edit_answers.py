"""The answer that edits notes. Its validator is `librarian.rules`, as those of the other answers are beside them."""

from __future__ import annotations

from typing import Self

from pydantic import ValidationInfo, model_validator

from infold.librarian.answers import EditRequest, ProposedEdits, request_of
from infold.librarian.rules import check_edits


class Edits(ProposedEdits):
    """The edits of one chunk: every paragraph is in an edit, covered by a duplicate marker, or left with a reason."""

    @model_validator(mode="after")
    def _follow_the_rules(self, info: ValidationInfo) -> Self:
        request: EditRequest | None = request_of(info)
        if request is not None:
            check_edits(self, request)
        return self
