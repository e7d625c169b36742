"""A call of each operator that PyTorch's own cases reach on the CPU, forward and backward, by overload."""

import warnings
from itertools import islice

import torch
from fuzz.recorded import _infos, _is_plain
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map

# Arguments by name, in the schema's order.
Given = dict[str, object]
_CALLS = 2
_SAMPLES = 2
_DTYPES = (torch.float32, torch.int64, torch.bool, torch.complex64)


def copied(tree):
    """The same with copies of the tensors."""
    return tree_map(lambda x: x.detach().clone() if isinstance(x, torch.Tensor) else x, tree)


def by_name(function, args: tuple, kwargs: dict) -> Given:
    """The arguments of a call by their names."""
    names = [a.name for a in function._schema.arguments]
    return {**dict(zip(names, args, strict=False)), **kwargs}


class _Recorder(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.calls: dict[str, list[Given]] = {}

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kept = self.calls.setdefault(func._schema.name + "." + func._overloadname, [])
        if len(kept) < _CALLS and _is_plain((args, kwargs)):
            kept.append(copied(by_name(func, args, kwargs or {})))
        return func(*args, **(kwargs or {}))


def _run(info, dtype: torch.dtype) -> None:
    differentiates = dtype.is_floating_point and info.supports_autograd
    for sample in islice(info.sample_inputs("cpu", dtype, requires_grad=differentiates), _SAMPLES):
        result = info.op(sample.input, *sample.args, **sample.kwargs)
        tensors = [t for t in tree_flatten(result)[0] if isinstance(t, torch.Tensor)]
        roots = [t for t in tensors if t.requires_grad]
        if roots:
            torch.autograd.backward(roots, [torch.ones_like(t) for t in roots])


def record() -> dict[str, list[Given]]:
    """The calls by ``aten::add.Tensor``; of the default overload by ``aten::relu.default``."""
    torch.manual_seed(0)
    recorder = _Recorder()
    with warnings.catch_warnings(), recorder:
        warnings.simplefilter("ignore")
        for info in _infos():
            dtype = next((d for d in _DTYPES if d in info.supported_dtypes("cpu")), None)
            if dtype is None:
                continue
            try:
                _run(info, dtype)
            except Exception:  # the calls before the CPU's refusal are recorded
                continue
    return {name: calls for name, calls in recorder.calls.items() if calls}
