"""transformers' Trainer with torch_compile=True on npu."""

import pytest
import torch

from torch_npu import _C

WORDS = 32


@pytest.fixture
def trainer(tmp_path):
    transformers = pytest.importorskip("transformers")

    def make(**options):
        torch.manual_seed(0)
        config = transformers.LlamaConfig(
            vocab_size=WORDS, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32
        )  # fmt: skip
        tokens = torch.arange(8 * 12).reshape(8, 12) % WORDS
        return transformers.Trainer(
            model=transformers.LlamaForCausalLM(config),
            train_dataset=[{"input_ids": row, "labels": row} for row in tokens],
            args=transformers.TrainingArguments(
                output_dir=str(tmp_path), max_steps=4, per_device_train_batch_size=4, report_to=[],
                save_strategy="no", learning_rate=1e-2, seed=0, disable_tqdm=True, logging_steps=1, **options,
            ),
        )  # fmt: skip

    return make


def _losses(trainer):
    trainer.train()
    return [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]


def test_the_trainer_compiles(trainer):
    compiled = trainer(torch_compile=True)
    before = _C.generated_launches()
    losses = _losses(compiled)
    assert _C.generated_launches() >= before + 4
    assert next(compiled.model.parameters()).device.type == "npu"
    assert losses[-1] < losses[0]
    assert losses == pytest.approx(_losses(trainer()), rel=1e-3)
