"""Real ONNX models of a few hundred bytes, laid out as hubs, sentence-transformers and fastembed lay them out.

A word's vector is a row of a random table. `scaled` sends it through 8-bit numbers scaled by the largest in the whole
batch, as dynamic quantisation does: embedded in a batch such a model gives other vectors than alone.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, pre_tokenizers, processors

WORDS: Final = ("bread", "dough", "levain", "oven", "bicycle", "chain", "query", "passage", ":", "a", "the", "of")
TOKENS: Final = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", *WORDS)
SIZE: Final = 8


def table(seed: int = 0) -> np.ndarray:
    """The vector of each token."""
    return np.random.default_rng(seed).normal(size=(len(TOKENS), SIZE)).astype(np.float32)


def ids(text: str) -> list[int]:
    """The tokens of a text of known words, with those around it."""
    return [TOKENS.index(word) for word in ("[CLS]", *text.split(), "[SEP]")]


def write_weights(
    file: Path,
    *,
    seed: int = 0,
    pooled: str | None = None,
    inputs: tuple[str, ...] = ("input_ids", "attention_mask", "token_type_ids"),
    scaled: bool = False,
    beside: str | None = None,
) -> None:
    """A model that looks tokens up. `pooled` names an output of one vector a text; `beside` one that misleads."""
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["looked_up"])]
    state = "looked_up"
    if scaled:
        nodes += [
            helper.make_node("DynamicQuantizeLinear", [state], ["bytes", "scale", "zero"]),
            helper.make_node("DequantizeLinear", ["bytes", "scale", "zero"], ["rough"]),
        ]
        state = "rough"
    outputs = []
    if beside is not None:
        nodes.append(helper.make_node("Sin", ["one"], ["sine"]))
        nodes.append(helper.make_node("Expand", ["sine", "two"], [beside]))
        outputs.append(helper.make_tensor_value_info(beside, TensorProto.FLOAT, [1, SIZE]))
    if pooled:
        nodes.append(helper.make_node("ReduceSum", [state, "axis"], [pooled], keepdims=0))
        outputs.append(helper.make_tensor_value_info(pooled, TensorProto.FLOAT, ["batch", SIZE]))
    else:
        nodes.append(helper.make_node("Identity", [state], ["last_hidden_state"]))
        outputs.append(helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["batch", "tokens", SIZE]))
    graph = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"]) for name in inputs],
        outputs,
        [
            numpy_helper.from_array(table(seed), "table"),
            numpy_helper.from_array(np.array([1], dtype=np.int64), "axis"),
            numpy_helper.from_array(np.array([1.0], dtype=np.float32), "one"),
            numpy_helper.from_array(np.array([1, SIZE], dtype=np.int64), "two"),
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(model.SerializeToString())


def write_tokenizer(file: Path) -> None:
    """A tokenizer of the known words; every other word is [UNK]. It pads and cuts as hubs leave it set."""
    tokenizer = Tokenizer(models.WordLevel({token: number for number, token in enumerate(TOKENS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer.enable_padding(length=128)
    tokenizer.enable_truncation(128)
    file.parent.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(file))


def write_folder(
    folder: Path, weights: str = "onnx/model.onnx", *, files: dict[str, Any] | None = None, **how: Any
) -> Path:
    """A whole model folder; `files` are JSON files beside the model, by their path."""
    write_weights(folder / weights, **how)
    write_tokenizer(folder / "tokenizer.json")
    for name, content in (files or {}).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(json.dumps(content))
    return folder
