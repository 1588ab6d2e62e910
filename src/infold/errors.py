"""Every error infold raises on purpose, as one tree.

    InfoldError
    ├── UsageError                    exit 2: the request itself is wrong
    │   ├── VaultNotFound             no such folder, or not a folder
    │   ├── VaultClosed               an opened vault was closed before
    │   ├── ArgumentInvalid           a value that a program gave is none that its argument may have
    │   ├── SettingInvalid            a parameter or environment setting is misspelt or out of range
    │   │   └── CapTooSmall           a spending cap that not even one call fits under
    │   ├── RunNotFound               no run of that id
    │   ├── SourceNotFound            nothing of that address is kept
    │   ├── NoteNotFound              no note of that name
    │   ├── TooFewParagraphs          the vault has no prose that could be left out to evaluate
    │   ├── AskedTooOften             what may cost, too often within a minute
    │   └── RunStateWrong             the run cannot be applied or undone (any more)
    ├── EnvironmentFault              exit 3: key, endpoint, disk, another process
    │   ├── KeyMissing                no API key where one is needed
    │   ├── KeyRejected               the endpoint answered 401 or 403
    │   ├── ModelNotFound             the endpoint answered 404 for the model
    │   ├── ModelUnusable             the folder of a local model, or what is in it
    │   ├── DownloadFailed            a file did not come, or is not the one that was asked for
    │   ├── EndpointUnreachable       nothing answers at the address
    │   │   └── EndpointDown          something answers, but no question gets an answer of use
    │   ├── SearchServerFault         the Qdrant server still fails after the last retry, or gives no Qdrant answer
    │   ├── StateUnwritable           disk full, no permission
    │   ├── ExtraMissing              a library that is installed apart is not there
    │   └── VaultBusy                 another infold process holds the vault
    ├── VaultFault                    exit 1
    │   ├── NoteExists                the vault has that note already, by its name or by what it says
    │   ├── PathRefused               leads out of the vault, or clashes with another name
    │   ├── NoteUnreadable            not UTF-8, binary, too large, vanished
    │   └── NoteChanged               the note is no longer what the librarian saw
    ├── EditRefused                   exit 1: an edit breaks a rule; the text goes back to the librarian
    │   ├── FindTextMissing           the find text stands nowhere in the note
    │   ├── FindTextAmbiguous         the find text stands in the note more than once
    │   ├── ProtectedSpanBroken       the edit breaks front matter, a code fence, a table or a comment
    │   └── StructureBroken           the edit parts a list, a lead-in or a callout, or stands above the beginning
    ├── LibrarianFault                exit 1: no valid answer; the chunk stays in the inbox
    │   ├── AnswerInvalid             still against the rules after the last correction
    │   │   └── AnswerUnreadable      not even JSON of the form that was asked for
    │   ├── AnswerRefused             the model declined, or a filter did
    │   ├── AnswerTruncated           cut at the length limit
    │   ├── ContextTooLong            the request does not fit the model
    │   ├── EndpointFault             429, 5xx, time-outs: still failing after the last retry
    │   └── CapReached                the next call would pass the spending cap
    ├── MemoryFault                   exit 1: a memory tree, or the store of all of them
    │   ├── NodeNotFound              no node of that id
    │   ├── NodeExists                a tree of that name is there already
    │   ├── NodeIdInvalid             cannot name a tree
    │   ├── ContextFieldMissing       one of the three context fields is not given
    │   ├── ContextFieldTooLong       a context field has more than 24 characters
    │   ├── TextNotStorable           half a character in a text
    │   ├── LockConflict              the node is no longer what was read: both hashes
    │   ├── NodeReadonly              content and context of this node stay
    │   ├── NoParent                  nothing stands before, after or beside a root
    │   ├── CrossRootMove             a node moves within its tree only
    │   ├── CycleRefused              a node cannot come below or beside itself
    │   ├── NotSummarisable           not leaves of one parent in one row
    │   ├── NotASummary               there is no summary to take back
    │   ├── VersionNotFound           the node never had that version
    │   ├── ImportRefused             no tree can be made of the file: where, and what is wrong there
    │   ├── OrderExhausted            floating point ran out between two siblings (numbered anew by itself)
    │   ├── StoreClosed               whoever opened the memory has closed it
    │   ├── StoreBusy                 another process writes for longer than one waits
    │   ├── StoreDamaged              the file is no store, or a broken one
    │   └── StoreTooNew               the file was written by a later infold
    ├── NavigatorDamaged              exit 1: a file of the navigator cannot be used
    ├── FetchFault                    exit 1: a page from outside did not come
    │   ├── SourceDamaged             what is kept of a page cannot be read any more
    │   ├── FetchRefused              a rule forbids it: address, type, size, robots, redirects
    │   └── FetchFailed               it may come later: time-outs, 429, 5xx, broken connections
    ├── CatalogueFault                exit 1: the catalogue of the notes cannot be used (made anew by itself)
    └── IndexFault                    exit 1: the search index cannot be used
        └── IndexDamaged              its files are not as they were written (made anew by the next sync)

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


class VaultClosed(UsageError):
    """An opened vault was closed before."""

    http_status = 409


class ArgumentInvalid(UsageError, TypeError):
    """A value that a program gave is none that its argument may have; the message names the argument."""


class SettingInvalid(UsageError):
    """A parameter or environment setting is misspelt or out of range."""


class CapTooSmall(SettingInvalid):
    """A spending cap that not even one call fits under."""


class RunNotFound(UsageError):
    """No run of that id."""

    http_status = 404


class NoteNotFound(UsageError):
    """The vault has no note of that name."""

    http_status = 404


class SourceNotFound(UsageError):
    """Nothing from outside of that address is kept."""

    http_status = 404


class TooFewParagraphs(UsageError):
    """The vault has no prose that could be left out to evaluate."""

    http_status = 422


class AskedTooOften(UsageError):
    """What may cost was asked for too often within a minute."""

    http_status = 429


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


class ModelUnusable(EnvironmentFault):
    """The folder of a local model is not there, lacks a file, or what is in it cannot be run."""


class DownloadFailed(EnvironmentFault):
    """A file did not come, or is not the one that was asked for."""


class EndpointUnreachable(EnvironmentFault):
    """Nothing answers at the address."""


class EndpointDown(EndpointUnreachable):
    """Something answers at the address, but no question gets an answer of use."""


class SearchServerFault(EnvironmentFault):
    """The Qdrant server still fails after the last retry (429, 5xx, time-outs), or gives no Qdrant answer."""


class StateUnwritable(EnvironmentFault):
    """The state folder or the vault cannot be written: disk full, no permission."""


class ExtraMissing(EnvironmentFault):
    """A library that is installed apart, because most do without it, is not there."""


class VaultBusy(EnvironmentFault):
    """Another infold process holds the vault."""

    http_status = 409


class VaultFault(InfoldError):
    """A fault of one file of the vault."""


class NoteExists(VaultFault):
    """The vault has that note already, by its name or by what it says."""

    http_status = 409


class PathRefused(VaultFault):
    """The path leads out of the vault, or clashes with another name."""

    exit_code = 2
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


class ProtectedSpanBroken(EditRefused):
    """The edit breaks front matter, a code fence, a table or a comment."""


class StructureBroken(EditRefused):
    """The edit parts what belongs together in a note, or stands above its first sentence."""


class LibrarianFault(InfoldError):
    """No valid answer came; the chunk stays in the inbox with this as the reason."""

    http_status = 502


class AnswerInvalid(LibrarianFault):
    """The answer still breaks the rules after the last correction."""


class AnswerUnreadable(AnswerInvalid):
    """No answer, to the last correction, was JSON of the form that was asked for."""


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


class NodeUnknown(UsageError):
    """A node of the navigator that is not there, or not any more."""

    http_status = 404


class NavigatorDamaged(InfoldError):
    """A file of the navigator cannot be used."""


class FetchFault(InfoldError):
    """A page from outside did not come, or could not be read."""

    http_status = 502


class SourceDamaged(FetchFault):
    """What is kept of a page cannot be read any more."""

    http_status = 500


class FetchRefused(FetchFault):
    """A rule forbids the page: its address, type, size or redirects, robots.txt, or an answer that stays the same."""

    http_status = 422


class FetchFailed(FetchFault):
    """The page may come later. `wait_seconds` is how long the server asks to wait."""

    def __init__(self, message: str, *, hint: str = "", wait_seconds: float = 0.0) -> None:
        super().__init__(message, hint=hint)
        self.wait_seconds = wait_seconds


class CatalogueFault(InfoldError):
    """The catalogue of the vault's notes cannot be used."""


class IndexFault(InfoldError):
    """The search index cannot be used."""


class IndexDamaged(IndexFault):
    """The files of the search index are not as they were written."""


class MemoryFault(InfoldError):
    """A memory tree cannot be read or changed that way, or the store of all of them cannot be used."""

    http_status = 422


class NodeNotFound(MemoryFault):
    """No node of that id."""

    http_status = 404


class NodeExists(MemoryFault):
    """A tree of that name is there already."""

    http_status = 409


class NodeIdInvalid(MemoryFault):
    """The id cannot name a tree."""

    http_status = 400


class _ContextFault(MemoryFault):
    """A context field is wrong: `field` says which."""

    def __init__(self, message: str, *, hint: str = "", field: str) -> None:
        super().__init__(message, hint=hint)
        self.field = field


class ContextFieldMissing(_ContextFault):
    """One of the three context fields is not given; `field` says which."""


class ContextFieldTooLong(_ContextFault):
    """A context field has more than 24 characters; `field` says which."""


class TextNotStorable(MemoryFault):
    """The text holds half a character."""


class LockConflict(MemoryFault):
    """The node is no longer what was read: `expected` and `current` are the two hashes."""

    http_status = 409

    def __init__(self, message: str, *, hint: str = "", node_id: str, expected: str, current: str) -> None:
        super().__init__(message, hint=hint)
        self.node_id = node_id
        self.expected = expected
        self.current = current


class NodeReadonly(MemoryFault):
    """Content and context of this node stay as they are."""

    http_status = 403


class NoParent(MemoryFault):
    """Nothing stands before, after or beside the root of a tree."""


class CrossRootMove(MemoryFault):
    """A node moves within its own tree only."""


class CycleRefused(MemoryFault):
    """A node cannot come below or beside itself."""


class NotSummarisable(MemoryFault):
    """Not leaves of one parent that stand in one row, or not told to be a summary."""


class NotASummary(MemoryFault):
    """There is no summary to take back."""


class VersionNotFound(MemoryFault):
    """The node never had that version."""

    http_status = 404


class ImportRefused(MemoryFault):
    """No tree can be made of the file. The message says where in it, and what is wrong there."""


class OrderExhausted(MemoryFault):
    """Floating point ran out between two siblings. The store numbers them anew by itself; nobody above it sees this."""

    http_status = 500


class StoreClosed(MemoryFault):
    """The memory was closed by whoever opened it."""

    http_status = 500


class StoreBusy(MemoryFault):
    """Another caller or process writes for longer than one waits, or would be stopped by the waiting."""

    exit_code = 3
    http_status = 503


class StoreDamaged(MemoryFault):
    """The file is no store of memory trees, or a broken one."""

    http_status = 500


class StoreTooNew(MemoryFault):
    """The file was written by a later infold."""

    exit_code = 3
    http_status = 500
