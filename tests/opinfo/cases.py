"""One OpInfo on npu against the CPU: the same samples, the same results, every byte in the device's memory."""

from copy import copy

import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._pytree import tree_flatten, tree_map

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
    wide.input, wide.args, wide.kwargs = in_float64((sample.input, sample.args, sample.kwargs))
    return wide


def moments(t: torch.Tensor) -> tuple[float, float]:
    """Mean and standard deviation in float64."""
    t = t.detach().to("cpu", torch.float64)
    return t.mean().item(), t.std().item()


def check_random(op, sample, expected, actual) -> None:
    """Repeatable under a seed; close in mean and deviation where there is enough to judge by."""
    again = run_on(op, sample, "npu")
    other = run_on(op, sample, "npu", seed=1)
    assert_same(tree_map(lambda x: x.cpu() if isinstance(x, torch.Tensor) else x, actual), again)
    on_npu(actual, other)
    for e, a in zip(tree_flatten(expected)[0], tree_flatten(actual)[0], strict=True):
        if not isinstance(e, torch.Tensor) or not e.is_floating_point() or e.numel() < 1000:
            continue
        (mean_e, std_e), (mean_a, std_a) = moments(e), moments(a)
        # Six standard errors of the difference of two means of numel samples.
        bound = 6 * max(std_e, std_a) * (2 / e.numel()) ** 0.5
        assert abs(mean_e - mean_a) <= bound


def cdist_error(sample) -> float:
    """The largest error of a Euclidean distance taken as sqrt(|x|^2 + |y|^2 - 2 x.y), as cdist takes it.

    The sum of ``k`` products is off by at most ``(k + 4) * eps`` of its terms' magnitude, and a root turns an error
    ``e`` into at most ``sqrt(e)``.
    """
    x, y = sample.input.detach().cpu().double(), sample.args[0].detach().cpu().double()
    if not x.numel() or not y.numel():
        return 0.0
    squares = (x * x).sum(-1).max() + (y * y).sum(-1).max()
    eps = torch.finfo(sample.input.dtype).eps
    return float(2 * (x.size(-1) + 4) * eps * squares) ** 0.5


def linear_cross_entropy_error(sample) -> float:
    """Four roundings of the largest logit: a loss is the difference of two numbers of that size."""
    x, weight = sample.input.detach().cpu().double(), sample.args[0].detach().cpu().double()
    if not x.numel() or not weight.numel():
        return 0.0
    logits = x.abs() @ weight.abs().mT
    return float(4 * torch.finfo(sample.input.dtype).eps * logits.max())


def product_error(sample) -> float:
    """What a sum of ``n`` products of two entries is off by at most, in any order and the coarsest type of the sample."""
    x = sample.input.detach().cpu()
    given = tree_flatten((sample.input, sample.args, sample.kwargs))[0]
    types = {t.dtype for t in given if isinstance(t, torch.Tensor)}
    roundings = [torch.finfo(t).eps for t in types if t.is_floating_point or t.is_complex]
    if not x.numel() or not roundings:
        return 0.0
    return float((x.size(-1) + 4) * max(roundings) * x.abs().double().max() ** 2)


def normalize_error(sample) -> float:
    """Four roundings of a direction divided by the smallest norm: a derivative is the difference of two such."""
    x = sample.input.detach().cpu()
    if not x.numel():
        return 0.0
    inverse = torch.nn.functional.normalize(x.double(), *sample.args, **sample.kwargs) / x.double()
    return 4 * torch.finfo(x.dtype).eps * float(inverse.abs().nan_to_num(0, 0, 0).max())


def group_norm_error(sample) -> float:
    """What a mean of ``n`` numbers added in float32 is off by at most, before it is brought to the output's type."""
    x = sample.input.detach().cpu()
    if not x.numel():
        return 0.0
    return (x[0].numel() + 4) * torch.finfo(torch.float32).eps * float(x.abs().max())


def householder_error(sample) -> float:
    """The roundings of ``k`` products of length ``n``: the reflectors' norms bound every number on the way."""
    v, tau = (t.detach().cpu() for t in (sample.input, sample.args[0]))
    if not v.numel() or not tau.numel():
        return 0.0
    norms = 1 + tau.abs().double() * v.abs().double().square().sum(-2)[..., : tau.size(-1)]
    roundings = tau.size(-1) * (v.size(-2) + 4) * torch.finfo(v.dtype).eps
    return float(roundings * norms.prod(-1).max())


# Absolute tolerances of operators whose definition cancels, so that the order of a sum shows. Formulas by name.
CANCELLING = {
    "cdist": cdist_error,
    "cov": product_error,
    "linalg.householder_product": householder_error,
    "native_group_norm": group_norm_error,
    "nn.functional.normalize": normalize_error,
    "nn.functional.linear_cross_entropy": linear_cross_entropy_error,
}


def assert_same(expected, actual, atol: float = 0.0, exact: bool = False) -> None:
    """Equal within PyTorch's default tolerances; ``exact``: the same bits, as the same kernel on the same bytes gives."""
    actual = tree_map(lambda x: x.cpu() if isinstance(x, torch.Tensor) else x, actual)
    for e, a in zip(tree_flatten(expected)[0], tree_flatten(actual)[0], strict=True):
        if isinstance(e, torch.Tensor):
            rtol, default = torch.testing._comparison.default_tolerances(a, e)
            atol = max(atol, default, sum_error(e))
            if exact:
                rtol = atol = 0.0
            torch.testing.assert_close(a, e.cpu(), equal_nan=True, rtol=rtol, atol=atol)
        elif isinstance(e, int | float | complex | bool):
            torch.testing.assert_close(a, e, equal_nan=True)


# What there is a wider type of, to compute a reference in.
WIDER = {
    torch.float16: torch.float64,
    torch.bfloat16: torch.float64,
    torch.float32: torch.float64,
    torch.complex64: torch.complex128,
}


def in_float64(tree):
    """The tree with its tensors, and the dtypes that it names, in double precision."""

    def widen(t):
        if isinstance(t, torch.Tensor) and t.dtype in WIDER:
            return t.detach().to(WIDER[t.dtype]).requires_grad_(t.requires_grad)
        return WIDER.get(t, t) if isinstance(t, torch.dtype) else t

    return tree_map(widen, tree)


def as_accurate(expected, actual, reference) -> bool:
    """Whether the largest error against the ``reference`` in float64 is at most one rounding and twice the CPU's.

    Two good results may be further apart than a tolerance: where PyTorch rounds between the parts of an operator, or in
    half precision within its CPU kernels, where sums cancel, and by a step where a function jumps.
    """
    flat = [tree_flatten(tree)[0] for tree in (expected, actual, reference)]
    if len({len(part) for part in flat}) != 1:
        return False
    for e, a, r in zip(*flat, strict=True):
        if not isinstance(e, torch.Tensor):
            continue
        if e.dtype not in WIDER or e.layout != torch.strided:
            if not torch.equal(e.cpu(), a.cpu()):
                return False
            continue
        wide = WIDER[e.dtype]
        e64, a64, r64 = (t.detach().cpu().to(wide) for t in (e, a, r))
        differ = ~((e64 == a64) | (e64.isnan() & a64.isnan()))
        finite = e64.isfinite() & r64.isfinite()
        if bool((differ & ~a64.isfinite()).any()):
            return False
        cpu, scale = (
            (t[finite].max().item() if finite.any() else 0.0)
            for t in ((e64 - r64).abs(), r64.abs())
        )
        bound = 2 * cpu + torch.finfo(e.dtype).eps * scale
        if not bool(((a64 - r64).abs()[differ] <= bound).all()):
            return False
    return True


# Which of several equal numbers comes first is open: the indices have to point at the values.
TIES = {"argsort", "sort", "topk"}


def finds_values(sample, expected, actual) -> bool:
    """Whether the indices among the results find, along one dimension, what the CPU's find, and the values are that."""
    flat_e, flat_a = (tree_flatten(tree)[0] for tree in (expected, actual))
    x = sample.input.detach().cpu()
    if len(flat_e) != len(flat_a) or x.dim() == 0:
        return False
    theirs, ours = (flat[-1].detach().cpu() for flat in (flat_e, flat_a))
    for dim in range(x.dim()):
        if x.shape[:dim] + x.shape[dim + 1 :] != ours.shape[:dim] + ours.shape[dim + 1 :]:
            continue
        found, wanted = x.gather(dim, ours), x.gather(dim, theirs)
        values_agree = len(flat_a) == 1 or torch.equal(flat_a[0].detach().cpu(), found)
        # topk may leave them unsorted.
        if values_agree and torch.equal(found.sort(dim).values, wanted.sort(dim).values):
            return True
    return False


def check_same(op, sample, expected, actual, atol: float, exact: bool, reference) -> None:
    """``assert_same``; where that fails ``reference()``, the result in float64, decides, and for ties the indices."""
    try:
        assert_same(expected, actual, atol, exact)
    except AssertionError as failure:
        if op.name in TIES and finds_values(sample, expected, actual):
            return
        if exact:
            raise
        try:
            wide = reference()
        except (RuntimeError, TypeError, ValueError):
            raise failure from None  # there is none in double precision
        if not as_accurate(expected, actual, wide):
            raise


def sum_error(e: torch.Tensor) -> float:
    """What float32 sums of products in another order are off by: roundings of their largest entries, each term one."""
    if (
        e.dtype not in (torch.float32, torch.complex64)
        or e.layout != torch.strided
        or not e.numel()
    ):
        return 0.0
    largest = float(e.detach().cpu().abs().nan_to_num(0, 0, 0).max())
    return 16 * max(1, *e.shape, 1) * torch.finfo(e.dtype).eps * largest


# No aclnn operator, but not the same bits. MKL's least squares rounds as the addresses of its work arrays fall;
# PyTorch's chunked cross entropy takes another way on the CPU than elsewhere (46 operators against 41).
OTHER_ROUNDING = {"linalg.lstsq", "nn.functional.linear_cross_entropy"}


class SameKernels:
    """Whether what ran on npu within the block was ATen's CPU kernels alone: no aclnn operator was launched.

    ``refused`` counts the calls that aclnn did not take though their entry sends them there.
    """

    def __enter__(self):
        """Starts counting."""
        native = torch.npu._state.native()
        self._before = (native.aclnn_launches(), native.aclnn_refusals())
        return self

    def __exit__(self, *_):
        """Ends counting."""
        native = torch.npu._state.native()
        self.alone = native.aclnn_launches() == self._before[0]
        self.refused = native.aclnn_refusals() - self._before[1]


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
        assert same.refused == 0, (
            "an entry of npu_native_functions.yaml sends aclnn what it refuses"
        )
        on_npu(expected, actual)
        check_in_device_memory(actual)
        if op.name in RANDOM:
            check_random(op, sample, expected, actual)
        elif op.name not in UNINITIALISED:
            atol = CANCELLING[op.name](sample) if op.name in CANCELLING else 0.0
            exact = same.alone and op.name not in OTHER_ROUNDING
            check_same(
                op,
                sample,
                expected,
                actual,
                atol,
                exact,
                lambda s=sample: run_on(op, widened(s), "cpu"),
            )
    return count
