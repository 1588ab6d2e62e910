"""What a folder with an ONNX embedding model says about itself: which file to run, and how to read what comes out.

Model hubs, sentence-transformers and fastembed lay such folders out differently; all of them are understood. What a
folder leaves open is guessed from the family that its name tells. Running the model belongs to `search.embed.onnx`.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from infold.errors import ModelUnusable

MAX_TOKENS: Final = 256  # of a text; 512 measured no better with MiniLM, and cost twice as much
OWN_FILE: Final = "infold.json"  # what infold writes beside a model that it pulled; counts before everything else
_WEIGHTS: Final = (
    "onnx/model_quantized.onnx",
    "onnx/model_int8.onnx",
    "model_quantized.onnx",
    "model_optimized.onnx",
    "onnx/model.onnx",
    "model.onnx",
)
_HASHED_AT_ONCE_BYTES: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class _Family:
    """What models of a name are known to want."""

    mark: str  # in the model's name
    pooling: str
    query_prefix: str = ""
    passage_prefix: str = ""


_FAMILIES: Final = (
    _Family("e5-", "mean", "query: ", "passage: "),
    _Family("bge-m3", "cls"),
    _Family("bge-", "cls", "Represent this sentence for searching relevant passages: "),
    _Family("arctic-embed", "cls", "Represent this sentence for searching relevant passages: "),
    _Family("mxbai-embed", "cls", "Represent this sentence for searching relevant passages: "),
)


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """A model and how it is read. Texts are cut at `max_tokens`; `pooling` is mean or cls, for outputs a token."""

    folder: Path
    weights: Path
    tokenizer: Path
    pooling: str
    max_tokens: int
    query_prefix: str = ""
    passage_prefix: str = ""

    @property
    def files(self) -> tuple[Path, ...]:
        """Everything that vectors come from: a large model keeps its weights in a second file."""
        beside = (self.weights.with_name(f"{self.weights.name}{suffix}") for suffix in ("_data", ".data"))
        return (self.weights, *(file for file in beside if file.is_file()), self.tokenizer)

    def stamp(self) -> list[list[int]]:
        """Size and time of each file: while it stays the same, so does the fingerprint."""
        return [[status.st_size, status.st_mtime_ns] for status in (file.stat() for file in self.files)]

    def fingerprint(self) -> str:
        """Twelve digits that change with whatever changes a vector: the weights, the tokenizer, how they are read."""
        digest = hashlib.sha256(
            json.dumps([self.pooling, self.max_tokens, self.query_prefix, self.passage_prefix]).encode()
        )
        for file in self.files:
            with file.open("rb") as content:
                while block := content.read(_HASHED_AT_ONCE_BYTES):
                    digest.update(block)
        return digest.hexdigest()[:12]


def read_folder(folder: Path) -> ModelFolder:
    """What the folder holds. Raises ModelUnusable, naming what is missing or not understood."""
    folder = folder.expanduser().absolute()
    if not folder.is_dir():
        raise ModelUnusable(f"There is no folder {folder}.", hint="Name the folder that holds the model.")
    weights = _weights(folder)
    tokenizer = folder / "tokenizer.json"
    if not tokenizer.is_file():
        raise ModelUnusable(
            f"{folder} has no tokenizer.json.", hint="Put the tokenizer.json of the model into the folder."
        )
    own = _json(folder / OWN_FILE)
    config = _json(folder / "config.json")
    family = _family(f"{config.get('_name_or_path') or ''} {folder.name}")
    prompts = _json(folder / "config_sentence_transformers.json").get("prompts") or {}
    passage = next((prompts[name] for name in ("passage", "document") if prompts.get(name)), family.passage_prefix)
    return ModelFolder(
        folder=folder,
        weights=weights,
        tokenizer=tokenizer,
        pooling=own.get("pooling") or _pooling(folder) or family.pooling,
        max_tokens=min(MAX_TOKENS, _longest(folder, config, own)),
        query_prefix=own.get("query_prefix", prompts.get("query") or family.query_prefix),
        passage_prefix=own.get("passage_prefix", passage),
    )


def _weights(folder: Path) -> Path:
    for name in _WEIGHTS:
        if (folder / name).is_file():
            return folder / name
    others = sorted(file.relative_to(folder).as_posix() for file in folder.glob("**/*.onnx"))
    if len(others) == 1:
        return folder / others[0]
    if not others:
        raise ModelUnusable(
            f"{folder} has no ONNX model.",
            hint="It needs onnx/model.onnx, onnx/model_quantized.onnx or model.onnx; "
            "a model of PyTorch weights alone has to be exported first.",
        )
    raise ModelUnusable(
        f"{folder} has {len(others)} ONNX models and none is named model.onnx: {', '.join(others[:5])}.",
        hint="Copy the one to use, with its tokenizer.json, to a folder of its own.",
    )


def _pooling(folder: Path) -> str | None:
    """As 1_Pooling/config.json says, in its old form (a flag a mode) or its new one (the mode's name)."""
    config = _json(folder / "1_Pooling" / "config.json")
    named = config.get("pooling_mode")
    modes = [named] if isinstance(named, str) else [name for name, wanted in config.items() if wanted is True]
    known = {"pooling_mode_mean_tokens": "mean", "mean": "mean", "pooling_mode_cls_token": "cls", "cls": "cls"}
    modes = [mode for mode in modes if mode.startswith("pooling_mode_") or mode == named]
    if not modes:
        return None
    if len(modes) > 1 or modes[0] not in known:
        raise ModelUnusable(
            f"{folder} pools its tokens by {', '.join(modes)}, which infold does not know.",
            hint="Models that pool by mean or by the first token (cls) work.",
        )
    return known[modes[0]]


def _longest(folder: Path, config: dict[str, Any], own: dict[str, Any]) -> int:
    """How many tokens the model takes. Some say so with a number beyond all bounds, which means nothing."""
    said = (
        own.get("max_tokens"),
        _json(folder / "sentence_bert_config.json").get("max_seq_length"),
        _json(folder / "tokenizer_config.json").get("model_max_length"),
        config.get("max_position_embeddings"),
    )
    return min((int(number) for number in said if isinstance(number, int | float) and number >= 1), default=MAX_TOKENS)


def _family(names: str) -> _Family:
    lower = names.lower()
    return next((family for family in _FAMILIES if family.mark in lower), _Family("", "mean"))


def _json(file: Path) -> dict[str, Any]:
    """The object in a file; an empty one where there is no file. Raises ModelUnusable for anything else."""
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise ModelUnusable(f"{file} cannot be read: {error}.", hint="Get the model's folder anew.") from error
    if not isinstance(content, dict):
        raise ModelUnusable(f"{file} is not a JSON object.", hint="Get the model's folder anew.")
    return content
