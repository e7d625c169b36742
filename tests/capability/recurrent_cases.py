"""Calls of recurrent networks, attention with projections and Sinkhorn's iterations, each with a definition in plain PyTorch."""

import torch

from tests.capability.composed_cases import Case, values, vjp

FLOATS = (torch.float32, torch.float16, torch.float64)


def lstm_steps(x, weight, bias, h, c, counts=None, is_reverse=False):
    """Steps of an LSTM one by one; ``counts`` says how many of the batch have each step."""
    steps, batch, _ = x.shape
    h, c = h.reshape(batch, -1), c.reshape(batch, -1)
    rows = [None] * steps
    for t in reversed(range(steps)) if is_reverse else range(steps):
        i, f, j, o = (torch.cat((x[t], h), 1) @ weight + bias).chunk(4, 1)
        i, f, j, o = i.sigmoid(), f.sigmoid(), j.tanh(), o.sigmoid()
        cell = f * c + i * j
        out = o * cell.tanh()
        has_step = torch.arange(batch)[:, None] < (batch if counts is None else counts[t])
        h, c = torch.where(has_step, out, h), torch.where(has_step, cell, c)
        rows[t] = (torch.where(has_step, out, 0), h, c, i, j, f, o, cell.tanh())
    return tuple(torch.stack(parts) for parts in zip(*rows, strict=True))


def lstm(x, weight, bias, _, h, c, *flags):
    return lstm_steps(x, weight, bias, h, c)


def lstm_data(x, counts, weight, bias, _, h, c, *flags):
    return lstm_steps(x, weight, bias, h, c, counts, flags[-1])


def lstm_cell(x, w_ih, w_hh, h, c, b_ih=None, b_hh=None):
    bias = 0 if b_ih is None else b_ih + b_hh
    results = lstm_steps(x[None], torch.cat((w_ih, w_hh)), bias, h, c)
    return results[0], results[1][0], results[2][0], *results[3:]


def gru(x, hx, w_x, w_h, b_x, b_h, *flags):
    h, rows = hx.reshape(x.shape[1], -1), []
    for step in x:
        own, state = (step @ w_x + b_x).chunk(3, 1), (h @ w_h + b_h).chunk(3, 1)
        r, z = (own[0] + state[0]).sigmoid(), (own[1] + state[1]).sigmoid()
        n = (own[2] + r * state[2]).tanh()
        h = (1 - z) * n + z * h
        rows.append((h, h, z, r, n, state[2]))
    return tuple(torch.stack(parts) for parts in zip(*rows, strict=True))


def gradients(function, leaves, grads, *rest):
    """Those of the first results of ``function`` for all of its leaves."""
    leaves = [leaf.detach().requires_grad_() for leaf in leaves]
    results = function(*leaves, *rest)
    pairs = [(r, g) for r, g in zip(results, grads, strict=False) if g is not None]
    return torch.autograd.grad(
        [r for r, _ in pairs], leaves, [g.reshape(r.shape) for r, g in pairs]
    )


def lstm_gradients(gy, gh, gc, x, weight, bias, h, c, *saved):
    return gradients(lstm_steps, (x, weight, bias, h, c), (gy, gh, gc))


def lstm_data_gradients(gy, gh, gc, x, counts, weight, bias, h, c, *rest):
    return gradients(
        lambda *leaves: lstm_steps(*leaves, counts, rest[-1]), (x, weight, bias, h, c), (gy, gh, gc)
    )


def lstm_cell_gradients(gy, gh, gc, x, w_ih, w_hh, h, c, *saved):
    bias = torch.zeros(w_hh.shape[1], dtype=x.dtype)
    leaves = (x, w_ih, w_hh, bias, bias, h, c)
    return gradients(
        lambda x, w, u, b, d, h, c: lstm_cell(x, w, u, h, c, b, d), leaves, (gy, gh, gc)
    )


def gru_gradients(gy, gh, x, w_x, w_h, b_x, b_h, _, hx, *saved):
    return gradients(
        lambda w_x, w_h, x, b_x, b_h, hx: gru(x, hx, w_x, w_h, b_x, b_h),
        (w_x, w_h, x, b_x, b_h, hx),
        (gy, gh),
    )


T, B, INPUTS, H = 3, 2, 4, 3
PLAIN = (True, 1, 0.0, True, False, False)
LSTM = (values(T, B, INPUTS), values(INPUTS + H, 4 * H, low=-0.5, high=0.5), values(4 * H), values(1, B, H), values(1, B, H, low=-1))  # fmt: skip
COUNTS = torch.tensor([2, 2, 1])
MASK = torch.zeros(1)
GIVEN = (values(T, B, H), values(T, B, H, low=-1), values(T, B, H, high=1))
CELL = (values(B, INPUTS), values(INPUTS, 4 * H, low=-0.5), values(H, 4 * H, high=0.5), values(B, H), values(B, H, low=-1))  # fmt: skip
GRU = (values(T, B, INPUTS), values(B, H), values(INPUTS, 3 * H, low=-0.5), values(H, 3 * H, high=0.5), values(3 * H), values(3 * H, low=-1))  # fmt: skip


def lstm_gradient_case(*grads):
    return Case(lstm_gradients, (*grads, *LSTM, *lstm_steps(*LSTM)), dtypes=FLOATS)


def lstm_data_gradient_case(is_reverse):
    x, *rest = LSTM
    saved = lstm_steps(*LSTM, COUNTS, is_reverse)
    return Case(lstm_data_gradients, (*GIVEN, x, COUNTS, *rest, *saved, is_reverse), dtypes=FLOATS)


RECURRENT = {
    "npu_lstm": Case(lstm, (*LSTM[:3], MASK, *LSTM[3:], *PLAIN, False, False), gradients=3),
    "npu_lstm_backward": lstm_gradient_case(*GIVEN),
    "npu_lstm_backward-last": lstm_gradient_case(None, GIVEN[1], None),
    "npu_lstm_data": Case(
        lstm_data, (LSTM[0], COUNTS, *LSTM[1:3], MASK, *LSTM[3:], *PLAIN, True, False), gradients=1
    ),
    "npu_lstm_data-reverse": Case(
        lstm_data, (LSTM[0], COUNTS, *LSTM[1:3], MASK, *LSTM[3:], *PLAIN, True, True), gradients=1
    ),
    "npu_lstm_data_backward": lstm_data_gradient_case(False),
    "npu_lstm_data_backward-reverse": lstm_data_gradient_case(True),
    "npu_lstm_cell": Case(lstm_cell, (*CELL, values(4 * H), values(4 * H, low=-1)), gradients=7),
    "npu_lstm_cell-plain": Case(lstm_cell, CELL, gradients=5),
    "npu_lstm_cell_backward": Case(
        lstm_cell_gradients, (values(1, B, H), *(values(B, H, low=n) for n in (-1, 0)), *CELL, *lstm_cell(*CELL))
    ),
    "npu_gru": Case(gru, (*GRU, MASK, *PLAIN), gradients=6),
    "npu_gru_backward": Case(
        gru_gradients, (*GIVEN[:2], GRU[0], *GRU[2:], MASK, GRU[1], *gru(*GRU))
    ),
}  # fmt: skip

# ---- attention with projections ----

HEADS, WIDTH, SOURCES, TARGETS, BATCH = 2, 3, 4, 5, 2


def multi_head(
    q, k, v, wq, wk, wv, mask, wo, bq, bk, bv, bo, _, heads, width, sources, targets, *rest
):
    def split(rows, length):
        return rows.reshape(-1, length, heads, width).transpose(1, 2)

    def projected(rows, weight, bias):
        return rows @ weight.T + (0 if bias is None else bias)

    q = split(projected(q, wq, bq) / width**0.5, targets)
    k, v = split(projected(k, wk, bk), sources), split(projected(v, wv, bv), sources)
    scores = (q @ k.mT + mask).softmax(-1)
    context = (scores @ v).transpose(1, 2).reshape(-1, heads * width)
    kept = torch.full((-(-scores.numel() // 128) * 16,), 255, dtype=torch.uint8)
    return projected(context, wo, bo), kept, q, k, v, scores, scores, context


def multi_head_gradients(q, k, v, wq, wk, wv, wo, bq, bk, bv, bo, qr, kr, vr, scores, weights, context, grad, kept, heads, width, sources, targets, *rest):  # fmt: skip
    bias = torch.zeros(heads * width, dtype=q.dtype)
    biases = [bias if b is None else b for b in (bq, bk, bv, bo)]

    def result(wq, wk, wv, wo, q, k, v, *biases):
        return multi_head(
            q, k, v, wq, wk, wv, MASKED, wo, *biases, None, heads, width, sources, targets
        )[:1]

    return gradients(result, (wq, wk, wv, wo, q, k, v, *biases), (grad,))


COLUMNS = HEADS * WIDTH
ROWS = [values(BATCH * length, COLUMNS, low=low) for length, low in ((TARGETS, -2), (SOURCES, -1), (SOURCES, 0))]  # fmt: skip
WEIGHTS = [values(COLUMNS, COLUMNS, low=low, high=0.5) for low in (-0.5, -0.25, 0, -1)]
BIASES = [values(COLUMNS, low=low) for low in (-2, -1, 0, 1)]
MASKED = values(BATCH, HEADS, TARGETS, SOURCES)
NUMBERS = (HEADS, WIDTH, SOURCES, TARGETS, 0.0, True)
CALL = (*ROWS, *WEIGHTS[:3], MASKED, WEIGHTS[3])
_SAVED = multi_head(*CALL, *BIASES, None, *NUMBERS)
PROJECTED = {
    "npu_multi_head_attention": Case(multi_head, (*CALL, *BIASES, None, *NUMBERS), gradients=6),
    "npu_multi_head_attention-plain": Case(
        multi_head, (*CALL, None, None, None, None, None, *NUMBERS), gradients=3
    ),
    "npu_multi_head_attention_backward": Case(
        multi_head_gradients,
        (*ROWS, *WEIGHTS, *BIASES, *_SAVED[2:], values(BATCH * TARGETS, COLUMNS), _SAVED[1], *NUMBERS),
        dtypes=(torch.float32, torch.float64),
    ),
}  # fmt: skip

# ---- Sinkhorn's iterations ----


def sinkhorn(x, eps=1e-6, num_iters=20, out_flag=0):
    y = x.softmax(-1) + eps
    norms, sums = [y], [torch.ones_like(y[..., 0])]
    for step in range(1, 2 * num_iters):
        dim = -1 - step % 2
        total = y.sum(dim) + eps
        y = y / total.unsqueeze(dim)
        norms.append(y)
        sums.append(total)
    if not out_flag:
        return y, torch.empty(0), torch.empty(0)
    norms = torch.stack([n.movedim((-2, -1), (0, 1)) for n in norms])
    return y, norms, torch.stack([s.movedim(-1, 0) for s in sums])


WIDENED = {"dtypes": (torch.float32, torch.float64)}
STEPS = {"num_iters": 3, "out_flag": 1, "eps": 1e-3}
SINKHORN = {
    "npu_mhc_sinkhorn": Case(sinkhorn, (values(2, 5, 4, 4),), **WIDENED),
    "npu_mhc_sinkhorn-steps": Case(sinkhorn, (values(5, 4, 4),), STEPS, 1, **WIDENED),
    "npu_mhc_sinkhorn_backward": Case(
        lambda g, *_: vjp(lambda x: sinkhorn(x, **STEPS)[0], 1)(g, values(5, 4, 4).to(g.dtype))[0],
        (values(5, 4, 4, low=-1), *sinkhorn(values(5, 4, 4), **STEPS)[1:]),
        **WIDENED,
    ),
}

FAMILIES = {"recurrent": RECURRENT, "projected": PROJECTED, "sinkhorn": SINKHORN}
