"""Random operators on npu: many values have the declared distribution; repeatable, and different with another seed."""

import math

import pytest
import torch
from scipy import stats
from seeding import seed_all
from torch.nn import functional as F

from opinfo.distributions import Continuous, Discrete, check_law

COUNT = 50_000


def empty(dtype=torch.float32, count: int = COUNT) -> torch.Tensor:
    return torch.empty(count, dtype=dtype, device="npu")


def like(value: float, count: int = COUNT, dtype=torch.float32) -> torch.Tensor:
    return torch.full((count,), value, dtype=dtype, device="npu")


def uniform(low: float, high: float) -> Continuous:
    return Continuous(stats.uniform(low, high - low))


def even(low: int, high: int) -> Discrete:
    return Discrete({float(n): 1 / (high - low) for n in range(low, high)})


def coin(chance: float, tail: float = 0.0, head: float = 1.0) -> Discrete:
    return Discrete({tail: 1 - chance, head: chance})


def counts(law, most: int) -> Discrete:
    """A distribution of integers whose tail above ``most`` is one value."""
    chances = {float(n): float(law.pmf(n)) for n in range(int(law.support()[0]), most)}
    return Discrete(chances | {float(most): float(law.sf(most - 1))})


def cauchy() -> Continuous:
    return Continuous(stats.cauchy(1, 2))


def rrelu_slopes() -> torch.Tensor:
    return -F.rrelu(like(-1), 0.1, 0.4, training=True)


def dropped_channels() -> torch.Tensor:
    found = F.dropout2d(torch.ones(100, 200, 2, 3, device="npu"), 0.3)
    assert torch.equal(found, found[:, :, :1, :1].expand_as(found))
    return found[:, :, 0, 0].flatten()


def alpha_dropped() -> torch.Tensor:
    """1 if an element was dropped: the results for 0 and for 1 differ by the scale."""
    # alpha' = -1.7580993408473766 is the limit of SELU; a and b keep mean 0 and variance 1 (Klambauer et al., 2017).
    keep, saturated = 0.7, -1.7580993408473766
    a = (keep * (1 + (1 - keep) * saturated**2)) ** -0.5
    b = -a * saturated * (1 - keep)
    found = F.alpha_dropout(like(2), 1 - keep, training=True)
    kept, dropped = 2 * a + b, a * saturated + b
    nearest = (found - kept).abs().minimum((found - dropped).abs())
    assert nearest.max().item() < 8 * torch.finfo(torch.float32).eps
    return ((found - dropped).abs() < 1).float()


def first_of_permutations() -> torch.Tensor:
    found = torch.stack([torch.randperm(7, device="npu") for _ in range(2000)])
    assert torch.equal(found.sort(1).values, torch.arange(7, device="npu").expand(2000, 7))
    return found[:, 3]


def chosen_without_replacement() -> torch.Tensor:
    weights = torch.tensor([1.0, 2.0, 3.0], device="npu").expand(COUNT // 10, 3)
    found = torch.multinomial(weights, 2, replacement=False)
    assert (found[:, 0] != found[:, 1]).all()
    return found[:, 0] * 3 + found[:, 1]


def offsets_of_fractional_windows() -> torch.Tensor:
    """A window's start depends on one uniform number; the window's largest element is linear in the start."""
    x = torch.arange(40.0, device="npu").expand(400, 50, 40, 40).contiguous()
    return F.fractional_max_pool2d(x, 2, output_size=2)[:, :, 0, 0].flatten()


def masked_attention() -> torch.Tensor:
    """Whether a key was dropped: equal scores, values that identify the keys."""
    q = torch.zeros(50, 8, 16, 8, device="npu")
    v = torch.eye(8, device="npu").expand(50, 8, 8, 8)
    k = torch.zeros(50, 8, 8, 8, device="npu")
    found = F.scaled_dot_product_attention(q, k, v, dropout_p=0.3) * 8 * 0.7
    torch.testing.assert_close(found, found.round(), rtol=0, atol=8 * torch.finfo(found.dtype).eps)
    return found.round().flatten()


DROPPED = coin(0.7, 0.0, float(torch.tensor(1 / 0.7)))
LAWS = {
    "rand": (lambda: torch.rand(COUNT, device="npu"), uniform(0, 1)),
    "rand float64": (lambda: torch.rand(COUNT, device="npu", dtype=torch.float64), uniform(0, 1)),
    "rand_like": (lambda: torch.rand_like(empty()), uniform(0, 1)),
    "randn": (lambda: torch.randn(COUNT, device="npu"), Continuous(stats.norm())),
    "randn float64": (
        lambda: torch.randn(COUNT, device="npu", dtype=torch.float64),
        Continuous(stats.norm()),
    ),
    "randn_like": (lambda: torch.randn_like(empty()), Continuous(stats.norm())),
    "randn complex": (
        lambda: torch.view_as_real(
            torch.randn(COUNT, device="npu", dtype=torch.complex64)
        ).flatten(),
        Continuous(stats.norm(0, 0.5**0.5)),
    ),
    "randint": (lambda: torch.randint(-3, 9, (COUNT,), device="npu"), even(-3, 9)),
    "randint_like": (lambda: torch.randint_like(empty(torch.int32), 2, 19), even(2, 19)),
    "randint_like float": (lambda: torch.randint_like(empty(), 100), even(0, 100)),
    "random_": (lambda: empty(torch.int64).random_(5, 12), even(5, 12)),
    "random_ to": (lambda: empty(torch.int16).random_(50), even(0, 50)),
    "random_ uint8": (lambda: empty(torch.uint8).random_(), even(0, 256)),
    "random_ bool": (lambda: empty(torch.bool).random_(), coin(0.5)),
    "randperm": (first_of_permutations, even(0, 7)),
    "uniform_": (lambda: empty().uniform_(-2, 5), uniform(-2, 5)),
    "uniform_ float64": (lambda: empty(torch.float64).uniform_(-2, 5), uniform(-2, 5)),
    "normal_": (lambda: empty().normal_(2, 3), Continuous(stats.norm(2, 3))),
    "normal_ odd": (lambda: empty(count=COUNT + 1).normal_(), Continuous(stats.norm())),
    "normal of means": (lambda: torch.normal(like(-1), 0.5), Continuous(stats.norm(-1, 0.5))),
    "normal of deviations": (lambda: torch.normal(4.0, like(7)), Continuous(stats.norm(4, 7))),
    "normal of both": (lambda: torch.normal(like(3), like(2)), Continuous(stats.norm(3, 2))),
    "normal of numbers": (
        lambda: torch.normal(3.0, 2.0, (COUNT,), device="npu"),
        Continuous(stats.norm(3, 2)),
    ),
    "exponential_": (lambda: empty().exponential_(2.5), Continuous(stats.expon(scale=1 / 2.5))),
    "cauchy_": (lambda: empty().cauchy_(1, 2), cauchy()),
    "log_normal_": (
        lambda: empty().log_normal_(0.5, 0.25),
        Continuous(stats.lognorm(0.25, scale=math.exp(0.5))),
    ),
    "geometric_": (lambda: empty().geometric_(0.4).clamp(max=15), counts(stats.geom(0.4), 15)),
    "geometric_ int": (
        lambda: empty(torch.int64).geometric_(0.4).clamp(max=15),
        counts(stats.geom(0.4), 15),
    ),
    "bernoulli": (lambda: torch.bernoulli(like(0.3)), coin(0.3)),
    "bernoulli_": (lambda: empty().bernoulli_(0.2), coin(0.2)),
    "bernoulli_ int": (lambda: empty(torch.int32).bernoulli_(0.2), coin(0.2)),
    "bernoulli_ of chances": (lambda: empty().bernoulli_(like(0.9)), coin(0.9)),
    "bernoulli never": (lambda: torch.bernoulli(like(0)), Discrete({0.0: 1.0})),
    "bernoulli always": (lambda: torch.bernoulli(like(1)), Discrete({1.0: 1.0})),
    "multinomial": (
        lambda: torch.multinomial(torch.tensor([1.0, 0, 3, 6], device="npu"), COUNT, True),
        Discrete({0.0: 0.1, 2.0: 0.3, 3.0: 0.6}),
    ),
    "multinomial without replacement": (
        chosen_without_replacement,
        Discrete(
            {
                float(i * 3 + j): (i + 1) / 6 * (j + 1) / (5 - i)
                for i in range(3)
                for j in range(3)
                if i != j
            }
        ),
    ),
    "poisson": (lambda: torch.poisson(like(3)).clamp(max=12), counts(stats.poisson(3), 12)),
    "binomial": (
        lambda: torch.binomial(like(10), like(0.3)).clamp(max=8),
        counts(stats.binom(10, 0.3), 8),
    ),
    "gamma": (lambda: torch._standard_gamma(like(2.5)), Continuous(stats.gamma(2.5))),
    "dirichlet": (
        lambda: torch._sample_dirichlet(
            torch.tensor([2.0, 3.0], device="npu").expand(COUNT, 2).contiguous()
        )[:, 0],
        Continuous(stats.beta(2, 3)),
    ),
    "dropout": (lambda: F.dropout(like(1), 0.3), DROPPED),
    "dropout_": (lambda: F.dropout(like(1), 0.3, inplace=True), DROPPED),
    "native_dropout": (lambda: torch.native_dropout(like(1), 0.3, True)[1].float(), coin(0.7)),
    "dropout of all": (lambda: F.dropout(like(1), 1.0), Discrete({0.0: 1.0})),
    "dropout2d": (dropped_channels, DROPPED),
    "alpha_dropout": (alpha_dropped, coin(0.3)),
    "rrelu": (rrelu_slopes, uniform(0.1, 0.4)),
    "gumbel_softmax": (
        lambda: F.gumbel_softmax(
            torch.tensor([1.0, 3.0], device="npu").log().expand(COUNT, 2), hard=True
        )[:, 1],
        coin(0.75),
    ),
    "attention": (masked_attention, coin(0.7)),
}


@pytest.mark.parametrize("name", LAWS)
def test_law(name):
    sample, law = LAWS[name]

    def draw(seed: int) -> torch.Tensor:
        seed_all(seed)
        return sample().cpu()

    check_law(draw, law)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("name", ["uniform_", "normal_", "exponential_"])
def test_sixteen_bit_numbers_have_the_rounded_law(name, dtype):
    """Each 16-bit number represents the values that round to it: its distribution function is the law's at the
    midpoint to the next."""
    law = {
        "uniform_": stats.uniform(),
        "normal_": stats.norm(),
        "exponential_": stats.expon(),
    }[name]
    seed_all(3)
    x = getattr(empty(dtype), name)().cpu()
    # Few bin edges over 4 standard deviations, all exact in every 16-bit type.
    edges = torch.tensor([0.0, 0.25, 0.5, 0.75, 1.0, 2.0, 4.0])
    eps = torch.finfo(dtype).eps
    for edge in edges.tolist():
        found = (x.double() <= edge).double().mean().item()
        low, high = (law.cdf(edge * (1 + s * eps)) for s in (-1, 1))
        error = stats.norm.isf(5e-7) * math.sqrt(0.25 / COUNT)
        assert low - error <= found <= high + error


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_small_uniform_sixteen_bit_numbers_have_all_digits(dtype):
    """A number below 2**-k has a probability of at most 2**-k and all of its type's digits."""
    seed_all(5)
    x = torch.rand(1 << 20, dtype=dtype, device="npu").cpu().float()
    assert x.min() >= 0
    assert x.max() < 1
    below = (x < 2.0**-10).sum().item()
    assert abs(below - 2**10) < 6 * 2**5
    assert len(x[x < 2.0**-10].unique()) > 2**8
