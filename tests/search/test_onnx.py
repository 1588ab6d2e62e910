"""Local ONNX models: any layout of the folder, what comes out, and what is said where one cannot be used."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import numpy as np
import pytest

from infold.errors import EnvironmentFault, ModelUnusable
from infold.search.embed import onnx
from infold.search.embed.model_folder import MAX_TOKENS, read_folder
from infold.search.embed.onnx import Measured, OnnxEmbedder
from tests.fakes import tiny_models
from tests.fakes.tiny_models import SIZE, ids, table, write_folder


def unit(vector: np.ndarray) -> np.ndarray:
    return vector / np.linalg.norm(vector)


def mean_of(text: str) -> np.ndarray:
    return unit(table()[ids(text)].mean(axis=0))


def test_a_text_is_the_mean_of_its_tokens(tmp_path: Path):
    """A model that gives a vector a token is pooled by their mean, special tokens included, and scaled to length 1."""
    embedder = OnnxEmbedder(write_folder(tmp_path / "m"))
    vectors = embedder.embed(["bread dough", "", "oven", "  \n"])
    assert vectors.dtype == np.float32
    assert vectors.shape == (4, SIZE)
    assert np.allclose(vectors[0], mean_of("bread dough"), atol=1e-6)
    assert np.allclose(vectors[2], mean_of("oven"), atol=1e-6)
    assert not vectors[1].any()
    assert not vectors[3].any()
    assert embedder.size == SIZE
    assert embedder.embed([]).shape == (0, SIZE)
    assert np.array_equal(embedder.embed_query("oven"), vectors[2])


@pytest.mark.parametrize(
    "config",
    [
        {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False, "include_prompt": True},
        {"pooling_mode": "cls"},
    ],
    ids=["flags", "name"],
)
def test_a_text_is_its_first_token_where_the_folder_says_so(tmp_path: Path, config: dict[str, object]):
    """1_Pooling/config.json is followed, in its old form and its new one."""
    embedder = OnnxEmbedder(write_folder(tmp_path / "m", files={"1_Pooling/config.json": config}))
    assert np.allclose(embedder.embed(["bread oven"])[0], unit(table()[ids("")[0]]), atol=1e-6)


def test_a_pooled_output_is_taken_as_it_is(tmp_path: Path):
    """A model that gives one vector a text is not pooled again."""
    embedder = OnnxEmbedder(write_folder(tmp_path / "m", pooled="sentence_embedding"))
    assert np.allclose(embedder.embed(["bread"])[0], unit(table()[ids("bread")].sum(axis=0)), atol=1e-6)


def test_the_pooler_of_bert_is_no_embedding(tmp_path: Path):
    """An output named pooler_output is passed over, though it has one vector a text and comes first."""
    embedder = OnnxEmbedder(write_folder(tmp_path / "m", beside="pooler_output"))
    assert np.allclose(embedder.embed(["bread"])[0], mean_of("bread"), atol=1e-6)


@pytest.mark.parametrize("inputs", [("input_ids",), ("input_ids", "attention_mask"), ("input_ids", "position_ids")])
def test_a_model_is_given_what_it_asks_for(tmp_path: Path, inputs: tuple[str, ...]):
    """token_type_ids, mask and positions are given to the models that take them, and only to those."""
    embedder = OnnxEmbedder(write_folder(tmp_path / "m", inputs=inputs))
    assert np.allclose(embedder.embed(["bread"])[0], mean_of("bread"), atol=1e-6)


def test_vectors_do_not_depend_on_the_batch(tmp_path: Path):
    """A model of 8-bit numbers gives a text the same vector, bit for bit, alone and among texts of every length."""
    embedder = OnnxEmbedder(write_folder(tmp_path / "m", scaled=True))
    texts = [" ".join(tiny_models.WORDS[: n % 7 + 1]) for n in range(40)] + ["", "chain " * 300]
    together = embedder.embed(texts)
    for text, vector in zip(texts, together, strict=True):
        assert np.array_equal(embedder.embed([text])[0], vector)
    assert np.array_equal(embedder.embed(texts[::-1])[::-1], together)


def test_threads_share_a_model(tmp_path: Path):
    """Several threads that embed with one model at once get what one alone gets."""
    embedder = OnnxEmbedder(write_folder(tmp_path / "m"))
    texts = [word for word in tiny_models.WORDS if word.isalpha()]
    wanted = OnnxEmbedder(embedder.model).embed(texts)
    got: list[np.ndarray] = []
    threads = [threading.Thread(target=lambda: got.append(embedder.embed(texts))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(got) == 6
    assert all(np.array_equal(vectors, wanted) for vectors in got)


@pytest.mark.parametrize(
    "weights",
    ["onnx/model.onnx", "onnx/model_quantized.onnx", "model.onnx", "model_optimized.onnx", "onnx/odd_name.onnx"],
)
def test_every_layout_is_found(tmp_path: Path, weights: str):
    """The model is found where hubs, sentence-transformers and fastembed put it, and a lone one wherever it is."""
    assert read_folder(write_folder(tmp_path / "m", weights)).weights == tmp_path / "m" / weights


def test_eight_bits_come_first(tmp_path: Path):
    """Where a folder has both, the quantised model is taken."""
    folder = write_folder(tmp_path / "m")
    tiny_models.write_weights(folder / "onnx/model_quantized.onnx")
    assert read_folder(folder).weights.name == "model_quantized.onnx"


def test_prefixes_tell_queries_from_passages(tmp_path: Path):
    """An E5 model is given `query: ` and `passage: `; a model that has none of its own is given none."""
    e5 = OnnxEmbedder(write_folder(tmp_path / "multilingual-e5-small"))
    assert np.allclose(
        e5.embed(["bread"])[0], unit(table()[[2, 1, 4, 3]].mean(axis=0)), atol=1e-6
    )  # [UNK] for `passage:`
    assert (read_folder(tmp_path / "multilingual-e5-small").query_prefix, e5.model.passage_prefix) == (
        "query: ",
        "passage: ",
    )
    renamed = read_folder(
        write_folder(tmp_path / "x", files={"config.json": {"_name_or_path": "BAAI/bge-base-en-v1.5"}})
    )
    assert renamed.pooling == "cls"
    assert renamed.query_prefix.startswith("Represent this sentence")
    said = {"prompts": {"query": "query ", "document": "passage "}}
    own = OnnxEmbedder(write_folder(tmp_path / "y", files={"config_sentence_transformers.json": said}))
    assert np.allclose(own.embed_query("bread"), mean_of("query bread"), atol=1e-6)
    assert np.allclose(own.embed(["bread"])[0], mean_of("passage bread"), atol=1e-6)


def test_long_texts_are_cut(tmp_path: Path):
    """A text is cut at the model's length, and at 256 tokens where the model takes more or says nothing sensible."""
    short = OnnxEmbedder(write_folder(tmp_path / "a", files={"sentence_bert_config.json": {"max_seq_length": 4}}))
    assert np.allclose(short.embed(["bread dough oven chain"])[0], mean_of("bread dough"), atol=1e-6)
    huge = {"tokenizer_config.json": {"model_max_length": 1e30}}
    assert read_folder(write_folder(tmp_path / "b", files=huge)).max_tokens == MAX_TOKENS
    config = {"config.json": {"max_position_embeddings": 128}}
    assert read_folder(write_folder(tmp_path / "c", files=config)).max_tokens == 128


def test_the_name_follows_whatever_changes_a_vector(tmp_path: Path):
    """Same files, same name; other weights, another tokenizer or another pooling, another name."""
    names = {
        OnnxEmbedder(write_folder(tmp_path / "1" / "m")).name,
        OnnxEmbedder(write_folder(tmp_path / "2" / "m")).name,
    }
    assert len(names) == 1
    assert names.pop().startswith("onnx/m@")
    variants = [
        write_folder(tmp_path / "3" / "m"),
        write_folder(tmp_path / "4" / "m", seed=1),
        write_folder(tmp_path / "5" / "m", files={"infold.json": {"pooling": "cls"}}),
        write_folder(tmp_path / "6" / "m", files={"infold.json": {"passage_prefix": "a "}}),
        write_folder(tmp_path / "7" / "m"),
    ]
    tokenizer = variants[-1] / "tokenizer.json"
    tokenizer.write_text(tokenizer.read_text().replace('"oven"', '"Oven"'))
    assert len({OnnxEmbedder(folder).name for folder in variants}) == len(variants)
    data = write_folder(tmp_path / "8" / "m")
    (data / "onnx" / "model.onnx_data").write_bytes(b"weights beside the graph")
    assert OnnxEmbedder(data).name != OnnxEmbedder(variants[0]).name


def test_what_was_measured_is_not_measured_again(tmp_path: Path):
    """With name and size known the files are not read until a text is embedded."""
    folder = write_folder(tmp_path / "m")
    embedder = OnnxEmbedder(folder, Measured("abc", SIZE))
    (folder / "onnx/model.onnx").write_bytes(b"")
    assert (embedder.name, embedder.size) == ("onnx/m@abc", SIZE)
    with pytest.raises(ModelUnusable):
        embedder.embed(["bread"])


def test_a_closed_model_opens_again(tmp_path: Path):
    """A closed model lets go of its memory, and the next text loads the model anew."""
    embedder = OnnxEmbedder(write_folder(tmp_path / "m"))
    before = embedder.embed(["bread"])
    embedder.close()
    assert np.array_equal(embedder.embed(["bread"]), before)


def broken(tmp_path: Path, how: str) -> Path:
    folder = tmp_path / "m"
    if how == "no folder":
        return folder
    write_folder(folder)
    if how == "no weights":
        (folder / "onnx/model.onnx").unlink()
    elif how == "no tokenizer":
        (folder / "tokenizer.json").unlink()
    elif how == "two models":
        (folder / "onnx/model.onnx").rename(folder / "onnx/one.onnx")
        tiny_models.write_weights(folder / "onnx/two.onnx")
    elif how == "cut weights":
        data = (folder / "onnx/model.onnx").read_bytes()
        (folder / "onnx/model.onnx").write_bytes(data[: len(data) // 2])
    elif how == "bad tokenizer":
        (folder / "tokenizer.json").write_text("{}")
    elif how == "bad config":
        (folder / "config.json").write_text("{")
    elif how == "list for config":
        (folder / "config.json").write_text("[]")
    elif how == "unknown pooling":
        write_folder(folder, files={"1_Pooling/config.json": {"pooling_mode_lasttoken": True}})
    elif how == "unknown input":
        tiny_models.write_weights(folder / "onnx/model.onnx", inputs=("input_ids", "pixel_values"))
    return folder


@pytest.mark.parametrize(
    "how",
    [
        "no folder",
        "no weights",
        "no tokenizer",
        "two models",
        "cut weights",
        "bad tokenizer",
        "bad config",
        "list for config",
        "unknown pooling",
        "unknown input",
    ],
)
def test_a_model_that_cannot_be_used_is_named(tmp_path: Path, how: str):
    """Each way a folder can be wrong is one typed error that names the folder and says what to do."""
    with pytest.raises(ModelUnusable) as fault:
        OnnxEmbedder(broken(tmp_path, how)).embed(["bread"])
    assert str(tmp_path) in str(fault.value)
    assert fault.value.hint


def test_numbers_that_are_none_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A model that gives NaN never puts one into an index."""
    bad = np.full((len(tiny_models.TOKENS), SIZE), np.nan, dtype=np.float32)
    monkeypatch.setattr(tiny_models, "table", lambda _seed=0: bad)
    with pytest.raises(ModelUnusable, match="not finite"):
        OnnxEmbedder(write_folder(tmp_path / "m")).embed(["bread"])


def test_a_missing_runtime_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Without onnxruntime the message says how to install it and what does without."""
    monkeypatch.setattr(onnx, "is_runtime_installed", lambda: False)
    with pytest.raises(EnvironmentFault) as fault:
        OnnxEmbedder(write_folder(tmp_path / "m")).embed(["bread"])
    assert "infold[onnx]" in fault.value.hint
    assert "static" in fault.value.hint


def test_a_folder_may_speak_for_itself(tmp_path: Path):
    """infold.json beside a model counts before every guess."""
    own = {"pooling": "mean", "max_tokens": 9, "query_prefix": "", "passage_prefix": ""}
    folder = write_folder(tmp_path / "bge-e5-whatever")
    (folder / "infold.json").write_text(json.dumps(own))
    model = read_folder(folder)
    assert (model.pooling, model.max_tokens, model.query_prefix, model.passage_prefix) == ("mean", 9, "", "")
