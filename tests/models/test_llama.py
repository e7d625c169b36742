"""examples/llama: continuations token for token as transformers' on the CPU, whatever runs beside them, and errors."""

import sys
from pathlib import Path

import pytest
import torch

sys.path.append(str(Path(__file__).resolve().parents[2] / "examples"))

import chat
from llama import generate, perplexity
from llama.quantized import WeightOnly, quantize
from llama.weights import config_of, from_transformers

from torch_npu.utils import explain

PROMPTS = (
    "The sea is", "Once upon a time, there was a", "Water boils at", "My favourite colour is", "Two plus two is",
    "A spider has", "In the morning, the farmer", "Paris is the capital of", "The opposite of cold is", "To bake bread, you",
    "The moon", "An apple a day", "Winter comes after", "A triangle has three", "She opened the door and", "The first",
    "Birds can fly because", "Books are made of", "If it rains tomorrow,", "The quick brown fox jumps over the lazy dog and then",
)  # fmt: skip
TOKENS = 8


@pytest.fixture(scope="module")
def loaded():
    return chat.Chat(chat.packaged_model(), "cpu")


@pytest.fixture(scope="module")
def model(loaded):
    return from_transformers(loaded.model)


@pytest.fixture(scope="module")
def prompts(loaded, request):
    """All prompts; a quarter of them where the run is a part of the tests."""
    part, parts = (int(number) for number in request.config.getoption("--shard").split("/"))
    chosen = PROMPTS if parts == 1 else PROMPTS[part % 4 :: 4]
    return [loaded.tokenizer(text)["input_ids"] for text in chosen]


@pytest.fixture(scope="module")
def expected(loaded, prompts):
    def continued(prompt):
        given = torch.tensor([prompt])
        result = loaded.model.generate(
            given, attention_mask=torch.ones_like(given), max_new_tokens=TOKENS, do_sample=False
        )
        return result[0, len(prompt) :].tolist()

    return [continued(prompt) for prompt in prompts]


@pytest.mark.parametrize("captures", [False, True])
def test_prompts_at_once_are_continued_as_by_transformers(
    model, loaded, prompts, expected, captures
):
    one = generate.Generator(model, captures=captures)
    result = one.generate(prompts, TOKENS, loaded.tokenizer.eos_token_id)
    assert result == expected


def test_logits_are_the_cpus(model, loaded, prompts):
    tokens = max(prompts, key=len)
    with torch.no_grad():
        expected = loaded.model(torch.tensor([tokens])).logits[0, -1]
    actual = generate.Generator(model).logits([generate.Text(tokens)]).cpu()[0]
    # Both sum some hundred products a layer in float32, in another order.
    bound = model.config.num_hidden_layers * model.config.hidden_size**0.5 * 2**-23
    assert (actual - expected).abs().max() <= bound * expected.abs().max()


def test_equal_beginnings_are_computed_once(model, loaded, prompts, expected):
    one = generate.Generator(model)
    beginning = loaded.tokenizer("word " * 40)["input_ids"]
    first = one.generate([[*beginning, *prompts[0]]], TOKENS)
    assert one.reused == 0
    again = one.generate([[*beginning, *prompts[0]], [*beginning, *prompts[1]]], TOKENS)
    whole = len(beginning) // generate.BLOCK_SIZE * generate.BLOCK_SIZE
    assert one.reused >= 2 * whole
    assert again[0] == first[0]
    fresh = generate.Generator(model)
    assert again[1] == fresh.generate([[*beginning, *prompts[1]]], TOKENS)[0]


def test_draws_depend_on_the_seed_alone(model, prompts):
    one = generate.Generator(model)
    drawn = [one.generate(prompts[:2], TOKENS, temperature=1.0, seed=seed) for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1]
    assert drawn[0] != drawn[2]


def test_a_full_cache_is_one_error_and_gives_its_pages_back(model, prompts, expected):
    one = generate.Generator(model, pages=3)
    with pytest.raises(generate.FullCacheError, match="all 3 pages of the cache are in use"):
        one.generate(prompts[:5], TOKENS)
    assert one.generate(prompts[:1], TOKENS, 2) == expected[:1]
    # Three pages serve one prompt after the other: those that nothing uses are taken again.
    one_by_one = [one.generate([prompt], TOKENS, 2)[0] for prompt in prompts[:5]]
    assert one_by_one == expected[:5]


@pytest.mark.parametrize("prompt", [[], [1] * 9000])
def test_prompts_that_do_not_fit(model, prompt):
    with pytest.raises(ValueError, match=rf"prompt 1 has {len(prompt)} tokens: it takes 1 to"):
        generate.Generator(model).generate([[1], prompt], TOKENS)


def test_more_tokens_than_the_model_reads(model):
    with pytest.raises(ValueError, match="9000 tokens to follow: the model reads 8192"):
        generate.Generator(model, pages=1).generate([[1]], 9000)


def test_a_step_runs_no_cpu_kernel(model, prompts):
    one = generate.Generator(model)
    texts = [generate.Text(list(prompt)) for prompt in prompts[:4]]
    one.logits(texts)
    for text in texts:
        text.tokens.append(1)
    report = str(explain(lambda: one.logits(texts)))
    assert "npu_fused_infer_attention_score" in report
    assert "AI CPU" not in report


def test_other_architectures_are_refused(loaded):
    with pytest.raises(ValueError, match="'gpt2': only models of LLaMA's kind"):
        config_of(type("Other", (), {"model_type": "gpt2"}))


WORDS = 48


@pytest.fixture(scope="module")
def words(loaded):
    return loaded.tokenizer(perplexity.english()[:2000])["input_ids"][:WORDS]


def test_negative_logarithms_are_transformers(model, loaded, words):
    with torch.no_grad():
        logits = loaded.model(torch.tensor([words])).logits[0, :-1]
    expected = torch.nn.functional.cross_entropy(logits, torch.tensor(words[1:]), reduction="none")
    actual = perplexity.negative_logarithms(model, words)
    bound = model.config.num_hidden_layers * model.config.hidden_size**0.5 * 2**-23
    assert (actual - expected).abs().max() <= 2 * bound * logits.abs().max()


@pytest.mark.parametrize(("variant", "bits"), [("w8a16", 8), ("w4a16", 4)])
def test_quantized_weights_are_what_they_stand_for(loaded, words, variant, bits):
    quantized = quantize(from_transformers(loaded.model), variant)
    plain = from_transformers(loaded.model)
    for name, module in quantized.named_modules():
        if not isinstance(module, WeightOnly):
            continue
        weight = plain.get_submodule(name).weight
        columns = weight.shape[1]
        whole = module.weight.T
        if bits == 4:
            places = torch.arange(0, 32, 4, device="npu")
            whole = (whole.unsqueeze(-1).bitwise_right_shift(places) + 8) % 16 - 8
        scale = module.scale.T.repeat_interleave(columns // module.scale.shape[0], dim=1)
        stands_for = whole.reshape(weight.shape) * scale
        assert (stands_for - weight).abs().max() <= scale.max() / 2 * (1 + 2**-20)
        weight.copy_(stands_for)
    expected = perplexity.negative_logarithms(plain, words)
    actual = perplexity.negative_logarithms(quantized, words)
    bound = plain.config.num_hidden_layers * plain.config.hidden_size**0.5 * 2**-23
    assert (actual - expected).abs().max() <= 2 * bound * max(expected.max(), 1) * 4


def test_eight_bits_of_both_change_little(loaded, model, words):
    expected = perplexity.negative_logarithms(model, words)
    actual = perplexity.negative_logarithms(
        quantize(from_transformers(loaded.model), "w8a8"), words
    )
    # Each product's relative error is a 254th of the largest element at most; it adds up as noise over the layers.
    products = 4 * model.config.num_hidden_layers
    assert (actual - expected).mean().abs() <= products**0.5 / 254 * expected.mean()
    assert not torch.equal(actual, expected)


@pytest.mark.parametrize(("variant", "says"), [("w2a16", "'w2a16'"), ("", "''")])
def test_other_forms_are_refused(model, variant, says):
    with pytest.raises(ValueError, match=f"the form is {says}"):
        quantize(model, variant)
