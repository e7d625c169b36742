"""Calls of attention to chosen keys, linear attention and causal convolutions, each with a definition in plain PyTorch."""

import torch

from tests.capability.composed_cases import Case, values, vjp

WIDENED = (torch.float32, torch.float64)
NEVER = float("-inf")

# ---- sequences ----


def parts(rows, layout, lengths):
    """The rows of each sequence, and where they are in the flattened tensor."""
    flat = rows.flatten(0, -3)
    if layout == "TND":
        ends = lengths.tolist()
        spans = list(zip([0, *ends[:-1]], ends, strict=True))
    else:
        longest = rows.shape[1]
        counts = [longest] * len(rows) if lengths is None else lengths.tolist()
        spans = [(b * longest, b * longest + n) for b, n in enumerate(counts)]
    return [(flat[a:b], slice(a, b)) for a, b in spans]


def paged(pages, table, lengths):
    return [
        pages[row].flatten(0, 1)[:n] for row, n in zip(table.long(), lengths.tolist(), strict=True)
    ]


def keys_of(keys, table, layout, lengths):
    if table is not None:
        return paged(keys, table, lengths)
    return [rows for rows, _ in parts(keys, layout, lengths)]


def seen(i, queries, keys, mode):
    return max(0, keys - queries + i + 1) if mode == 3 else keys


def indexer(q, k, w, actual_seq_lengths_query=None, actual_seq_lengths_key=None, block_table=None, layout_query="BSND", sparse_count=2048, sparse_mode=3, return_value=False, **_):  # fmt: skip
    flat = w.flatten(0, -2)
    out = torch.full((len(flat), sparse_count), -1, dtype=torch.int32)
    scores = torch.full((len(flat), sparse_count), NEVER, dtype=q.dtype)
    keys = keys_of(k, block_table, layout_query, actual_seq_lengths_key)
    for (rows, where), own in zip(
        parts(q, layout_query, actual_seq_lengths_query), keys, strict=True
    ):
        for i, row in enumerate(rows):
            all_scores = (torch.relu(row @ own[:, 0].T) * flat[where][i][:, None]).sum(0)
            visible = all_scores[: seen(i, len(rows), len(own), sparse_mode)]
            best, which = visible.sort(descending=True, stable=True)
            count = min(sparse_count, len(visible))
            out[where.start + i, :count] = which[:count].int()
            scores[where.start + i, :count] = best[:count]
    sizes = (*q.shape[:-2], 1, sparse_count)
    return out.reshape(sizes), scores.reshape(sizes) if return_value else torch.empty(0)


def flash(q, k, v, index, scale, block_table=None, actual_seq_lengths_query=None, actual_seq_lengths_kv=None, query_rope=None, key_rope=None, sparse_block_size=1, layout_query="BSND", sparse_mode=3, return_softmax_lse=False, sinks=None, **_):  # fmt: skip
    values_ = k if v is None else v
    out = torch.zeros(*q.flatten(0, -3).shape[:2], values_.shape[-1], dtype=q.dtype)
    most, total = (
        torch.zeros(out.shape[:2], dtype=q.dtype),
        torch.zeros(out.shape[:2], dtype=q.dtype),
    )
    lengths = (layout_query, actual_seq_lengths_kv)
    own_keys, own_values = (
        keys_of(k, block_table, *lengths),
        keys_of(values_, block_table, *lengths),
    )
    if query_rope is not None:
        ropes = keys_of(key_rope, block_table, *lengths)
        own_keys = [torch.cat(pair, -1) for pair in zip(own_keys, ropes, strict=True)]
        q = torch.cat((q, query_rope), -1)
    chosen = index.flatten(0, -2)
    rows_done = torch.zeros(len(out), dtype=torch.bool)
    pieces = {}
    for b, (rows, where) in enumerate(parts(q, layout_query, actual_seq_lengths_query)):
        for i, row in enumerate(rows):
            at = where.start + i
            blocks = chosen[at].tolist()
            blocks = blocks[: blocks.index(-1)] if -1 in blocks else blocks
            end = min(seen(i, len(rows), len(own_keys[b]), sparse_mode), len(own_keys[b]))
            numbers = [
                n
                for c in blocks
                for n in range(c * sparse_block_size, (c + 1) * sparse_block_size)
                if n < end
            ]
            if not numbers:
                continue
            scores = row @ own_keys[b][numbers, 0].T * scale
            whole = scores if sinks is None else torch.cat((scores, sinks[:, None].to(scores)), 1)
            pieces[at] = whole.softmax(1)[:, : len(numbers)] @ own_values[b][numbers, 0]
            most[at] = whole.detach().amax(1)
            total[at] = (whole.detach() - most[at][:, None]).exp().sum(1)
            rows_done[at] = True
    out = torch.stack([pieces.get(n, out[n]) for n in range(len(out))])
    sizes = (*q.shape[:-1], values_.shape[-1])
    packed = layout_query == "TND"
    row_sizes = (1, q.shape[0], q.shape[1]) if packed else (q.shape[0], 1, q.shape[1], q.shape[2])
    if not return_softmax_lse:
        return out.reshape(sizes), torch.empty(0), torch.empty(0)
    return out.reshape(sizes), most.reshape(row_sizes), total.reshape(row_sizes)


def numbers(*size, below, seed=0):
    generator = torch.Generator().manual_seed(seed + sum(size))
    return torch.randint(0, below, size, generator=generator, dtype=torch.int32)


def chosen(*size, below):
    """Rows of distinct numbers, some of them short."""
    generator = torch.Generator().manual_seed(sum(size))
    rows = torch.rand(*size[:-1], below, generator=generator).argsort(-1)[..., : size[-1]].int()
    rows[..., 1, :, 2:] = -1
    return rows


B, S, N, D = 2, 4, 3, 8
Q, K, W = values(B, S, N, D), values(B, 6, 1, D, low=-1), values(B, S, N, low=-1)
PACKED = (values(5, N, D), values(9, 1, D, low=-1), values(5, N, low=-1))
ENDS = {"actual_seq_lengths_query": torch.tensor([2, 5]), "layout_query": "TND"}
KEY_ENDS = torch.tensor([4, 9])
PAGES, TABLE = values(5, 2, 1, D, low=-1), torch.tensor([[3, 0, 4], [1, 2, 0]], dtype=torch.int32)
COUNTS = torch.tensor([6, 4], dtype=torch.int32)
INDEXER = {
    "npu_lightning_indexer": Case(indexer, (Q, K, W), {"sparse_count": 4}, dtypes=WIDENED),
    # Its first result is of integers, to which torch's check of gradients cannot add.
    "npu_lightning_indexer-values": Case(
        indexer, (Q, K, W), {"sparse_count": 6, "return_value": True, "sparse_mode": 0}, 3, dtypes=WIDENED, opcheck=False
    ),
    "npu_lightning_indexer-missing": Case(indexer, (Q, K, W), {"sparse_count": 8, "return_value": True}, dtypes=WIDENED),
    "npu_lightning_indexer-packed": Case(
        indexer, PACKED, {**ENDS, "actual_seq_lengths_key": KEY_ENDS, "layout_key": "TND", "sparse_count": 3}, dtypes=WIDENED
    ),
    "npu_lightning_indexer-pages": Case(
        indexer, (Q, PAGES, W), {"actual_seq_lengths_key": COUNTS, "block_table": TABLE, "layout_key": "PA_BSND", "sparse_count": 5}, dtypes=WIDENED
    ),
    "npu_lightning_indexer_grad": Case(
        lambda q, k, g, index, w: vjp(lambda q, k, w: indexed_scores(q, k, w, index), 3)(g, q, k, w),
        (Q, K, values(B, S, 1, 4), indexer(Q, K, W, sparse_count=4)[0], W),
        dtypes=WIDENED,
    ),
}  # fmt: skip


def indexed_scores(q, k, w, index):
    scores = (torch.relu(torch.einsum("bsnd,btod->bsnt", q, k)) * w[..., None]).sum(2)
    taken = scores.gather(2, index[:, :, 0].long().clamp(0))
    return torch.where(index[:, :, 0] >= 0, taken, 0)[:, :, None]


def quant_indexer(q, k, w, q_scale, k_scale, *modes, **kwargs):
    widened = lambda t, scale: t.double() * scale[..., None].double()  # noqa: E731
    return indexer(widened(q, q_scale), widened(k, k_scale), w.double(), **kwargs)[0]


EIGHT_BITS = (
    numbers(B, S, N, D, below=19).to(torch.int8) - 9,
    numbers(B, 6, 1, D, below=19).to(torch.int8) - 9,
)
OF_ROWS = (values(B, S, N, low=0.1, high=1), values(B, 6, 1, low=0.1, high=1))
INDEXER["npu_quant_lightning_indexer"] = Case(
    quant_indexer, (*EIGHT_BITS, W, *OF_ROWS, 0, 0), {"sparse_count": 4}, dtypes=(torch.float32,)
)
V = values(B, 6, 1, D, low=-3)
INDEX = chosen(B, S, 1, 4, below=6)
ROPES = {
    "query_rope": values(B, S, N, 2),
    "key_rope": values(B, 6, 1, 2, low=-1),
    "attention_mode": 2,
}
FLASH = {
    "npu_sparse_flash_attention": Case(flash, (Q, K, V, INDEX, 0.5), {"return_softmax_lse": True}, 3, dtypes=WIDENED),
    "npu_sparse_flash_attention-blocks": Case(
        flash, (Q, K, None, chosen(B, S, 1, 3, below=3), 0.5), {"sparse_block_size": 2, "sparse_mode": 0}, 2, dtypes=WIDENED
    ),
    "npu_sparse_flash_attention-rope": Case(flash, (Q, K, V, INDEX, 0.5), {**ROPES, "sinks": values(N)}, dtypes=WIDENED),
    "npu_sparse_flash_attention-packed": Case(
        flash, (*PACKED[:2], values(9, 1, D), chosen(5, 1, 4, below=4), 0.5),
        {**ENDS, "actual_seq_lengths_kv": KEY_ENDS, "layout_kv": "TND", "return_softmax_lse": True}, dtypes=WIDENED,
    ),
    "npu_sparse_flash_attention-pages": Case(
        flash, (Q, PAGES, PAGES * 2, chosen(B, S, 1, 4, below=4), 0.5),
        {"actual_seq_lengths_kv": COUNTS, "block_table": TABLE, "layout_kv": "PA_BSND"}, dtypes=WIDENED,
    ),
    "npu_sparse_flash_attention_grad": Case(
        lambda q, k, v, index, g, *rest: (
            *vjp(lambda q, k, v: flash(q, k, v, index, 0.5)[0], 3)(g, q, k, v), torch.empty(0), torch.empty(0),
        ),
        (Q, K, V, INDEX, values(B, S, N, D, low=-1), *flash(Q, K, V, INDEX, 0.5, return_softmax_lse=True), 0.5, 1), dtypes=WIDENED,
    ),
}  # fmt: skip

# ---- blocks of a mask ----


def block_sparse(q, k, v, mask, shape, q_input_layout="TND", num_key_value_heads=1, scale_value=0.0, actual_seq_lengths=None, actual_seq_lengths_kv=None, softmax_lse_flag=0, **_):  # fmt: skip
    packed = q_input_layout == "TND"
    if packed:
        split = lambda t, n: [p.transpose(0, 1) for p in t.split(n)]  # noqa: E731
        qs, ks, vs = (
            split(q, actual_seq_lengths),
            split(k, actual_seq_lengths_kv),
            split(v, actual_seq_lengths_kv),
        )
    else:
        rows, columns = (
            actual_seq_lengths or [q.shape[2]] * len(q),
            actual_seq_lengths_kv or [k.shape[2]] * len(k),
        )
        qs = [t[:, :n] for t, n in zip(q, rows, strict=True)]
        ks, vs = ([t[:, :n] for t, n in zip(x, columns, strict=True)] for x in (k, v))
    outs, sums = [], []
    for b, (a, c, d) in enumerate(zip(qs, ks, vs, strict=True)):
        c, d = (t.repeat_interleave(len(a) // num_key_value_heads, 0) for t in (c, d))
        whole = (
            mask[b]
            .repeat_interleave(shape[0], 1)
            .repeat_interleave(shape[1], 2)[:, : a.shape[1], : c.shape[1]]
        )
        scores = (a @ c.mT * scale_value).masked_fill(whole == 0, NEVER)
        empty = (whole == 0).all(-1, keepdim=True)
        outs.append(torch.where(empty, 0, scores.masked_fill(empty, 0).softmax(-1)) @ d)
        sums.append(scores.logsumexp(-1).detach())
    if packed:
        out, lse = torch.cat([t.transpose(0, 1) for t in outs]), torch.cat([t.T for t in sums])
    else:
        rest = [q.shape[2] - t.shape[1] for t in outs]
        pad = torch.nn.functional.pad
        out = torch.stack([pad(t, (0, 0, 0, n)) for t, n in zip(outs, rest, strict=True)])
        lse = torch.stack([pad(t, (0, n)) for t, n in zip(sums, rest, strict=True)])
    return out, lse[..., None] if softmax_lse_flag else torch.empty(0)


BLOCKS = numbers(2, 4, 3, 2, below=2, seed=3).to(torch.int8)
BLOCKS[0, 1, 1] = 0
BLOCK_ROWS = (values(2, 4, 5, 6), values(2, 2, 7, 6, low=-1), values(2, 2, 7, 6, low=-3))
TOKENS = (values(8, 4, 6), values(11, 2, 6, low=-1), values(11, 2, 6, low=-3))
BNSD = {
    "q_input_layout": "BNSD",
    "kv_input_layout": "BNSD",
    "num_key_value_heads": 2,
    "scale_value": 0.5,
}
TND = {
    "num_key_value_heads": 2,
    "scale_value": 0.5,
    "actual_seq_lengths": [5, 3],
    "actual_seq_lengths_kv": [4, 7],
}
BLOCK_SPARSE = {
    "npu_block_sparse_attention": Case(block_sparse, (*BLOCK_ROWS, BLOCKS, [2, 4]), {**BNSD, "softmax_lse_flag": 1}, 3, dtypes=WIDENED),
    "npu_block_sparse_attention-lengths": Case(
        block_sparse, (*BLOCK_ROWS, BLOCKS, [2, 4]), {**BNSD, "actual_seq_lengths": [5, 2], "actual_seq_lengths_kv": [3, 7]}, dtypes=WIDENED
    ),
    "npu_block_sparse_attention-packed": Case(block_sparse, (*TOKENS, BLOCKS, [2, 4]), {**TND, "softmax_lse_flag": 1}, dtypes=WIDENED),
    "npu_block_sparse_attention_backward": Case(
        lambda g, q, k, v, out, lse, mask, shape, rows, columns, a, b, n, s: vjp(
            lambda q, k, v: block_sparse(q, k, v, mask, shape, a, n, s)[0], 3
        )(g, q, k, v),
        (values(2, 4, 5, 6, low=-1), *BLOCK_ROWS, *block_sparse(*BLOCK_ROWS, BLOCKS, [2, 4], **{k: v for k, v in BNSD.items() if k[0] != "k"}), BLOCKS, [2, 4], None, None, "BNSD", "BNSD", 2, 0.5),
        dtypes=WIDENED,
    ),
}  # fmt: skip

# ---- linear attention ----


def delta(q, k, v, lengths, states, beta, g, gk, scale, first, location):
    states, out = states.clone(), torch.zeros_like(v)
    finals, begin, groups = [], 0, v.shape[1] // q.shape[1]
    for b, count in enumerate(lengths.tolist()):
        state = states[first(b, begin)].clone()
        for t in range(begin, begin + count):
            for h in range(v.shape[1]):
                own = (
                    state[h]
                    * (1 if g is None else g[t, h].exp())
                    * (1 if gk is None else gk[t, h].exp())
                )
                change = (1 if beta is None else beta[t, h]) * (v[t, h] - own @ k[t, h // groups])
                state[h] = own + torch.outer(change, k[t, h // groups])
                out[t, h] = state[h] @ q[t, h // groups] * scale
            if location is not None:
                states[location[t]] = state
        finals.append(state)
        begin += count
    return out, states if location is not None else torch.stack(finals)


def recurrent_rule(q, k, v, state, beta=None, scale=None, actual_seq_lengths=None, ssm_state_indices=None, num_accepted_tokens=None, g=None, gk=None):  # fmt: skip
    location = list(range(len(q))) if ssm_state_indices is None else ssm_state_indices.tolist()
    accepted = (
        [1] * len(actual_seq_lengths)
        if num_accepted_tokens is None
        else num_accepted_tokens.tolist()
    )
    scale = q.shape[-1] ** -0.5 if scale is None else scale
    first = lambda b, begin: location[begin + accepted[b] - 1]  # noqa: E731
    return delta(q, k, v, actual_seq_lengths, state, beta, g, gk, scale, first, location)


def chunk_rule(q, k, v, beta=None, initial_state=None, actual_seq_lengths=None, scale=None, g=None):
    if initial_state is None:
        initial_state = torch.zeros(
            len(actual_seq_lengths), v.shape[1], v.shape[2], k.shape[2], dtype=v.dtype
        )
    return delta(
        q, k, v, actual_seq_lengths, initial_state, beta, g, None, scale or 1, lambda b, _: b, None
    )


def causal(x, weight, mask=None):
    taps = len(weight)
    padded = torch.cat((torch.zeros(taps - 1, *x.shape[1:], dtype=x.dtype), x))
    y = sum(padded[k : k + len(x)] * weight[k] for k in range(taps))
    return y if mask is None else y * mask.T[..., None]


def compressed(x, weight, block, stride, actual_seq_len=None):
    rows, begin = [], 0
    for end in actual_seq_len:
        for at in range(begin, end - block + 1, stride):
            rows.append((x[at : at + block] * weight[..., None]).sum(0))
        begin = end
    return torch.stack(rows)


ENDS_OF = {"actual_seq_len": [5, 7, 12]}
ROWS = (values(5, 2, 3, low=-1, high=1), values(5, 2, 3, low=-1, high=0.5), values(5, 4, 2))
LENGTHS = torch.tensor([3, 2], dtype=torch.int32)
GATES = {"beta": values(5, 4, low=0, high=1), "actual_seq_lengths": LENGTHS}
DECAY = values(5, 4, low=-1, high=0).float()
KEPT = torch.tensor([[True, True, False, True], [False, True, True, True]])
LINEAR = {
    "npu_recurrent_gated_delta_rule_functional": Case(
        recurrent_rule, (*ROWS, values(6, 4, 2, 3)), {**GATES, "g": DECAY}, dtypes=WIDENED
    ),
    "npu_recurrent_gated_delta_rule_functional-accepted": Case(
        recurrent_rule, (*ROWS, values(6, 4, 2, 3)),
        {"scale": 0.25, "actual_seq_lengths": LENGTHS, "ssm_state_indices": torch.tensor([5, 0, 2, 4, 1]),
         "num_accepted_tokens": torch.tensor([2, 1]), "gk": values(5, 4, 3, low=-1, high=0)}, dtypes=WIDENED,
    ),
    "npu_chunk_gated_delta_rule": Case(
        chunk_rule, ROWS, {**GATES, "g": DECAY, "initial_state": values(2, 4, 2, 3), "scale": 0.5}, dtypes=WIDENED
    ),
    "npu_chunk_gated_delta_rule-zeros": Case(chunk_rule, ROWS, {"actual_seq_lengths": LENGTHS}, dtypes=WIDENED),
    "npu_masked_causal_conv1d": Case(causal, (values(4, 2, 3), values(3, 3)), {"mask": KEPT}, 2),
    "npu_nsa_compress": Case(compressed, (values(12, 2, 3), values(3, 2), 3, 2), ENDS_OF, 2),
    "npu_nsa_compress_grad": Case(
        lambda g, x, w, block, stride, **k: vjp(lambda x, w: compressed(x, w, block, stride, **k), 2)(g, x, w),
        (values(4, 2, 3, low=-1), values(12, 2, 3), values(3, 2), 3, 2), ENDS_OF,
    ),
    "npu_masked_causal_conv1d-all": Case(causal, (values(2, 1, 3), values(3, 3)), gradients=2),
    "npu_masked_causal_conv1d_backward": Case(
        lambda g, x, w, mask=None: vjp(lambda x, w: causal(x, w, mask), 2)(g, x, w),
        (values(4, 2, 3, low=-1), values(4, 2, 3), values(3, 3)), {"mask": KEPT},
    ),
}  # fmt: skip

FAMILIES = {
    "indexer": INDEXER,
    "sparse flash": FLASH,
    "block sparse": BLOCK_SPARSE,
    "linear": LINEAR,
}
