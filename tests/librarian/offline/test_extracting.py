"""Summaries of many notes at once."""

import asyncio
import subprocess
import sys

from infold.librarian.answers import SummaryRequest
from infold.librarian.offline.extracting import Extractor


def requests(count):
    texts = [f"# Note {n}\n\n" + f"This is what note {n} has to say about it. " * 20 for n in range(count)]
    linked = [(("a.md", texts[0]), ("b.md", texts[1])) if n % 5 == 0 else None for n in range(count)]
    return [
        SummaryRequest(f"{n}.md", str(n), text, of, (75, 100))
        for n, (text, of) in enumerate(zip(texts, linked, strict=True))
    ]


async def test_workers_make_the_summaries_that_one_process_makes():
    """Alone, asked together, and asked in several batches at once: each request gets its own summary."""
    asked = requests(40)
    alone = [await Extractor(workers=1, many=0).summary(request) for request in asked]
    crew = Extractor(workers=2, many=10)
    try:
        first = await asyncio.gather(*(crew.summary(request) for request in asked))
        again = await asyncio.gather(*(asyncio.gather(*map(crew.summary, asked[n::3])) for n in range(3)))
    finally:
        crew.close()
    assert first == alone
    assert again == [alone[n::3] for n in range(3)]


def test_an_extractor_serves_one_event_loop_after_another():
    """A library call may run its own loop each time."""
    asked = requests(2)
    crew = Extractor(workers=1, many=0)
    assert asyncio.run(crew.summary(asked[0])) == asyncio.run(crew.summary(asked[0]))


def test_a_worker_imports_little():
    """What starts for the first run of a vault starts at once."""
    code = "import infold.librarian.offline.summaries, sys; print(sorted({'numpy', 'polars', 'pydantic'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
