"""Weights of transformers' models of LLaMA's kind for the model beside this file."""

import torch
from llama.model import Config, Llama


def config_of(given: object) -> Config:
    """The sizes of a transformers configuration.

    Raises:
        ValueError: it is of another architecture.
    """
    kind = getattr(given, "model_type", None)
    if kind != "llama":
        raise ValueError(f"the architecture is {kind!r}: only models of LLaMA's kind run here")
    rope = getattr(given, "rope_parameters", None) or {}
    theta = rope.get("rope_theta") or getattr(given, "rope_theta", 10000.0)
    names = [name for name in Config.__dataclass_fields__ if name != "rope_theta"]
    return Config(rope_theta=float(theta), **{name: getattr(given, name) for name in names})


def convert(state: dict[str, torch.Tensor], layers: int) -> dict[str, torch.Tensor]:
    """The state of transformers' LlamaForCausalLM by the names of ``Llama``."""
    embeddings = state["model.embed_tokens.weight"]
    result = {
        "embeddings.weight": embeddings,
        "norm": state["model.norm.weight"],
        "head.weight": state.get("lm_head.weight", embeddings),
    }
    for layer in range(layers):
        block = f"model.layers.{layer}."
        attention, mlp = f"{block}self_attn.", f"{block}mlp."
        own = f"blocks.{layer}."
        result[f"{own}norm"] = state[f"{block}input_layernorm.weight"]
        result[f"{own}second_norm"] = state[f"{block}post_attention_layernorm.weight"]
        result[f"{own}attention.qkv.weight"] = torch.cat(
            [state[f"{attention}{name}_proj.weight"] for name in "qkv"]
        )
        result[f"{own}attention.out.weight"] = state[f"{attention}o_proj.weight"]
        result[f"{own}gate_up.weight"] = torch.cat(
            [state[f"{mlp}gate_proj.weight"], state[f"{mlp}up_proj.weight"]]
        )
        result[f"{own}down.weight"] = state[f"{mlp}down_proj.weight"]
    return result


def from_transformers(
    model: torch.nn.Module, device: str = "npu", dtype: torch.dtype = torch.float32
) -> Llama:
    """``Llama`` with the weights of a transformers model, on ``device``."""
    config = config_of(model.config)
    result = Llama(config)
    result.load_state_dict(convert(model.state_dict(), config.num_hidden_layers))
    return result.to(device, dtype).eval().requires_grad_(False)
