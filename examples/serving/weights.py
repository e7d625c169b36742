"""A folder with config.json, tokenizer and safetensors, which servers read, from the GGUF file of examples/chat.py.

python examples/serving/weights.py FOLDER
"""

import argparse
import sys
from pathlib import Path

import torch

sys.path.append(str(Path(__file__).resolve().parents[1]))

import chat


def export(folder: Path, dtype: torch.dtype = torch.float32) -> None:
    """Writes the packaged model, dequantized, to ``folder``.

    Raises:
        chat.ModelError: the package is not installed, or its file is damaged.
    """
    from transformers import AutoModelForCausalLM

    source = chat.Chat(chat.packaged_model(), "cpu", dtype)
    config = source.model.config
    del config.quantization_config  # of the file: the weights below are plain
    plain = AutoModelForCausalLM.from_config(config, dtype=dtype)
    plain.load_state_dict(source.model.state_dict())
    plain.save_pretrained(folder)
    source.tokenizer.save_pretrained(folder)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Writes safetensors of the packaged model.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--dtype", choices=("float32", "bfloat16", "float16"), default="float32")
    given = parser.parse_args()
    export(given.folder, getattr(torch, given.dtype))
