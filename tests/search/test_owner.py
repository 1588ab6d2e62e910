"""Several processes, one index: who owns it, who takes over, what happens to those who hang, pry or are forked."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from infold.errors import IndexFault, InfoldError, VaultBusy
from infold.search.shared import frames
from infold.search.shared import index_client as asking
from infold.search.shared import protocol as wire
from infold.search.shared import rendezvous as meeting
from infold.search.shared import shared_index as owner
from infold.search.shared.edge import EdgeIndex
from infold.search.shared.shared_index import SharedIndex
from tests.search.test_edge import SIZE, record

pytestmark = pytest.mark.skipif(os.name == "nt", reason="sockets of the file system, flock, SIGKILL")

ONE = np.eye(SIZE, dtype=np.float32)[0]


class Other:
    """Another process that opens indexes, and does as it is told by signals."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("index_maker.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def open(self, folder: Path) -> str:
        """`owner` or `client`, once it has the index open."""
        self.process.stdin.write(f"{folder}\t{SIZE}\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def signal(self, number: int) -> None:
        self.process.send_signal(number)
        if number == signal.SIGKILL:
            self.process.wait(120)

    def close(self) -> None:
        self.process.stdin.close()
        if self.process.poll() is None:
            self.process.wait(120)
        self.process.stdout.close()


@pytest.fixture
def other() -> Iterator[Other]:
    with closing(Other()) as process:
        yield process


def opened(folder: Path) -> SharedIndex:
    return SharedIndex(folder, lambda: EdgeIndex(folder / "shard", SIZE))


@pytest.mark.parametrize("ending", ["killed", "closed"])
def test_when_the_owner_ends_a_client_takes_over(tmp_path: Path, other: Other, ending: str):
    """Its next call is answered, with everything that was written before; nobody notices the change."""
    assert other.open(tmp_path) == "owner"
    with closing(opened(tmp_path)) as index:
        assert not index.is_owner
        index.put([record(n) for n in range(300)])
        if ending == "killed":
            other.signal(signal.SIGKILL)
        else:
            other.close()
        assert len(index.query(ONE, 500)) == 300
        assert index.is_owner
        index.put([record(300)])
        assert index.count() == 301


def test_a_call_in_flight_when_the_owner_is_killed_is_done_by_the_next(tmp_path: Path, other: Other):
    """Threads that ask and write while the owner dies: every call ends well, and nothing written is missing."""
    assert other.open(tmp_path) == "owner"
    faults: list[BaseException] = []
    is_over = threading.Event()

    def ask(index: SharedIndex) -> None:
        try:
            while not is_over.is_set():
                assert len(index.query(ONE, 5, [0, 1, 2])) == 3
        except (InfoldError, AssertionError) as error:
            faults.append(error)

    with closing(opened(tmp_path)) as index:
        index.put([record(n) for n in range(3)])
        threads = [threading.Thread(target=ask, args=(index,)) for _ in range(2)]
        for thread in threads:
            thread.start()
        for turn in range(30):
            if turn == 10:
                os.kill(other.process.pid, signal.SIGKILL)
            index.put([record(100 + turn)])
        is_over.set()
        for thread in threads:
            thread.join()
        assert faults == []
        assert index.is_owner
        assert index.count() == 33


def test_of_many_clients_one_takes_over_and_serves_the_others(tmp_path: Path):
    """Three processes are left when the owner is killed: all go on, with one owner among them."""
    with contextlib.ExitStack() as stack:
        first, second, third = (stack.enter_context(closing(Other())) for _ in range(3))
        assert first.open(tmp_path) == "owner"
        assert (second.open(tmp_path), third.open(tmp_path)) == ("client", "client")
        index = stack.enter_context(closing(opened(tmp_path)))
        index.put([record(1)])
        first.signal(signal.SIGKILL)
        assert index.count() == 1
        assert index.is_owner
        second.open(tmp_path)  # through the new owner
        second.close()
        third.close()
        assert index.count() == 1


def test_in_one_process_an_index_is_opened_once(tmp_path: Path):
    """Each user closes its own; the index stays open for the last."""
    openings = []

    def opener() -> EdgeIndex:
        openings.append(1)
        return EdgeIndex(tmp_path / "shard", SIZE)

    first, second = SharedIndex(tmp_path, opener), SharedIndex(tmp_path, opener)
    first.put([record(1)])
    first.close()
    first.close()
    assert second.count() == 1
    with pytest.raises(IndexFault, match="closed"):
        first.count()
    second.close()
    assert len(openings) == 1
    with closing(opened(tmp_path)) as again:
        assert again.count() == 1


def test_an_owner_that_hangs_is_named_after_a_while(tmp_path: Path, other: Other, monkeypatch):
    """The message says which process; when that goes on, so does the index."""
    assert other.open(tmp_path) == "owner"
    with closing(opened(tmp_path)) as index:
        monkeypatch.setattr(asking, "ANSWER_SECONDS", 0.3)
        other.signal(signal.SIGSTOP)
        try:
            with pytest.raises(VaultBusy, match=str(other.process.pid)) as fault:
                index.count()
            assert "takes over" in fault.value.hint
        finally:
            other.signal(signal.SIGCONT)
        monkeypatch.setattr(asking, "ANSWER_SECONDS", 30)
        assert index.count() == 0


def test_an_owner_that_cannot_be_reached_is_named_after_a_while(tmp_path: Path, other: Other, monkeypatch):
    """The lock is held and no socket answers (another container): a sentence after the wait, no end of waiting."""
    assert other.open(tmp_path) == "owner"
    (tmp_path / "owner.json").unlink()
    monkeypatch.setattr(owner, "JOIN_SECONDS", 0.2)
    with pytest.raises(VaultBusy, match="cannot be reached"):
        opened(tmp_path)


def test_an_owner_that_refuses_is_named_after_a_while(tmp_path: Path, other: Other, monkeypatch):
    """With another word on the card than the owner's nobody is let in, nor tries for ever."""
    assert other.open(tmp_path) == "owner"
    card = tmp_path / "owner.json"
    card.write_text(card.read_text().replace('"word": "', '"word": "x'))
    monkeypatch.setattr(owner, "JOIN_SECONDS", 0.2)
    with pytest.raises(VaultBusy, match=str(other.process.pid)), closing(opened(tmp_path)) as index:
        index.count()


def test_another_version_of_infold_is_named(tmp_path: Path, other: Other):
    """Two that do not speak alike do not try."""
    assert other.open(tmp_path) == "owner"
    card = tmp_path / "owner.json"
    card.write_text(card.read_text().replace(f'"protocol": {wire.PROTOCOL}', '"protocol": 999'))
    with pytest.raises(VaultBusy, match="another version"):
        opened(tmp_path)


def test_what_is_in_flight_is_answered_when_the_owner_closes(tmp_path: Path):
    """An owner that ends gives the answers it owes first."""
    counting = threading.Event()

    class Slow(EdgeIndex):
        def count(self) -> int:
            counting.set()
            time.sleep(0.5)
            return super().count()

    shared = SharedIndex(tmp_path, lambda: Slow(tmp_path / "shard", SIZE))
    shared.put([record(1)])
    code = (
        "import sys; from pathlib import Path; from infold.search.shared.shared_index import SharedIndex\n"
        "def never(): raise SystemExit('opened it itself')\n"
        "index = SharedIndex(Path(sys.argv[1]), never)\n"
        "print(index.count())"
    )
    client = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert counting.wait(120)
    shared.close()
    assert client.communicate(timeout=120)[0] == "1\n"
    assert client.returncode == 0


def test_an_index_in_a_deep_folder_is_shared_too(tmp_path: Path, other: Other):
    """The address of a socket is short however long the folder's is."""
    deep = tmp_path.joinpath(*["a very long name of a folder"] * 8)
    deep.mkdir(parents=True)
    assert len(str(deep)) > 200
    assert other.open(deep) == "owner"
    with closing(opened(deep)) as index:
        index.put([record(1)])
        assert index.count() == 1


def test_sockets_of_the_dead_do_not_pile_up(tmp_path: Path, other: Other):
    """A killed owner's socket and card are replaced by the next owner's, and go when that closes."""
    assert other.open(tmp_path) == "owner"
    left = Path(meeting.read_card(tmp_path).address)
    other.signal(signal.SIGKILL)
    assert left.exists()
    index = opened(tmp_path)
    mine = Path(meeting.read_card(tmp_path).address)
    assert not left.exists()
    assert mine.exists()
    assert mine.parent.stat().st_mode & 0o777 == 0o700
    index.close()
    assert not mine.exists()
    assert not (tmp_path / "owner.json").exists()


def test_a_meeting_place_that_others_can_write_to_is_not_used(tmp_path: Path, monkeypatch):
    """A socket in an open folder may be anybody's: it is not spoken to, and none is made there."""
    place = tmp_path / "run"
    (place / "infold").mkdir(parents=True)
    (place / "infold").chmod(0o777)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(place))
    listener, card = meeting.listen(tmp_path)
    listener.close()
    assert Path(card.address).parent != place / "infold"
    (tmp_path / "owner.json").write_text(
        (tmp_path / "owner.json").read_text().replace(str(Path(card.address).parent), str(place / "infold"))
    )
    assert meeting.read_card(tmp_path) is None
    meeting.leave(tmp_path, card)
    (place / "infold").rmdir()
    (place / "infold").symlink_to(tmp_path)
    listener, card = meeting.listen(tmp_path)
    listener.close()
    assert Path(card.address).parent != place / "infold"
    meeting.leave(tmp_path, card)


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"\x00\x00\x00\x01\xc1",
        b"\xff\xff\xff\xff",
        b"\x00\x00\x00\x05\x93\xa1x",
        b"GET / HTTP/1.1\r\n\r\n",
    ],
)
def test_who_sends_no_frame_is_left_standing(tmp_path: Path, sent: bytes):
    """Before the word and after it: the connection ends, the owner and its clients go on."""
    with closing(opened(tmp_path)) as index:
        index.put([record(1)])
        card = meeting.read_card(tmp_path)
        for is_known in (False, True):
            with socket.socket(socket.AF_UNIX) as stranger:
                stranger.settimeout(10)
                stranger.connect(card.address)
                if is_known:
                    frames.send(stranger, card.word.encode())
                stranger.sendall(sent)
                stranger.shutdown(socket.SHUT_WR)
                with contextlib.suppress(ConnectionError):
                    assert stranger.recv(100) == b""
        line = asking.IndexConnection(card)
        assert line.call("count") == 1
        line.close()


@pytest.mark.parametrize(
    "asked", [["close"], ["no such"], ["count", 7], ["put", 1, 2], ["put", b"", [b""]], ["delete", b"short"], [], [[]]]
)
def test_a_call_that_makes_no_sense_is_a_fault(tmp_path: Path, asked: object):
    """The owner says so, and answers the next one on the same connection."""
    with closing(opened(tmp_path)):
        card = meeting.read_card(tmp_path)
        with socket.socket(socket.AF_UNIX) as stranger:
            stranger.settimeout(10)
            stranger.connect(card.address)
            frames.send(stranger, card.word.encode())
            frames.send(stranger, wire.packed(asked))
            with pytest.raises(IndexFault):
                wire.opened(wire.unpacked(frames.receive(stranger)))
            frames.send(stranger, wire.packed(["count"]))
            assert wire.opened(wire.unpacked(frames.receive(stranger))) == 0


FORKED = """
import os, sys, time
from pathlib import Path
from infold.search.shared.edge import EdgeIndex
from infold.search.shared.shared_index import SharedIndex
from tests.search.test_edge import SIZE, record

folder = Path(sys.argv[1])
index = SharedIndex(folder, lambda: EdgeIndex(folder / "shard", SIZE))
index.put([record(1)])
index.flush()
told, tell = os.pipe()
child = os.fork()
if child == 0:
    try:
        count, is_owner = index.count(), index.is_owner
        print("child", count, is_owner, flush=True)
        os.read(told, 1)  # else this one might have the parent's line
        sys.stdin.read()
        print("later", index.count(), flush=True)
    finally:
        index.close()
        print("closed", flush=True)
    sys.exit()
sys.stdin.readline()
os.write(tell, b".")
print("parent", index.count(), index.is_owner, child, flush=True)
time.sleep(60)
"""


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.timeout(60)  # a line that does not come is waited for
def test_a_forked_child_is_a_client_of_its_parent(tmp_path: Path):
    """It never closes what the parent has open, nor holds its locks: killed, the parent is followed by anybody."""
    process = subprocess.Popen(
        [sys.executable, "-c", FORKED, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "child 1 False\n"
    process.stdin.write("go on\n")
    process.stdin.flush()
    assert process.stdout.readline().startswith("parent 1 True")
    process.kill()
    process.wait(120)
    with closing(opened(tmp_path)) as index:
        assert index.is_owner
        assert index.count() == 1
        process.stdin.close()
        assert process.stdout.read() == "later 1\nclosed\n"
        assert index.count() == 1
    process.stdout.close()


def test_a_client_loads_next_to_nothing(tmp_path: Path):
    """Asking an index that somebody has open needs neither numbers' nor settings' libraries, nor a lock's."""
    heavy = [
        "numpy",
        "polars",
        "pydantic",
        "pydantic_settings",
        "filelock",
        "qdrant_client",
        "asyncio",
        "infold.settings",
    ]
    code = (
        "import sys; from pathlib import Path; from infold.search.index.engines import open_engine\n"
        "index = open_engine(Path(sys.argv[1])).open(sys.argv[2])\n"
        "assert not index.is_owner\n"
        "from array import array\n"
        f"print(len(index.query(array('f', [1] * {SIZE}), 5)))\n"
        f"print([name for name in {heavy} if name in sys.modules])"
    )
    from infold.search.index.generations import Generations
    from infold.search.shared.embedded import EdgeEngine

    folder = Generations(tmp_path)
    generation = folder.new_generation()
    with closing(EdgeEngine(tmp_path).create(generation, SIZE)) as index:
        index.put([record(1)])
        done = subprocess.run(
            [sys.executable, "-c", code, str(tmp_path), generation], capture_output=True, text=True, check=True
        )
    assert done.stdout == "1\n[]\n"


def test_a_process_that_ends_without_closing_leaves_everything(tmp_path: Path):
    """Left open at the end of a program, the index is closed by then, and whole."""
    code = (
        "import sys; from pathlib import Path; from infold.search.shared.edge import EdgeIndex\n"
        "from infold.search.shared.shared_index import SharedIndex; from tests.search.test_edge import SIZE, record\n"
        "folder = Path(sys.argv[1]); index = SharedIndex(folder, lambda: EdgeIndex(folder / 'shard', SIZE))\n"
        "index.put([record(n) for n in range(50)])"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert not (tmp_path / "owner.json").exists()
    with closing(opened(tmp_path)) as index:
        assert index.count() == 50
