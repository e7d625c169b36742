"""One OpInfo on npu against the CPU: the same samples, the same results, every byte in the device's memory."""

from copy import copy

import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._pytree import tree_flatten, tree_map

from opinfo import judge
from opinfo.tolerances import error_of

# Results depend on the generator: shape, dtype, repeatability under a seed and moments are checked instead.
RANDOM = {
    "bernoulli", "cauchy", "exponential", "geometric", "log_normal", "multinomial", "normal", "nn.functional.alpha_dropout",
    "nn.functional.dropout", "nn.functional.dropout2d", "nn.functional.dropout3d", "nn.functional.feature_alpha_dropout",
    "nn.functional.fractional_max_pool2d", "nn.functional.fractional_max_pool3d", "nn.functional.rrelu",
    "nn.functional.scaled_dot_product_attention", "nn.functional.multi_head_attention_forward", "rand_like", "randint",
    "randint_like", "randn", "randn_like", "uniform", "svd_lowrank", "pca_lowrank", "bernoulli_",
    "torch.ops.aten._efficient_attention_forward", "torch.ops.aten._flash_attention_forward",
}  # fmt: skip
# Contents are undefined by definition.
UNINITIALISED = {"empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided", "resize_",
                 "resize_as_"}  # fmt: skip


def float32_ops() -> list:
    """The OpInfos whose CPU dtypes include float32."""
    return [op for op in op_db if torch.float32 in op.supported_dtypes("cpu")]


def copy_to(t: torch.Tensor, device: str) -> torch.Tensor:
    """A copy on ``device`` with the same strides over a copy of the same storage."""
    if t.layout != torch.strided or t.is_neg() or t.is_conj():
        return t.detach().clone().to(device)
    whole = torch.empty(0, dtype=t.dtype, device=t.device).set_(t.untyped_storage())
    return whole.clone().to(device).as_strided(t.size(), t.stride(), t.storage_offset())


def to_device(value, device):
    """Copies of the tree's npu tensors on ``device``; its CPU tensors stay where they are. Device arguments follow."""

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
    """The dense tensors that hold the bytes of ``t``."""
    if t.layout == torch.sparse_coo:
        return [t._indices(), t._values()]
    if t.layout in (torch.sparse_csr, torch.sparse_bsr):
        return [t.crow_indices(), t.col_indices(), t.values()]
    if t.layout in (torch.sparse_csc, torch.sparse_bsc):
        return [t.ccol_indices(), t.row_indices(), t.values()]
    return [t]


def check_in_device_memory(value) -> None:
    """Every byte of every npu tensor of the tree lies in its device's address range."""
    for t in tree_flatten(value)[0]:
        if not isinstance(t, torch.Tensor) or t.device.type != "npu":
            continue
        base, size = torch.npu._state.native().device_range(t.device.index)
        for part in parts(t):
            if part._is_zerotensor():
                continue
            storage = part.untyped_storage()
            if storage.nbytes():
                assert base <= storage.data_ptr()
                assert storage.data_ptr() + storage.nbytes() <= base + size


def on_npu(expected, actual) -> None:
    """Where the CPU gives a tensor, npu gives one of its own, with the CPU's shape and dtype."""
    flat_expected = tree_flatten(expected)[0]
    flat_actual = tree_flatten(actual)[0]
    assert len(flat_expected) == len(flat_actual)
    for e, a in zip(flat_expected, flat_actual, strict=True):
        assert isinstance(e, torch.Tensor) == isinstance(a, torch.Tensor)
        if isinstance(e, torch.Tensor):
            assert (a.shape, a.dtype, a.layout) == (e.shape, e.dtype, e.layout)


def run_on(op, sample, device: str, seed: int = 0):
    """The result of one sample on ``device``, on copies of its own."""
    torch.manual_seed(seed)
    arguments, kwargs = to_device(((sample.input, *sample.args), sample.kwargs), device)
    return sample.output_process_fn_grad(op.op(*arguments, **kwargs))


def widened(sample):
    """The sample with its tensors in double precision."""
    wide = copy(sample)
    wide.input, wide.args, wide.kwargs = judge.in_float64(
        (sample.input, sample.args, sample.kwargs)
    )
    return wide


def moments(t: torch.Tensor) -> tuple[float, float]:
    """Mean and standard deviation in float64."""
    t = t.detach().to("cpu", torch.float64)
    return t.mean().item(), t.std().item()


def check_random(op, sample, expected, actual) -> None:
    """Repeatable under a seed; close in mean and deviation where there is enough to judge by."""
    again = run_on(op, sample, "npu")
    other = run_on(op, sample, "npu", seed=1)
    judge.assert_same(
        tree_map(lambda x: x.cpu() if isinstance(x, torch.Tensor) else x, actual), again
    )
    on_npu(actual, other)
    for e, a in zip(tree_flatten(expected)[0], tree_flatten(actual)[0], strict=True):
        if not isinstance(e, torch.Tensor) or not e.is_floating_point() or e.numel() < 1000:
            continue
        (mean_e, std_e), (mean_a, std_a) = moments(e), moments(a)
        # Six standard errors of the difference of two means of numel samples.
        bound = 6 * max(std_e, std_a) * (2 / e.numel()) ** 0.5
        assert abs(mean_e - mean_a) <= bound


# No aclnn operator, but not the same bits. MKL's least squares rounds as the addresses of its work arrays fall;
# PyTorch's chunked cross entropy takes another way on the CPU than elsewhere (46 operators against 41).
OTHER_ROUNDING = {"linalg.lstsq", "nn.functional.linear_cross_entropy"}


class SameKernels:
    """Whether what ran on npu within the block was ATen's CPU kernels alone: no aclnn operator was launched."""

    def __enter__(self):
        """Starts counting."""
        native = torch.npu._state.native()
        self._before = (native.aclnn_launches(), native.aclnn_refusals())
        return self

    def __exit__(self, *_):
        """Ends counting."""
        native = torch.npu._state.native()
        self.alone = native.aclnn_launches() == self._before[0]
        self._refused = native.aclnn_refusals() - self._before[1]

    def check_none_refused(self) -> None:
        """No entry of npu_native_functions.yaml has sent aclnn what it refuses."""
        assert self._refused == 0, (
            "an entry of npu_native_functions.yaml sends aclnn what it refuses"
        )


class UnsupportedError(Exception):
    """The CPU itself refuses every sample of the operator."""


def run_op(op, dtype=torch.float32) -> int:
    """Runs all samples of ``op``; returns their number.

    Raises UnsupportedError where the CPU cannot run the operator at all (jiterator).
    """
    count = 0
    for sample in op.sample_inputs("npu", dtype, requires_grad=False):
        try:
            expected = run_on(op, sample, "cpu")
        except AssertionError as error:
            if count == 0 and "only supported on CUDA" in str(error):
                raise UnsupportedError(str(error)) from None
            raise
        count += 1
        with SameKernels() as same:
            actual = run_on(op, sample, "npu")
        same.check_none_refused()
        on_npu(expected, actual)
        check_in_device_memory(actual)
        if op.name in RANDOM:
            check_random(op, sample, expected, actual)
        elif op.name not in UNINITIALISED:
            exact = same.alone and op.name not in OTHER_ROUNDING
            judge.check_same(
                op,
                sample,
                expected,
                actual,
                error_of(op, sample),
                exact,
                lambda s=sample: run_on(op, widened(s), "cpu"),
            )
    return count
