"""Operators that are a layer of a network."""

from functools import partial

from torch_npu._npugraph_ex.builder import GraphBuilder, Ref
from torch_npu._npugraph_ex.lower.elementwise import gelu
from torch_npu._npugraph_ex.lower.norms import layer_norm
from torch_npu._npugraph_ex.lower.products import attention, linear
from torch_npu._npugraph_ex.lower.table import Lower, aten, known


def _encoder_layer(
    b: GraphBuilder,
    x: Ref,
    width: int,
    heads: int,
    qkv_weight: Ref,
    qkv_bias: Ref,
    out_weight: Ref,
    out_bias: Ref,
    use_gelu: bool,
    norm_first: bool,
    eps: float,
    norm_weight_1: Ref,
    norm_bias_1: Ref,
    norm_weight_2: Ref,
    norm_bias_2: Ref,
    inner_weight: Ref,
    inner_bias: Ref,
    outer_weight: Ref,
    outer_bias: Ref,
    mask: Ref | None = None,
    mask_type: int | None = None,
) -> Ref:
    """As ``torch.nn.TransformerEncoderLayer`` in evaluation, over ``x`` [N, S, width]."""
    known(mask is None and x.rank == 3, "an encoder layer with a mask")
    n, steps, _ = x.shape

    def attend(y: Ref) -> Ref:
        qkv = b.view(linear(b, y, qkv_weight, qkv_bias), [n, steps, 3, heads, width // heads])
        parts = (b.slice(qkv, 2, i, i + 1) for i in range(3))
        q, k, v = (
            b.transpose(b.view(p, [n, steps, heads, width // heads]), [0, 2, 1, 3]) for p in parts
        )
        seen = b.transpose(attention(b, q, k, v), [0, 2, 1, 3])
        return linear(b, b.view(seen, [n, steps, width]), out_weight, out_bias)

    def feed(y: Ref) -> Ref:
        inner = linear(b, y, inner_weight, inner_bias)
        inner = gelu(b, inner) if use_gelu else b.emit("Relu", inner)
        return linear(b, inner, outer_weight, outer_bias)

    norms = [
        partial(lambda w, s, y: layer_norm(b, y, [width], w, s, eps)[0], weight, bias)
        for weight, bias in ((norm_weight_1, norm_bias_1), (norm_weight_2, norm_bias_2))
    ]
    for norm, part in zip(norms, (attend, feed), strict=True):
        x = b.emit("Add", x, part(norm(x))) if norm_first else norm(b.emit("Add", x, part(x)))
    return x


NETWORKS: dict[object, Lower] = {aten._transformer_encoder_layer_fwd.default: _encoder_layer}
