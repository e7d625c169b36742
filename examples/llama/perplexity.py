"""The perplexity of the model beside this file on English that comes with Python, in several formats.

python examples/llama/perplexity.py --tokens 2048
"""

import argparse
import math
import sys
import time
from pathlib import Path

import torch

sys.path.append(str(Path(__file__).resolve().parents[1]))

import chat
from llama.generate import BLOCK_SIZE
from llama.model import Cache, Llama, Step, prompt_mask
from llama.quantized import quantize
from llama.weights import from_transformers

FORMS = ("float32", "bfloat16", "float16", "w8a8", "w8a16", "w4a16")


def english() -> str:
    """Python's help topics, 0.75 MB."""
    from pydoc_data.topics import topics

    return "\n".join(topics[name] for name in sorted(topics))


def negative_logarithms(model: Llama, tokens: list[int], window: int = 256) -> torch.Tensor:
    """The negative logarithm of each token's probability but the first of each window of ``window`` tokens, on the CPU."""
    device = model.embeddings.weight.device
    found = []
    pages = math.ceil(window / BLOCK_SIZE)
    cache = Cache(model.config, pages, BLOCK_SIZE, model.embeddings.weight.dtype, str(device))
    mask = prompt_mask(device)
    for begin in range(0, len(tokens) - 1, window):
        part = torch.tensor(tokens[begin : begin + window], device=device)
        count = len(part)
        if count < 2:
            break
        places = torch.arange(count, device=device)
        page_numbers = torch.arange(pages, dtype=torch.int32, device=device).unsqueeze(0)
        step = Step(part, places, places, page_numbers, [count], [count], places[:-1], mask)
        with torch.no_grad():
            logits = model(step, cache).float()
        found.append(torch.nn.functional.cross_entropy(logits, part[1:], reduction="none").cpu())
    return torch.cat(found)


def main(arguments: list[str] | None = None) -> int:
    """Prints a table of formats; 1 after an error, which is one line."""
    parser = argparse.ArgumentParser(description="Perplexity by format.")
    parser.add_argument("--model", type=Path, help="a GGUF file, or a folder with safetensors")
    parser.add_argument("--tokens", type=int, default=2048, help="of the text, at most")
    parser.add_argument("--forms", nargs="+", choices=FORMS, default=FORMS)
    options = parser.parse_args(arguments)
    try:
        loaded = chat.Chat(options.model or chat.packaged_model(), "cpu")
    except chat.ModelError as error:
        print(f"perplexity: {error}", file=sys.stderr)
        return 1
    tokens = loaded.tokenizer(english()[: 8 * options.tokens])["input_ids"][: options.tokens]
    print(f"{'format':10}{'perplexity':>12}{'seconds':>10}")
    for variant in options.forms:
        dtype = getattr(torch, variant) if variant in FORMS[:3] else torch.float32
        model = from_transformers(loaded.model, "npu", dtype)
        if dtype == torch.float32 and variant != "float32":
            quantize(model, variant)
        begin = time.perf_counter()
        result = math.exp(negative_logarithms(model, tokens).mean().item())
        print(f"{variant:10}{result:12.4f}{time.perf_counter() - begin:10.1f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
