"""Every error infold raises on purpose, as one tree.

    InfoldError
    ├── UsageError                    exit 2: the request itself is wrong
    │   ├── VaultNotFound             no such folder, or not a folder
    │   ├── SettingInvalid            a parameter or environment setting is misspelt or out of range
    │   ├── RunNotFound               no run of that id
    │   └── RunStateWrong             the run cannot be applied or undone (any more)
    ├── EnvironmentFault              exit 3: key, endpoint, disk, another process
    │   ├── KeyMissing                no API key where one is needed
    │   ├── KeyRejected               the endpoint answered 401 or 403
    │   ├── ModelNotFound             the endpoint answered 404 for the model
    │   ├── EndpointUnreachable       nothing answers at the address
    │   ├── StateUnwritable           disk full, no permission
    │   └── VaultBusy                 another infold process holds the vault
    ├── VaultFault                    exit 1
    │   ├── PathRefused               leads out of the vault, or clashes with another name
    │   ├── NoteUnreadable            not UTF-8, binary, too large, vanished
    │   └── NoteChanged               the note is no longer what the librarian saw
    ├── EditRefused                   exit 1: an edit breaks a rule; the text goes back to the librarian
    │   ├── FindTextMissing           the find text stands nowhere in the note
    │   ├── FindTextAmbiguous         the find text stands in the note more than once
    │   ├── RemovesTooMuch            the edit takes words away that no other edit puts back
    │   └── ProtectedSpanBroken       the edit breaks front matter, a code fence, a table or a comment
    ├── LibrarianFault                exit 1: no valid answer; the chunk stays in the inbox
    │   ├── AnswerInvalid             still against the rules after the last correction
    │   ├── AnswerRefused             the model declined, or a filter did
    │   ├── AnswerTruncated           cut at the length limit
    │   ├── ContextTooLong            the request does not fit the model
    │   ├── EndpointFault             429, 5xx, time-outs: still failing after the last retry
    │   └── CapReached                the next call would pass the spending cap
    └── IndexFault                    exit 1: the search index cannot be used

Adapters translate a library's errors into these at one place, with ``raise … from``. A message says what
happened and to which file or setting; ``hint`` says what to do next.
"""

from __future__ import annotations


class InfoldError(Exception):
    """The root of the tree. ``str(error)`` is one sentence; ``hint`` is the next step, or empty."""

    exit_code = 1
    http_status = 500

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class UsageError(InfoldError):
    """The request itself is wrong."""

    exit_code = 2
    http_status = 400


class VaultNotFound(UsageError):
    """No such folder, or not a folder."""

    http_status = 404


class SettingInvalid(UsageError):
    """A parameter or environment setting is misspelt or out of range."""


class RunNotFound(UsageError):
    """No run of that id."""

    http_status = 404


class RunStateWrong(UsageError):
    """The run cannot be applied or undone (any more)."""

    http_status = 409


class EnvironmentFault(InfoldError):
    """Something outside infold has to be set right first."""

    exit_code = 3
    http_status = 503


class KeyMissing(EnvironmentFault):
    """No API key where one is needed."""


class KeyRejected(EnvironmentFault):
    """The endpoint answered 401 or 403."""


class ModelNotFound(EnvironmentFault):
    """The endpoint answered 404 for the model."""


class EndpointUnreachable(EnvironmentFault):
    """Nothing answers at the address."""


class StateUnwritable(EnvironmentFault):
    """The state folder or the vault cannot be written: disk full, no permission."""


class VaultBusy(EnvironmentFault):
    """Another infold process holds the vault."""

    http_status = 409


class VaultFault(InfoldError):
    """A fault of one file of the vault."""


class PathRefused(VaultFault):
    """The path leads out of the vault, or clashes with another name."""

    http_status = 400


class NoteUnreadable(VaultFault):
    """Not UTF-8, binary, too large, or vanished while it was read."""


class NoteChanged(VaultFault):
    """The note is no longer what the librarian saw. `paths` names every one of which that is so."""

    http_status = 409

    def __init__(self, message: str, *, hint: str = "", paths: tuple[str, ...] = ()) -> None:
        super().__init__(message, hint=hint)
        self.paths = paths


class EditRefused(InfoldError):
    """An edit breaks a rule. The message is written for whoever proposed it, so that they can correct it."""

    http_status = 422


class FindTextMissing(EditRefused):
    """The find text stands nowhere in the note."""


class FindTextAmbiguous(EditRefused):
    """The find text stands in the note more than once."""


class RemovesTooMuch(EditRefused):
    """The edit takes words away that no other edit of the chunk puts back."""


class ProtectedSpanBroken(EditRefused):
    """The edit breaks front matter, a code fence, a table or a comment."""


class LibrarianFault(InfoldError):
    """No valid answer came; the chunk stays in the inbox with this as the reason."""

    http_status = 502


class AnswerInvalid(LibrarianFault):
    """The answer still breaks the rules after the last correction."""


class AnswerRefused(LibrarianFault):
    """The model declined to answer, or a content filter did."""


class AnswerTruncated(LibrarianFault):
    """The answer was cut at the length limit."""


class ContextTooLong(LibrarianFault):
    """The request does not fit the model's context."""


class EndpointFault(LibrarianFault):
    """429, 5xx or time-outs: still failing after the last retry."""


class CapReached(LibrarianFault):
    """The next call would pass the spending cap."""


class IndexFault(InfoldError):
    """The search index cannot be used."""
