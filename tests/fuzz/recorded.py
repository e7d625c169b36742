"""Calls of ATen's operators as PyTorch's own cases make them on the CPU: each draw starts from one of them.

Each is a call that the dispatcher received during an OpInfo or ForeachFuncInfo: an overload and its arguments,
forward and backward.
"""

import hashlib
import sys
import warnings
from collections import defaultdict
from itertools import islice
from pathlib import Path

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_any, tree_flatten, tree_map

ROOT = Path(__file__).resolve().parents[2]
YAML = ROOT / "torch_npu/csrc/aten/npu_native_functions.yaml"
# The largest number of calls kept per operator, and the largest tensor in one.
MOST_CALLS = 60
MOST_SAMPLES = 12
MOST_ELEMENTS = 20_000
# The longest list of tensors and numbers; the function is the same for each element.
MOST_LISTED = 5
DTYPES = (torch.float32, torch.int64)
# Slow operators that are composed of operators of other cases.
_COMPOSED = (
    "linalg.",
    "fft.",
    "special.",
    "signal.",
    "masked.",
    "_refs.",
    "sparse.",
    "svd",
    "pca",
    "ormqr",
)

Call = tuple[str, tuple, dict]

# Operators that none of PyTorch's cases calls on the CPU, each with calls written here.
_OWN = {
    "_upsample_nearest_exact3d": lambda f: [
        f(torch.randn(1, 2, 3, 4, 2), [5, 4, 3], None, None, None),
        f(torch.randn(2, 1, 4, 2, 5), [2, 6, 5], 0.5, 3.0, 1.0),
    ],
    "_upsample_nearest_exact3d_backward": lambda f: [
        f(torch.randn(1, 2, 5, 4, 3), [5, 4, 3], [1, 2, 3, 4, 2], None, None, None),
        f(torch.randn(2, 1, 2, 6, 5), [2, 6, 5], [2, 1, 4, 2, 5], 0.5, 3.0, 1.0),
    ],
    "_upsample_bicubic2d_aa": lambda f: [
        f(torch.randn(1, 2, 6, 5), [3, 7], False, None, None),
        f(torch.randn(2, 1, 4, 9), [4, 4], True, None, None),
        f(torch.randn(2, 3, 4, 4), [6, 2], False, 1.5, 0.5),
    ],
    "_upsample_bicubic2d_aa_backward": lambda f: [
        f(torch.randn(1, 2, 3, 7), [3, 7], [1, 2, 6, 5], False, None, None),
        f(torch.randn(2, 1, 4, 4), [4, 4], [2, 1, 4, 9], True, None, None),
        f(torch.randn(2, 3, 6, 2), [6, 2], [2, 3, 4, 4], False, 1.5, 0.5),
    ],
    "index_fill_": lambda f: [
        f.int_Scalar(torch.randn(3, 4, 2), 1, torch.tensor([0, 3, 0]), 2.5),
        f.int_Tensor(torch.randn(5, 3), 0, torch.tensor([4, 1]), torch.tensor(1.5)),
        f.int_Scalar(torch.randn(4), -1, torch.tensor([2]), -1),
    ],
    "masked_scatter_": lambda f: [
        f(torch.randn(3, 4), torch.rand(3, 4) > 0.5, torch.randn(12)),
        f(torch.randn(2, 3, 2), torch.rand(3, 2) > 0.3, torch.randn(4, 3)),
    ],
}
# Operators without a recorded call, each with the reason.
UNRECORDED = {
    "_convolution": "what a program's convolution calls below autograd is `convolution`, which is drawn"
}


def entries(index: Path = YAML) -> set[str]:
    """ATen's operators, without overloads, that have an aclnn entry in the families of ``index``."""
    if str(ROOT) not in sys.path:
        sys.path.append(str(ROOT))  # `python -m fuzz` runs in tests/, codegen is beside it
    from codegen.files import read_files

    found = {entry.func.split(".")[0] for entry in read_files(index).official}
    # A dispatch mode sees `convolution` where the YAML has `_convolution`.
    return found | {"convolution"} if "_convolution" in found else found


class Recorder(TorchDispatchMode):
    """Keeps calls of the wanted operators, with copies of their tensors."""

    def __init__(self, wanted: set[str]):
        super().__init__()
        self._wanted = wanted
        self.calls: dict[str, list[Call]] = defaultdict(list)
        self._seen: set[str] = set()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        name = func._schema.name.removeprefix("aten::")
        base = name.rstrip("_") if name.rstrip("_") in self._wanted else name
        if base in self._wanted and _is_plain((args, kwargs)):
            self._keep(base, func, args, kwargs)
        return func(*args, **kwargs)

    def _keep(self, base, func, args, kwargs):
        # A call of the same kind adds nothing.
        kind = f"{func} {tree_map(_kind, (args, kwargs))}"
        if len(self.calls[base]) >= MOST_CALLS or kind in self._seen:
            return
        self._seen.add(kind)
        if base.startswith("_foreach_"):
            args, kwargs = _shortened(args, kwargs)
        copied = tree_map(lambda x: x.detach().clone() if isinstance(x, torch.Tensor) else x, args)
        named = tree_map(lambda x: x.detach().clone() if isinstance(x, torch.Tensor) else x, kwargs)
        self.calls[base].append((str(func), copied, named))


def _shortened(args: tuple, kwargs: dict) -> tuple[tuple, dict]:
    """The arguments of an operator on lists, with shorter lists and tensors of numbers shortened likewise."""
    count = len(args[0])

    def short(x):
        if isinstance(x, list | tuple) or (isinstance(x, torch.Tensor) and x.shape == (count,)):
            return x[:MOST_LISTED]
        return x

    return tuple(map(short, args)), {name: short(x) for name, x in kwargs.items()}


def _kind(x):
    if isinstance(x, torch.Tensor):
        return (x.dtype, x.dim(), min(x.numel(), 2))
    return x


def _is_plain(tree) -> bool:
    """Whether every tensor is a small strided tensor on the CPU."""

    def is_other(x):
        return isinstance(x, torch.Tensor) and (
            x.layout != torch.strided
            or x.device.type != "cpu"
            or x.is_quantized
            or x._is_zerotensor()
            or x.numel() > MOST_ELEMENTS
        )

    return not tree_any(is_other, tree)


def _infos() -> list:
    from torch.testing._internal.common_methods_invocations import (
        foreach_binary_op_db,
        foreach_other_op_db,
        foreach_pointwise_op_db,
        foreach_reduce_op_db,
        foreach_unary_op_db,
        op_db,
    )

    foreach = (
        *foreach_unary_op_db,
        *foreach_binary_op_db,
        *foreach_pointwise_op_db,
        *foreach_reduce_op_db,
        *foreach_other_op_db,
    )
    return [*op_db, *foreach]


def _run(info, dtype: torch.dtype) -> None:
    differentiates = dtype.is_floating_point and info.supports_autograd
    samples = info.sample_inputs("cpu", dtype, requires_grad=differentiates)
    for sample in islice(samples, MOST_SAMPLES):
        result = info.op(sample.input, *sample.args, **sample.kwargs)
        roots = [
            t for t in tree_flatten(result)[0] if isinstance(t, torch.Tensor) and t.requires_grad
        ]
        if roots:
            torch.autograd.backward(roots, [torch.ones_like(t) for t in roots])


def record(wanted: set[str]) -> dict[str, list[Call]]:
    """The calls of ``wanted`` operators, by operator."""
    torch.manual_seed(0)
    recorder = Recorder(wanted)
    with warnings.catch_warnings(), recorder:
        warnings.simplefilter("ignore")
        for info in _infos():
            if info.name.startswith(_COMPOSED):
                continue
            for dtype in DTYPES:
                if dtype not in info.supported_dtypes("cpu"):
                    continue
                try:
                    _run(info, dtype)
                except Exception:  # the calls before the CPU's refusal are recorded
                    continue
        for name in sorted(wanted & set(_OWN)):
            _OWN[name](getattr(torch.ops.aten, name))
    return {name: calls for name, calls in recorder.calls.items() if calls}


def source() -> str:
    """A hash that identifies the version of this recorder."""
    return hashlib.sha256(Path(__file__).read_bytes()).hexdigest()


def overload(name: str) -> torch._ops.OpOverload:
    """``aten.add.Tensor`` as the function."""
    _, packet, which = name.split(".")
    return getattr(getattr(torch.ops.aten, packet), which)
