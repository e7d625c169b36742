"""Calls of an OpInfo with tensors in layouts that views give: strides and memory of its results and gradients.

The values are judged by random calls (tests/fuzz) and by the variant `noncontiguous`.
"""

import random
from itertools import islice

import torch
from fuzz.layouts import laid_out
from seeding import seed_all
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._pytree import tree_leaves, tree_map

from opinfo.cases import UnsupportedError, attempt, on_npu, total
from opinfo.copies import copy_to
from opinfo.layouts import other_layout
from torch_npu.accuracy.layouts import layout_of, significant

# OpInfos for which PyTorch's rules without memory differ by device, each with the reason.
OTHER_FAKE = {
    "_native_batch_norm_legit": "its decomposition has no saved statistics in inference on the CPU, and some elsewhere",
    "native_batch_norm": "its decomposition saves statistics of the channels in inference elsewhere than on the CPU",
    "nn.functional.dropout": "elsewhere than on the CPU it is native_dropout, whose decomposition makes the gradient contiguous",
}
# Samples of an OpInfo that are drawn from, and draws of each.
SAMPLES, DRAWS = 4, 3


class _Draw:
    """One sample on the CPU in drawn layouts: all tensors of as many dimensions in one, or each in its own."""

    def __init__(self, op, sample, name: str):
        self.name = op.name
        self._op = op
        self._sample = sample
        choose = random.Random(name)
        shared = choose.randrange(2**31) if choose.random() < 0.5 else None
        self._expands = choose.random() < 0.5  # the gradients of the results, as that of a sum

        def draw(x: object) -> object:
            if not isinstance(x, torch.Tensor) or x.layout != torch.strided or x.is_quantized:
                return x
            own = choose if shared is None else random.Random(shared)
            repeats = x.is_floating_point() or x.is_complex()
            created = laid_out(x.detach(), own, may_repeat=repeats).detach()
            return created.requires_grad_(x.requires_grad)

        self.arguments = tree_map(draw, (sample.input, sample.args, sample.kwargs))

    def on(self, device: str) -> tuple:
        """Copies of the arguments on the device."""

        def move(x: object) -> object:
            if isinstance(x, torch.Tensor):
                return copy_to(x, device).requires_grad_(x.requires_grad)
            if isinstance(x, torch.device):
                return torch.device(device)
            return device if isinstance(x, str) and x == "cpu" else x

        return tree_map(move, self.arguments)

    def results(self, arguments: tuple) -> list:
        """The results, and the gradients of the arguments that have some."""
        given, args, kwargs = arguments
        result = self._sample.output_process_fn_grad(self._op.op(given, *args, **kwargs))
        results = tree_leaves(result)
        roots = [t for t in results if isinstance(t, torch.Tensor) and t.requires_grad]
        inputs = [
            t for t in tree_leaves(arguments) if isinstance(t, torch.Tensor) and t.requires_grad
        ]
        if not roots or not inputs:
            return results
        return [
            *results,
            *torch.autograd.grad(roots, inputs, list(map(self._seed, roots)), allow_unused=True),
        ]

    def _seed(self, t: torch.Tensor) -> torch.Tensor:
        return (
            torch.ones((), dtype=t.dtype, device=t.device).expand(t.shape)
            if self._expands
            else torch.ones_like(t)
        )

    def fake_results(self, device: str) -> list | None:
        """The results without memory; None where PyTorch has no rule for them."""
        mode = FakeTensorMode(allow_non_fake_inputs=True)

        def fake(x: object) -> object:
            return mode.from_tensor(x) if isinstance(x, torch.Tensor) else x

        arguments = tree_map(fake, self.on(device))
        with mode:
            results, refusal = attempt(lambda: self.results(arguments))
        return None if refusal is not None else results


def _strides(results: list) -> list:
    return [
        significant(layout_of(t))
        if isinstance(t, torch.Tensor) and t.layout == torch.strided
        else None
        for t in results
    ]


def _check_fake(draw: _Draw, expected: list, actual: list) -> None:
    """PyTorch's results without memory have npu's strides, unless they have others than the CPU, too."""
    fake = draw.fake_results("npu")
    if fake is None or _strides(fake) == _strides(actual):
        return
    on_cpu = draw.fake_results("cpu")
    if on_cpu is not None and _strides(on_cpu) == _strides(expected):
        raise AssertionError(f"FakeTensor has strides {_strides(fake)}, npu {_strides(actual)}")


def _check(draw: _Draw, dtype: torch.dtype, *, fake: bool) -> bool:
    seed_all(0)
    expected, refusal = attempt(lambda: draw.results(draw.on("cpu")))
    if "only supported on CUDA" in str(refusal):
        raise UnsupportedError(str(refusal))
    if refusal is not None:
        return False
    seed_all(0)
    actual, refusal = attempt(lambda: draw.results(draw.on("npu")))
    if "to be on cpu" in str(refusal):  # an argument that stays on the CPU, as on CUDA
        return False
    if refusal is not None:
        raise refusal
    if other_layout(draw.name, dtype):
        return True
    on_npu(expected, actual)
    if fake and draw.name not in OTHER_FAKE:
        _check_fake(draw, expected, actual)
    return True


def layouts(op, dtype: torch.dtype) -> int:
    """Results and gradients of tensors in drawn layouts: permuted, expanded, with gaps, with channels last, empty."""
    if "float8" in str(dtype):
        raise UnsupportedError(
            "tensors of float8 have no layouts here: the CPU does not negate them"
        )
    differentiates = op.supports_autograd and dtype in op.supported_backward_dtypes("cpu")
    samples = islice(op.sample_inputs("cpu", dtype, requires_grad=differentiates), SAMPLES)
    return total(
        _check(_Draw(op, sample, f"{op.full_name} {dtype} {i} {j}"), dtype, fake=j == 0)
        for i, sample in enumerate(samples)
        for j in range(DRAWS)
    )
