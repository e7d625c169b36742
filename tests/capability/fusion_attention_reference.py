"""Fused attention in float64: whole scores of one sequence after the other, gradients by autograd."""

import math
from dataclasses import dataclass, field

import torch
from torch import Tensor

NO_LIMIT = 2**31 - 1
LAYOUTS = ("BSH", "SBH", "BSND", "BNSD", "TND")
CAUSAL_PATTERN = torch.ones(2048, 2048, dtype=torch.bool).triu(1)
PREFIX_PATTERN = torch.cat(
    (CAUSAL_PATTERN, (torch.arange(2048) >= 1024).expand(1024, 2048)),
)


@dataclass(frozen=True)
class Case:
    """A call: sizes, layout, and what affects single scores. Lengths are (queries, keys) of each sequence."""

    layout: str = "BNSD"
    lengths: tuple[tuple[int, int], ...] = ((70, 150), (70, 150))
    heads: int = 4
    key_heads: int = 2
    channels: int = 24
    value_channels: int = 24
    dtype: torch.dtype = torch.float32
    mode: int = 0
    mask: str = ""  # "", "shared", "batch", "heads", "pattern"
    before: int = NO_LIMIT
    after: int = NO_LIMIT
    prefix: tuple[int, ...] = ()
    pse: str = ""  # "", "BNSS", "BN1S", "1NSS", "compressed"
    sink: bool = False
    keep: float = 1.0
    dense: bool = True
    softmax_layout: str = ""
    absent: int = 0  # sequences of TND at the end that do not take part
    rest: int = 0  # positions of TND behind the last sequence
    seed: int = 0
    options: dict = field(default_factory=dict, hash=False)

    @property
    def batch(self) -> int:
        return len(self.lengths)

    @property
    def longest(self) -> tuple[int, int]:
        return max(q for q, _ in self.lengths), max(k for _, k in self.lengths)

    @property
    def scale(self) -> float:
        return 1 / math.sqrt(self.channels)


def arranged(parts: list[Tensor], layout: str) -> Tensor:
    """The sequences, each [heads, length, channels], as a tensor of the layout."""
    if layout == "TND":
        return torch.cat([p.transpose(0, 1) for p in parts])
    whole = torch.stack(parts)
    if layout == "BNSD":
        return whole
    if layout == "BSND":
        return whole.transpose(1, 2)
    flat = whole.transpose(1, 2).flatten(2)
    return flat if layout == "BSH" else flat.transpose(0, 1)


def split(tensor: Tensor, layout: str, lengths: list[int], heads: int) -> list[Tensor]:
    """The inverse of arranged()."""
    if layout == "TND":
        ends = torch.tensor(lengths).cumsum(0).tolist()
        return [tensor[e - n : e].transpose(0, 1) for e, n in zip(ends, lengths, strict=True)]
    if layout == "SBH":
        tensor = tensor.transpose(0, 1)
    if layout in ("BSH", "SBH"):
        tensor = tensor.unflatten(2, (heads, -1))
    if layout != "BNSD":
        tensor = tensor.transpose(1, 2)
    return list(tensor.unbind(0))


def rows_of(parts: list[Tensor], case: Case) -> Tensor:
    """Numbers of rows, each [heads, queries], as the operator stores them, once."""
    if case.layout != "TND":
        return torch.stack(parts)
    if case.softmax_layout == "TND":
        return torch.cat([p.T for p in parts])
    return torch.cat([p.flatten() for p in parts]).reshape(-1, case.heads)


def seen(case: Case, b: int) -> Tensor:
    """[queries, keys] of a sequence: what its mode lets a query see."""
    queries, keys = case.lengths[b]
    i, j = torch.arange(queries)[:, None], torch.arange(keys)[None]
    last = i + keys - queries
    mode = case.mode
    if mode == 7:
        mode = 4 if b == case.batch - 1 else 3
    if mode == 8:
        mode = 4 if b == 0 else 2
    if mode == 0:
        return (j >= i - case.before) & (j <= i + case.after)
    if mode == 1:
        return torch.ones(queries, keys, dtype=torch.bool)
    if mode == 4:
        return (j >= last - case.before) & (j <= last + case.after)
    visible = j <= (i if mode == 2 else last)
    return visible | (j < case.prefix[b]) if mode in (5, 6) else visible


class Inputs:
    """Tensors of a case on the CPU in its layout and type, and the arguments that they make."""

    def __init__(self, case: Case):
        self.case = case
        self.random = torch.Generator().manual_seed(case.seed)
        parts = {"query": [], "key": [], "value": [], "dy": []}
        for queries, keys in case.lengths:
            parts["query"].append(self.draw(case.heads, queries, case.channels))
            parts["key"].append(self.draw(case.key_heads, keys, case.channels))
            parts["value"].append(self.draw(case.key_heads, keys, case.value_channels))
            parts["dy"].append(self.draw(case.heads, queries, case.value_channels))
        self.tensors = {n: self.stored(arranged(p, case.layout)) for n, p in parts.items()}
        queries, keys = case.longest
        self.pse = None
        if case.pse == "compressed":
            distance = torch.arange(keys) - torch.arange(queries)[:, None]
            slopes = 2.0 ** -torch.arange(1, case.heads + 1)
            self.whole_pse = (slopes[:, None, None] * distance).to(case.dtype)[None]
            self.pse = self.whole_pse[:, :, -1024:].contiguous()
        elif case.pse:
            sizes = {"BNSS": (case.batch, queries), "BN1S": (case.batch, 1), "1NSS": (1, queries)}
            first, rows = sizes[case.pse]
            self.pse = self.draw(first, case.heads, rows, keys)
        self.sink = self.draw(case.heads).float() if case.sink else None
        self.mask = self.draw_mask()

    def draw(self, *sizes: int) -> Tensor:
        numbers = torch.randn(*sizes, generator=self.random, dtype=torch.float64)
        return numbers.to(self.case.dtype)

    def stored(self, tensor: Tensor) -> Tensor:
        """With a rest behind the last position, and with gaps in memory where the case is not dense."""
        if self.case.layout == "TND" and self.case.rest:
            tensor = torch.cat(
                (tensor, torch.full_like(tensor[:1], 7).repeat(self.case.rest, 1, 1))
            )
        if self.case.dense:
            return tensor.contiguous()
        widened = tensor.new_full((*tensor.shape[:-1], tensor.shape[-1] + 3), 7)
        widened[..., 1:-2] = tensor
        return widened[..., 1:-2]

    def draw_mask(self) -> Tensor | None:
        case = self.case
        if not case.mask:
            return None
        if case.mask == "pattern":
            return PREFIX_PATTERN if case.mode == 6 else CAUSAL_PATTERN
        queries, keys = case.longest
        if case.mode == 5:
            return ~torch.stack([seen(case, b) for b in range(case.batch)])[:, None]
        sizes = {
            "shared": (queries, keys),
            "batch": (case.batch, 1, queries, keys),
            "heads": (case.batch, case.heads, queries, keys),
        }[case.mask]
        mask = torch.rand(sizes, generator=self.random) < 0.3
        mask[..., 0] = False
        return mask.to(torch.uint8) if case.seed % 2 else mask

    def ends(self, of: int) -> tuple[int, ...]:
        lengths = torch.tensor([pair[of] for pair in self.case.lengths])
        return (*lengths.cumsum(0).tolist(), *[0] * self.case.absent)

    def arguments(self, device: str = "npu") -> dict:
        """Those of the operator but tensors with gradients."""
        case = self.case
        given = {
            "head_num": case.heads,
            "input_layout": case.layout,
            "atten_mask": None if self.mask is None else self.mask.to(device),
            "scale": case.scale,
            "keep_prob": case.keep,
            "pre_tockens": case.before,
            "next_tockens": case.after,
            "prefix": (*case.prefix, *[0] * case.absent) if case.prefix else None,
            "sparse_mode": case.mode,
            "softmax_layout": case.softmax_layout,
        }
        if case.layout == "TND":
            given |= {"actual_seq_qlen": self.ends(0), "actual_seq_kvlen": self.ends(1)}
        return given | case.options

    def leaves(self, **to) -> dict[str, Tensor]:
        """query, key, value, pse, sink: leaves for autograd."""
        found = {n: self.tensors[n] for n in ("query", "key", "value")}
        found |= {n: t for n, t in (("pse", self.pse), ("sink", self.sink)) if t is not None}
        return {n: t.detach().to(**to).requires_grad_() for n, t in found.items()}

    def _pse_of(self, pse: Tensor, b: int) -> Tensor:
        queries, keys = self.case.lengths[b]
        if self.case.pse == "compressed":
            # The gradient of row 0 is the sum over the rows that are absent.
            i, j = torch.arange(queries)[:, None], torch.arange(keys)[None]
            absent = self.case.longest[0] - 1024
            row = (i - absent).clamp(min=0)
            column = (j + (absent - i).clamp(min=0)).clamp(max=pse.shape[-1] - 1)
            return pse[0][:, row, column]
        return pse[min(b, pse.shape[0] - 1)][:, : queries if pse.shape[2] > 1 else 1, :keys]

    def reference(self, kept: Tensor | None = None) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
        """Results and gradients in float64. ``kept``: a bool for each score, in the order of the mask's bits."""
        case = self.case
        leaves = self.leaves(dtype=torch.float64)
        rest = {}
        for name, of, heads in (
            ("query", 0, case.heads),
            ("key", 1, case.key_heads),
            ("value", 1, case.key_heads),
        ):
            rest[name] = split(leaves[name], case.layout, [p[of] for p in case.lengths], heads)
        outs, most, sums, first = [], [], [], 0
        for b, (queries, keys) in enumerate(case.lengths):
            q, k, v = (rest[n][b] for n in ("query", "key", "value"))
            group = case.heads // case.key_heads
            scores = q @ k.repeat_interleave(group, 0).transpose(1, 2)
            if "pse" in leaves:
                scores = scores + self._pse_of(leaves["pse"], b)
            scores = scores * case.scale
            visible = (
                seen(case, b)
                if self.mask is not None
                else torch.ones(queries, keys, dtype=torch.bool)
            )
            visible = visible.expand(case.heads, queries, keys)
            if self.mask is not None and case.mode < 2:
                mask = self.mask.bool()
                mask = mask[min(b, mask.shape[0] - 1)] if mask.dim() == 4 else mask
                visible = visible & ~mask[..., :queries, :keys]
            scores = scores.masked_fill(~visible, -math.inf)
            sink = leaves.get("sink")
            largest = (
                scores.detach().amax(-1) if keys else torch.full((case.heads, queries), -math.inf)
            )
            if sink is not None:
                largest = torch.maximum(largest, sink.detach()[:, None])
            base = largest.masked_fill(largest == -math.inf, 0.0)
            weights = (scores - base[..., None]).exp()
            total = weights.sum(-1)
            if sink is not None:
                total = total + (sink[:, None] - base).exp()
            weights = weights / torch.where(total > 0, total, 1.0)[..., None]
            if kept is not None:
                count = case.heads * queries * keys
                weights = weights * kept[first : first + count].reshape(weights.shape) / case.keep
                first += count
            outs.append(weights @ v.repeat_interleave(group, 0))
            most.append(largest)
            sums.append(total.detach())
        out = arranged(outs, case.layout)
        dy = self.tensors["dy"].double()
        out.backward(dy[: out.shape[0]] if case.layout == "TND" else dy)
        results = {"out": out.detach(), "max": rows_of(most, case), "sum": rows_of(sums, case)}
        return results, {n: t.grad for n, t in leaves.items()}


def unpacked(mask: Tensor, count: int) -> Tensor:
    """The bits of a dropout mask as bools."""
    bits = mask.cpu()[:, None].bitwise_right_shift(torch.arange(8, dtype=torch.uint8)) & 1
    return bits.flatten()[:count].bool()
