"""The language model of examples/chat.py: answers on npu token for token as on the CPU, and its errors."""

import io
import sys
from pathlib import Path

import pytest
import torch

sys.path.append(str(Path(__file__).resolve().parents[2] / "examples"))

import chat

QUESTIONS = (
    "What is the capital of France?",
    "Name three colours.",
    "Write a sentence about the sea.",
    "How many legs does a spider have?",
)
TOKENS = 12


@pytest.fixture(scope="module")
def on_npu():
    return chat.Chat(chat.packaged_model(), "npu")


@pytest.fixture(scope="module")
def on_cpu():
    return chat.Chat(chat.packaged_model(), "cpu")


def answer(one, question):
    one.messages.clear()
    return "".join(one.ask(question, TOKENS))


@pytest.mark.parametrize("question", QUESTIONS)
def test_greedy_answers_are_the_cpus(on_npu, on_cpu, question):
    message = answer(on_npu, question)
    assert message
    assert message == answer(on_cpu, question)


def test_logits_are_the_cpus(on_npu, on_cpu):
    tokens = on_cpu.tokenizer(" ".join(QUESTIONS), return_tensors="pt")["input_ids"]
    with torch.no_grad():
        expected = on_cpu.model(tokens).logits
        actual = on_npu.model(tokens.npu()).logits.cpu()
    # Both sum some hundred products a layer in float32, in another order.
    layers, width = on_cpu.model.config.num_hidden_layers, on_cpu.model.config.hidden_size
    bound = layers * width**0.5 * 2**-23 * expected.abs().max()
    assert (actual - expected).abs().max() <= bound


def test_it_knows_the_earlier_answers(on_npu):
    on_npu.messages.clear()
    list(on_npu.ask("What is the capital of France?", TOKENS))
    list(on_npu.ask("And of Italy?", TOKENS))
    assert [message["role"] for message in on_npu.messages] == ["user", "assistant"] * 2
    assert "Rome" in on_npu.messages[-1]["content"]
    assert on_npu.timing.tokens > 1
    assert 0 < on_npu.timing.first_seconds <= on_npu.timing.seconds


def test_too_long_a_question_is_one_error_and_the_chat_goes_on(on_npu):
    on_npu.messages.clear()
    with pytest.raises(chat.ModelError, match="the model reads"):
        list(on_npu.ask("word " * 100_000, TOKENS))
    assert on_npu.messages == []
    assert answer(on_npu, QUESTIONS[0])


def damaged(tmp_path, change):
    file = tmp_path / "model.gguf"
    with chat.packaged_model().open("rb") as whole:
        data = bytearray(whole.read(1 << 16))
    change(data)
    file.write_bytes(data)
    return file


def truncate(data):
    del data[10:]


def spoil_magic(data):
    data[:4] = b"GGML"


def claim_many_tensors(data):
    data[8:16] = (2**63 - 1).to_bytes(8, "little")


@pytest.mark.parametrize("change", [truncate, spoil_magic, claim_many_tensors, lambda _: None])
def test_a_damaged_file_is_one_line(tmp_path, capsys, change):
    assert chat.main(["--model", str(damaged(tmp_path, change))]) == 1
    message = capsys.readouterr().err.strip().splitlines()
    assert message[-1].startswith("chat: ")
    assert "model.gguf" in message[-1]


def test_a_missing_file_is_one_line(tmp_path, capsys):
    assert chat.main(["--model", str(tmp_path / "none")]) == 1
    assert capsys.readouterr().err == f"chat: there is no {tmp_path}/none\n"


def test_a_pipe_with_empty_lines_and_bytes_that_are_no_text(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\n  \n\xff\xfe hello\n")))
    assert list(chat.questions()) == ["�� hello"]
