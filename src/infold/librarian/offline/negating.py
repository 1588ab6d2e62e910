"""Words that turn a sentence into its opposite."""

from __future__ import annotations

import re
from typing import Final

_NEGATING: Final = """
    not no never none nothing nobody nor neither without cannot nicht kein keins keine keinen keiner keines nie niemals
    ohne weder ne pas jamais aucun aucune sans ni nunca ningún ninguna ninguno sin não nem sem non mai nessun nessuna
    senza niet geen nooit zonder inte ingen aldrig ikke aldri не нет ни никогда без bez ani 不 没 沒 無 无 非 未
"""
_NEGATIONS: Final = frozenset(_NEGATING.split())
_NEGATED_END: Final = re.compile(r"n['’]t\Z")


def is_negating(word: str) -> bool:
    """Whether a case-folded word negates."""
    return word in _NEGATIONS or _NEGATED_END.search(word) is not None
