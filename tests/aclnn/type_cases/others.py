"""Random numbers and recurrent layers."""

from collections.abc import Callable, Sequence

import torch

from tests.aclnn.type_cases.case import H, N, TypeCase, X, normal, within


def _random() -> list[TypeCase]:
    key, alg = (H(5), H(0)), N(1, torch.int32)
    shape = H(3, 7)
    return [
        TypeCase(
            "StatelessRandomNormalV2", (shape, *key, alg), lambda: normal(3, 7), computes=False
        ),
        TypeCase(
            "StatelessRandomUniformV2", (shape, *key, alg), lambda: normal(3, 7), computes=False
        ),
        TypeCase("StatelessBernoulli", (shape, N(0.5), *key), lambda: normal(3, 7), computes=False),
        TypeCase(
            "StatelessDropOutGenMask",
            (shape, N(0.5), H(5), N(0, torch.int32), H(0)),
            lambda: torch.zeros(16, dtype=torch.uint8),
            computes=False,
        ),
        TypeCase(
            "DropOutDoMask",
            (X, torch.full((16,), 255, dtype=torch.uint8), N(0.5)),
            lambda x, mask: x * 2,
        ),
        TypeCase(
            "MultinomialWithReplacement",
            (within(3, 4), *key),
            lambda x: torch.zeros(3, 6, dtype=torch.int64),
            {"numsamples": 6, "replacement": True},
            computes=False,
        ),
    ]


def _recurrent() -> list[TypeCase]:
    steps, batch, inputs, hidden = 3, 2, 5, 4
    x, state, start = (
        normal(steps, batch, inputs),
        normal(steps, batch, hidden),
        normal(1, batch, hidden),
    )
    last = normal(batch, hidden)
    none = torch.zeros(())

    def sizes(*results: torch.Tensor) -> Callable[..., Sequence[torch.Tensor]]:
        return lambda *_: results

    w, w_x, w_h = (normal(n, 4 * hidden) for n in (inputs + hidden, inputs, hidden))
    v_x, v_h = normal(inputs, 3 * hidden), normal(hidden, 3 * hidden)
    lstm, gru = normal(4 * hidden), normal(3 * hidden)
    eight = (state,) * 8
    tail = (state, start, start, state, state, state, last, last, *(state,) * 5)
    return [
        TypeCase("DynamicRNN", (x, w, lstm), sizes(*eight), computes=False),
        TypeCase("DynamicRNNV2", (x, w_x, w_h, lstm), sizes(*eight), computes=False),
        TypeCase(
            "DynamicRNNGrad",
            (x, w, lstm, *tail, none),
            sizes(w, lstm, x, start, start),
            computes=False,
        ),
        TypeCase(
            "DynamicRNNV2Grad",
            (x, w_x, w_h, *tail, none),
            sizes(w_x, w_h, lstm, x, start, start),
            computes=False,
        ),
        TypeCase("DynamicGRUV2", (x, v_x, v_h, gru, gru), sizes(*(state,) * 6), computes=False),
        TypeCase(
            "DynamicGRUV2Grad",
            (x, v_x, v_h, state, last, state, state, last, state, state, state, state, none, none),
            sizes(v_x, v_h, gru, gru, x, last),
            computes=False,
        ),
    ]


CASES: list[TypeCase] = [*_random(), *_recurrent()]
