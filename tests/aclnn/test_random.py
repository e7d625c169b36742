"""Random numbers: reproducible, independent of the layout, and with the specified distributions.

The seeds are fixed, so that results are reproducible. Statistics are within the bounds that a correct distribution
exceeds with a probability of 1e-6 (SIGMAS for a normal variable, the same quantile for chi-square).
"""

import math

import pytest
import torch
from scipy.stats import chi2, kstest

from tests.aclnn.cases import COMPLEX, FLOATING, INTEGERS, dtype_name
from tests.aclnn.compare import INVALID
from tests.aclnn.library import AclnnError, Library
from torch_npu import accuracy
from torch_npu.accuracy import Tolerance

SIGMAS = 4.9
SIGNIFICANCE = 1e-6
COUNT = 200_000
REAL = FLOATING + INTEGERS + (torch.bool,)


def _mean_is(values: torch.Tensor, mean: float, deviation: float, slack: float = 0) -> None:
    """``slack``: how far rounding to the dtype may move the mean."""
    error = abs(values.double().mean().item() - mean)
    assert error < SIGMAS * deviation / math.sqrt(values.numel()) + slack


def _variance_is(values: torch.Tensor, variance: float, kurtosis: float, slack: float = 0) -> None:
    bound = SIGMAS * variance * math.sqrt((kurtosis - 1) / values.numel())
    assert abs(values.double().var().item() - variance) < bound + slack


def _is_even(counts: torch.Tensor, expected: torch.Tensor | None = None) -> None:
    """Chi-square test of counts against ``expected`` ones; uniform by default."""
    counts = counts.double()
    expected = counts.mean().expand_as(counts) if expected is None else expected
    statistic = ((counts - expected) ** 2 / expected).sum().item()
    assert statistic < chi2.ppf(1 - SIGNIFICANCE, counts.numel() - 1)


CALLS = {
    "aclnnInplaceBernoulli": (0.3,),
    "aclnnInplaceUniform": (-1.0, 3.0),
    "aclnnInplaceNormal": (1.0, 2.0),
    "aclnnInplaceRandom": (0, 100),
    "aclnnInplaceRandomWithoutFromTo": (),
}


def _draw(
    library: Library, name: str, out: torch.Tensor, seed: int = 5, offset: int = 8
) -> torch.Tensor:
    library.call(name, out, *CALLS[name], seed, offset)
    return out


@pytest.mark.parametrize("name", CALLS)
def test_result_depends_only_on_seed_and_offset(library: Library, name: str):
    first, again = (_draw(library, name, torch.zeros(5000)) for _ in range(2))
    assert torch.equal(first, again)
    assert not torch.equal(first, _draw(library, name, torch.zeros(5000), seed=6))
    assert not torch.equal(first, _draw(library, name, torch.zeros(5000), offset=12))


@pytest.mark.parametrize("name", CALLS)
def test_result_does_not_depend_on_the_number_of_threads(library: Library, name: str):
    """Several threads draw the whole, one thread the part."""
    whole = _draw(library, name, torch.zeros(COUNT))
    assert torch.equal(whole[:1001], _draw(library, name, torch.zeros(1001)))


@pytest.mark.parametrize("name", CALLS)
def test_layouts(library: Library, name: str):
    dense = _draw(library, name, torch.zeros(600)).reshape(20, 30)
    gaps = torch.full((20, 60), 7.0)
    assert torch.equal(_draw(library, name, gaps[:, ::2]), dense)
    assert (gaps[:, 1::2] == 7).all()
    assert _draw(library, name, torch.zeros(())).shape == ()
    assert _draw(library, name, torch.zeros(0, 3)).numel() == 0
    rows = torch.full((20, 40), 7.0)  # of 33 elements: runs begin within a block of four numbers
    dense_rows = _draw(library, name, torch.zeros(660)).reshape(20, 33)
    assert torch.equal(_draw(library, name, rows[:, :33]), dense_rows)
    assert (rows[:, 33:] == 7).all()
    transposed = _draw(library, name, torch.zeros(20, 30).t())
    assert torch.equal(transposed.t(), dense)


@pytest.mark.parametrize("name", [name for name in CALLS if name not in ("aclnnInplaceBernoulli",)])
def test_seed_in_memory(library: Library, name: str):
    variant = f"{name}Tensor"
    out = torch.zeros(1000)
    library.call(variant, out, *CALLS[name], torch.tensor(5), torch.tensor([6]), 2)
    assert torch.equal(out, _draw(library, name, torch.zeros(1000)))


@pytest.mark.parametrize(
    ("variant", "in_memory", "arguments"),
    [
        ("aclnnInplaceBernoulli", "softnpuInplaceBernoulliSeedTensor", (0.3,)),
        (
            "aclnnInplaceBernoulliTensor",
            "softnpuInplaceBernoulliTensorSeedTensor",
            (torch.linspace(0, 1, 1000),),
        ),
        ("aclnnSimThreadExponential", "softnpuExponentialSeedTensor", (1000, 0.5)),
    ],
)
def test_own_forms_with_the_seed_in_memory(
    library: Library, variant: str, in_memory: str, arguments: tuple
):
    out, expected = torch.zeros(1000), torch.zeros(1000)
    library.call(in_memory, out, *arguments, torch.tensor(5), torch.tensor(6), 2)
    library.call(variant, expected, *arguments, 5, 8)
    assert torch.equal(out, expected)


def test_own_form_of_a_permutation_with_the_seed_in_memory(library: Library):
    out, expected = (torch.zeros(1000, dtype=torch.int64) for _ in range(2))
    library.call("softnpuRandpermSeedTensor", 1000, torch.tensor(5), torch.tensor(6), 2, out)
    library.call("aclnnRandperm", 1000, 5, 8, expected)
    assert torch.equal(out, expected)


@pytest.mark.parametrize("dtype", REAL, ids=dtype_name)
@pytest.mark.parametrize("p", [0.0, 0.3, 1.0])
def test_bernoulli(library: Library, dtype: torch.dtype, p: float):
    out = torch.full((COUNT,), 7).to(dtype)
    library.call("aclnnInplaceBernoulli", out, p, 1, 2)
    assert set(out.double().unique().tolist()) == ({0.0, 1.0} if 0 < p < 1 else {p})
    _mean_is(out, p, math.sqrt(p * (1 - p)), slack=1e-12)
    other = torch.zeros(COUNT)
    library.call("aclnnInplaceBernoulli", other, p, 1, 2)
    assert torch.equal(out.float(), other)


@pytest.mark.parametrize("dtype", REAL, ids=dtype_name)
def test_bernoulli_of_tensor(library: Library, dtype: torch.dtype):
    p = torch.tensor([0.0, 0.2, 0.7, 1.0])
    out = torch.full((COUNT // 4, 4), 7).to(dtype)
    library.call("aclnnInplaceBernoulliTensor", out, p, 1, 2)
    for column, share in zip(out.unbind(1), p.double().tolist(), strict=True):
        _mean_is(column, share, math.sqrt(share * (1 - share)), slack=1e-12)


@pytest.mark.parametrize("bad", [-0.1, 1.1, math.nan])
def test_bernoulli_of_a_number_that_is_no_probability(library: Library, bad: float):
    p = torch.full((1000,), 0.5)
    p[777] = bad
    with pytest.raises(AclnnError, match="a probability is not between 0 and 1"):
        library.call("aclnnInplaceBernoulliTensor", torch.zeros(1000), p, 1, 2)


@pytest.mark.parametrize("dtype", FLOATING, ids=dtype_name)
def test_uniform(library: Library, dtype: torch.dtype):
    out = torch.zeros(COUNT, dtype=dtype)
    library.call("aclnnInplaceUniform", out, 0.0, 1.0, 3, 4)
    assert 0 <= out.min() <= out.max() < 1
    eps = torch.finfo(dtype).eps
    _mean_is(out, 0.5, math.sqrt(1 / 12), slack=eps)
    _variance_is(out, 1 / 12, 9 / 5, slack=eps)
    _is_even(torch.histc(out.double(), 64, 0, 1))
    pairs = out.double().reshape(-1, 2)
    cells = (pairs[:, 0] * 8).long() * 8 + (pairs[:, 1] * 8).long()
    _is_even(torch.bincount(cells, minlength=64))


def test_uniform_range(library: Library):
    out = torch.zeros(COUNT)
    library.call("aclnnInplaceUniform", out, -3.0, 5.0, 3, 4)
    assert out.min() >= -3
    assert out.max() <= 5
    _mean_is(out, 1, 8 / math.sqrt(12))


@pytest.mark.parametrize("dtype", FLOATING, ids=dtype_name)
def test_normal(library: Library, dtype: torch.dtype):
    out = torch.zeros(COUNT + 1, dtype=dtype)
    library.call("aclnnInplaceNormal", out, 1.0, 2.0, 3, 4)
    eps = torch.finfo(dtype).eps
    _mean_is(out, 1, 2, slack=eps)
    _variance_is(out, 4, 3, slack=8 * eps)
    standard = ((out.double() - 1) / 2)[:-1]
    # Neighbours are uncorrelated.
    _mean_is(standard[::2] * standard[1::2], 0, 1, slack=eps)
    if dtype in (torch.float32, torch.float64):
        assert kstest(standard.numpy(), "norm").pvalue > SIGNIFICANCE


@pytest.mark.parametrize("dtype", COMPLEX, ids=dtype_name)
def test_complex_normal(library: Library, dtype: torch.dtype):
    out = torch.zeros(COUNT, dtype=dtype)
    library.call("aclnnInplaceNormal", out, 1.0, 2.0, 3, 4)
    for part, mean in ((out.real, 1), (out.imag, 0)):
        _mean_is(part, mean, math.sqrt(2))
        _variance_is(part, 2, 3)


@pytest.mark.parametrize("dtype", FLOATING, ids=dtype_name)
def test_normal_of_tensors(library: Library, dtype: torch.dtype):
    standard = torch.zeros(40, 50, dtype=dtype)
    library.call("aclnnNormalFloatFloat", 0.0, 1.0, 3, 4, standard)
    mean, std = torch.linspace(-2, 2, 50).to(dtype), torch.linspace(0, 3, 40).to(dtype)[:, None]
    tolerance = 8 * torch.finfo(dtype).eps * 6  # values go up to 2 + 3 * 5
    for name, m, s in (
        ("TensorTensor", mean, std),
        ("TensorFloat", mean, 1.5),
        ("FloatTensor", 0.5, std),
    ):
        out = torch.zeros(40, 50, dtype=dtype)
        library.call(f"aclnnNormal{name}", m, s, 3, 4, out)
        widened = [x.double() if isinstance(x, torch.Tensor) else x for x in (m, s)]
        expected = widened[0] + widened[1] * standard.double()
        accuracy.assert_close(
            out.double(), expected, Tolerance(tolerance, tolerance), equal_nan=False
        )


@pytest.mark.parametrize("dtype", FLOATING, ids=dtype_name)
def test_exponential(library: Library, dtype: torch.dtype):
    out = torch.zeros(COUNT, dtype=dtype)
    library.call("aclnnSimThreadExponential", out, COUNT, 0.5, 3, 4)
    eps = torch.finfo(dtype).eps
    assert out.min() > 0
    _mean_is(out, 2, 2, slack=4 * eps)
    _variance_is(out, 4, 9, slack=16 * eps)
    if dtype in (torch.float32, torch.float64):
        assert kstest(out.double().numpy() / 2, "expon").pvalue > SIGNIFICANCE


@pytest.mark.parametrize("dtype", FLOATING + INTEGERS, ids=dtype_name)
def test_integers(library: Library, dtype: torch.dtype):
    least = 0 if dtype == torch.uint8 else -5
    out = torch.zeros(COUNT, dtype=dtype)
    library.call("aclnnInplaceRandom", out, least, least + 13, 3, 4)
    _is_even(torch.bincount((out.double() - least).long(), minlength=13))
    assert out.min() == least
    assert out.max() == least + 12


def test_integers_of_all_bits(library: Library):
    out = torch.zeros(COUNT, dtype=torch.int64)
    library.call("aclnnInplaceRandom", out, -(2**63), 2**63 - 1, 3, 4)
    for bit in (0, 31, 32, 62):
        _mean_is(out >> bit & 1, 0.5, 0.5)
    _mean_is(out < 0, 0.5, 0.5)


@pytest.mark.parametrize("dtype", REAL, ids=dtype_name)
def test_integers_without_bounds(library: Library, dtype: torch.dtype):
    out = torch.zeros(COUNT, dtype=dtype)
    library.call("aclnnInplaceRandomWithoutFromTo", out, 3, 4)
    if dtype.is_floating_point:
        largest = 1 / (torch.finfo(dtype).eps / 2)
    else:
        largest = 1 if dtype == torch.bool else torch.iinfo(dtype).max
    assert 0 <= out.double().min() <= out.double().max() <= largest
    _mean_is(out, largest / 2, (largest + 1) / math.sqrt(12), slack=largest * 1e-12)


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.float64], ids=dtype_name)
@pytest.mark.parametrize("n", [0, 1, 2, 1000])
def test_permutation(library: Library, dtype: torch.dtype, n: int):
    out = torch.zeros(n, dtype=dtype)
    library.call("aclnnRandperm", n, 3, 4, out)
    assert torch.equal(out.sort().values, torch.arange(n, dtype=dtype))


def test_permutations_are_uniform(library: Library):
    counts = torch.zeros(24)
    for seed in range(2400):
        out = torch.zeros(4, dtype=torch.int64)
        library.call("aclnnRandperm", 4, seed, 0, out)
        a, b, c, _ = out.tolist()
        counts[a * 6 + (b - (b > a)) * 2 + (c > min({0, 1, 2, 3} - {a, b}))] += 1
    _is_even(counts)


WEIGHTS = (0.0, 1.0, 3.0, 0.0, 4.0, 2.0, 0.0)


@pytest.mark.parametrize("dtype", FLOATING, ids=dtype_name)
def test_multinomial(library: Library, dtype: torch.dtype):
    weights = torch.tensor([WEIGHTS, WEIGHTS[::-1]], dtype=dtype).t().contiguous().t()
    out = torch.zeros(2, 50_000, dtype=torch.int64)
    library.call("aclnnMultinomial", weights, 50_000, True, 3, 4, out)
    for row, expected in zip(out, weights.double() / 10, strict=True):
        counts = torch.bincount(row, minlength=7)
        assert not counts[expected == 0].any()
        _is_even(counts[expected > 0], expected[expected > 0] * 50_000)


def test_multinomial_without_replacement(library: Library):
    weights = torch.tensor([WEIGHTS]).repeat(20_000, 1)
    out = torch.zeros(20_000, 4, dtype=torch.int64)
    library.call("aclnnMultinomial", weights, 4, False, 3, 4, out)
    assert torch.equal(out.sort(1).values, torch.tensor([[1, 2, 4, 5]]).expand(20_000, 4))
    counts = torch.bincount(out[:, 0], minlength=7)[[1, 2, 4, 5]]
    _is_even(counts, torch.tensor([1.0, 3.0, 4.0, 2.0]).double() * 2000)
    in_memory = torch.zeros_like(out)
    library.call(
        "aclnnMultinomialTensor", weights, 4, False, torch.tensor(3), torch.tensor(4), 0, in_memory
    )
    assert torch.equal(out, in_memory)


@pytest.mark.parametrize("bad", [[-1.0, 2.0], [math.nan, 1.0], [math.inf, 1.0], [0.0, 0.0]])
def test_impossible_probabilities(library: Library, bad: list[float]):
    with pytest.raises(AclnnError, match="row 0 has"):
        library.call(
            "aclnnMultinomial", torch.tensor(bad), 1, True, 1, 2, torch.zeros(1, dtype=torch.int64)
        )


def _bits(mask: torch.Tensor, count: int) -> torch.Tensor:
    return (mask[:, None] >> torch.arange(8) & 1).flatten()[:count]


@pytest.mark.parametrize("variant", ["", "V2", "V2Tensor"])
@pytest.mark.parametrize("p", [0.0, 0.25, 1.0])
def test_dropout_mask(library: Library, variant: str, p: float):
    count = 100_003
    mask = torch.full(((count + 127) // 128 * 16,), 255, dtype=torch.uint8)
    seed = (torch.tensor(3), torch.tensor(3), 1) if variant == "V2Tensor" else (3, 4)
    kind = () if variant == "" else (torch.float32,)
    library.call(f"aclnnDropoutGenMask{variant}", [count], p, *seed, *kind, mask)
    bits = _bits(mask, mask.numel() * 8)
    assert not bits[count:].any()
    _mean_is(bits[:count], 1 - p, math.sqrt(p * (1 - p)), slack=1e-12)


@pytest.mark.parametrize("dtype", FLOATING + COMPLEX, ids=dtype_name)
@pytest.mark.parametrize("layout", ["contiguous", "transposed", "gaps"])
def test_dropout(library: Library, dtype: torch.dtype, layout: str):
    p = 0.25
    x = (
        torch.arange(1, 20_001).to(dtype).remainder_(50)
        if not dtype.is_complex
        else torch.arange(20_000).to(dtype)
    )
    x = x.reshape(100, 200)
    mask = torch.zeros(2512, dtype=torch.uint8)
    library.call("aclnnDropoutGenMaskV2", [100, 200], p, 3, 4, torch.float32, mask)
    x = {
        "contiguous": x,
        "transposed": x.t().contiguous().t(),
        "gaps": x.repeat_interleave(2, 1)[:, ::2],
    }[layout]
    out = (
        torch.zeros(200, 100, dtype=dtype).t()
        if layout == "transposed"
        else torch.zeros(100, 200, dtype=dtype)
    )
    library.call("aclnnDropoutDoMask", x, mask, p, out)
    kept = _bits(mask, x.numel()).reshape(x.shape)
    widened = torch.complex128 if dtype.is_complex else torch.float64
    eps = torch.finfo(dtype).eps
    accuracy.assert_close(
        out.to(widened), x.to(widened) * kept / (1 - p), Tolerance(2 * eps), equal_nan=False
    )
    group, drawn = (
        torch.zeros(100, 200, dtype=dtype),
        torch.full((2512,), 255, dtype=torch.uint8),
    )
    library.call("aclnnDropoutV3", x, None, p, 3, 4, group, drawn)
    assert torch.equal(drawn, mask)
    assert torch.equal(group, out)


def test_what_is_refused(library: Library):
    x, integers = torch.zeros(3), torch.zeros(3, dtype=torch.int32)
    for name, arguments, message in (
        ("aclnnInplaceBernoulli", (x, 1.5, 1, 2), "not between 0 and 1"),
        ("aclnnInplaceUniform", (integers, 0.0, 1.0, 1, 2), "floating-point types"),
        ("aclnnInplaceUniform", (x, 2.0, 1.0, 1, 2), "no numbers lie evenly"),
        ("aclnnInplaceNormal", (x, 0.0, -1.0, 1, 2), "std is -1"),
        ("aclnnInplaceNormal", (integers, 0.0, 1.0, 1, 2), "floating-point and complex"),
        ("aclnnInplaceRandom", (x, 3, 3, 1, 2), "no integer lies"),
        ("aclnnSimThreadExponential", (x, 3, 0.0, 1, 2), "lambda is 0"),
        ("aclnnSimThreadExponential", (x, 4, 1.0, 1, 2), "count is 4"),
        ("aclnnRandperm", (4, 1, 2, x), "where 4 numbers"),
        (
            "aclnnMultinomial",
            (x, 4, False, 1, 2, torch.zeros(4, dtype=torch.int64)),
            "4 samples cannot differ",
        ),
        (
            "aclnnMultinomial",
            (x, 2, True, 1, 2, torch.zeros(3, dtype=torch.int64)),
            "for 2 samples",
        ),
        ("aclnnDropoutGenMask", ([100], 0.5, 1, 2, torch.zeros(3, dtype=torch.uint8)), "too few"),
        ("aclnnDropoutGenMask", ([100], 0.5, 1, 2, x), "uint8"),
        ("aclnnNormalTensorFloat", (torch.zeros(2), 1.0, 1, 2, x), "broadcast"),
        (
            "aclnnInplaceUniformTensor",
            (x, 0.0, 1.0, torch.zeros(2), torch.zeros(1), 0),
            "seed has to be one",
        ),
    ):
        with pytest.raises(AclnnError, match=message) as error:
            library.call(name, *arguments)
        assert error.value.code == INVALID
