"""One opened vault: its parts, for one caller and for many."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import infold
from infold.app import OpenVault
from infold.cli.indexing import IndexReport
from infold.errors import RunNotFound, VaultClosed, VaultNotFound
from infold.operations.memory import MemorySearchRequest, memory_search
from infold.operations.notebook import DailyLogRequest, daily_log
from infold.operations.spending import Spending
from infold.operations.vault import index_sync

pytestmark = pytest.mark.usefixtures("nowhere")


@pytest.fixture
def folder(tmp_path) -> Path:
    """A small vault with something in its inbox."""
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "index.md").write_text("# Home\n\n- [[boiler]]\n- [[garden]]\n")
    (vault / "boiler.md").write_text("# Boiler\n\nRadiators are bled in October, the one upstairs first.\n")
    (vault / "garden.md").write_text("# Garden\n\nThe hedge is cut in June, when the birds have gone.\n")
    (vault / "inbox.md").write_text("The boiler's pump hums when the radiators upstairs hold air.\n")
    return vault


@pytest.fixture
def vault(folder, tmp_path):
    """It, opened."""
    with infold.open(folder, state=tmp_path / "state") as opened:
        yield opened


def test_importing_the_package_and_its_front_hall_loads_no_part():
    """`import infold` loads nothing else of it, `infold.app` no library that takes long."""
    code = (
        "import sys, infold; own = [n for n in sys.modules if n.startswith('infold.')]; assert not own, own;"
        "import infold.app; heavy = {'numpy', 'polars', 'pyarrow', 'openai', 'qdrant_edge', 'pyromark', 'asyncio'};"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_opening_a_vault_writes_nothing_and_a_missing_one_is_named(folder, tmp_path):
    """State is made by the first part that has something to keep."""
    with infold.open(folder):
        pass
    assert not (tmp_path / "home").exists()
    with pytest.raises(VaultNotFound, match="nowhere"):
        infold.open(tmp_path / "nowhere")


def test_settings_of_a_call_count(folder):
    """What is given to `open` is in force, beside what the settings file says."""
    with infold.open(folder, changes=["search.max_results=1"], inbox=folder / "garden.md") as vault:
        assert vault.params.search.max_results == 1
        assert vault.workspace.inbox == folder / "garden.md"


def test_a_day_with_a_vault(vault, folder):
    """Found, read, written, logged, folded in and taken back by one object."""
    (hit, *_) = vault.search("radiators October").results
    assert hit.path == "boiler.md"
    assert "Radiators are bled" in vault.get("boiler.md:3").text
    assert vault.write("lists/shopping", "- Salt", "Groceries").path == "lists/shopping.md"
    assert vault.search("salt groceries").results[0].path == "lists/shopping.md"
    assert vault.log("Salt is to be bought").path.startswith("daily/")
    before = (folder / "boiler.md").read_bytes()
    planned = vault.integrate(dry_run=True)
    assert (folder / "boiler.md").read_bytes() == before
    applied = vault.apply(planned.id)
    assert (folder / "boiler.md").read_bytes() != before
    assert vault.find_run().id == applied.id
    assert not vault.undo().conflicts
    assert (folder / "boiler.md").read_bytes() == before


def test_the_time_that_a_sync_tells_is_that_of_all_of_it(vault):
    """A person reads it as the whole: index, the catalogue that is read for it, and summaries; so for programs."""
    done = vault.sync()
    assert done.duration_ms >= done.index.duration_ms >= done.catalogue.seconds * 1000 - 2
    assert IndexReport.of_sync(done).duration_ms == done.duration_ms
    answer = index_sync(vault, Spending())
    assert answer.duration_ms > 0


def test_a_run_that_is_not_there_is_told(vault):
    """With what would make one."""
    with pytest.raises(RunNotFound, match="no runs"):
        vault.find_run()


def test_each_part_is_built_once_whoever_asks_first(vault):
    """Twenty threads that ask at once get the same search and the same store."""
    with ThreadPoolExecutor(20) as crowd:
        parts = list(crowd.map(lambda _: (id(vault.live_search), id(vault.docmem)), range(20)))
    assert len(set(parts)) == 1


def test_coroutines_share_a_vault(vault):
    """Searches and writes of several coroutines of one loop all come to their end, and the loop goes on meanwhile."""

    async def ticks() -> int:
        count = 0
        while True:
            await asyncio.sleep(0.01)
            count += 1
            if stop.is_set():
                return count

    async def everything() -> tuple[list[object], int]:
        ticking = asyncio.create_task(ticks())
        asked = [vault.run(memory_search, MemorySearchRequest(query="hedge")) for _ in range(4)]
        logged = [vault.run(daily_log, DailyLogRequest(entry=f"Entry {n}")) for n in range(4)]
        done = await asyncio.gather(*asked, *logged)
        stop.set()
        return list(done), await ticking

    stop = asyncio.Event()
    answers, ticked = asyncio.run(everything())
    assert [answer.results["notebook"][0].file_path for answer in answers[:4]] == ["garden.md"] * 4  # type: ignore[attr-defined]
    log = vault.get(answers[4].path).text  # type: ignore[attr-defined]
    assert all(f"Entry {n}" in log for n in range(4))
    assert ticked > 1


def test_after_its_end_a_vault_says_that_it_was_closed(folder):
    """Closing twice is fine; a part that is asked for afterwards is refused, not built anew."""
    vault = infold.open(folder)
    assert vault.search("hedge").results
    vault.close()
    vault.close()
    with pytest.raises(VaultClosed):
        vault.search("hedge")


def test_progress_goes_to_whoever_listens(folder):
    """Each caller hears of its own work; what nobody listens to goes to whom the vault was opened for."""
    always: list[str] = []
    once: list[str] = []
    with infold.open(folder, progress=lambda stage, done, total: always.append(stage)) as vault:
        with vault.reporting(lambda stage, done, total: once.append(stage)):
            vault.sync_index(vectors=False)
        assert once
        assert not always
        (folder / "new.md").write_text("# New\n\nA note on rain barrels.\n")
        vault.sync_index(vectors=False)
        assert always


def test_an_opened_vault_is_what_the_package_says(vault):
    """The type can be named for annotations."""
    assert isinstance(vault, infold.OpenVault)
    assert infold.OpenVault is OpenVault
    with pytest.raises(AttributeError):
        infold.shut  # noqa: B018 - the look-up is what is tested
