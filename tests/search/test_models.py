"""Which model is in use: registered once it has run, chosen by `auto`, and never in the way of what needs none."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from infold.errors import ModelUnusable
from infold.search.embed import models, onnx
from infold.search.embed.models import find_local_model, models_home, name_in_use, open_model, register, registered, use
from infold.search.embed.onnx import OnnxEmbedder
from infold.search.embed.providers import open_embedder
from infold.search.embed.similarity_threshold import floor_of, measured_floor
from infold.search.embed.static_embedder import StaticEmbedder
from infold.settings import SearchParams
from tests.fakes import tiny_models
from tests.fakes.tiny_models import SIZE, write_folder


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A state home of the test's own."""
    monkeypatch.setenv("INFOLD_STATE_HOME", str(tmp_path / "home"))
    return tmp_path / "home" / "models"


def auto(**more: object) -> object:
    return open_embedder(SearchParams.model_validate({"embedding": "auto", **more}))


def test_without_a_model_auto_is_static(home: Path):
    """Nothing pulled, nothing used: the bundled model, and nothing is written anywhere."""
    assert isinstance(auto(), StaticEmbedder)
    assert find_local_model() is None
    assert not home.exists()


def test_a_used_folder_is_what_auto_takes(tmp_path: Path):
    """After `use` auto and onnx take the model of that folder, with the name and size that running it has shown."""
    folder = write_folder(tmp_path / "own")
    chosen = use(str(folder))
    assert chosen is not None
    assert (chosen.name, chosen.size) == (str(folder), SIZE)
    for embedding in ("auto", "onnx"):
        embedder = open_embedder(SearchParams(embedding=embedding))
        assert isinstance(embedder, OnnxEmbedder)
        assert embedder.name == OnnxEmbedder(folder).name
        assert embedder.size == SIZE
        assert chosen.floor == floor_of(embedder) == measured_floor(OnnxEmbedder(folder))
    assert isinstance(open_embedder(SearchParams(embedding="static")), StaticEmbedder)
    assert use("static") is None
    assert isinstance(auto(), StaticEmbedder)
    assert [model.name for model in registered()] == [str(folder)]


def test_a_pulled_model_goes_by_its_name(home: Path):
    """A model in the models' own folder is called by its bare name, also by search.embedding_model."""
    write_folder(home / "tiny")
    assert register("tiny").name == "tiny"
    assert name_in_use() is None
    assert isinstance(auto(), StaticEmbedder)
    assert isinstance(auto(embedding_model="tiny"), OnnxEmbedder)
    named = open_embedder(SearchParams(embedding="onnx", embedding_model="tiny"))
    assert named is not None
    assert named.name.startswith("onnx/tiny@")


def test_a_model_that_does_not_work_is_never_in_use(tmp_path: Path):
    """`use` embeds a sentence first; where that fails, what was in use before stays."""
    good = use(str(write_folder(tmp_path / "good")))
    assert good is not None
    bad = write_folder(tmp_path / "bad")
    (bad / "onnx/model.onnx").write_bytes(b"no model")
    with pytest.raises(ModelUnusable):
        use(str(bad))
    assert name_in_use() == good.name
    zeros = np.zeros((len(tiny_models.TOKENS), SIZE), dtype=np.float32)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tiny_models, "table", lambda _seed=0: zeros)
        empty = write_folder(tmp_path / "empty")
    with pytest.raises(ModelUnusable, match="zeros"):
        use(str(empty))
    assert name_in_use() == good.name


def test_new_weights_in_a_known_folder_get_a_new_name(tmp_path: Path):
    """What was measured counts only while the files are the same, so vectors of different weights never mix."""
    folder = write_folder(tmp_path / "own")
    use(str(folder))
    before = open_model().name
    tiny_models.write_weights(folder / "onnx/model.onnx", seed=1)
    assert open_model().name != before
    assert open_model().name == OnnxEmbedder(folder).name


def test_no_model_says_how_to_get_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Asking for ONNX where there is none says what to do; a bare word is no folder beside the caller."""
    with pytest.raises(ModelUnusable) as fault:
        open_embedder(SearchParams(embedding="onnx"))
    assert "infold models pull" in fault.value.hint
    write_folder(tmp_path / "here" / "tiny")
    monkeypatch.chdir(tmp_path / "here")
    with pytest.raises(ModelUnusable) as fault:
        open_model("tiny")
    assert "./tiny" in fault.value.hint
    assert open_model("./tiny").size == SIZE


def test_auto_does_without_what_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Where the folder in use has gone, or onnxruntime has, auto falls back to static and does not fail."""
    folder = write_folder(tmp_path / "own")
    use(str(folder))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(onnx, "is_runtime_installed", lambda: False)
        assert isinstance(auto(), StaticEmbedder)
    assert isinstance(auto(), OnnxEmbedder)
    (folder / "tokenizer.json").unlink()
    assert isinstance(auto(), StaticEmbedder)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"in_use": 3, "models": 7}', '{"models": [{"name": "x"}, 4]}'])
def test_a_damaged_register_is_no_register(home: Path, content: str, tmp_path: Path):
    """A register that cannot be read counts as none, and the next `use` writes it anew."""
    home.mkdir(parents=True)
    (home / "models.json").write_text(content)
    assert isinstance(auto(), StaticEmbedder)
    assert registered() == ()
    use(str(write_folder(tmp_path / "own")))
    assert isinstance(auto(), OnnxEmbedder)


def test_choosing_costs_nothing():
    """Without a model choosing takes under 5 ms and loads neither onnxruntime nor tokenizers nor the environment."""
    took = []
    for _ in range(20):
        started = time.process_time()
        auto()
        took.append(time.process_time() - started)
    assert min(took) < 0.005
    code = (
        "import sys\nfrom infold.search.embed.providers import open_embedder\nfrom infold.settings import SearchParams\n"
        "open_embedder(SearchParams(embedding='auto'))\n"
        "print([m for m in ('onnxruntime', 'tokenizers', 'pydantic_settings', 'huggingface_hub') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_models_lie_in_the_state_home(home: Path):
    """INFOLD_STATE_HOME moves the models too."""
    assert models_home() == home
    assert models.STATIC == "static"
