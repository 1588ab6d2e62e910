"""`infold models`, against a real local hub and real models."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from infold.search.embed import download as pulling
from infold.search.embed import model_catalog as catalogue
from tests.fakes import tiny_models
from tests.fakes.model_hub import ModelHub, model_hub
from tests.fakes.tiny_models import write_folder


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelHub]:
    """A hub that has one tiny model, which the catalogue names."""
    made = write_folder(tmp_path / "made", "onnx/model_quantized.onnx")
    files = {file.relative_to(made).as_posix(): file.read_bytes() for file in sorted(made.rglob("*")) if file.is_file()}
    monkeypatch.setattr(pulling, "FIRST_PAUSE_SECONDS", 0.001)
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    with model_hub() as server:
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        monkeypatch.setattr(catalogue, "MODELS", (server.add("tiny", files),))
        yield server


def states(infold) -> dict[str, str]:
    listed = json.loads(infold("models", "list", "--json").stdout)
    return {model["name"]: model["state"] for model in listed["models"]}


def test_a_model_is_pulled_listed_and_used(infold, hub: ModelHub, tmp_path: Path):
    """From a hub to the model in use, and back to the bundled one; each step shows in the list."""
    assert states(infold) == {"static": "in use", "tiny": "to pull"}
    pulled = infold("models", "pull", "tiny")
    assert pulled.exit_code == 0
    assert "infold models use tiny" in pulled.stdout
    assert states(infold) == {"static": "in use", "tiny": "here"}
    assert "already" in infold("models", "pull", "maker/tiny").stdout
    used = infold("models", "use", "tiny")
    assert used.exit_code == 0
    assert f"{tiny_models.SIZE} dimensions" in used.stdout
    assert states(infold) == {"static": "here", "tiny": "in use"}
    assert json.loads(infold("models", "list", "--json").stdout)["inUse"] == "tiny"
    infold("models", "use", "static")
    assert states(infold) == {"static": "in use", "tiny": "here"}


def test_a_folder_is_used_and_listed(infold, tmp_path: Path):
    """A folder of one's own works without any network, and the list says when it has gone."""
    folder = write_folder(tmp_path / "my-e5-model")
    used = json.loads(infold("models", "use", folder, "--json").stdout)
    assert used == {"inUse": str(folder), "folder": str(folder), "dimensions": tiny_models.SIZE}
    assert "'query: ' before a query" in infold("models", "use", folder).stdout
    assert states(infold)[str(folder)] == "in use"
    (folder / "tokenizer.json").unlink()
    assert states(infold)[str(folder)] == "gone"


def test_the_list_reads_well(infold):
    """A person sees size, licence and weight of each model, and what to type."""
    shown = infold("models", "list").stdout
    for word in ("all-MiniLM-L6-v2", "multilingual-e5-small", "Apache-2.0", "24 MB", "0.3", "infold models pull NAME"):
        assert word in shown


@pytest.mark.parametrize(
    "words, code, said",
    [
        (("pull", "nope"), 2, "There is no model 'nope' to pull"),
        (("use", "nope"), 2, "There is no model or folder 'nope'"),
        (("use", "./nope"), 2, "There is no model or folder './nope'"),
        (("use", "all-MiniLM-L6-v2"), 3, "infold models pull all-MiniLM-L6-v2"),
    ],
)
def test_mistakes_are_said(infold, words: tuple[str, str], code: int, said: str):
    """An unknown name, a missing folder and a model that was not pulled yet each say what to do."""
    answer = infold("models", *words)
    assert answer.exit_code == code
    assert said in " ".join(answer.stderr.split())


def test_no_network_is_said(infold, hub: ModelHub, monkeypatch: pytest.MonkeyPatch):
    """A hub that cannot be reached is an environment error, as JSON too, and the list is as before."""
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    answer = infold("models", "pull", "tiny", "--json")
    assert answer.exit_code == 3
    assert json.loads(answer.stdout)["error"]["type"] == "EndpointUnreachable"
    assert states(infold) == {"static": "in use", "tiny": "to pull"}


def test_doctor_names_the_rung_and_the_next(infold, tmp_path: Path):
    """The checkup says which embeddings are in force, what a better rung would give, and when one in use cannot run."""
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault" / "bread.md").write_text("# Bread\n\nA levain rises overnight.\n")

    def meaning(*words: object) -> dict[str, str]:
        answer = json.loads(infold("doctor", "--vault", tmp_path / "vault", "--json", *words).stdout)
        return next(finding for finding in answer["findings"] if finding["topic"] == "meaning")

    assert "static/" in meaning()["text"]
    assert "infold models pull" in meaning()["todo"]
    assert "keyword alone" in meaning("--set", "search.embedding=none")["text"]
    assert meaning("--set", "search.embedding=onnx")["level"] == "problem"
    folder = write_folder(tmp_path / "own")
    infold("models", "use", folder)
    assert meaning()["level"] == "ok"
    assert "onnx/own@" in meaning()["text"]
    (folder / "tokenizer.json").unlink()
    assert "cannot run here" in meaning()["text"]


def test_a_model_that_is_none_is_wrong_use(infold):
    """Code 2, with the names that there are."""
    refused = infold("models", "use", "x")
    assert refused.exit_code == 2
    assert "static" in refused.stderr
    assert "all-MiniLM-L6-v2" in refused.stderr
