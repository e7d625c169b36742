"""Random results: repeatable with a seed, different with another one, and of the declared distribution.

Seeds are fixed, so that a test that passed once always passes. A correct distribution exceeds a bound with a
probability of SIGNIFICANCE.
"""

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from scipy import stats
from torch.utils._pytree import tree_flatten, tree_map

from torch_npu.accuracy import judge

SIGNIFICANCE = 1e-6
# Values that so few of the CPU's draws have may be missing in npu's: with probability exp(-RARE).
RARE = 12
DRAWS = 128  # per sample and device
FEW = 32  # elements that are checked one by one


@dataclass(frozen=True)
class Continuous:
    """A distribution function with its moments, in scipy's definition."""

    law: object

    def check(self, values: np.ndarray) -> None:
        """Kolmogorov-Smirnov's statistic; mean and variance if they exist."""
        found = stats.kstest(values, self.law.cdf)
        assert found.pvalue > SIGNIFICANCE, f"Kolmogorov-Smirnov: {found.statistic:.3g}"
        _check_moments(values, *self.law.stats("mvk"))


@dataclass(frozen=True)
class Discrete:
    """Values and the probability of each."""

    chances: dict[float, float]

    def check(self, values: np.ndarray) -> None:
        """Pearson's chi-square over the values; any other value is an error."""
        names = np.array(list(self.chances))
        chances = np.array(list(self.chances.values()))
        assert np.isin(values, names).all(), "a value that the distribution does not have"
        counts = (values[:, None] == names).sum(0)
        expected = chances / chances.sum() * values.size
        if len(names) == 1:
            return
        found = stats.chisquare(counts, expected)
        assert found.pvalue > SIGNIFICANCE, f"chi-square: {found.statistic:.3g}"
        mean = (names * expected).sum() / values.size
        variance = ((names - mean) ** 2 * expected).sum() / values.size
        fourth = ((names - mean) ** 4 * expected).sum() / values.size
        _check_moments(values, mean, variance, fourth / variance**2 - 3)


def _check_moments(values: np.ndarray, mean: float, variance: float, kurtosis: float) -> None:
    """Mean and variance, each against the standard error for ``values.size`` draws."""
    sigmas = stats.norm.isf(SIGNIFICANCE / 2)
    if not np.isfinite([mean, variance]).all():
        return
    error = math.sqrt(variance / values.size)
    assert abs(values.mean() - mean) <= sigmas * error, f"mean {values.mean():.4g}, not {mean:.4g}"
    if np.isfinite(kurtosis):
        found = ((values - mean) ** 2).mean()
        error = variance * (math.sqrt(max(kurtosis + 2, 0) / values.size) + np.finfo(float).eps)
        assert abs(found - variance) <= sigmas * error, f"variance {found:.4g}, not {variance:.4g}"


def check_independent(values: np.ndarray) -> None:
    """Neighbours have no rank correlation: for independent values the coefficient is normal with variance 1/n."""
    ranks = stats.rankdata(values)
    if ranks.std() == 0:
        return
    found = np.corrcoef(ranks[:-1], ranks[1:])[0, 1] * math.sqrt(values.size)
    assert abs(found) <= stats.norm.isf(SIGNIFICANCE / 2), f"neighbours correlate: {found:.3g}"


def check_law(draw: Callable[[int], torch.Tensor], law: Continuous | Discrete) -> None:
    """``draw(seed)`` gives many independent values of ``law``, the same for the same seed, different ones for
    another."""
    first, again, other = draw(7), draw(7), draw(8)
    assert torch.equal(first, again), "the same seed gives another result"
    if not (isinstance(law, Discrete) and len(law.chances) == 1):
        assert not torch.equal(first, other), "another seed gives the same result"
    for drawn in (first, other):
        values = drawn.detach().cpu().double().numpy().ravel()
        assert np.isfinite(values).all()
        law.check(values)
        check_independent(values)


def _at_most(sorted_values: np.ndarray, bounds: np.ndarray) -> np.ndarray:
    return np.searchsorted(sorted_values, bounds, side="right") / sorted_values.size


def distance(x: np.ndarray, y: np.ndarray, slack: Callable[[np.ndarray], np.ndarray]) -> float:
    """Kolmogorov's distance of two samples; values with a distance of at most ``slack`` count as equal."""
    x, y = np.sort(x), np.sort(y)
    t = np.concatenate([x, y])
    gaps = [
        gap
        for a, b in ((x, y), (y, x))
        for gap in (
            _at_most(a, t - slack(t)) - _at_most(b, t),
            _at_most(a, t) - _at_most(b, t + slack(t)),
        )
    ]
    return float(np.max(gaps))


def same_law(x: np.ndarray, y: np.ndarray, eps: float = 0.0) -> None:
    """``x`` and ``y`` have one draw per row, with the same distribution: all elements together, and a few one by one.

    The elements of a draw need not be independent. The distribution functions of ``n`` draws each differ by more than
    ``sqrt(log(2 / p) / n)`` with a probability of at most ``p`` at each point (Hoeffding). ``eps`` is a rounding:
    values are equal if half of the digits agree, or if they differ by at most as many roundings of the largest as
    there are elements.
    """
    elements = np.linspace(0, x.shape[1] - 1, min(FEW, x.shape[1])).astype(int)

    def bound(comparisons: int) -> float:
        return math.sqrt(math.log(2 * comparisons / SIGNIFICANCE) / x.shape[0])

    least = eps * x.shape[1] * np.abs(x).max(initial=0)

    def slack(t: np.ndarray) -> np.ndarray:
        return eps**0.5 * np.abs(t) + least

    found = distance(x.ravel(), y.ravel(), slack)
    assert found <= bound(1), f"distributions are {found:.3g} apart"
    for i in elements:
        found = distance(x[:, i], y[:, i], slack)
        assert found <= bound(elements.size), f"distributions of element {i} are {found:.3g} apart"


def _numbers(tree: object) -> list[torch.Tensor]:
    tensors = [t for t in tree_flatten(tree)[0] if isinstance(t, torch.Tensor)]
    parts = [p for t in tensors for p in judge.parts(t)]
    return [torch.view_as_real(p) if p.is_complex() else p for p in parts]


def _rows(drawn: list[list[torch.Tensor]], which: int) -> np.ndarray:
    return np.stack([d[which].double().nan_to_num().numpy().ravel() for d in drawn])


def check_draws(
    draw: Callable[[str, int], object],
    expected: object,
    actual: object,
    values: Callable[[object, object], None],
) -> None:
    """``draw(device, seed)`` on npu has the CPU's distributions; ``expected`` and ``actual`` were drawn with seed 0.

    If the CPU's results do not depend on the seed, ``values`` compares them.
    """
    judge.check_exact(_on_cpu(actual), draw("npu", 0))
    theirs, ours = (
        [_numbers(draw(device, seed)) for seed in range(1, 1 + DRAWS)] for device in ("cpu", "npu")
    )
    first, mine = _numbers(expected), _numbers(actual)
    if _constant(first, theirs):
        values(expected, actual)
        return
    assert _unusual([first, *theirs]) < RARE or not _constant(mine, ours), (
        "another seed gives the same result"
    )
    for which, t in enumerate(first):
        if t.numel() == 0:
            continue
        if any(d[which].shape != t.shape for d in (*theirs, *ours)):
            continue  # as many as were drawn
        eps = judge.epsilon(mine[which].dtype)
        same_law(_rows(theirs, which), _rows(ours, which), eps)


def _on_cpu(tree: object) -> object:
    return tree_map(lambda x: x.detach().cpu() if isinstance(x, torch.Tensor) else x, tree)


def _unusual(draws: list[list[torch.Tensor]]) -> int:
    """The number of draws that differ from the most frequent one."""
    counts = Counter(tuple(t.double().numpy().tobytes() for t in d) for d in draws)
    return len(draws) - max(counts.values())


def _constant(first: list[torch.Tensor], drawn: list[list[torch.Tensor]]) -> bool:
    def same(a: torch.Tensor, b: torch.Tensor) -> bool:
        return torch.equal(a.nan_to_num(), b.nan_to_num()) if a.shape == b.shape else False

    return all(same(a, b) for d in drawn for a, b in zip(first, d, strict=True))
