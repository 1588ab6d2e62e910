"""Following a vault: real events of a real folder, a real index, and processes that are killed."""

from __future__ import annotations

import json
import os
import queue
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from infold.errors import EndpointUnreachable, VaultBusy
from infold.progress import Progress
from infold.search.embed.no_embedder import NO_EMBEDDER
from infold.search.follow.fs_events import Listener
from infold.search.follow.watcher import Follower, Happening, News, is_watched, watch_claimed
from infold.search.index.sync_stats import SyncResult
from tests.search.conftest import Place
from tests.search.watcher import follower, syncing

SOON = 120.0  # far longer than anything takes, so that a busy machine fails no test


class Followed:
    """A follower in a thread, and what it told."""

    def __init__(self, made: Callable[[Callable[[News], None]], Follower]) -> None:
        self.news: queue.SimpleQueue[News] = queue.SimpleQueue()
        self.all: list[News] = []
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(made(self._tell),), daemon=True)
        self._thread.start()

    def until(self, is_it: Callable[[News], bool]) -> News:
        """The next news of which that is so."""
        ends = time.monotonic() + SOON
        while True:
            try:
                news = self.news.get(timeout=max(0.01, ends - time.monotonic()))
            except queue.Empty:
                raise AssertionError(f"it never came after {self.all}") from None
            if is_it(news):
                return news

    def indexed(self, *paths: str) -> News:
        """The next news that these notes were looked at, or with none of them everything."""
        return self.until(lambda news: news.happening is Happening.INDEXED and set(news.paths or ()) >= set(paths))

    def end(self) -> None:
        self._ending.set()
        self._thread.join(SOON)
        assert not self._thread.is_alive()

    def _tell(self, news: News) -> None:
        self.all.append(news)
        self.news.put(news)

    def _run(self, follower: Follower) -> None:
        hear = follower._hear

        def heard(seconds: float) -> None:
            hear(min(seconds, 0.05))
            if self._ending.is_set():
                raise KeyboardInterrupt

        follower._hear = heard  # type: ignore[method-assign]
        try:
            follower.run()
        except KeyboardInterrupt:
            return


@pytest.fixture
def place(place: Place, monkeypatch: pytest.MonkeyPatch) -> Place:
    """The small vault, searched by keyword alone: loading a model is not what is tested here.

    A note comes whole, so that a follower never meets the moment in which it is empty.
    """

    def write(self: Place, path: str, text: str) -> None:
        file, whole = self.vault / path, self.root / "whole"
        whole.write_text(text)
        file.parent.mkdir(parents=True, exist_ok=True)
        whole.replace(file)

    monkeypatch.setattr(Place, "write", write)
    place.embedder = NO_EMBEDDER
    return place


@pytest.fixture
def followed(place: Place) -> Iterator[Followed]:
    """The small vault, followed, and in step."""
    running = Followed(lambda tell: follower(place.root, tell))
    running.indexed()
    yield running
    running.end()


def test_a_saved_note_is_found_a_moment_later(place: Place, followed: Followed):
    """Made, changed and deleted: the search follows each, and only that note was looked at."""
    place.write("new.md", "Quinoa wants rinsing.\n")
    assert followed.indexed("new.md").result.files_changed == 1
    assert place.found("quinoa") == ["new.md"]
    place.write("new.md", "Millet wants none.\n")
    assert followed.indexed("new.md").paths == ("new.md",)
    assert place.found("quinoa") == []
    assert place.found("millet") == ["new.md"]
    (place.vault / "new.md").unlink()
    assert followed.indexed("new.md").result.files_removed == 1
    assert place.found("millet") == []


def save_as_vim(note: Path, text: str) -> None:
    probe, backup = note.with_name("4913"), note.with_name(note.name + "~")
    probe.write_text("")
    probe.unlink()
    note.rename(backup)
    note.write_text(text)
    backup.unlink()


def save_by_rename(note: Path, text: str) -> None:
    temporary = note.with_name(f".{note.name}.tmp-4711")
    temporary.write_text(text)
    temporary.replace(note)


@pytest.mark.parametrize("save", [save_as_vim, save_by_rename])
def test_editors_that_save_by_way_of_another_file(place: Place, followed: Followed, save: Callable[[Path, str], None]):
    """The note is never taken for deleted, and is looked at once."""
    save(place.vault / "bread.md", "Buckwheat has no gluten.\n")
    news = followed.indexed("bread.md")
    assert (news.paths, news.result.files_changed, news.result.files_removed) == (("bread.md",), 1, 0)
    assert place.found("buckwheat") == ["bread.md"]


def test_folders_that_come_and_go(place: Place, followed: Followed):
    """A folder moved in, renamed and removed: every note in it follows, and what is written in it afterwards."""
    outside = place.root / "outside"
    outside.mkdir()
    (outside / "sorrel.md").write_text("Sorrel is sour.\n")
    outside.rename(place.vault / "herbs")
    followed.until(lambda news: place.found("sorrel") == ["herbs/sorrel.md"])
    (place.vault / "herbs").rename(place.vault / "wild herbs")
    followed.until(lambda news: place.found("sorrel") == ["wild herbs/sorrel.md"])
    place.write("wild herbs/sorrel.md", "Chickweed is mild.\n")
    assert followed.indexed("wild herbs/sorrel.md").result.files_changed == 1
    shutil.rmtree(place.vault / "wild herbs")
    followed.until(lambda news: place.found("chickweed") == [])
    place.write("deep/er/lovage.md", "Lovage is tall.\n")
    followed.until(lambda news: place.found("lovage") == ["deep/er/lovage.md"])


def test_what_is_no_note_is_not_looked_at(place: Place, followed: Followed):
    """Obsidian's own files, attachments and what infold keeps outside the vault cause no sync."""
    told = len(followed.all)
    for path in (".obsidian/workspace.json", "picture.png", ".trash/old.md"):
        place.write(path, "{}")
    (place.root / "index" / "anything").write_text("x")
    place.write("last.md", "Last of all.\n")
    assert followed.indexed("last.md").paths == ("last.md",)
    assert len(followed.all) == told + 1


def test_an_absent_vault_is_waited_for(place: Place, followed: Followed):
    """Gone, empty in its place, and back: nothing leaves the index, and changes are followed again afterwards."""
    place.vault.rename(place.root / "unmounted")
    followed.until(lambda news: news.happening is Happening.AWAY)
    assert place.found("levain") == ["bread.md"]
    place.vault.mkdir()
    assert followed.indexed().result.emptied
    assert place.found("levain") == ["bread.md"]
    place.vault.rmdir()
    (place.root / "unmounted").rename(place.vault)
    assert followed.indexed().result.files_removed == 0
    place.write("bread.md", "Spelt rises fast.\n")
    followed.until(lambda news: place.found("spelt") == ["bread.md"])


def test_without_events_there_is_polling(place: Place, monkeypatch: pytest.MonkeyPatch):
    """Where the system gives no events that is told, and changes are found all the same."""
    opened = Listener.open

    def refusing(self: Listener) -> bool:
        if self.is_polling:
            return opened(self)
        self.failure = OSError(28, "inotify watch limit reached")
        return False

    monkeypatch.setattr(Listener, "open", refusing)
    monkeypatch.setattr("infold.search.follow.fs_events.POLL_SECONDS", 0.1)
    running = Followed(lambda tell: follower(place.root, tell))
    running.indexed()
    assert [news.happening for news in running.all] == [Happening.FAILED, Happening.POLLING, Happening.INDEXED]
    place.write("new.md", "Quinoa wants rinsing.\n")
    running.until(lambda news: place.found("quinoa") == ["new.md"])
    running.end()


def test_a_failed_sync_is_told_and_tried_again(place: Place, monkeypatch: pytest.MonkeyPatch):
    """The error is shown, the follower goes on, and the change is not lost."""
    monkeypatch.setattr("infold.search.follow.watcher.RETRY_SECONDS", 0.2)
    failing = iter([False, True, True])
    true_sync = syncing(place.root)

    def sync(paths: Sequence[str] | None, *, vectors: bool, progress: Progress) -> SyncResult:
        if next(failing, False):
            raise EndpointUnreachable("Nothing answers at example.org.")
        return true_sync(paths, vectors=vectors, progress=progress)

    running = Followed(lambda tell: follower(place.root, tell, sync))
    running.indexed()
    place.write("new.md", "Quinoa wants rinsing.\n")
    running.indexed()
    failures = [news.error for news in running.all if news.happening is Happening.FAILED]
    assert [str(error) for error in failures] == ["Nothing answers at example.org."] * 2
    assert place.found("quinoa") == ["new.md"]
    running.end()


def test_vectors_follow_and_give_way(place: Place, static_embedder):
    """Keywords first, vectors after; a note saved meanwhile does not wait for all of them."""
    for n in range(1200):
        place.write(f"many/{n}.md", f"Note {n} is about subject{n}.\n")
    place.embedder = static_embedder
    true_sync = syncing(place.root, static_embedder)
    order: list[str] = []

    def sync(paths: Sequence[str] | None, *, vectors: bool, progress: Progress) -> SyncResult:
        def watching(stage: str, done: int, total: int) -> None:
            if stage == "vectors" and "saved" not in order:
                order.append("saved")
                place.write("urgent.md", "Quinoa wants rinsing.\n")
            if stage == "vectors" and "keywords of urgent.md" not in order:
                while following[0]._settling.due_in(time.monotonic()) != 0:  # a model that takes its time
                    following[0]._hear(0.05)
            progress(stage, done, total)

        order.append("vectors" if vectors else f"keywords of {'all' if paths is None else ' '.join(paths)}")
        return true_sync(paths, vectors=vectors, progress=watching)

    def made(tell: Callable[[News], None]) -> Follower:
        following.append(follower(place.root, tell, sync))
        return following[0]

    following: list[Follower] = []
    running = Followed(made)
    running.until(lambda news: news.happening is Happening.EMBEDDED)
    running.end()
    assert order == ["keywords of all", "vectors", "saved", "keywords of urgent.md", "vectors"]
    assert place.sync().pending == 0


def test_vectors_are_filled_in_by_slices(place: Place, static_embedder, monkeypatch: pytest.MonkeyPatch):
    """Other processes have their turn in between, however long all of it takes; in the end none is missing."""
    monkeypatch.setattr("infold.search.follow.watcher.SLICE_SECONDS", 0.0)
    for n in range(1200):
        place.write(f"many/{n}.md", f"Note {n} is about subject{n}.\n")
    place.embedder = static_embedder
    true_sync = syncing(place.root, static_embedder)
    slices: list[bool] = []

    def sync(paths: Sequence[str] | None, *, vectors: bool, progress: Progress) -> SyncResult:
        slices.append(vectors)
        return true_sync(paths, vectors=vectors, progress=progress)

    running = Followed(lambda tell: follower(place.root, tell, sync))
    running.until(lambda news: news.happening is Happening.EMBEDDED)
    running.end()
    assert slices == [False, True, True, True]
    assert place.sync().pending == 0


@pytest.fixture
def process(place: Place) -> Iterator[Callable[[], subprocess.Popen[str]]]:
    """Starts a process that follows the vault, and ends it with the test."""
    started: list[subprocess.Popen[str]] = []

    def start() -> subprocess.Popen[str]:
        arguments = [sys.executable, "-m", "tests.search.watcher", str(place.root)]
        started.append(subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]))
        return started[-1]

    yield start
    for one in started:
        one.kill()
        one.communicate()


def told(process: subprocess.Popen[str], happening: Happening) -> dict[str, object]:
    """The next of the process's news of this kind."""
    for line in process.stdout:
        news = json.loads(line)
        if news["happening"] == happening:
            return news
    raise AssertionError("the process ended")


def test_killed_and_started_again_it_catches_up(place: Place, process: Callable[[], subprocess.Popen[str]]):
    """What changed while nobody looked is indexed first; the claim of the killed process does not outlive it."""
    first = process()
    told(first, Happening.INDEXED)
    assert is_watched(place.index)
    with pytest.raises(VaultBusy, match="follows this vault already"), watch_claimed(place.index):
        pass
    place.write("before.md", "Written just before the kill.\n")
    os.kill(first.pid, signal.SIGKILL)
    first.wait()
    assert not is_watched(place.index)
    place.write("meanwhile.md", "Quinoa wants rinsing.\n")
    (place.vault / "bread.md").unlink()
    second = process()
    assert told(second, Happening.INDEXED)["removed"] == 1
    assert place.found("quinoa") == ["meanwhile.md"]
    assert place.found("kill") == ["before.md"]
    assert place.found("levain") == []


def test_another_process_indexes_at_the_same_time(place: Place, process: Callable[[], subprocess.Popen[str]]):
    """A follower and others that sync and search at once: no error, and in the end each note once."""
    watcher = process()
    told(watcher, Happening.INDEXED)
    for n in range(30):
        place.write(f"n{n}.md", f"Note {n} is about quinoa.\n")
        if n % 10 == 0:
            place.sync(wait_seconds=SOON)
            assert place.found("quinoa", 40)
    place.sync(wait_seconds=SOON)
    place.write("z.md", "The end.\n")
    while "z.md" not in (told(watcher, Happening.INDEXED)["paths"] or ["z.md"]):  # type: ignore[operator]
        pass
    assert sorted(place.found("quinoa", 100)) == sorted(f"n{n}.md" for n in range(30))
    assert place.sync().files_changed == 0
