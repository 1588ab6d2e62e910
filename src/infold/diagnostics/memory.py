"""What an examination says about memory trees, where there are any."""

from __future__ import annotations

from collections.abc import Iterator

from infold.app import OpenVault
from infold.diagnostics.finding import Finding, Level
from infold.docmem.maintenance import facts, problems
from infold.errors import InfoldError


def memory_findings(vault: OpenVault) -> Iterator[Finding]:
    """Whether the store of memory trees is whole; nothing where there is none."""
    if not vault.workspace.docmem.exists():
        return
    try:
        store = vault.docmem.store
        wrong = problems(store)
        known = None if wrong else facts(store)
        stale = [] if wrong else vault.docmem.stale_summaries()
    except InfoldError as error:
        yield Finding(Level.PROBLEM, "memory", str(error), error.hint)
        return
    for sentence in wrong:
        yield Finding(Level.PROBLEM, "memory", sentence, "Restore a backup: `infold docmem restore-backup FILE`.")
    if known:
        trees = f"{known.trees:,} memory tree{'s' * (known.trees != 1)} with {known.nodes:,} nodes"
        yield Finding(Level.OK, "memory", f"{trees}, {known.size_bytes / 1e6:,.1f} MB: nothing is wrong")
    if stale:
        says = "summary no longer says" if len(stale) == 1 else "summaries no longer say"
        names = ", ".join(summary.id for summary in stale[:3])
        message = f"{len(stale)} {says} what is below: {names}{' …' if len(stale) > 3 else ''}"
        yield Finding(Level.NOTE, "memory", message, "`infold docmem condense` renews those of the librarian.")
