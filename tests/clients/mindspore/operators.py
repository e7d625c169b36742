"""Calls of mint with numpy's results."""

import math
from collections.abc import Callable

import mindspore as ms
import numpy as np
from mindspore import Tensor, mint
from mindspore.mint.nn import functional

_random = np.random.default_rng(0)
x = _random.standard_normal((4, 6)).astype(np.float32)
y = _random.standard_normal((4, 6)).astype(np.float32)
p = np.abs(x) + np.float32(0.5)
a = _random.integers(0, 4, (4, 6))
b = _random.integers(0, 4, (4, 6))
t, u, q = x > 0, y > 0, x[:1]

_erf = np.vectorize(math.erf)


def _sigmoid(z: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-z))


def _softmax(z: np.ndarray) -> np.ndarray:
    e = np.exp(z - z.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def _normalized(z: np.ndarray) -> np.ndarray:
    return (z - z.mean(-1, keepdims=True)) / np.sqrt(z.var(-1, keepdims=True) + 1e-5)


def _scattered() -> np.ndarray:
    result = x.copy()
    np.put_along_axis(result, a[:1], y[:1], 0)
    return result


def _conv(z: np.ndarray, w: np.ndarray) -> np.ndarray:
    windows = np.lib.stride_tricks.sliding_window_view(z, w.shape[2:], (2, 3))
    return np.einsum("nchwij,ocij->nohw", windows, w)


_image = _random.standard_normal((2, 3, 8, 8)).astype(np.float32)
_filter = _random.standard_normal((4, 3, 3, 3)).astype(np.float32)
_pooled = _image.reshape(2, 3, 4, 2, 4, 2)

T = Tensor
# Name: the call, and its result as numpy's.
OPERATORS: dict[str, tuple[Callable[[], Tensor], Callable[[], np.ndarray]]] = {
    "abs": (lambda: mint.abs(T(x)), lambda: np.abs(x)),
    "add": (lambda: mint.add(T(x), T(y)), lambda: x + y),
    "all": (lambda: mint.all(T(t), 1), lambda: t.all(1)),
    "any": (lambda: mint.any(T(t), 1), lambda: t.any(1)),
    "arange": (lambda: mint.arange(5), lambda: np.arange(5)),
    "argmax": (lambda: mint.argmax(T(x), 1), lambda: x.argmax(1)),
    "argsort": (lambda: mint.argsort(T(x), 1), lambda: x.argsort(1)),
    "avg_pool2d": (lambda: functional.avg_pool2d(T(_image), 2), lambda: _pooled.mean((3, 5))),
    "bmm": (
        lambda: mint.bmm(T(np.stack([x, y])), T(np.stack([y.T, x.T]))),
        lambda: np.stack([x @ y.T, y @ x.T]),
    ),
    "broadcast_to": (lambda: mint.broadcast_to(T(q), (4, 6)), lambda: np.broadcast_to(q, (4, 6))),
    "cat": (lambda: mint.cat((T(x), T(y)), 0), lambda: np.concatenate([x, y])),
    "ceil": (lambda: mint.ceil(T(x)), lambda: np.ceil(x)),
    "clamp": (lambda: mint.clamp(T(x), -0.5, 0.5), lambda: np.clip(x, -0.5, 0.5)),
    "conv2d": (lambda: functional.conv2d(T(_image), T(_filter)), lambda: _conv(_image, _filter)),
    "cos": (lambda: mint.cos(T(x)), lambda: np.cos(x)),
    "cumsum": (lambda: mint.cumsum(T(x), 1), lambda: x.cumsum(1)),
    "div": (lambda: mint.div(T(x), T(p)), lambda: x / p),
    "embedding": (lambda: functional.embedding(T(a), T(x)), lambda: x[a]),
    "eq": (lambda: mint.eq(T(a), T(b)), lambda: a == b),
    "erf": (lambda: mint.erf(T(x)), lambda: _erf(x)),
    "exp": (lambda: mint.exp(T(x)), lambda: np.exp(x)),
    "eye": (lambda: mint.eye(3, 3, ms.float32), lambda: np.eye(3)),
    "flip": (lambda: mint.flip(T(x), (1,)), lambda: x[:, ::-1]),
    "floor": (lambda: mint.floor(T(x)), lambda: np.floor(x)),
    "full": (lambda: mint.full((2, 3), 2.5), lambda: np.full((2, 3), 2.5)),
    "gather": (lambda: mint.gather(T(x), 0, T(a)), lambda: np.take_along_axis(x, a, 0)),
    "gelu": (lambda: functional.gelu(T(x)), lambda: x * 0.5 * (1 + _erf(x / np.sqrt(2)))),
    "greater": (lambda: mint.greater(T(x), T(y)), lambda: x > y),
    "greater_equal": (lambda: mint.greater_equal(T(x), T(y)), lambda: x >= y),
    "index_select": (lambda: mint.index_select(T(x), 0, T(np.array([2, 0]))), lambda: x[[2, 0]]),
    "isfinite": (lambda: mint.isfinite(T(x)), lambda: np.isfinite(x)),
    "layer_norm": (lambda: functional.layer_norm(T(x), (6,)), lambda: _normalized(x)),
    "less": (lambda: mint.less(T(x), T(y)), lambda: x < y),
    "less_equal": (lambda: mint.less_equal(T(x), T(y)), lambda: x <= y),
    "linear": (lambda: functional.linear(T(x), T(y), None), lambda: x @ y.T),
    "linspace": (lambda: mint.linspace(0, 1, 5), lambda: np.linspace(0, 1, 5)),
    "log": (lambda: mint.log(T(p)), lambda: np.log(p)),
    "log_softmax": (lambda: functional.log_softmax(T(x), -1), lambda: np.log(_softmax(x))),
    "logical_and": (lambda: mint.logical_and(T(t), T(u)), lambda: t & u),
    "logical_not": (lambda: mint.logical_not(T(t)), lambda: ~t),
    "logical_or": (lambda: mint.logical_or(T(t), T(u)), lambda: t | u),
    "masked_select": (lambda: mint.masked_select(T(x), T(t)), lambda: x[t]),
    "matmul": (lambda: mint.matmul(T(x), T(y.T.copy())), lambda: x @ y.T),
    "max": (lambda: mint.max(T(x), 1)[0], lambda: x.max(1)),
    "max_pool2d": (lambda: functional.max_pool2d(T(_image), 2), lambda: _pooled.max((3, 5))),
    "maximum": (lambda: mint.maximum(T(x), T(y)), lambda: np.maximum(x, y)),
    "mean": (lambda: mint.mean(T(x), 1), lambda: x.mean(1)),
    "min": (lambda: mint.min(T(x), 1)[0], lambda: x.min(1)),
    "minimum": (lambda: mint.minimum(T(x), T(y)), lambda: np.minimum(x, y)),
    "mse_loss": (lambda: functional.mse_loss(T(x), T(y)), lambda: ((x - y) ** 2).mean()),
    "mul": (lambda: mint.mul(T(x), T(y)), lambda: x * y),
    "narrow": (lambda: mint.narrow(T(x), 1, 1, 3), lambda: x[:, 1:4]),
    "ne": (lambda: mint.ne(T(a), T(b)), lambda: a != b),
    "neg": (lambda: mint.neg(T(x)), lambda: -x),
    "nonzero": (lambda: mint.nonzero(T(t)), lambda: np.argwhere(t)),
    "norm": (lambda: mint.norm(T(x)), lambda: np.linalg.norm(x)),
    "one_hot": (lambda: functional.one_hot(T(a), 4), lambda: np.eye(4)[a]),
    "ones": (lambda: mint.ones((2, 3)), lambda: np.ones((2, 3))),
    "outer": (lambda: mint.outer(T(x[0]), T(y[0])), lambda: np.outer(x[0], y[0])),
    "permute": (lambda: mint.permute(T(x), (1, 0)), lambda: x.T),
    "pow": (lambda: mint.pow(T(p), T(y)), lambda: p**y),
    "prod": (lambda: mint.prod(T(x), 1), lambda: x.prod(1)),
    "reciprocal": (lambda: mint.reciprocal(T(p)), lambda: 1 / p),
    "relu": (lambda: functional.relu(T(x)), lambda: np.maximum(x, 0)),
    "repeat_interleave": (lambda: mint.repeat_interleave(T(x), 2, 0), lambda: np.repeat(x, 2, 0)),
    "reshape": (lambda: mint.reshape(T(x), (6, 4)), lambda: x.reshape(6, 4)),
    "roll": (lambda: mint.roll(T(x), 1, 0), lambda: np.roll(x, 1, 0)),
    "round": (lambda: mint.round(T(x)), lambda: np.round(x)),
    "rsqrt": (lambda: mint.rsqrt(T(p)), lambda: 1 / np.sqrt(p)),
    "scatter": (lambda: mint.scatter(T(x), 0, T(a[:1]), T(y[:1])), _scattered),
    "select": (lambda: mint.select(T(x), 0, 1), lambda: x[1]),
    "sigmoid": (lambda: mint.sigmoid(T(x)), lambda: _sigmoid(x)),
    "silu": (lambda: functional.silu(T(x)), lambda: x * _sigmoid(x)),
    "sin": (lambda: mint.sin(T(x)), lambda: np.sin(x)),
    "softmax": (lambda: functional.softmax(T(x), -1), lambda: _softmax(x)),
    "sort": (lambda: mint.sort(T(x), dim=1)[0], lambda: np.sort(x, 1)),
    "split": (lambda: mint.split(T(x), 3, 1)[1], lambda: x[:, 3:]),
    "sqrt": (lambda: mint.sqrt(T(p)), lambda: np.sqrt(p)),
    "square": (lambda: mint.square(T(x)), lambda: x * x),
    "stack": (lambda: mint.stack((T(x), T(y)), 0), lambda: np.stack([x, y])),
    "std": (lambda: mint.std(T(x), 1), lambda: x.std(1, ddof=1)),
    "sub": (lambda: mint.sub(T(x), T(y)), lambda: x - y),
    "sum": (lambda: mint.sum(T(x), 1), lambda: x.sum(1)),
    "tanh": (lambda: mint.tanh(T(x)), lambda: np.tanh(x)),
    "tile": (lambda: mint.tile(T(x), (2, 1)), lambda: np.tile(x, (2, 1))),
    "topk": (lambda: mint.topk(T(x), 3, 1)[0], lambda: -np.sort(-x, 1)[:, :3]),
    "transpose": (lambda: mint.transpose(T(x), 0, 1), lambda: x.T),
    "tril": (lambda: mint.tril(T(x)), lambda: np.tril(x)),
    "triu": (lambda: mint.triu(T(x)), lambda: np.triu(x)),
    "unique": (lambda: mint.unique(T(a)), lambda: np.unique(a)),
    "var": (lambda: mint.var(T(x), 1), lambda: x.var(1, ddof=1)),
    "where": (lambda: mint.where(T(t), T(x), T(y)), lambda: np.where(t, x, y)),
    "zeros": (lambda: mint.zeros((2, 3)), lambda: np.zeros((2, 3))),
}
