"""Operators of the sizes that networks have: npu against CPU eager."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import torch
from interleave import Row
from permission import hf32
from torch import Tensor, nn
from torch.nn import functional as F

TOKENS, WIDTH, HEADS = 2048, 4096, 32


def both(name: str, make: Callable[[str], Callable[[], object]], repeats: int = 3) -> Row:
    """One row; ``make(device)`` builds the work with data of its own, the same on both devices."""
    works = []
    for device in ("npu", "cpu"):
        torch.manual_seed(0)
        works.append(make(device))
    return Row(name, *works, repeats)


def exactly(work: Callable[[], object]) -> None:
    """Calls it with all of float32's precision."""
    with hf32(convolutions=False):
        work()


def with_and_without(row: Row) -> list[Row]:
    """The row as it is by default, with HF32 allowed for npu's convolutions, and with all of float32's precision."""
    return [
        replace(row, name=f"{row.name}, HF32 allowed"),
        replace(row, name=f"{row.name}, allow_hf32=False", npu=partial(exactly, row.npu)),
    ]


def against_forbidden(row: Row) -> Row:
    """What the permission gains, both on npu and interleaved: the ratio is the time allowed by the time forbidden."""
    return replace(row, cpu=partial(exactly, row.npu), against="npu, allow_hf32=False")


def _normal(*size: int, device: str) -> Tensor:
    return torch.randn(*size).to(device)


def rms_norm(x: Tensor, weight: Tensor) -> Tensor:
    """As operators."""
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * weight


def rope(q: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """As operators: halves of the last dimension are turned against each other."""
    half = q.shape[-1] // 2
    return q * cos + torch.cat((-q[..., half:], q[..., :half]), -1) * sin


def _trained(work: Callable[..., Tensor], inputs: list[Tensor]) -> Callable[[], object]:
    """Forward and backward; gradients do not add up."""
    leaves = [x.requires_grad_() for x in inputs]
    gradient = torch.ones_like(work(*inputs))

    def step() -> None:
        for leaf in leaves:
            leaf.grad = None
        work(*inputs).backward(gradient)

    return step


_BIG: dict[str, Callable[[Tensor], object]] = {
    "add": lambda x: x + x,
    "gelu": F.gelu,
    "exp": torch.exp,
    "softmax": lambda x: x.softmax(-1),
    "layer_norm": lambda x: F.layer_norm(x, (4096,)),
    "sum": torch.sum,
    "sum of columns": lambda x: x.sum(0),
    "transposed copy": lambda x: x.t().contiguous(),
}


def big() -> list[Row]:
    """4096 x 4096: 64 MiB."""

    def make(device: str, work: Callable[[Tensor], object]) -> Callable[[], object]:
        return partial(work, _normal(4096, 4096, device=device))

    return [both(f"{name}, 64 MiB", partial(make, work=work)) for name, work in _BIG.items()]


def limits() -> list[Row]:
    """The same against the CPU without page faults, into memory that is there, and against a copy on npu."""
    into: dict[str, Callable[[Tensor, Tensor], object]] = {
        "add": lambda x, out: torch.add(x, x, out=out),
        "gelu": lambda x, out: torch.ops.aten.gelu.out(x, out=out),
        "exp": lambda x, out: torch.exp(x, out=out),
        "softmax": lambda x, out: torch.softmax(x, -1, out=out),
        "transposed copy": lambda x, out: out.copy_(x.t()),
    }
    npu, cpu = (_normal(4096, 4096, device=device) for device in ("npu", "cpu"))
    npu_out, cpu_out = torch.empty_like(npu), torch.empty_like(cpu)
    copy = partial(npu_out.copy_, npu)
    rows = []
    for name, work in into.items():
        on_npu = partial(_BIG[name], npu)
        rows += [
            Row(f"{name}, 64 MiB", on_npu, partial(work, cpu, cpu_out), 3, "cpu, out="),
            Row(f"{name}, 64 MiB", on_npu, copy, 3, "a copy on npu"),
        ]
    layer_norm = partial(_BIG["layer_norm"], npu)
    rows.append(Row("layer_norm, 64 MiB", layer_norm, copy, 3, "a copy on npu"))
    states = torch.empty(1, TOKENS, WIDTH, device="npu")
    copy_states = partial(states.copy_, torch.ones_like(states))
    one_pass = ("F.rms_norm, forward", "rope, forward", "swiglu, forward")
    rows += [
        Row(row.name, row.npu, copy_states, 3, "a copy on npu")
        for row in language()
        if row.name in one_pass
    ]
    return rows


Work = Callable[..., Tensor]


def language(created: Callable[[Work], Work] = lambda work: work) -> list[Row]:
    """What stands between the products of a decoder; on the CPU ``created`` of each of them is called."""

    def of(device: str, work: Work) -> Work:
        return created(work) if device == "cpu" else work

    def rms(device: str, fused: bool, trained: bool) -> Callable[[], object]:
        x, weight = _normal(1, TOKENS, WIDTH, device=device), _normal(WIDTH, device=device)
        work = of(device, (lambda a, w: F.rms_norm(a, (WIDTH,), w, 1e-6)) if fused else rms_norm)
        return _trained(work, [x, weight]) if trained else partial(work, x, weight)

    def turned(device: str, trained: bool) -> Callable[[], object]:
        depth = WIDTH // HEADS
        q = _normal(1, TOKENS, HEADS, depth, device=device)
        angles = torch.arange(TOKENS)[:, None] / 10000 ** (torch.arange(0, depth, 2) / depth)
        cos, sin = (
            torch.cat((t, t), -1)[None, :, None].to(device) for t in (angles.cos(), angles.sin())
        )
        work = of(device, rope)
        return _trained(lambda a: work(a, cos, sin), [q]) if trained else partial(work, q, cos, sin)

    def swiglu(device: str, trained: bool) -> Callable[[], object]:
        pair = [_normal(1, TOKENS, WIDTH, device=device) for _ in range(2)]
        work = of(device, lambda a, b: F.silu(a) * b)
        return _trained(work, pair) if trained else partial(work, *pair)

    rows = []
    for trained in (False, True):
        what = "forward and backward" if trained else "forward"
        rows += [
            both(f"rms_norm as operators, {what}", partial(rms, fused=False, trained=trained)),
            both(f"F.rms_norm, {what}", partial(rms, fused=True, trained=trained)),
            both(f"rope, {what}", partial(turned, trained=trained)),
            both(f"swiglu, {what}", partial(swiglu, trained=trained)),
        ]
    return rows


def products() -> list[Row]:
    """Linear layers: rows x inputs -> outputs."""

    def make(device: str, rows: int, inputs: int, outputs: int) -> Callable[[], object]:
        layer = nn.Linear(inputs, outputs, bias=False).to(device)
        return torch.no_grad()(partial(layer, _normal(rows, inputs, device=device)))

    sizes = [(1, 512, 32000), (1, 4096, 11008), (8, 4096, 4096), (128, 384, 1536), (128, 512, 32000),
             (512, 512, 512), (1024, 1024, 1024), (4096, 1024, 1024)]  # fmt: skip
    return [
        both(f"linear {m} x {k} -> {n}", partial(make, rows=m, inputs=k, outputs=n), 5)
        for m, k, n in sizes
    ]


def attention() -> list[Row]:
    """Queries and keys of a ViT, of a decoder, and of a decoder's single token."""

    def make(
        device: str, sizes: tuple[int, ...], keys: int, causal: bool, trained: bool
    ) -> Callable[[], object]:
        batch, heads, queries, depth = sizes
        q = _normal(batch, heads, queries, depth, device=device)
        k, v = (_normal(batch, heads, keys, depth, device=device) for _ in range(2))
        work = partial(F.scaled_dot_product_attention, is_causal=causal)
        if trained:
            return _trained(work, [q, k, v])
        return torch.no_grad()(partial(work, q, k, v))

    rows = []
    for name, sizes, keys, causal in [
        ("4 x 12 heads, 197 x 197 x 64", (4, 12, 197, 64), 197, False),
        ("32 heads, 512 x 512 x 128, causal", (1, 32, 512, 128), 512, True),
        ("16 heads, 1 x 1024 x 64", (1, 16, 1, 64), 1024, False),
    ]:
        for trained in (False, True):
            what = "forward and backward" if trained else "forward"
            work = partial(make, sizes=sizes, keys=keys, causal=causal, trained=trained)
            rows.append(both(f"attention, {name}, {what}", work))
    return rows


def convolution() -> list[Row]:
    """A block of a residual network, 8 x 64 x 56 x 56."""

    def make(device: str, trained: bool) -> Callable[[], object]:
        block = nn.Sequential(
            nn.Conv2d(64, 64, 3, padding=1, bias=False), nn.BatchNorm2d(64), nn.ReLU()
        )
        x = _normal(8, 64, 56, 56, device=device)
        if not trained:
            return torch.no_grad()(partial(block.to(device).eval(), x))
        return _trained(block.to(device), [x])

    rows = [
        both("conv 3 x 3, batch norm, relu, forward", partial(make, trained=False)),
        both("conv 3 x 3, batch norm, relu, training", partial(make, trained=True)),
    ]
    return [each for row in rows for each in (*with_and_without(row), against_forbidden(row))]


def optimizer_step(device: str, *, fused: bool = False) -> Callable[[], object]:
    """A step of AdamW over 24 Mi parameters, as operators on lists or as one operator."""
    parameters = [nn.Parameter(_normal(1024, 1024, device=device)) for _ in range(24)]
    for parameter in parameters:
        parameter.grad = torch.ones_like(parameter)
    return torch.optim.AdamW(parameters, foreach=not fused, fused=fused).step


def optimizer() -> list[Row]:
    """The default AdamW, and what its one-pass form takes on the CPU, which waits for memory only."""
    row = both("AdamW, 24 x 1 Mi parameters, foreach", optimizer_step)
    fused = optimizer_step("cpu", fused=True)
    return [row, Row(row.name, row.npu, fused, row.repeats, "cpu, fused=True")]


def rows() -> list[Row]:
    """All of them."""
    return [
        *big(),
        *limits(),
        *language(),
        *products(),
        *attention(),
        *convolution(),
        *optimizer(),
    ]
