"""What `infold doctor` says about memory trees, where there are any."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

from infold.cli.checkup import Finding, Level
from infold.errors import InfoldError
from infold.locate import LocatedWorkspace


def memory_findings(place: LocatedWorkspace) -> Iterator[Finding]:
    """Whether the store of memory trees is whole; nothing where there is none."""
    file = place.workspace.docmem
    if not file.exists():
        return
    from infold.docmem.memory import open_docmem
    from infold.docmem.upkeep import facts, problems

    try:
        with closing(open_docmem(file)) as memory:
            wrong = problems(memory.store)
            known = None if wrong else facts(memory.store)
    except InfoldError as error:
        yield Finding(Level.PROBLEM, "memory", str(error), error.hint)
        return
    for sentence in wrong:
        yield Finding(Level.PROBLEM, "memory", sentence, "Restore a backup: `infold docmem restore-backup FILE`.")
    if known:
        trees = f"{known.trees:,} memory tree{'s' * (known.trees != 1)} with {known.nodes:,} nodes"
        yield Finding(Level.OK, "memory", f"{trees}, {known.size_bytes / 1e6:,.1f} MB: nothing is wrong")
