"""The models that `infold models pull` knows: where each lies, which bytes it is, and how it is read.

Each file is pinned by its hash, so it does not matter who hands it over. Any other model works from a folder.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from infold.search.embed.embedder import MODEL_WEIGHT


@dataclass(frozen=True, slots=True)
class ModelFile:
    """One file of a model, by its place in the repository and in the folder."""

    path: str
    size_bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class KnownModel:
    """A model to pull. `reading` is what the folder says about itself in infold.json."""

    name: str
    repository: str
    revision: str
    licence: str
    languages: str
    dimensions: int
    files: tuple[ModelFile, ...]
    reading: dict[str, Any]
    weight: float = MODEL_WEIGHT  # measured for MiniLM, taken to be no less for the others

    @property
    def size_bytes(self) -> int:
        """What has to be downloaded."""
        return sum(file.size_bytes for file in self.files)


MODELS: Final = (
    KnownModel(
        name="all-MiniLM-L6-v2",
        repository="Xenova/all-MiniLM-L6-v2",
        revision="751bff37182d3f1213fa05d7196b954e230abad9",
        licence="Apache-2.0",
        languages="English",
        dimensions=384,
        files=(
            ModelFile("tokenizer.json", 711_661, "da0e79933b9ed51798a3ae27893d3c5fa4a201126cef75586296df9b4d2c62a0"),
            ModelFile(
                "onnx/model_quantized.onnx",
                22_972_370,
                "afdb6f1a0e45b715d0bb9b11772f032c399babd23bfc31fed1c170afc848bdb1",
            ),
        ),
        reading={"pooling": "mean", "max_tokens": 256, "query_prefix": "", "passage_prefix": ""},
    ),
    KnownModel(
        name="bge-small-en-v1.5",
        repository="Xenova/bge-small-en-v1.5",
        revision="ea104dacec62c0de699686887e3f920caeb4f3e3",
        licence="MIT",
        languages="English",
        dimensions=384,
        files=(
            ModelFile("tokenizer.json", 711_396, "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66"),
            ModelFile(
                "onnx/model_quantized.onnx",
                34_014_426,
                "6c9c6101a956d62dfb5e7190c538226c0c5bb9cb27b651234b6df063ee7dbfe4",
            ),
        ),
        reading={
            "pooling": "cls",
            "max_tokens": 512,
            "query_prefix": "Represent this sentence for searching relevant passages: ",
            "passage_prefix": "",
        },
    ),
    KnownModel(
        name="multilingual-e5-small",
        repository="Xenova/multilingual-e5-small",
        revision="761b726dd34fb83930e26aab4e9ac3899aa1fa78",
        licence="MIT",
        languages="about 100",
        dimensions=384,
        files=(
            ModelFile("tokenizer.json", 17_082_730, "0b44a9d7b51c3c62626640cda0e2c2f70fdacdc25bbbd68038369d14ebdf4c39"),
            ModelFile(
                "onnx/model_quantized.onnx",
                118_308_185,
                "f80102d3f2a1229f387d3c81909990d8945513e347b0eab049f7de3c6f98c193",
            ),
        ),
        reading={"pooling": "mean", "max_tokens": 512, "query_prefix": "query: ", "passage_prefix": "passage: "},
    ),
)


def known_model(name: str) -> KnownModel | None:
    """The model of that name; the repository it comes from names it too."""
    return next((model for model in MODELS if name in {model.name, model.repository}), None)
