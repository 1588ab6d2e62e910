"""Which local models there are, and the one in use: for every vault of this machine's user.

A model that was pulled lies in the state home, one of the user's own stays where it is; `models.json` remembers both
with what running them has shown. Reading it is all that choosing a model costs. Pulling belongs to
`search.embed.download`.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from infold.durable.files import Disk
from infold.errors import ModelUnusable
from infold.home import state_home
from infold.search.embed.similarity_threshold import measured_floor

if TYPE_CHECKING:
    from infold.search.embed.onnx import OnnxEmbedder

STATIC: Final = "static"  # what `use` takes to go back to the model in the wheel
_REGISTER: Final = "models.json"
_PROOF: Final = "The model reads one sentence before it is used."


class LocalModel(NamedTuple):
    """A model that has run here. `name` is its name in the catalogue, or its folder where it is not of it."""

    name: str
    folder: str
    fingerprint: str
    size: int
    stamp: list[list[int]]
    floor: float | None = None


def models_home() -> Path:
    """The folder of the models that were pulled and of the register."""
    return state_home() / "models"


def registered() -> tuple[LocalModel, ...]:
    """Every model that was pulled or used, whether or not its files are still there."""
    return tuple(_read().values())


def name_in_use() -> str | None:
    """The model that `use` chose last; None for the static one."""
    name = _content().get("in_use")
    return name if isinstance(name, str) else None


def find_local_model(name: str | None = None) -> OnnxEmbedder | None:
    """The model of that name, else the one in use, where it is here and can run here; None otherwise.

    Without a model in use this reads one small file, or finds none.
    """
    wanted = name if name is not None and _folder_of(name) is not None else name_in_use()
    if wanted is None:
        return None
    from infold.search.embed.onnx import is_runtime_installed

    if not is_runtime_installed():
        return None
    with contextlib.suppress(ModelUnusable):  # `infold models list` and `infold doctor` say what is wrong with it
        return open_model(wanted)
    return None


def open_model(name: str | None = None) -> OnnxEmbedder:
    """The model of that name or folder, else the one in use. Raises ModelUnusable, saying how to get one."""
    from infold.search.embed.model_folder import read_folder
    from infold.search.embed.onnx import Measured, OnnxEmbedder

    wanted = name or name_in_use()
    if wanted is None:
        raise ModelUnusable(
            "No ONNX model is in use.",
            hint="`infold models pull all-MiniLM-L6-v2` gets one, `infold models use all-MiniLM-L6-v2` puts it to use.",
        )
    folder = _folder_of(wanted)
    if folder is None:
        raise ModelUnusable(
            f"There is no model {wanted!r} here.",
            hint=f"`infold models pull {wanted}` gets it where `infold models list` names it; a folder is named by its "
            f"path, such as ./{wanted}.",
        )
    model = read_folder(folder)
    known = _read().get(_name_of(folder))
    is_same = known is not None and known.stamp == model.stamp()
    return OnnxEmbedder(model, Measured(known.fingerprint, known.size, known.floor) if known and is_same else None)


def upgrade_hint() -> str:
    """What a local model would give beside the bundled embeddings, and how to get one."""
    from infold.search.embed.onnx import is_runtime_installed

    runtime = "" if is_runtime_installed() else "pip install 'infold[onnx]', then "
    return (
        "A small language model finds what is said in other words, at some 100 passages a second on two cores: "
        f"{runtime}`infold models pull all-MiniLM-L6-v2` (24 MB) and `infold models use all-MiniLM-L6-v2`."
    )


def use(name: str) -> LocalModel | None:
    """Makes this model, or the one in this folder, the model in use; `static` gives None and takes the bundled one.

    The model has to embed a sentence first. Raises ModelUnusable where it cannot, EnvironmentFault without onnxruntime.
    """
    if name == STATIC:
        _write(_read(), None)
        return None
    model = register(name)
    _write(_read(), model.name)
    return model


def register(name: str) -> LocalModel:
    """Runs the model of this name or folder once and remembers what that showed. Raises as `use` does."""
    embedder = open_model(name)
    with contextlib.closing(embedder):
        vector = embedder.embed_query(_PROOF)
        if not vector.any():
            raise ModelUnusable(f"{embedder.model.weights} gives a vector of zeros.", hint="Use another model.")
        folder = embedder.model.folder
        model = LocalModel(
            name=_name_of(folder),
            folder=str(folder),
            fingerprint=embedder.name.rpartition("@")[2],
            size=len(vector),
            stamp=embedder.model.stamp(),
            floor=measured_floor(embedder),
        )
    _write({**_read(), model.name: model}, name_in_use())
    return model


def _folder_of(name: str) -> Path | None:
    """Where the model of that name lies, or should: a path is itself, a bare word never a folder beside the caller."""
    if Path(name).name != name or name in {".", "..", "~"}:
        return Path(name).expanduser().absolute()
    pulled = models_home() / name
    return pulled if pulled.is_dir() else None


def _name_of(folder: Path) -> str:
    return folder.name if folder.parent == models_home() else str(folder)


def _content() -> dict[str, Any]:
    """The register; an empty one where there is none, or none that can be read."""
    try:
        content = json.loads((models_home() / _REGISTER).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def _read() -> dict[str, LocalModel]:
    return {model.name: model for model in _records(_content().get("models"))}


def _records(listed: object) -> Iterator[LocalModel]:
    for record in listed if isinstance(listed, list) else ():
        with contextlib.suppress(TypeError):  # of another version of infold: `use` writes it anew
            yield LocalModel(**record)


def _write(models: dict[str, LocalModel], in_use: str | None) -> None:
    disk = Disk()
    disk.make_folder(models_home())
    content = {"in_use": in_use, "models": [model._asdict() for model in models.values()]}
    disk.write_whole(models_home() / _REGISTER, (json.dumps(content, indent=2) + "\n").encode())
