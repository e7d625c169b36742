"""Which draws come next: all pairs of operator and data type, the least often compared ones first."""

import time
from collections import Counter
from collections.abc import Iterator

from fuzz.draw import DTYPES, Name

# The number of compared draws that each pair needs.
LEAST = 200
# Draws per pair in a round; after FIRST draws that the CPU refused, a pair counts as unsupported by the CPU.
BATCH, FIRST = 16, 64
# After this many draws, a pair with too few compared draws no longer has priority.
MOST = 100 * LEAST

Pair = tuple[str, str]


class Schedule:
    """Draws of ``operators``, numbered from ``seed`` for each pair; ``compared`` counts those that the CPU accepted."""

    def __init__(self, operators: list[str], seed: int, compared: Counter):
        self._pairs = [(operator, dtype) for operator in operators for dtype in DTYPES]
        self._seed = seed
        self._compared = compared
        self._drawn: Counter = Counter()

    def _batch(self, pair: Pair, count: int) -> list[Name]:
        first = self._seed + self._drawn[pair]
        self._drawn[pair] += count
        return [Name(*pair, seed) for seed in range(first, first + count)]

    def round(self, count: int) -> Iterator[list[Name]]:
        """``count`` draws of every pair."""
        for pair in self._pairs:
            yield self._batch(pair, count)

    def _is_new(self, pair: Pair) -> bool:
        return not self._compared[pair] and self._drawn[pair] < FIRST

    def _next_round(self) -> list[Pair]:
        owed = [
            pair
            for pair in self._pairs
            if self._is_new(pair) or (0 < self._compared[pair] < LEAST and self._drawn[pair] < MOST)
        ]
        return owed or [pair for pair in self._pairs if self._compared[pair]]

    def until(self, end: float) -> Iterator[list[Name]]:
        """Draws until the time ``end``; reports when every pair has the draws that it needs."""
        started, told = time.monotonic(), False
        while pairs := self._next_round():
            if not told and not self.few() and not any(map(self._is_new, self._pairs)):
                minutes = (time.monotonic() - started) / 60
                print(f"every pair has {LEAST} compared draws after {minutes:.1f} minutes")
                told = True
            for pair in pairs:
                if time.monotonic() >= end:
                    return
                yield self._batch(pair, BATCH)

    def few(self) -> list[str]:
        """The pairs that the CPU supports and that were compared too seldom."""
        return [
            f"{operator}:{dtype} {self._compared[operator, dtype]}"
            for operator, dtype in self._pairs
            if 0 < self._compared[operator, dtype] < LEAST
        ]
