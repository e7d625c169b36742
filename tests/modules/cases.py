"""One ModuleInfo on npu against the CPU: forward and backward, train and eval, dense and strided inputs."""

from dataclasses import dataclass
from functools import partial

import torch
from opinfo import distributions, permission
from opinfo.cases import SameKernels, attempt, check_in_device_memory, total
from opinfo.copies import copy_to
from seeding import seed_all
from torch.utils._pytree import tree_flatten, tree_map

from torch_npu.accuracy import judge
from torch_npu.accuracy.dtypes import WIDER
from torch_npu.accuracy.rounding import Change, changed

# PyTorch computes these differently on the CPU: fused attention, recurrent layers in one operator, a chunked cross
# entropy. All others give the same bits if no aclnn operator runs.
OTHER_ROUNDING = ("Transformer", "RNN", "GRU", "LSTM", "LinearCrossEntropyLoss")


def strided(t):
    """The same numbers with gaps between them; integers and tensors without dimensions are unchanged."""
    # Integers stay dense: the CPU's CTC loss ignores the strides of lengths.
    if not isinstance(t, torch.Tensor) or not (t.is_floating_point() or t.is_complex()):
        return t
    if t.numel() == 0 or t.dim() == 0:
        return t
    widened = torch.empty((*t.shape[:-1], 2 * t.shape[-1]), dtype=t.dtype, device=t.device)
    view = widened[..., ::2]
    view.copy_(t.detach())
    return view.requires_grad_(t.requires_grad)


def _to(device: str, tree):
    def move(t):
        if not isinstance(t, torch.Tensor):
            return t
        # Not t.to(): it would make strided inputs dense.
        return copy_to(t, device).requires_grad_(t.requires_grad)

    return tree_map(move, tree)


def _samples(info, dtype: torch.dtype, training: bool) -> list:
    samples = info.module_inputs_func(
        info, device="cpu", dtype=dtype, requires_grad=True, training=training
    )
    for case in samples:
        # PyTorch generates the samples of FractionalMaxPool in float64 for any dtype, which its kernel refuses.
        kwargs = case.constructor_input.kwargs
        if "_random_samples" in kwargs:
            kwargs["_random_samples"] = kwargs["_random_samples"].to(dtype)
    return samples


def _module(info, case, dtype: torch.dtype, device: str, training: bool) -> torch.nn.Module:
    seed_all(0)
    ctor = case.constructor_input
    module = info.module_cls(*ctor.args, **ctor.kwargs).to(dtype).train(training)
    if any(isinstance(p, torch.nn.UninitializedParameter) for p in module.parameters()):
        module(*_to("cpu", case.forward_input.args))  # a lazy module initializes its weights here
    return module.to(device)


def _tensors(tree) -> list[torch.Tensor]:
    return [t for t in tree_flatten(tree)[0] if isinstance(t, torch.Tensor)]


@dataclass(frozen=True)
class Pass:
    """One sample of a module in a mode and a layout: its outputs and the gradients of its inputs and parameters."""

    info: object
    case: object
    dtype: torch.dtype
    training: bool
    layout: str

    def run(self, device: str, seed: int = 0, change: Change | None = None) -> tuple[list, list]:
        """Runs on ``device``, or in double precision on the CPU after ``change`` of arguments and parameters."""
        module = _module(self.info, self.case, self.dtype, device, self.training)
        args, kwargs = self.case.forward_input.args, self.case.forward_input.kwargs
        if self.layout == "strided":
            args, kwargs = tree_map(strided, (args, kwargs))
        args, kwargs = _to(device, (args, kwargs))
        if change is not None:
            module.to(WIDER.get(self.dtype, self.dtype))
            for p in module.parameters():
                p.data = change.tensor(p.data)
            args, kwargs = changed((args, kwargs), change)
        seed_all(seed)
        outputs = _tensors(module(*args, **kwargs))
        assert all(t.device.type == device for t in outputs)
        roots = [t for t in outputs if t.requires_grad]
        if not roots:
            return outputs, []
        leaves = [t for t in (*_tensors((args, kwargs)), *module.parameters()) if t.requires_grad]
        # Not ones: their gradients through a normalization are 0.
        generator = torch.Generator().manual_seed(0)
        seeds = [
            torch.randn(t.shape, generator=generator).to(self.dtype).to(device, t.dtype)
            for t in roots
        ]
        if change is not None:
            seeds = [change.tensor(seed) for seed in seeds]
        return outputs, list(torch.autograd.grad(roots, leaves, seeds, allow_unused=True))

    def compare(self) -> bool:
        """Compares npu with the CPU; False if both refuse the sample."""
        seed_all(0)
        untouched = torch.get_rng_state()
        expected, refusal = attempt(lambda: self.run("cpu"))
        random = not torch.equal(untouched, torch.get_rng_state())
        with SameKernels() as same:
            actual, error = attempt(lambda: self.run("npu"))
        if refusal is not None:
            assert error is not None, f"the CPU refuses this ({refusal}), npu does not"
            return False
        if error is not None:
            raise error
        check_in_device_memory(actual)
        other_rounding = any(name in self.info.name for name in OTHER_ROUNDING)
        exact = same.alone and not random and not other_rounding
        parameters = _module(self.info, self.case, self.dtype, "cpu", self.training).parameters()
        given = (
            *parameters,
            *_tensors((self.case.forward_input.args, self.case.forward_input.kwargs)),
        )
        rule = judge.Rule(run=lambda change: self.run("cpu", 0, change), given=given, plain=False)

        def values(theirs: object, ours: object) -> None:
            judge.check_same(theirs, ours, rule, exact=exact)

        if random:
            distributions.check_draws(self.run, expected, actual, values)
        else:
            values(expected, actual)
            if permission.may_lose_digits(self.info.name, self.dtype):
                with permission.hf32(convolutions=False):
                    values(expected, self.run("npu"))
        return True


def check(info, dtype: torch.dtype, *, training: bool, layout: str) -> int:
    """Runs all samples of ``info``; returns the number of those that the CPU runs. npu must refuse what the CPU
    refuses.

    Raises RefusedError if the CPU refuses all samples, NotApplicableError if there are none.
    """
    return total(
        Pass(info, case, dtype, training, layout).compare()
        for case in _samples(info, dtype, training)
    )


ALL = {
    f"module {'train' if training else 'eval'} {layout}": partial(
        check, training=training, layout=layout
    )
    for training in (False, True)
    for layout in ("dense", "strided")
}
