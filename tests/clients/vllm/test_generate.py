"""vllm with vllm-ascend on npu: tokens of a language model equal those of transformers on the CPU."""

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer
from vllm import LLM, SamplingParams

BEGINNINGS = ("The capital of", "The colour of", "One of the largest", "She went to")
ENDS = ("France is", "the sea", "rivers in", "a small", "my old")
PROMPTS = [f"{beginning} {end}" for beginning in BEGINNINGS for end in ENDS]
TOKENS = 6
BUDGET = 32  # tokens of a step: longer prompts are read in chunks


@pytest.fixture(scope="module")
def engine(model):
    return LLM(
        str(model),
        dtype="float32",
        enforce_eager=True,
        gpu_memory_utilization=0.1,
        max_model_len=64,
        max_num_batched_tokens=BUDGET,
        max_num_seqs=len(PROMPTS),
    )


@pytest.fixture(scope="module")
def reference(model):
    network = AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32)
    tokenizer = AutoTokenizer.from_pretrained(model)

    def generate(prompt, count):
        encoded = tokenizer(prompt, return_tensors="pt")
        tokens = network.generate(**encoded, max_new_tokens=count, do_sample=False)
        return tokens[0, encoded["input_ids"].shape[1] :].tolist()

    return generate


def tokens_of(engine, prompts, **sampling):
    outputs = engine.generate(prompts, SamplingParams(**sampling), use_tqdm=False)
    return [list(output.outputs[0].token_ids) for output in outputs]


def test_greedy_tokens_of_twenty_prompts_are_the_cpus(engine, reference):
    expected = [reference(prompt, TOKENS) for prompt in PROMPTS]
    assert tokens_of(engine, PROMPTS, temperature=0, max_tokens=TOKENS) == expected


def test_a_prompt_longer_than_a_step(engine, reference):
    prompt = "The sea is blue, and the sky is as well. " * 4
    assert len(engine.get_tokenizer().encode(prompt)) > BUDGET
    (tokens,) = tokens_of(engine, [prompt], temperature=0, max_tokens=2)
    assert tokens == reference(prompt, 2)


def test_sampling_of_the_most_probable_token_is_greedy(engine, reference):
    (tokens,) = tokens_of(engine, PROMPTS[:1], temperature=1, top_k=1, max_tokens=3)
    assert tokens == reference(PROMPTS[0], 3)
    (tokens,) = tokens_of(engine, PROMPTS[:1], temperature=1, top_p=1e-6, max_tokens=3)
    assert tokens == reference(PROMPTS[0], 3)


def test_samples_are_among_the_most_probable_tokens(engine):
    sampling = SamplingParams(temperature=2, top_k=3, max_tokens=3, seed=5, logprobs=3)
    for output in engine.generate(PROMPTS[:4], sampling, use_tqdm=False):
        for token, probable in zip(
            output.outputs[0].token_ids, output.outputs[0].logprobs, strict=True
        ):
            assert probable[token].rank <= 3


def test_seeds_repeat(engine):
    given = {"temperature": 2, "top_k": 50, "top_p": 0.9, "max_tokens": 3, "seed": 7}
    first, second = (tokens_of(engine, PROMPTS[:2], **given) for _ in range(2))
    assert first == second
