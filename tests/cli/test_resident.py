"""A search that is answered by a resident process says what one without it says, of the notes as they are now."""

from __future__ import annotations

import gc
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import infold.search.index.sync as syncing
from infold.app import OpenVault
from infold.cli import client, resident, start
from infold.locate import WorkspaceRequest, locate_workspace
from infold.search.shared.rendezvous import RESIDENT_CARD, is_serving, read_card
from tests.conftest import PERSONAL_VARIABLES
from tests.fakes.ports import free_port
from tests.search.spec_notebook import write_notebook

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="sockets and events of Linux")

TIMING = re.compile(r'"timing": \{[^}]*\}')


@pytest.fixture(autouse=True)
def _allowed(monkeypatch) -> None:
    """Residents; clients and residents have one environment, whatever ran in this process before."""
    for name in ("INFOLD_RESIDENT", *PERSONAL_VARIABLES):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def place(tmp_path: Path) -> tuple[Path, Path]:
    """The notebook of spec 3."""
    return write_notebook(tmp_path / "vault"), tmp_path / "state"


@pytest.fixture(scope="module")
def kept(tmp_path_factory) -> Iterator[tuple[Path, Path]]:
    """The notebook with a resident, for what only reads."""
    root = tmp_path_factory.mktemp("resident")
    found = write_notebook(root / "vault"), root / "state"
    with OpenVault(locate_workspace(WorkspaceRequest(*found))) as opened, pytest.MonkeyPatch.context() as patch:
        for name in ("INFOLD_RESIDENT", *PERSONAL_VARIABLES):
            patch.delenv(name, raising=False)
        patch.setenv("INFOLD_STATE_HOME", str(root / "home"))
        opened.sync()
        with resident.serving(opened) as serving:
            assert serving is not None
            yield found


@pytest.fixture
def of_kept(kept, monkeypatch):
    """What the client prints about it, with its exit code; None where it leaves it to the program."""
    monkeypatch.setenv("INFOLD_STATE_HOME", str(kept[0].parent / "home"))
    return lambda *words: client.answered([words[0], "--vault", str(kept[0]), "--state", str(kept[1]), *words[1:]])


@pytest.fixture
def vault(place) -> Iterator[OpenVault]:
    """It, opened."""
    with OpenVault(locate_workspace(WorkspaceRequest(*place))) as opened:
        yield opened


@pytest.fixture
def serving(vault) -> Iterator[resident.Resident]:
    """A resident of it, in this process."""
    with resident.serving(vault) as found:
        assert found is not None
        yield found


@pytest.fixture
def ask(place, capsys):
    """What the client prints, with its exit code; None where it leaves it to the program."""

    def asked(*words: object) -> tuple[int, str, str] | None:
        code = client.answered([*map(str, words), "--vault", str(place[0]), "--state", str(place[1])])
        said = capsys.readouterr()
        return None if code is None else (code, said.out, said.err)

    return asked


@pytest.mark.parametrize(
    "words",
    [
        ["search", "sarah", "phone"],
        ["search", "sarah phone", "--json"],
        ["search", "--json", "--explain", "sarah"],
        ["search", "sarah", "--explain", "-n", "2"],
        ["search", "-n2", "sarah", "--source=daily", "--since", "2026-02-21"],
        ["search", "sarah", "--source", "daily,sessions", "--until=2026-02-20"],
        ["search", "parser", "--tag", "work", "--path", "knowledge"],
        ["search", '"project timeline"', "--min-score", "0"],
        ["search", "xqzt", "--path", "lists"],
        ["search", "sarha"],
        ["search", "sarah", "--no-sync"],
        ["search", "--", "--json"],
        ["search", "?!"],
        ["get", "reference/contacts.md:3-7"],
        ["get", "contacts", "--json"],
        ["get", "no such note"],
        ["get", "reference/contacts.md:900"],
    ],
)
def test_it_says_what_the_program_says(of_kept, kept, infold, words, capsys):
    """Text, JSON, notices and exit code, but for how long it took."""
    direct = infold(words[0], "--vault", kept[0], "--state", kept[1], *words[1:])
    capsys.readouterr()
    assert of_kept(*words) == direct.exit_code == 0
    served = capsys.readouterr()
    assert TIMING.sub("", served.out) == TIMING.sub("", direct.stdout)
    assert served.err == direct.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["search"],
        ["search", "sarah", "--help"],
        ["search", "sarah", "--nothing"],
        ["search", "sarah", "-n", "0"],
        ["search", "sarah", "--limit", "many"],
        ["search", "sarah", "--min-score", "2"],
        ["search", "sarah", "--since", "someday"],
        ["search", "sarah", "--source", "moon"],
        ["search", "sarah", "--set", "search.max_results=1"],
        ["search", "sarah", "--debug"],
        ["search", "- sarah"],
        ["search", "sarah", "--path"],
        ["search", "sarah", "--json=yes"],
        ["get"],
        ["get", "a", "b"],
        ["get", "../outside.md"],
        ["index"],
    ],
)
def test_the_rest_is_left_to_the_program(of_kept, words):
    """Wrong use, help, single settings: there is one way in which these are said."""
    assert of_kept(*words) is None


def test_the_client_loads_next_to_nothing(of_kept, kept):
    """Neither what reads a command line, nor what checks settings, nor YAML, nor paths, before the answer is out."""
    words = ["infold", "search", "sarah", "phone", "--vault", str(kept[0]), "--state", str(kept[1])]
    code = (
        f"import os, sys; sys.argv = {words!r}; os._exit = sys.exit\nfrom infold.cli.start import main\n"
        "try:\n    main()\nexcept SystemExit as end:\n    print(end.code, *sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert "reference/contacts.md:3-7" in done.stdout
    ended, *modules = done.stderr.split()
    assert ended == "0"
    heavy = {"typer", "click", "pydantic", "yaml", "filelock", "rich", "pathlib", "dataclasses", "msgpack", "tantivy"}
    heavy |= {"re", "enum", "functools", "collections", "json", "socket", "struct", "hashlib"}
    assert not heavy & set(modules)
    ours = {name for name in modules if name.startswith("infold")}
    assert ours <= {"infold", "infold.environment", "infold.place", "infold.cli", "infold.cli.start"} | {
        "infold.cli.client", "infold.search", "infold.search.shared", "infold.search.shared.frames"
    }  # fmt: skip


@given(st.lists(st.text()))
def test_what_is_sent_arrives(texts):
    """Whatever signs the texts have, and however many there are; what is cut short is refused."""
    body = client.packed(texts)
    assert client.unpacked(body) == texts
    if any(texts):
        with pytest.raises(ValueError):
            client.unpacked(body[:-1])


def test_a_note_changed_just_before_is_found(serving, ask, place):
    """New, written over, in a new folder, renamed, with an old date, deleted: each is seen by the next search."""
    folder = place[0]
    assert "Nothing found" in ask("search", "quokka")[2]
    (folder / "new.md").write_text("# Quokka\n\nA quokka smiles.\n")
    assert "new.md" in ask("search", "quokka")[1]
    (folder / "new.md").write_text("# Wombat\n\nA wombat digs.\n")
    os.utime(folder / "new.md", (1, 1))
    assert "new.md" in ask("search", "wombat")[1]
    (folder / "deep" / "er").mkdir(parents=True)
    (folder / "deep" / "er" / "numbat.md").write_text("A numbat eats termites.\n")
    assert "deep/er/numbat.md" in ask("search", "numbat")[1]
    (folder / "deep").rename(folder / "shallow")
    assert "shallow/er/numbat.md" in ask("search", "numbat")[1]
    (folder / "shallow" / "er" / "numbat.md").write_text("A bilby has long ears.\n")
    assert "shallow/er/numbat.md" in ask("search", "bilby")[1]
    (folder / "shallow" / "er" / "numbat.md").unlink()
    assert "Nothing found" in ask("search", "bilby")[2]


def test_where_nothing_changed_nothing_is_looked_through(serving, ask, monkeypatch):
    """The folders are walked by the first search, and, once the events of earlier changes are in, not again."""
    syncs = []
    real = syncing.sync_index
    monkeypatch.setattr(syncing, "sync_index", lambda *given, **more: [syncs.append(1), real(*given, **more)][1])
    without = 0
    for _ in range(40):
        before = len(syncs)
        ask("search", "sarah")
        without = without + 1 if len(syncs) == before else 0
        if without == 6:
            break
    assert syncs
    assert without == 6


def test_its_record_is_the_users_alone(serving, vault):
    """The word to say first can be read by nobody else, nor the socket be reached."""
    card = read_card(vault.workspace.index, RESIDENT_CARD)
    assert (vault.workspace.index / RESIDENT_CARD).stat().st_mode & 0o777 == 0o600
    assert Path(card.address).parent.stat().st_mode & 0o777 == 0o700


def test_another_program_or_surroundings_get_no_answer_of_it(serving, ask, monkeypatch):
    """What it would find may not be what theirs would; a program that was replaced ends its resident."""
    assert not serving.is_outdated()
    monkeypatch.setenv("TZ", "Pacific/Apia")
    assert ask("search", "sarah") is None
    monkeypatch.delenv("TZ")
    assert ask("search", "sarah") is not None
    monkeypatch.setattr(client, "code", lambda: ["0.0.0", "elsewhere", "1", sys.executable])
    assert ask("search", "sarah") is None
    assert serving.is_outdated()


def test_settings_that_changed_end_it(serving, ask, vault, place):
    """And its last answers are with none but the new ones."""
    (place[1] / "params.yaml").write_text("search:\n  max_results: 1\n")
    assert ask("search", "sarah") is None
    assert serving.is_outdated()


def test_where_it_may_not_be_it_is_not(vault, place, ask, monkeypatch):
    """By the environment, and by the setting; and there is never more than one."""
    monkeypatch.setenv("INFOLD_RESIDENT", "0")
    with resident.serving(vault) as none:
        assert none is None
    monkeypatch.delenv("INFOLD_RESIDENT", raising=False)
    never = locate_workspace(WorkspaceRequest(*place, changes=("watch.resident_minutes=0",)))  # type: ignore[misc]
    with OpenVault(never) as other, resident.serving(other) as none:
        assert none is None
    with resident.serving(vault) as one, resident.serving(vault) as two:
        assert one is not None
        assert two is None
    assert ask("search", "sarah") is None


STUCK = """
import sys, time
from pathlib import Path
from infold.search.shared.index_server import IndexService
def answer(body):
    print("asked", flush=True)
    time.sleep(600)
service = IndexService(answer, Path(sys.argv[1]), "resident.json")
print("ready", flush=True)
time.sleep(600)
"""


def test_killed_in_the_middle_of_an_answer_the_program_gives_it(vault, place, capsys, monkeypatch):
    """The client notices, and does itself what the resident did not."""
    vault.search("sarah")
    index = vault.workspace.index
    with subprocess.Popen([sys.executable, "-c", STUCK, index], stdout=subprocess.PIPE, text=True) as stuck:
        assert stuck.stdout.readline() == "ready\n"
        killer = subprocess.Popen(
            [sys.executable, "-c", "import os,sys; sys.stdin.readline(); os.kill(int(sys.argv[1]), 9)", str(stuck.pid)],
            stdin=stuck.stdout,
        )
        words = ["infold", "search", "sarah", "phone", "--vault", str(place[0]), "--state", str(place[1])]
        monkeypatch.setattr(sys, "argv", words)
        monkeypatch.setattr(os, "_exit", sys.exit)
        with pytest.raises(SystemExit) as ended:
            start.main()
        assert killer.wait(60) == 0
        assert stuck.wait(60) == -signal.SIGKILL
    assert not ended.value.code
    assert "reference/contacts.md:3-7" in capsys.readouterr().out


@pytest.mark.parametrize("words", [["watch"], ["mcp"], ["serve"]])
def test_whoever_has_the_vault_open_is_it(place, ask, words):
    """`watch`, `mcp` and `serve` answer searches while they run; what they leave behind leads nobody astray."""
    if words == ["serve"]:
        words = [*words, "--port", str(free_port())]
    command = [sys.executable, "-m", "infold", *words, "--vault", str(place[0]), "--state", str(place[1])]
    pipe = subprocess.PIPE
    record = place[1] / "derived" / "index" / RESIDENT_CARD
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe) as host:
        until(record.exists)
        until(lambda: ask("search", "sarah") is not None)
        if words == ["mcp"]:
            host.stdin.close()
        else:
            host.terminate()
        host.wait(60)
    assert not is_serving(record.parent)
    assert ask("search", "sarah") is None


def test_the_second_search_starts_one_and_it_ends_by_itself(place, ask, infold, vault):
    """It pays from the second on. A rebuild is not held up by it, nor another version of infold, for which it ends."""
    index = vault.workspace.index
    for _ in range(2):
        assert infold("search", "sarah", "--vault", place[0], "--state", place[1]).exit_code == 0
        assert read_card(index, RESIDENT_CARD) is None
    until(lambda: ask("search", "sarah") is not None)
    process = read_card(index, RESIDENT_CARD).process
    assert f"process {process}" in infold("status", "--vault", place[0], "--state", place[1]).stdout
    assert infold("rebuild", "--vault", place[0], "--state", place[1]).exit_code == 0
    assert "reference/contacts.md" in ask("search", "sarah")[1]
    (owner,) = index.glob("generations/*/owner.json")
    owner.write_text(owner.read_text().replace('"protocol": ', '"protocol": 99'))
    assert not [said for said in vault.search("sarah").notices if "version" in said]
    until(lambda: not is_running(process))


def test_idle_it_ends(place, ask, monkeypatch):
    """After `watch.resident_minutes` without a search."""
    place[1].mkdir()
    (place[1] / "params.yaml").write_text("watch:\n  resident_minutes: 0.01\n")
    command = [sys.executable, "-P", "-m", "infold.cli.resident", *map(str, place), ""]
    with subprocess.Popen(command) as idle:
        assert idle.wait(60) == 0


def until(is_so, seconds: float = 120.0) -> None:
    """Waits for something to be so."""
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def is_running(process: int) -> bool:
    """Whether a process is there, and no mere remainder of one."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_what_a_process_that_stays_has_is_not_looked_through_again():
    """While it stays; afterwards all is as it was."""
    others = gc.get_threshold()  # of a resident that serves other tests
    gc.set_threshold(700, 10, 10)
    try:
        with resident.seldom_collecting():
            assert gc.isenabled()
            assert gc.get_freeze_count() > 10_000
            assert gc.get_threshold() > (700, 10, 10)
        assert gc.get_threshold() == (700, 10, 10)
    finally:
        gc.set_threshold(*others)
