"""Intervals of time: unions and differences. An interval is a pair of its begin and its end."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

Interval = tuple[int, int]


def union(intervals: Iterable[Interval]) -> list[Interval]:
    """The intervals, sorted, those that touch joined."""
    result: list[Interval] = []
    for begin, end in sorted(intervals):
        if result and begin <= result[-1][1]:
            result[-1] = (result[-1][0], max(end, result[-1][1]))
        elif end > begin:
            result.append((begin, end))
    return result


def difference(intervals: list[Interval], removed: list[Interval]) -> list[Interval]:
    """What of ``intervals`` is in none of ``removed``; both are unions."""
    result: list[Interval] = []
    index = 0
    for begin, end in intervals:
        while index < len(removed) and removed[index][1] <= begin:
            index += 1
        position, probe = begin, index
        while probe < len(removed) and removed[probe][0] < end:
            if removed[probe][0] > position:
                result.append((position, removed[probe][0]))
            position = max(position, removed[probe][1])
            probe += 1
        if position < end:
            result.append((position, end))
    return result


def gaps(intervals: list[Interval]) -> list[Interval]:
    """What is between the intervals of a union."""
    return [
        (before[1], after[0])
        for before, after in itertools.pairwise(intervals)
        if after[0] > before[1]
    ]
