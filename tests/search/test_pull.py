"""Pulling a model from a real local server: resumed, checked, whole or not at all."""

from __future__ import annotations

import errno
import json
import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from filelock import FileLock

from infold.errors import DownloadFailed, EndpointUnreachable, InfoldError, ModelNotFound, StateUnwritable
from infold.search.embed import download as pulling
from infold.search.embed.download import is_whole, pull
from infold.search.embed.model_catalog import MODELS, KnownModel
from tests.fakes.model_hub import ModelHub, model_hub

WEIGHTS = random.Random(0).randbytes(700_000)
FILES = {"tokenizer.json": b'{"version": "1.0"}', "onnx/model_quantized.onnx": WEIGHTS}


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelHub]:
    """A running hub that HF_ENDPOINT names; pauses between tries are short."""
    monkeypatch.setattr(pulling, "FIRST_PAUSE_SECONDS", 0.001)
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with model_hub() as server:
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        yield server


@pytest.fixture
def model(hub: ModelHub) -> KnownModel:
    """A model on the hub."""
    return hub.add("tiny", FILES, {"pooling": "cls"})


def quiet(_here: int, _total: int) -> None:
    """No progress is shown."""


def test_a_model_comes_whole(model: KnownModel, tmp_path: Path):
    """Every file is in its place with the very bytes, infold.json says how it is read, and nothing else is left."""
    seen: list[tuple[int, int]] = []
    assert pull(model, tmp_path, lambda here, total: seen.append((here, total)))
    folder = tmp_path / "tiny"
    assert {path: (folder / path).read_bytes() for path in FILES} == FILES
    assert json.loads((folder / "infold.json").read_text()) == {"pooling": "cls"}
    assert {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()} == {
        *FILES,
        "infold.json",
    }
    assert [here for here, _ in seen] == sorted(here for here, _ in seen)
    assert seen[-1] == (model.size_bytes, model.size_bytes)


def test_a_model_that_is_here_is_not_pulled_again(hub: ModelHub, model: KnownModel, tmp_path: Path):
    """The second pull asks nobody, says so, and one whose file was damaged is made whole again."""
    pull(model, tmp_path, quiet)
    hub.asked.clear()
    assert not pull(model, tmp_path, quiet)
    assert hub.asked == []
    (tmp_path / "tiny" / "onnx/model_quantized.onnx").write_bytes(b"damaged")
    assert pull(model, tmp_path, quiet)
    assert is_whole(model, tmp_path / "tiny")


def test_a_cut_line_is_gone_on_with(hub: ModelHub, model: KnownModel, tmp_path: Path):
    """Where the line breaks in the middle, only what is missing is asked for, as often as it breaks."""
    hub.cut_after = [len(FILES["tokenizer.json"]), 300_000, 100_000, 0]
    pull(model, tmp_path, quiet)
    assert is_whole(model, tmp_path / "tiny")
    assert hub.data_requests("onnx/model_quantized.onnx") == [
        None,
        "bytes=300000-",
        "bytes=400000-",
        "bytes=400000-",
    ]


def test_a_stopped_pull_is_gone_on_with_by_the_next(hub: ModelHub, model: KnownModel, tmp_path: Path):
    """Stopped by hand in the middle, there is no model yet; the next pull takes what has come and asks for the rest."""

    def stop(here: int, _total: int) -> None:
        if here > 400_000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pull(model, tmp_path, stop)
    assert not (tmp_path / "tiny").exists()
    hub.asked.clear()
    pull(model, tmp_path, quiet)
    assert is_whole(model, tmp_path / "tiny")
    (range_,) = hub.data_requests("onnx/model_quantized.onnx")
    assert range_ is not None
    assert int(range_.removeprefix("bytes=").rstrip("-")) > 200_000
    assert hub.data_requests("tokenizer.json") == []


def test_a_server_without_ranges_is_read_from_the_start(hub: ModelHub, model: KnownModel, tmp_path: Path):
    """A server that ignores the range sends the whole file; it is not put behind what was there."""
    hub.has_ranges = False
    hub.cut_after = [len(FILES["tokenizer.json"]), 300_000]
    pull(model, tmp_path, quiet)
    assert is_whole(model, tmp_path / "tiny")


def test_a_beginning_of_something_else_is_thrown_away(model: KnownModel, tmp_path: Path):
    """A partial file that is longer than the file itself does not stand in the way for ever."""
    part = tmp_path / ".partial" / "tiny" / "onnx" / "model_quantized.onnx.part"
    part.parent.mkdir(parents=True)
    part.write_bytes(b"x" * 800_000)
    pull(model, tmp_path, quiet)
    assert is_whole(model, tmp_path / "tiny")


@pytest.mark.parametrize("status", [429, 500, 503])
def test_what_passes_is_tried_again(hub: ModelHub, model: KnownModel, tmp_path: Path, status: int):
    """A hub that is busy or broken for a moment is asked again."""
    hub.refusals = [status, status]
    assert pull(model, tmp_path, quiet)


@pytest.mark.parametrize(
    "statuses, expected", [([404], ModelNotFound), ([401], DownloadFailed), ([503] * 9, EndpointUnreachable)]
)
def test_what_does_not_pass_is_said(
    hub: ModelHub, model: KnownModel, tmp_path: Path, statuses: list[int], expected: type[InfoldError]
):
    """A hub that lacks the model, refuses it, or stays broken is one typed error, and leaves no model."""
    hub.refusals = statuses
    with pytest.raises(expected) as fault:
        pull(model, tmp_path, quiet)
    assert hub.url in str(fault.value)
    assert fault.value.hint
    assert not (tmp_path / "tiny").exists()


def test_other_bytes_are_refused(hub: ModelHub, model: KnownModel, tmp_path: Path):
    """A file of the right length with another content never becomes a model, and is not gone on with."""
    name = "maker/tiny/onnx/model_quantized.onnx"
    hub.files[name] = WEIGHTS[:-1] + bytes([WEIGHTS[-1] ^ 1])
    with pytest.raises(DownloadFailed, match="SHA-256"):
        pull(model, tmp_path, quiet)
    assert not (tmp_path / "tiny").exists()
    hub.files[name] = WEIGHTS
    assert pull(model, tmp_path, quiet)


def test_nobody_there_is_said(model: KnownModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Without a network the message names the address and the settings that matter."""
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(EndpointUnreachable) as fault:
        pull(model, tmp_path, quiet)
    assert "127.0.0.1:9" in str(fault.value)
    assert "HF_ENDPOINT" in fault.value.hint


def test_offline_means_offline(hub: ModelHub, model: KnownModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """With HF_HUB_OFFLINE nobody is asked; an HF_ENDPOINT that is no web address is not read either."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(EndpointUnreachable, match="HF_HUB_OFFLINE"):
        pull(model, tmp_path, quiet)
    monkeypatch.setenv("HF_HUB_OFFLINE", "0")
    monkeypatch.setenv("HF_ENDPOINT", "file:///etc")
    with pytest.raises(DownloadFailed, match="no web address"):
        pull(model, tmp_path, quiet)
    assert hub.asked == []


def test_a_full_disk_is_said(model: KnownModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Too little room is said before anything is asked for; a disk that fills up later is said too."""
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(pulling.shutil, "disk_usage", lambda _: usage._replace(free=1000))  # type: ignore[attr-defined]
    with pytest.raises(StateUnwritable, match="MB left"):
        pull(model, tmp_path, quiet)
    monkeypatch.undo()

    def full(_here: int, _total: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with model_hub() as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        again = hub.add("tiny", FILES)
        with pytest.raises(StateUnwritable, match="No space left"):
            pull(again, tmp_path, full)
    assert not (tmp_path / "tiny").exists()


def test_two_pulls_of_one_model_do_not_meet(model: KnownModel, tmp_path: Path):
    """While one process pulls a model, another that wants to is told."""
    (tmp_path / ".partial").mkdir()
    with FileLock(tmp_path / ".partial" / "tiny.lock"), pytest.raises(DownloadFailed, match="Another process"):
        pull(model, tmp_path, quiet)


def test_the_catalogue_pins_every_file():
    """Every model names a commit, a licence, its size, and a SHA-256 for each file; names are not used twice."""
    assert len({model.name for model in MODELS}) == len(MODELS)
    for model in MODELS:
        assert len(model.revision) == 40
        assert int(model.revision, 16)
        assert {file.path for file in model.files} == {"tokenizer.json", "onnx/model_quantized.onnx"}
        assert all(len(file.sha256) == 64 and int(file.sha256, 16) and file.size_bytes > 1000 for file in model.files)
        assert set(model.reading) == {"pooling", "max_tokens", "query_prefix", "passage_prefix"}
        assert model.licence in {"MIT", "Apache-2.0"}
        assert model.dimensions > 0
