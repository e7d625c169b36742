"""Batches of prompts of different lengths, continued by the model beside this file.

python examples/llama/generate.py "The sea is" "Once upon a time"
"""

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import torch
from torch import Tensor

sys.path.append(str(Path(__file__).resolve().parents[1]))

import chat
from llama.captured import CapturedSteps
from llama.model import Cache, Llama, Step, prompt_mask
from llama.weights import from_transformers

BLOCK_SIZE = 16


class FullCacheError(RuntimeError):
    """The cache has no page left; the text says how many there are."""


@dataclass
class Text:
    """One prompt and its continuation."""

    tokens: list[int]
    pages: list[int] = field(default_factory=list)
    cached: int = 0  # tokens whose keys and values are in the cache


class Generator:
    """Continues sequences together; equal beginnings of whole pages share their keys and values."""

    def __init__(self, model: Llama, pages: int = 512, *, captures: bool = False) -> None:
        """A cache of ``pages`` pages; ``captures``: steps of one token a sequence are graphs."""
        weight = model.embeddings.weight
        self.model, self.device = model, str(weight.device)
        self.cache = Cache(model.config, pages, BLOCK_SIZE, weight.dtype, self.device)
        self._free = list(range(pages))
        self._known: dict[tuple[int, ...], int] = {}  # the tokens up to a page's end, and the page
        self._uses = [0] * pages
        self._mask = prompt_mask(self.device)
        self._captured = CapturedSteps(model, self.cache) if captures else None
        self.reused = 0  # tokens that were found in the cache

    def _take_page(self) -> int:
        while not self._free:
            unused = next((key for key, page in self._known.items() if not self._uses[page]), None)
            if unused is None:
                raise FullCacheError(
                    f"all {len(self._uses)} pages of the cache are in use: ask for fewer tokens or sequences"
                )
            self._free.append(self._known.pop(unused))
        page = self._free.pop()
        self._uses[page] = 1
        return page

    def _share_prefix(self, sequence: Text) -> None:
        """Takes the pages that another sequence filled with the same beginning; one token is left to compute."""
        whole = (len(sequence.tokens) - 1) // BLOCK_SIZE
        for at in range(1, whole + 1):
            page = self._known.get(tuple(sequence.tokens[: at * BLOCK_SIZE]))
            if page is None:
                break
            self._uses[page] += 1
            sequence.pages.append(page)
        sequence.cached = len(sequence.pages) * BLOCK_SIZE
        self.reused += sequence.cached

    def _release(self, sequence: Text) -> None:
        for at, page in enumerate(sequence.pages, 1):
            self._uses[page] -= 1
            key = tuple(sequence.tokens[: at * BLOCK_SIZE])
            if at * BLOCK_SIZE <= sequence.cached and self._known.setdefault(key, page) == page:
                continue
            if not self._uses[page]:
                self._free.append(page)
        sequence.pages.clear()

    def step(self, sequences: Sequence[Text]) -> Step:
        """The tokens of ``sequences`` that are not in the cache, with pages for them.

        Raises:
            FullCacheError: no page is left.
        """
        tokens: list[int] = []
        positions: list[int] = []
        slots: list[int] = []
        ends: list[int] = []
        for one in sequences:
            while len(one.pages) * BLOCK_SIZE < len(one.tokens):
                one.pages.append(self._take_page())
            new = range(one.cached, len(one.tokens))
            tokens += one.tokens[one.cached :]
            positions += new
            slots += [one.pages[at // BLOCK_SIZE] * BLOCK_SIZE + at % BLOCK_SIZE for at in new]
            ends.append(len(tokens))
        width = max(len(one.pages) for one in sequences)
        pages = [one.pages + [0] * (width - len(one.pages)) for one in sequences]

        def on_device(values: list, dtype: torch.dtype = torch.int64) -> Tensor:
            return torch.tensor(values, dtype=dtype).to(self.device, non_blocking=True)

        return Step(
            on_device(tokens),
            on_device(positions),
            on_device(slots),
            on_device(pages, torch.int32),
            ends,
            [len(one.tokens) for one in sequences],
            on_device([end - 1 for end in ends]),
            None if len(tokens) == len(sequences) else self._mask,
        )

    def logits(self, sequences: Sequence[Text]) -> Tensor:
        """The logits after each sequence, [B, vocabulary]; all its tokens are in the cache afterwards."""
        step = self.step(sequences)
        if self._captured is not None and step.mask is None:
            result = self._captured(step)
        else:
            with torch.no_grad():
                result = self.model(step, self.cache)
        for one in sequences:
            one.cached = len(one.tokens)
        return result

    def generate(
        self,
        prompts: Sequence[Sequence[int]],
        tokens: int,
        stop: int | None = None,
        temperature: float = 0.0,
        seed: int = 0,
    ) -> list[list[int]]:
        """The continuations of ``prompts``.

        Args:
            prompts: token numbers, none empty.
            tokens: of a continuation, at most.
            stop: the token that ends a continuation.
            temperature: 0 takes the most probable token; above, the drawn ones depend on ``seed`` alone.
            seed: of the draws.

        Raises:
            ValueError: a prompt is empty, or longer than the model reads.
            FullCacheError: the cache is too small for all of them.
        """
        limit = self.model.config.max_position_embeddings
        if not 0 <= tokens < limit:
            raise ValueError(f"{tokens} tokens to follow: the model reads {limit} with the prompt")
        for number, prompt in enumerate(prompts):
            if not 0 < len(prompt) <= limit - tokens:
                raise ValueError(
                    f"prompt {number} has {len(prompt)} tokens: it takes 1 to {limit - tokens}, with {tokens} to follow"
                )
        draws = torch.Generator(device=self.device).manual_seed(seed)
        sequences = [Text(list(prompt)) for prompt in prompts]
        try:
            for one in sequences:
                self._share_prefix(one)
            running = list(sequences)
            for _ in range(tokens):
                logits = self.logits(running)
                chosen = self._choose(logits, temperature, draws)
                for one, token in zip(running, chosen, strict=True):
                    one.tokens.append(token)
                running = [one for one in running if one.tokens[-1] != stop]
                if not running:
                    break
            return [
                one.tokens[len(prompt) :] for one, prompt in zip(sequences, prompts, strict=True)
            ]
        finally:
            for one in sequences:
                self._release(one)

    @staticmethod
    def _choose(logits: Tensor, temperature: float, draws: torch.Generator) -> list[int]:
        if not temperature:
            return logits.argmax(-1).tolist()
        shares = torch.softmax(logits.float() / temperature, -1)
        return torch.multinomial(shares, 1, generator=draws).flatten().tolist()


def main(arguments: list[str] | None = None) -> int:
    """Continues the prompts; 1 after an error, which is one line."""
    parser = argparse.ArgumentParser(description="Continues texts.")
    parser.add_argument("prompts", nargs="+")
    parser.add_argument("--model", type=Path, help="a GGUF file, or a folder with safetensors")
    parser.add_argument("--tokens", type=int, default=40, help="of a continuation, at most")
    parser.add_argument("--temperature", type=float, default=0.0)
    parser.add_argument("--dtype", choices=("float32", "bfloat16", "float16"), default="float32")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--captured", action="store_true", help="replays steps as graphs")
    options = parser.parse_args(arguments)
    try:
        loaded = chat.Chat(options.model or chat.packaged_model(), "cpu")
        model = from_transformers(loaded.model, "npu", getattr(torch, options.dtype))
        prompts = [loaded.tokenizer(text)["input_ids"] for text in options.prompts]
        begin = time.perf_counter()
        created = Generator(model, captures=options.captured).generate(
            prompts,
            options.tokens,
            loaded.tokenizer.eos_token_id,
            options.temperature,
            options.seed,
        )
    except (FullCacheError, ValueError) as error:
        print(f"generate: {error}", file=sys.stderr)
        return 1
    seconds = time.perf_counter() - begin
    for prompt, continuation in zip(options.prompts, created, strict=True):
        print(f"{prompt}{loaded.tokenizer.decode(continuation)}\n")
    count = sum(map(len, created))
    print(f"[{count} tokens of {len(created)} texts, {count / seconds:.1f} a second]")
    return 0


if __name__ == "__main__":
    sys.exit(main())
