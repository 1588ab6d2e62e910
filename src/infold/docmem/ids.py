"""Names of nodes: eight random characters; a root may be named by whoever makes it (spec 2, Node ID Generation)."""

from __future__ import annotations

import re
import secrets
import unicodedata
from collections.abc import Callable
from typing import Final

from infold.errors import NodeIdInvalid, StoreDamaged

LENGTH: Final = 8
# 32 signs, so that five bits of a random byte choose each alike; none that is easily read as another (i, l, o, u).
ALPHABET: Final = "0123456789abcdefghjkmnpqrstvwxyz"
_TRIES: Final = 100
_ROOT_ID: Final = re.compile(r"\w[\w.-]{0,63}")


def random_id() -> str:
    """Eight random characters; 40 bits."""
    return "".join(ALPHABET[byte & 31] for byte in secrets.token_bytes(LENGTH))


def free_id(is_taken: Callable[[str], bool]) -> str:
    """A random id that no node has. Raises StoreDamaged where a hundred in a row are taken, which cannot be chance."""
    for _ in range(_TRIES):
        candidate = random_id()
        if not is_taken(candidate):
            return candidate
    raise StoreDamaged(f"{_TRIES} random node ids in a row were taken.", hint="`infold doctor` checks the store.")


def checked_root_id(root_id: str) -> str:
    """A root id given by a person, in one Unicode form (NFC).

    Raises NodeIdInvalid unless it is 1 to 64 letters, digits, ``_``, ``.`` or ``-`` and begins
    with neither of the last two.
    """
    name = unicodedata.normalize("NFC", root_id)
    if _ROOT_ID.fullmatch(name) is None:
        raise NodeIdInvalid(
            f"{root_id!r} cannot name a tree.",
            hint="Use 1 to 64 letters, digits, _ . or -, beginning with a letter, a digit or _.",
        )
    return name
