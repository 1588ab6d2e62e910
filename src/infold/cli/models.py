"""`infold models`: which embedding models there are, getting one, putting one to use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from infold.cli.options import Call, placeless_command
from infold.cli.progress import Stages
from infold.errors import ModelUnusable, UsageError
from infold.operations.contract import Message
from infold.search.embed import model_catalog
from infold.search.embed.download import pull as fetch
from infold.search.embed.embedder import MODEL_WEIGHT, STATIC_WEIGHT
from infold.search.embed.model_catalog import known_model
from infold.search.embed.model_folder import read_folder
from infold.search.embed.models import STATIC, models_home, name_in_use, register, registered
from infold.search.embed.models import use as choose
from infold.search.embed.onnx import is_runtime_installed
from infold.search.embed.static_embedder import StaticEmbedder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from infold.search.embed.models import LocalModel

ModelArgument = Annotated[
    str, typer.Argument(metavar="NAME", help="A name of `infold models list`.", show_default=False)
]
UseArgument = Annotated[
    str,
    typer.Argument(
        metavar="NAME|FOLDER",
        help="A name of `infold models list`, or the path of a folder with an ONNX model and its tokenizer.json.",
        show_default=False,
    ),
]
_IN_USE, _HERE, _TO_PULL = "in use", "here", "to pull"
_BYTES_A_STEP: Final = 1_000_000


class Listed(Message):
    """One model as it is shown. `state` is in use, here, to pull, or what is wrong with it."""

    name: str
    state: str
    size_bytes: int
    dimensions: int
    worth: float
    languages: str
    licence: str
    folder: str | None = None


@placeless_command
def list_(call: Call) -> int:
    """Show the embedding models: the bundled one, those that can be pulled, and folders of your own.

    A model's weight is what meaning counts beside keywords, which count 1, when both rank what a search finds.
    """
    listed = list(listing())
    if call.terminal.is_json:
        call.terminal.emit({"inUse": name_in_use() or STATIC, "models": [model.as_json() for model in listed]})
        return 0
    from rich.table import Column, Table

    columns = (Column("model", overflow="fold", min_width=21), "state", "size", "dim", "weight", "languages", "licence")
    table = Table(*columns, box=None, pad_edge=False)
    for model in listed:
        style = "bold" if model.state == _IN_USE else None
        size = f"{model.size_bytes / 1e6:,.0f} MB"
        table.add_row(
            model.name,
            model.state,
            size,
            str(model.dimensions),
            f"{model.worth:g}",
            model.languages,
            model.licence,
            style=style,
        )
    call.terminal.show(table)
    call.terminal.say()
    call.terminal.say("`infold models pull NAME` gets one; `infold models use NAME` or a folder puts it to use.")
    _say_what_is_missing(call)
    return 0


@placeless_command
def pull(call: Call, name: ModelArgument) -> int:
    """Get a model from its hub: checked byte for byte, and gone on with where it was stopped.

    HF_ENDPOINT names another hub or a mirror. Nothing else in infold needs the network for embeddings.
    """
    model = known_model(name)
    if model is None:
        raise UsageError(
            f"There is no model {name!r} to pull.",
            hint=f"There are {', '.join(known.name for known in model_catalog.MODELS)}; "
            "any other works from a folder with `infold models use FOLDER`.",
        )
    with Stages(call.terminal) as stages:
        is_new = fetch(
            model,
            models_home(),
            lambda here, total: stages("download", here // _BYTES_A_STEP, -(-total // _BYTES_A_STEP)),
        )
    folder = models_home() / model.name
    if is_runtime_installed():
        register(model.name)
    if call.terminal.is_json:
        call.terminal.emit({"name": model.name, "folder": str(folder), "pulled": is_new})
        return 0
    call.terminal.say(f"{model.name} {'is here now' if is_new else 'was here already'}: {folder}")
    if name_in_use() != model.name:
        call.terminal.say(f"`infold models use {model.name}` puts it to use.")
    _say_what_is_missing(call)
    return 0


@placeless_command
def use(call: Call, name: UseArgument) -> int:
    """Put a model to use, for every vault of yours; `static` goes back to the bundled one.

    The model embeds a sentence first, so that one that does not work is never in use. The next index or search then
    embeds what has no vector of this model yet; vectors of models that were in use before are kept.
    """
    known = known_model(name)
    from pathlib import Path

    own = [model.name for model in registered()]
    if known is None and name not in (STATIC, *own) and not Path(name).exists():
        names = dict.fromkeys((STATIC, *own, *(model.name for model in model_catalog.MODELS)))
        raise UsageError(f"There is no model or folder {name!r}.", hint=f"There are {', '.join(names)}, or a folder.")
    model = choose(known.name if known else name)
    if model is None:
        if call.terminal.is_json:
            call.terminal.emit({"inUse": STATIC})
        call.terminal.say("The bundled static model is in use.")
        return 0
    if call.terminal.is_json:
        call.terminal.emit({"inUse": model.name, "folder": model.folder, "dimensions": model.size})
        return 0
    call.terminal.say(f"{model.name} is in use: {model.size} dimensions, weight {MODEL_WEIGHT:g}.")
    call.terminal.say(f"It is read so: {_reading(model)}.")
    call.terminal.say("Where search.embedding is auto or onnx, `infold index` now gives every passage its new vector.")
    return 0


def listing() -> Iterator[Listed]:
    """The static model, the catalogue, then the user's own folders."""
    chosen = name_in_use()
    state = _HERE if chosen else _IN_USE
    yield Listed(
        name=STATIC,
        state=state,
        size_bytes=StaticEmbedder.bytes_on_disk,
        dimensions=StaticEmbedder.size,
        worth=STATIC_WEIGHT,
        languages="mostly English",
        licence="MIT",
    )
    known = {model.name for model in registered()}
    for model in model_catalog.MODELS:
        folder = models_home() / model.name
        state = (_IN_USE if chosen == model.name else _HERE) if folder.is_dir() else _TO_PULL
        if chosen == model.name and state == _TO_PULL:
            state = "in use, but gone"
        yield Listed.of(model, worth=model.weight, state=state, folder=str(folder) if folder.is_dir() else None)
    for own in registered():
        if own.name in known - {model.name for model in model_catalog.MODELS}:
            size, fault = _own(own)
            state = fault or (_IN_USE if chosen == own.name else _HERE)
            yield Listed(
                name=own.name,
                state=state,
                size_bytes=size,
                dimensions=own.size,
                worth=MODEL_WEIGHT,
                languages="its own",
                licence="its own",
                folder=own.folder,
            )


def _own(model: LocalModel) -> tuple[int, str]:
    """The size of a folder's model in bytes, and what is wrong with it, if anything."""
    from pathlib import Path

    try:
        return sum(file.stat().st_size for file in read_folder(Path(model.folder)).files), ""
    except ModelUnusable:
        return 0, "gone"


def _reading(model: LocalModel) -> str:
    from pathlib import Path

    folder = read_folder(Path(model.folder))
    pooled = "the mean of the tokens" if folder.pooling == "mean" else "the first token"
    prefixes = [
        f"{prefix!r} before a {of}"
        for of, prefix in (("query", folder.query_prefix), ("passage", folder.passage_prefix))
        if prefix
    ]
    return ", ".join([folder.weights.name, pooled, f"texts cut at {folder.max_tokens} tokens", *prefixes])


def _say_what_is_missing(call: Call) -> None:

    if not is_runtime_installed():
        call.terminal.notice("Models other than static need onnxruntime: pip install 'infold[onnx]'", style="yellow")
