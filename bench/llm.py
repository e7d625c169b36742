"""A language model: examples/llama on npu against transformers on the CPU, and its forms against each other."""

import sys
from collections.abc import Callable
from pathlib import Path

import torch
from interleave import Row
from torch import Tensor

sys.path.append(str(Path(__file__).resolve().parents[1] / "examples"))

import chat
from llama.captured import CapturedSteps
from llama.generate import Generator, Text
from llama.model import Llama
from llama.quantized import quantize
from llama.weights import from_transformers

TEXT = list(range(1000, 1512))


def _step(model: Llama, context: int, count: int = 1, *, captures: bool = False) -> Callable:
    """A step of one token in each of ``count`` sequences after ``context`` tokens, which can be repeated."""
    one = Generator(model, pages=count * (context // 16 + 2))
    texts = [Text(TEXT[i : i + context - 8] + TEXT[:8]) for i in range(count)]
    one.logits(texts)
    for text in texts:
        text.tokens.append(TEXT[0])
    step = one.step(texts)
    run = CapturedSteps(model, one.cache) if captures else model

    @torch.no_grad()
    def call() -> Tensor:
        return run(step) if captures else run(step, one.cache)

    return call


def _prompt(model: Llama, length: int) -> Callable:
    one = Generator(model, pages=length // 16 + 1)
    step = one.step([Text(TEXT[:length])])
    return torch.no_grad()(lambda: model(step, one.cache))


def _cpu_prompt(model: torch.nn.Module, length: int) -> Callable:
    tokens = torch.tensor([TEXT[:length]])
    return torch.no_grad()(lambda: model(tokens, logits_to_keep=1).logits)


def _cpu_step(model: torch.nn.Module, context: int) -> Callable:
    token = torch.tensor([[TEXT[0]]])
    with torch.no_grad():
        cache = model(torch.tensor([TEXT[:context]])).past_key_values

    @torch.no_grad()
    def call() -> Tensor:
        logits = model(token, past_key_values=cache).logits
        cache.crop(-1)
        return logits

    return call


def llm() -> list[Row]:
    """Prompts and steps on both devices; batches, graphs and quantized weights against one plain step on npu."""
    reference = chat.Chat(chat.packaged_model(), "cpu").model
    model = from_transformers(reference)
    rows = [
        Row(f"prompt of {n}", _prompt(model, n), _cpu_prompt(reference, n), 2)
        for n in (16, 128, 512)
    ]
    rows += [Row(f"step after {n}", _step(model, n), _cpu_step(reference, n), 5) for n in (16, 512)]
    plain = _step(model, 16)
    eight = [plain] * 8
    rows += [
        Row("step of 8 sequences", _step(model, 16, 8), lambda: [call() for call in eight], 2, "8 steps of one"),
        Row("step as a graph", _step(model, 16, captures=True), plain, 5, "npu eager"),
    ]  # fmt: skip
    rows += [
        Row(f"step of {variant}", _step(quantize(from_transformers(reference), variant), 16), plain, 5, "npu float32")
        for variant in ("w8a8", "w8a16", "w4a16")
    ]  # fmt: skip
    half = from_transformers(reference, dtype=torch.bfloat16)
    return [*rows, Row("step of bfloat16", _step(half, 16), plain, 5, "npu float32")]
