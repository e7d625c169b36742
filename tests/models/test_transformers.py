"""The branches that transformers has for an NPU: flash attention through npu_fusion_attention, NpuFusedAdamW in Trainer,
mixtures of experts. The reference is the same model on the CPU with whole scores ("eager")."""

import copy
from collections import Counter

import pytest
import torch
from torch import Tensor, nn
from transformers import (
    BertConfig,
    BertForMaskedLM,
    GemmaConfig,
    GemmaForCausalLM,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    MixtralConfig,
    MixtralForCausalLM,
    PreTrainedConfig,
    PreTrainedModel,
    Qwen2Config,
    Qwen2ForCausalLM,
    ViTConfig,
    ViTForImageClassification,
    WhisperConfig,
    WhisperForConditionalGeneration,
)
from transformers.integrations import npu_flash_attention

from torch_npu import accuracy
from torch_npu.accuracy import Tolerance

WORDS = 64
SMALL = {
    "vocab_size": WORDS,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 64,
}
GROUPED = SMALL | {"num_key_value_heads": 2}
SPEECH = {
    "vocab_size": WORDS, "d_model": 32, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4,
    "decoder_attention_heads": 4, "encoder_ffn_dim": 64, "decoder_ffn_dim": 64, "num_mel_bins": 8, "max_source_positions": 16,
    "max_target_positions": 32, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 1, "dropout": 0.0,
}  # fmt: skip
# Configuration, class, and attentions of one forward pass.
MODELS: dict[str, tuple[PreTrainedConfig, type[PreTrainedModel], int]] = {
    "bert": (BertConfig(**SMALL, hidden_dropout_prob=0, attention_probs_dropout_prob=0), BertForMaskedLM, 2),
    "gpt2": (
        GPT2Config(vocab_size=WORDS, n_embd=32, n_layer=2, n_head=4, resid_pdrop=0, attn_pdrop=0, embd_pdrop=0),
        GPT2LMHeadModel,
        2,
    ),
    "llama": (LlamaConfig(**GROUPED), LlamaForCausalLM, 2),
    "mixtral": (MixtralConfig(**GROUPED, num_local_experts=4), MixtralForCausalLM, 2),
    "qwen2": (Qwen2Config(**GROUPED), Qwen2ForCausalLM, 2),
    "vit": (
        ViTConfig(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64, image_size=32),
        ViTForImageClassification,
        2,
    ),
    "whisper": (WhisperConfig(**SPEECH), WhisperForConditionalGeneration, 6),
}  # fmt: skip


@pytest.fixture
def attentions(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Calls of npu_fusion_attention by transformers, by layout."""
    calls: Counter[str] = Counter()
    operator = npu_flash_attention.npu_fusion_attention

    def counted(*args, **options):
        calls[options.get("input_layout") or args[4]] += 1
        return operator(*args, **options)

    monkeypatch.setattr(npu_flash_attention, "npu_fusion_attention", counted)
    return calls


def pair(name: str, dtype: torch.dtype) -> tuple[nn.Module, nn.Module]:
    """The model on the CPU in float32 with whole scores, and with flash attention on npu in the type."""
    config, kind, _ = MODELS[name]
    torch.manual_seed(0)
    given = copy.deepcopy(config)
    given._attn_implementation = "eager"
    reference = kind(given).to(dtype)
    given = copy.deepcopy(config)
    model = kind._from_config(given, attn_implementation="flash_attention_2", dtype=dtype)
    model.load_state_dict(reference.state_dict())
    return reference.float(), model.npu()


def inputs_of(name: str, padded: bool = False) -> dict[str, Tensor]:
    generator = torch.Generator().manual_seed(1)
    words = torch.randint(3, WORDS, (2, 19), generator=generator)
    if name == "vit":
        return {
            "pixel_values": torch.rand(2, 3, 32, 32, generator=generator),
            "labels": torch.tensor([0, 1]),
        }
    if name == "whisper":
        return {"input_features": torch.randn(2, 8, 32, generator=generator), "labels": words}
    if not padded:
        return {"input_ids": words, "labels": words}
    mask = torch.ones_like(words)
    mask[1, 13:] = 0
    return {
        "input_ids": words,
        "attention_mask": mask,
        "labels": words.masked_fill(mask == 0, -100),
    }


def check_near(
    got: Tensor, reference: Tensor, dtype: torch.dtype, size: float, roundings: int
) -> None:
    bound = Tolerance(absolute=roundings * torch.finfo(dtype).eps * size)
    accuracy.assert_close(got, reference, bound, check_dtype=False, equal_nan=False)


def check_step(
    reference: nn.Module, model: nn.Module, given: dict[str, Tensor], dtype: torch.dtype
) -> None:
    """Logits of real words, loss and gradients."""
    expected = reference(**given)
    moved = {n: t.npu().to(dtype) if t.is_floating_point() else t.npu() for n, t in given.items()}
    got = model(**moved)
    real = given["attention_mask"].bool() if "attention_mask" in given else slice(None)
    logits = expected.logits[real]
    check_near(got.logits.cpu()[real], logits, dtype, logits.abs().max().item(), 16)
    expected.loss.backward()
    got.loss.backward()
    gradients = [
        (p.grad, q.grad)
        for p, q in zip(reference.parameters(), model.parameters(), strict=True)
        if p.grad is not None
    ]
    size = max(g.abs().max().item() for g, _ in gradients)
    for wanted, found in gradients:
        check_near(found, wanted, dtype, size, 32)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("name", MODELS)
def test_flash_attention_2(name: str, dtype: torch.dtype, attentions: Counter[str]):
    if name == "gpt2" and dtype == torch.float32:
        pytest.skip(
            "transformers looks for an nn.Linear in GPT-2's attention in float32, and finds none"
        )
    reference, model = pair(name, dtype)
    check_step(reference, model, inputs_of(name), dtype)
    assert attentions == {"BSND": MODELS[name][2]}


@pytest.mark.parametrize("name", ["bert", "llama", "mixtral"])
def test_flash_attention_2_without_padding(name: str, attentions: Counter[str]):
    """Padded batches are packed: input_layout TND."""
    reference, model = pair(name, torch.bfloat16)
    check_step(reference, model, inputs_of(name, padded=True), torch.bfloat16)
    assert attentions == {"TND": 2}


def test_flash_attention_2_generates_the_words_of_the_cpu(attentions: Counter[str]):
    reference, model = pair("llama", torch.float32)
    words = inputs_of("llama")["input_ids"]
    options = {"max_new_tokens": 8, "do_sample": False, "pad_token_id": 0}
    expected = reference.eval().generate(words, **options)
    assert torch.equal(model.eval().generate(words.npu(), **options).cpu(), expected)
    assert attentions.total() == 2 * 8


def test_flash_attention_2_drops_by_the_generator(attentions: Counter[str]):
    config = LlamaConfig(**GROUPED, attention_dropout=0.4)
    model = LlamaForCausalLM._from_config(
        config, attn_implementation="flash_attention_2", dtype=torch.bfloat16
    ).npu()
    given = {n: t.npu() for n, t in inputs_of("llama").items()}

    def loss(seed: int) -> float:
        torch.npu.manual_seed(seed)
        return model.train()(**given).loss.item()

    assert loss(1) == loss(1) != loss(2)
    assert attentions == {"BSND": 6}


ONE_KEY_HEAD = SMALL | {"num_key_value_heads": 1}
# Trained by scaled_dot_product_attention, which gets keys and values that are expanded to all heads.
BY_SDPA: dict[str, tuple[PreTrainedConfig, type[PreTrainedModel], bool]] = {
    "mixtral": (MODELS["mixtral"][0], MixtralForCausalLM, False),
    "llama with one key head and padding": (LlamaConfig(**ONE_KEY_HEAD), LlamaForCausalLM, True),
    "gemma with one key head and padding": (GemmaConfig(**ONE_KEY_HEAD, head_dim=8), GemmaForCausalLM, True),
}  # fmt: skip


@pytest.mark.parametrize("name", BY_SDPA)
def test_training_by_sdpa_as_on_the_cpu(name: str):
    config, kind, padded = BY_SDPA[name]
    torch.manual_seed(0)
    reference = kind(config)
    model = copy.deepcopy(reference).npu()
    assert model.config._attn_implementation == "sdpa"
    given = inputs_of("llama", padded=padded)
    losses: dict[str, list[float]] = {"cpu": [], "npu": []}
    for device, one in (("cpu", reference), ("npu", model)):
        optimizer = torch.optim.AdamW(one.parameters(), lr=3e-3)
        for _ in range(6):
            loss = one(**{n: t.to(device) for n, t in given.items()}).loss
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            losses[device].append(loss.item())
    assert losses["npu"] == pytest.approx(losses["cpu"], rel=1e-3)
    assert losses["npu"][-1] < losses["npu"][0]


class Words(torch.utils.data.Dataset):
    """The same 16 sentences in each epoch."""

    def __init__(self) -> None:
        generator = torch.Generator().manual_seed(2)
        self.words = torch.randint(3, WORDS, (16, 12), generator=generator)

    def __len__(self) -> int:
        return len(self.words)

    def __getitem__(self, i: int) -> dict[str, Tensor]:
        return {"input_ids": self.words[i], "labels": self.words[i]}


def trained(folder, **options) -> tuple[list[float], nn.Module]:
    """The losses of ten steps, and the trained model."""
    from transformers import Trainer, TrainingArguments

    torch.manual_seed(0)
    model = LlamaForCausalLM(LlamaConfig(**GROUPED))
    arguments = TrainingArguments(
        output_dir=str(folder), max_steps=10, per_device_train_batch_size=8, learning_rate=3e-3, logging_steps=1,
        report_to=[], save_strategy="no", disable_tqdm=True, max_grad_norm=1.0, **options,
    )  # fmt: skip
    trainer = Trainer(model=model, args=arguments, train_dataset=Words())
    trainer.train()
    return [entry["loss"] for entry in trainer.state.log_history if "loss" in entry], trainer.model


def test_trainer_with_the_fused_optimizer(tmp_path, monkeypatch: pytest.MonkeyPatch):
    from torch_npu.optim import NpuFusedAdamW

    steps = []
    step = NpuFusedAdamW.step

    def counted(self, *args, **options):
        steps.append(type(self).__name__)
        return step(self, *args, **options)

    monkeypatch.setattr(NpuFusedAdamW, "step", counted)
    losses, model = trained(tmp_path, optim="adamw_torch_npu_fused")
    assert steps == ["NpuFusedAdamW"] * 10
    assert next(model.parameters()).device.type == "npu"
    expected, _ = trained(tmp_path, optim="adamw_torch", use_cpu=True)
    assert losses == pytest.approx(expected, rel=1e-3)
    assert losses[-1] < losses[0]


@pytest.mark.parametrize("precision", ["bf16", "fp16"])
def test_trainer_with_mixed_precision(tmp_path, precision: str):
    losses, model = trained(tmp_path, optim="adamw_torch_npu_fused", **{precision: True})
    expected, _ = trained(tmp_path, optim="adamw_torch", use_cpu=True)
    assert next(model.parameters()).device.type == "npu"
    assert losses == pytest.approx(expected, rel=0.05)
    assert losses[-1] < losses[0]
