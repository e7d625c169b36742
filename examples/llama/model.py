"""LLaMA's architecture in plain PyTorch over npu's operators, with a paged cache of keys and values."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

import torch_npu


@dataclass(frozen=True)
class Config:
    """The sizes of a model, as config.json names them."""

    vocab_size: int
    hidden_size: int
    intermediate_size: int
    num_hidden_layers: int
    num_attention_heads: int
    num_key_value_heads: int
    rms_norm_eps: float
    rope_theta: float
    max_position_embeddings: int

    @property
    def head_size(self) -> int:
        """The channels of a head."""
        return self.hidden_size // self.num_attention_heads


@dataclass(frozen=True)
class Step:
    """The tokens of one forward pass, of all sequences one after the other.

    Attributes:
        tokens: [T], int64.
        positions: [T], each token's place in its sequence, int64.
        slots: [T], where its key and value are written, ``page * block_size + offset``, int64.
        pages: [B, pages of a sequence], int32; rows of shorter sequences end with any page.
        ends: of each sequence's tokens within T; empty in a captured step, where each sequence has one.
        lengths: of each sequence's keys, those of this step included.
        last: [B], each sequence's last token within T, int64.
        mask: True where a query does not see a key: [2048, 2048] for prompts (whose contents are not read), [B, keys] for
            single tokens of a captured step; None for single tokens that see all keys.
    """

    tokens: Tensor
    positions: Tensor
    slots: Tensor
    pages: Tensor
    ends: list[int]
    lengths: list[int]
    last: Tensor
    mask: Tensor | None


def prompt_mask(device: torch.device | str) -> Tensor:
    """The mask of a step that has prompts."""
    return torch.ones(2048, 2048, dtype=torch.bool, device=device).triu(1)


class Cache:
    """Keys and values of all layers in pages of ``block_size`` positions."""

    def __init__(
        self, config: Config, pages: int, block_size: int, dtype: torch.dtype, device: str
    ) -> None:
        """Memory for ``pages`` pages in each layer, of zeros."""
        shape = (pages, block_size, config.num_key_value_heads * config.head_size)
        layers = range(config.num_hidden_layers)
        self.block_size = block_size
        self.keys = [torch.zeros(shape, dtype=dtype, device=device) for _ in layers]
        self.values = [torch.zeros(shape, dtype=dtype, device=device) for _ in layers]


class Attention(nn.Module):
    """Attention over the pages of each sequence."""

    def __init__(self, config: Config) -> None:
        """One product makes queries, keys and values."""
        super().__init__()
        self.heads, self.kv_heads = config.num_attention_heads, config.num_key_value_heads
        self.size = config.head_size
        self.qkv = nn.Linear(
            config.hidden_size, (self.heads + 2 * self.kv_heads) * self.size, bias=False
        )
        self.out = nn.Linear(self.heads * self.size, config.hidden_size, bias=False)

    def forward(
        self, x: Tensor, angles: tuple[Tensor, Tensor], keys: Tensor, values: Tensor, step: Step
    ) -> Tensor:
        """[T, hidden] to [T, hidden]; writes the step's keys and values into their slots."""
        queries, key, value = self.qkv(x).split(
            [self.heads * self.size, self.kv_heads * self.size, self.kv_heads * self.size], dim=-1
        )
        queries, key = torch_npu.npu_apply_rotary_pos_emb(
            queries.unflatten(-1, (self.heads, self.size)),
            key.unflatten(-1, (self.kv_heads, self.size)),
            *angles,
            "TND",
        )
        keys.view(-1, keys.shape[-1]).index_copy_(0, step.slots, key.flatten(1))
        values.view(-1, values.shape[-1]).index_copy_(0, step.slots, value)
        is_captured = step.mask is not None and not step.ends
        seen, _ = torch_npu.npu_fused_infer_attention_score(
            queries.unsqueeze(1) if is_captured else queries,
            keys,
            values,
            atten_mask=step.mask,
            actual_seq_lengths=step.ends or None,
            actual_seq_lengths_kv=step.lengths,
            block_table=step.pages,
            num_heads=self.heads,
            num_key_value_heads=self.kv_heads,
            scale=self.size**-0.5,
            input_layout="BSND" if is_captured else "TND",
            sparse_mode=0 if step.mask is None or is_captured else 3,
            block_size=keys.shape[1],
        )
        return self.out(seen.flatten(1))


class Block(nn.Module):
    """Attention and the gated layers."""

    def __init__(self, config: Config) -> None:
        """Both with a norm before them."""
        super().__init__()
        self.epsilon = config.rms_norm_eps
        self.norm = nn.Parameter(torch.ones(config.hidden_size))
        self.attention = Attention(config)
        self.second_norm = nn.Parameter(torch.ones(config.hidden_size))
        self.gate_up = nn.Linear(config.hidden_size, 2 * config.intermediate_size, bias=False)
        self.down = nn.Linear(config.intermediate_size, config.hidden_size, bias=False)

    def forward(
        self, x: Tensor, angles: tuple[Tensor, Tensor], keys: Tensor, values: Tensor, step: Step
    ) -> Tensor:
        """[T, hidden] to [T, hidden]."""
        normed = torch_npu.npu_rms_norm(x, self.norm, self.epsilon)[0]
        change = self.attention(normed, angles, keys, values, step)
        normed, _, x = torch_npu.npu_add_rms_norm(change, x, self.second_norm, self.epsilon)
        return x + self.down(torch_npu.npu_swiglu(self.gate_up(normed)))


class Llama(nn.Module):
    """A model of LLaMA's kind whose embeddings serve for the logits as well."""

    cosines: Tensor
    sines: Tensor

    def __init__(self, config: Config) -> None:
        """Its weights are PyTorch's initial ones."""
        super().__init__()
        self.config = config
        self.embeddings = nn.Embedding(config.vocab_size, config.hidden_size)
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.num_hidden_layers))
        self.norm = nn.Parameter(torch.ones(config.hidden_size))
        self.head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)
        frequencies = config.rope_theta ** (
            -torch.arange(0, config.head_size, 2, dtype=torch.float32) / config.head_size
        )
        positions = torch.arange(config.max_position_embeddings, dtype=torch.float32)
        angles = torch.outer(positions, frequencies).repeat(1, 2)
        self.register_buffer("cosines", angles.cos(), persistent=False)
        self.register_buffer("sines", angles.sin(), persistent=False)

    def forward(self, step: Step, cache: Cache) -> Tensor:
        """The logits after each sequence's last token, [B, vocabulary]."""
        x = F.embedding(step.tokens, self.embeddings.weight)
        angles = (
            self.cosines[step.positions].unsqueeze(1),
            self.sines[step.positions].unsqueeze(1),
        )
        for block, keys, values in zip(self.blocks, cache.keys, cache.values, strict=True):
            x = block(x, angles, keys, values, step)
        last = x.index_select(0, step.last)
        return self.head(torch_npu.npu_rms_norm(last, self.norm, self.config.rms_norm_eps)[0])
