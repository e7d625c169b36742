"""Correct distributions are accepted, and planted errors are refused. No device is needed."""

import numpy as np
import pytest
import torch
from opinfo.distributions import (
    Continuous,
    Discrete,
    check_draws,
    check_independent,
    check_law,
    same_law,
)
from scipy import stats

NORMAL = Continuous(stats.norm(2, 3))
COIN = Discrete({0.0: 0.7, 1.0: 0.3})
COUNT = 20_000


def drawn(sample, count: int = COUNT):
    """``sample(generator)`` gives ``count`` numbers."""
    return lambda seed: sample(torch.Generator().manual_seed(seed), count)


def normal(mean: float, deviation: float):
    return lambda g, n: torch.randn(n, generator=g) * deviation + mean


def test_correct_distributions_pass():
    check_law(drawn(normal(2, 3)), NORMAL)
    check_law(drawn(lambda g, n: (torch.rand(n, generator=g) < 0.3).float()), COIN)


@pytest.mark.parametrize(
    "sample",
    [
        lambda g, n: torch.zeros(n),
        lambda g, n: torch.full((n,), 2.0),
        normal(2, 150),
        normal(2, 3.3),
        normal(2.2, 3),
        lambda g, n: torch.rand(n, generator=g) * 3 * 12**0.5 + 2 - 3 * 3**0.5,
        lambda g, n: torch.randn(n // 2, generator=g).repeat_interleave(2) * 3 + 2,
        lambda g, n: torch.randn(n, generator=g).sort().values * 3 + 2,
        lambda g, n: planted_nan(torch.randn(n, generator=g) * 3 + 2),
        lambda g, n: torch.randn(n, generator=torch.Generator().manual_seed(0)) * 3 + 2,
        lambda g, n: torch.randn(n) * 3 + 2,
    ],
    ids=[
        "zeros", "mean", "deviation 150 for 3", "deviation 3.3", "mean 2.2", "uniform", "in pairs", "sorted", "nan",
        "ignores the seed", "another one each time",
    ],
)  # fmt: skip
def test_wrong_distributions_are_refused(sample):
    with pytest.raises(AssertionError):
        check_law(drawn(sample), NORMAL)


def planted_nan(t: torch.Tensor) -> torch.Tensor:
    t[5] = float("nan")
    return t


@pytest.mark.parametrize("chance", [0.0, 0.28, 0.32, 0.7, 1.0])
def test_wrong_probabilities_are_refused(chance):
    with pytest.raises(AssertionError):
        check_law(drawn(lambda g, n: (torch.rand(n, generator=g) < chance).float()), COIN)
    with pytest.raises(AssertionError, match="does not have"):
        check_law(drawn(lambda g, n: (torch.rand(n, generator=g) < 0.3) * 2.0), COIN)


def test_neighbours_are_independent():
    x = np.random.default_rng(0).normal(size=COUNT)
    check_independent(x)
    with pytest.raises(AssertionError, match="correlate"):
        check_independent(x[1:] + x[:-1])


def draws(on_npu, on_cpu=lambda g: torch.randn(2, 3, generator=g)):
    """The answer of check_draws for two samplers; the devices' generators differ."""

    def draw(device: str, seed: int):
        sample = on_npu if device == "npu" else on_cpu
        return sample(torch.Generator().manual_seed(seed + (1 << 20 if device == "npu" else 0)))

    def values(expected, actual) -> None:
        torch.testing.assert_close(actual, expected, rtol=0, atol=0)

    check_draws(draw, draw("cpu", 0), draw("npu", 0), values)


def test_samples_of_the_cpus_distribution_pass():
    draws(lambda g: torch.randn(2, 3, generator=g))
    draws(lambda g: torch.ones(3), lambda g: torch.rand(2, generator=g)[:0].new_ones(3))


def test_a_rare_result_need_not_be_seen():
    """Whether the rare result comes first or later."""
    for rare in (0, 77):
        draws(
            lambda g: torch.zeros(3),
            lambda g, rare=rare: torch.full((3,), float(g.initial_seed() == rare)),
        )


@pytest.mark.parametrize(
    "on_npu",
    [
        lambda g: torch.zeros(2, 3),
        lambda g: torch.randn(2, 3, generator=g) * 50,
        lambda g: torch.randn(2, 3),
        lambda g: torch.randn(2, 3, generator=torch.Generator().manual_seed(0)),
        lambda g: torch.randn(2, 3, generator=g) * torch.tensor([1, 1, 50]),
        lambda g: torch.randn(2, 3, generator=g) + torch.tensor([2, 0, -2]),
    ],
    ids=["zeros", "deviation", "unrepeatable", "ignores the seed", "one column's", "means"],
)
def test_samples_of_another_distribution_are_refused(on_npu):
    with pytest.raises(AssertionError):
        draws(on_npu)


def test_what_does_not_depend_on_the_seed_is_compared():
    with pytest.raises(AssertionError):
        draws(lambda g: torch.full((3,), 2.0), lambda g: torch.ones(3))


def test_rounding_does_not_change_the_distribution():
    two_values = (np.random.default_rng(0).random((128, 5)) < 0.5) * 1.0
    same_law(two_values, (1 - two_values) * (1 + 1e-7), eps=1e-7)
