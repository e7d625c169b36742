"""One OpInfo on npu against the CPU: the same samples, the same results, all bytes in the device's memory."""

from collections.abc import Callable, Iterable

import torch
from seeding import seed_all
from torch.testing._internal import common_methods_invocations as invocations
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._pytree import tree_flatten, tree_map

import torch_npu
from opinfo import distributions, permission, ties
from opinfo import samples as _samples  # noqa: F401
from opinfo.cancelling import error_of
from opinfo.copies import copy_to
from opinfo.kinds import kind_of
from opinfo.layouts import OTHER_LAYOUTS
from torch_npu.accuracy import judge
from torch_npu.accuracy.layouts import layout_problems
from torch_npu.accuracy.rounding import changed, widened_integers

# The function that runs on a device: (input, args, kwargs) and the device -> results.
Work = Callable[[tuple, str], object]


def _unseeded(op, *args, **kwargs):
    return op(*args, **kwargs)


# OpInfos use the same seed for every call; here compare() sets seeds.
for _op in op_db:
    if _op.gradcheck_wrapper is invocations.wrapper_set_seed:
        _op.gradcheck_wrapper = _unseeded
invocations.wrapper_set_seed = _unseeded

# Contents are undefined by definition.
UNINITIALISED = {"empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided", "resize_",
                 "resize_as_"}  # fmt: skip


def float32_ops() -> list:
    """The OpInfos whose CPU dtypes include float32."""
    return [op for op in op_db if torch.float32 in op.supported_dtypes("cpu")]


def to_device(value, device):
    """Copies of the tree's npu tensors on ``device``; its CPU tensors are unchanged. Device arguments follow."""

    def move(x):
        if isinstance(x, torch.Tensor):
            return copy_to(x, device if x.device.type == "npu" else "cpu").requires_grad_(
                x.requires_grad
            )
        if isinstance(x, torch.device) and x.type == "npu":
            return torch.device(device)
        return device if isinstance(x, str) and x.split(":")[0] == "npu" else x

    return tree_map(move, value)


def parts(t: torch.Tensor) -> list[torch.Tensor]:
    """The dense tensors that store the data of ``t``."""
    if t.layout == torch.sparse_coo:
        return [t._indices(), t._values()]
    if t.layout in (torch.sparse_csr, torch.sparse_bsr):
        return [t.crow_indices(), t.col_indices(), t.values()]
    if t.layout in (torch.sparse_csc, torch.sparse_bsc):
        return [t.ccol_indices(), t.row_indices(), t.values()]
    return [t]


def check_in_device_memory(value) -> None:
    """All data of every npu tensor of the tree is in its device's address range."""
    for t in tree_flatten(value)[0]:
        if not isinstance(t, torch.Tensor) or t.device.type != "npu":
            continue
        base, size = torch_npu._C.device_range(t.device.index)
        for part in parts(t):
            if part._is_zerotensor():
                continue
            storage = part.untyped_storage()
            if storage.nbytes():
                assert base <= storage.data_ptr()
                assert storage.data_ptr() + storage.nbytes() <= base + size


def on_npu(expected, actual, name: str = "") -> None:
    """For each of the CPU's tensors npu returns a tensor on npu with the same shape, dtype and strides.

    Strides may differ for the OpInfos of OTHER_LAYOUTS.
    """
    flat_expected = tree_flatten(expected)[0]
    flat_actual = tree_flatten(actual)[0]
    assert len(flat_expected) == len(flat_actual)
    for e, a in zip(flat_expected, flat_actual, strict=True):
        assert isinstance(e, torch.Tensor) == isinstance(a, torch.Tensor)
        if isinstance(e, torch.Tensor):
            assert (a.shape, a.dtype, a.layout) == (e.shape, e.dtype, e.layout)
    if name not in OTHER_LAYOUTS and (problems := layout_problems(expected, actual)):
        raise AssertionError("; ".join(problems))


# No aclnn operator, but different bits. The rounding of MKL's least squares depends on the addresses of its work
# arrays;
# PyTorch's chunked cross entropy takes another path on the CPU (46 operators instead of 41).
OTHER_ROUNDING = {"linalg.lstsq", "nn.functional.linear_cross_entropy"}


class SameKernels:
    """Whether only ATen's CPU kernels ran on npu within the block: no aclnn operator was launched."""

    def __enter__(self):
        """Starts counting."""
        native = torch_npu._C
        self._before = (native.aclnn_launches(), native.aclnn_refusals())
        return self

    def __exit__(self, *_):
        """Ends counting."""
        native = torch_npu._C
        self.alone = native.aclnn_launches() == self._before[0]
        self._refused = native.aclnn_refusals() - self._before[1]

    def check_none_refused(self) -> None:
        """No entry of npu_native_functions.yaml has passed arguments to aclnn that it refuses."""
        assert self._refused == 0, (
            "an entry of npu_native_functions.yaml sends aclnn what it refuses"
        )


class UnsupportedError(Exception):
    """Only CUDA has the operator: the CPU has no kernel (jiterator)."""


class RefusedError(Exception):
    """The CPU and npu refuse every sample: nothing was compared."""


class NotApplicableError(Exception):
    """The OpInfo does not have this variant for this dtype, or has no sample of it."""


def attempt(work: Callable[[], object]) -> tuple[object, BaseException | None]:
    """The result, or the exception."""
    try:
        return work(), None
    except (RuntimeError, ValueError, TypeError, IndexError) as error:
        return None, error
    except AssertionError as error:
        if "only supported on CUDA" not in str(error):
            raise
        return None, error


def reconstructed(op, result):
    """The product of the factors of a low-rank matrix: the factors' signs depend on the generator."""
    if op.name not in ("svd_lowrank", "pca_lowrank") or len(result) != 3:
        return result
    u, s, v = result
    return s, (u * s.unsqueeze(-2)) @ v.mH


def compare(
    op, sample, work: Work, reference: Work | None = None, *, derivative: bool = False
) -> bool | None:
    """Compares ``work(arguments, device)`` on npu with the CPU; False if both refuse it.

    None if there is nothing to compare.

    ``reference`` is the function that gives the result in double precision, if it is another. Values are compared
    unless the CPU drew random numbers that change them: then distributions are compared.
    """
    given = (sample.input, sample.args, sample.kwargs)

    def draw(device: str, seed: int):
        arguments = to_device(given, device)
        seed_all(seed)
        return work(arguments, device)

    def in_double(change):
        seed_all(0)
        arguments = to_device(given, "cpu")
        # A function of integers with floating-point results converts them to floating point.
        if judge.has_digits(expected) and (integers := widened_integers(arguments)) is not None:
            arguments = integers
        result = (reference or work)(changed(arguments, change), "cpu")
        return result if derivative else reconstructed(op, result)

    seed_all(0)
    untouched = torch.get_rng_state()
    expected, refusal = attempt(lambda: draw("cpu", 0))
    random = not torch.equal(untouched, torch.get_rng_state())
    with SameKernels() as same:
        actual, error = attempt(lambda: draw("npu", 0))
    if "only supported on CUDA" in str(refusal):
        raise UnsupportedError(str(refusal))
    if refusal is not None:
        assert error is not None, f"the CPU refuses this ({refusal}), npu does not"
        return False
    if error is not None:
        raise error
    same.check_none_refused()
    check_in_device_memory(actual)
    on_npu(expected, actual, op.name)
    if not tree_flatten(expected)[0]:
        return None
    if op.name in UNINITIALISED:
        return True
    tensors = tuple(t for t in tree_flatten(given)[0] if isinstance(t, torch.Tensor))
    rule = judge.Rule(
        kind_of(op, derivative=derivative), in_double, tensors, not derivative, error_of(op, sample)
    )

    def values(theirs, ours) -> None:
        exact = same.alone and not random and op.name not in OTHER_ROUNDING
        try:
            judge.check_same(theirs, ours, rule, exact=exact)
        except AssertionError:
            if derivative or op.name not in ties.TIES:
                raise
            if not ties.finds_values(sample, theirs, ours):
                raise

    if not random:
        values(expected, actual)
        if permission.may_lose_digits(op.name, getattr(sample.input, "dtype", None)):
            with permission.hf32(convolutions=False):
                values(expected, draw("npu", 0))
    elif not derivative and reconstructed(op, expected) is not expected:
        values(reconstructed(op, expected), reconstructed(op, actual))
    else:
        distributions.check_draws(draw, expected, actual, values)
    return True


def total(compared: Iterable[bool | None]) -> int:
    """The number of samples that were compared; None means not applicable, False means refused.

    Raises NotApplicableError if there is none, RefusedError if the CPU refused all of them.
    """
    outcomes = [outcome for outcome in compared if outcome is not None]
    if not outcomes:
        raise NotApplicableError
    if not any(outcomes):
        raise RefusedError("the CPU refuses every sample, and so does npu")
    return sum(outcomes)


def plain(op, sample) -> bool | None:
    """The call itself."""

    def call(a, _):
        return sample.output_process_fn_grad(op.op(a[0], *a[1], **a[2]))

    return compare(op, sample, call)


def run_op(op, dtype=torch.float32) -> int:
    """Runs all samples of ``op``; returns the number of those that were compared."""
    return total(plain(op, s) for s in op.sample_inputs("npu", dtype, requires_grad=False))
