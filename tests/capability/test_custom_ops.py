"""The operators of namespace npu against their definitions in float64 on the CPU, with gradients."""

import pytest
import torch
import torch.nn.functional as F
from torch.autograd import gradcheck

import torch_npu
from tests.capability import (
    composed_families,
    test_atb,
    test_npu_composed_states,
    test_npu_composed_writes,
    test_npu_latent,
)
from torch_npu import accuracy
from torch_npu.accuracy import Tolerance

OPS = torch.ops.npu
FLOATING = [torch.float16, torch.bfloat16, torch.float32, torch.float64]


def swiglu(x, dim=-1):
    a, b = x.chunk(2, dim)
    return F.silu(a) * b


def geglu(x, dim=-1, approximate=1, activate_left=False):
    a, b = x.chunk(2, dim)
    active, other = (a, b) if activate_left else (b, a)
    gelu = F.gelu(active, approximate="tanh" if approximate else "none")
    return other * gelu, gelu


def clipped_swiglu(x, group_index=None, dim=-1, alpha=1.702, limit=7.0, bias=1.0, interleaved=True):
    dim = dim % x.dim()
    rows = x.flatten(dim).flatten(0, dim - 1) if dim else x.reshape(1, -1)
    a, b = (rows[:, ::2], rows[:, 1::2]) if interleaved else rows.chunk(2, 1)
    a, b = a.clamp(max=limit), b.clamp(-limit, limit)
    y = a * torch.sigmoid(alpha * a) * (b + bias)
    if group_index is not None:
        y[int(group_index.sum()) :] = 0
    return y.reshape(*x.shape[:dim], x.shape[dim] // 2, *x.shape[dim + 1 :])


def rms_norm(x, gamma, epsilon=1e-6):
    over = tuple(range(x.dim() - gamma.dim(), x.dim()))
    r = (x.square().mean(over, keepdim=True) + epsilon).rsqrt()
    return x * r * gamma, r


def add_rms_norm(x1, x2, gamma, epsilon=1e-6):
    return *rms_norm(x1 + x2, gamma, epsilon), x1 + x2


def add_rms_norm_cast(x1, x2, gamma, epsilon=1e-6):
    y, r, x = add_rms_norm(x1, x2, gamma, epsilon)
    return y, y, r, x


def rotary(x, r1, r2, rotary_mode="half"):
    if rotary_mode == "half":
        a, b = x.chunk(2, -1)
        turned = torch.cat((-b, a), -1)
    else:
        turned = torch.stack((-x[..., 1::2], x[..., ::2]), -1).flatten(-2)
    return x * r1 + turned * r2


def masked_softmax(x, mask, scale=1, fixed_triu_mask=False):
    if fixed_triu_mask:
        mask = torch.ones(x.shape[-2:], dtype=torch.bool).triu(1)
    return (x * scale).masked_fill(mask, -10000.0).softmax(-1)


def layer_norm(x, gamma, beta, epsilon):
    over = tuple(range(x.dim() - gamma.dim(), x.dim()))
    mean = x.mean(over, keepdim=True)
    r = (x.var(over, correction=0, keepdim=True) + epsilon).rsqrt()
    return (x - mean) * r * gamma + beta, mean, r


def add_layer_norm(x1, x2, gamma, beta, epsilon=1e-5, additional_output=False):
    y, mean, r = layer_norm(x1 + x2, gamma, beta, epsilon)
    one = (*x1.shape[: x1.dim() - gamma.dim()], 1)
    return y, mean.reshape(one), r.reshape(one), x1 + x2


def deep_norm(x, gx, beta, gamma, alpha=0.3, epsilon=1e-6):
    y, mean, r = layer_norm(alpha * x + gx, gamma, beta, epsilon)
    return mean, r, y


def interleave_rope(x, cos, sin):
    halves = torch.cat((x[..., ::2], x[..., 1::2]), -1)
    return rotary(halves, cos, sin)


def rotary_pair(query, key, cos, sin, layout="BSND", rotary_mode="half"):
    return rotary(query, cos, sin, rotary_mode), rotary(key, cos, sin, rotary_mode)


def cross_entropy(x, target, weight=None, reduction="mean", **others):
    weight = weight if weight is None else weight.double()
    loss = F.cross_entropy(x, target, weight, reduction=reduction, **others)
    none = x.new_empty(0)
    return loss.reshape(-1), x.log_softmax(1), none, none


def gradient_of(loss, which=0):
    """The gradient of a loss for argument ``which``, as a function of the loss's gradient and its arguments."""

    def gradient(grad, *args, reduction=1, **others):
        args = [x.detach().requires_grad_(i == which) for i, x in enumerate(args)]
        name = ("none", "mean", "sum")[reduction]
        result = loss(*args, reduction=name, **others)
        return torch.autograd.grad(result, args[which], grad.reshape(result.shape))[0]

    return gradient


def tensors(*sizes):
    """Values of a few units; seeded, so that failures are reproducible."""
    generator = torch.Generator().manual_seed(len(sizes))
    return [torch.randn(size, generator=generator, dtype=torch.float64) for size in sizes]


GROUPS = torch.tensor([1, 0, 1])
TARGET = torch.tensor([2, 0, -100, 1, 3])
WEIGHT = torch.tensor([0.5, 1.0, 2.0, 0.25])
MASK = torch.arange(4 * 6).reshape(4, 6) % 5 == 0
# name: (definition, arguments in float64, non-tensor arguments, number of the former with gradients)
CASES = {
    "fast_gelu": (lambda x: x * torch.sigmoid(1.702 * x), [(3, 5)], {}, 1),
    "npu_fast_gelu": (lambda x: x * torch.sigmoid(1.702 * x), [(7,)], {}, 1),
    "npu_gelu": (F.gelu, [(3, 5)], {}, 1),
    "npu_gelu-tanh": (F.gelu, [(3, 5)], {"approximate": "tanh"}, 1),
    "npu_mish": (F.mish, [(2, 3, 4)], {}, 1),
    "npu_silu": (F.silu, [(2, 3, 4)], {}, 1),
    "npu_swiglu": (swiglu, [(3, 8)], {}, 1),
    "npu_swiglu-dim": (swiglu, [(2, 6, 5)], {"dim": 1}, 1),
    "npu_geglu": (geglu, [(3, 8)], {}, 1),
    "npu_geglu-left": (geglu, [(4, 3)], {"dim": 0, "approximate": 0, "activate_left": True}, 1),
    "npu_clipped_swiglu": (clipped_swiglu, [(2, 3, 8)], {"limit": 0.5}, 0),
    "npu_clipped_swiglu-halves": (
        clipped_swiglu,
        [(3, 6, 5)],
        {"dim": 1, "interleaved": False, "alpha": 1.0, "bias": 0.0, "group_index": GROUPS},
        0,
    ),
    "npu_clipped_swiglu-first": (clipped_swiglu, [(4, 3)], {"dim": 0}, 0),
    "npu_rms_norm": (rms_norm, [(2, 3, 8), (8,)], {}, 2),
    "npu_rms_norm-two": (rms_norm, [(4, 3, 8), (3, 8)], {"epsilon": 0.5}, 2),
    "npu_add_rms_norm": (add_rms_norm, [(2, 3, 8), (2, 3, 8), (8,)], {}, 0),
    "npu_rotary_mul": (rotary, [(2, 3, 4, 8), (1, 3, 1, 8), (1, 3, 1, 8)], {}, 3),
    "npu_rotary_mul-interleave": (
        rotary,
        [(2, 3, 4, 8), (1, 3, 1, 8), (1, 3, 1, 8)],
        {"rotary_mode": "interleave"},
        3,
    ),
    "npu_scaled_masked_softmax": (masked_softmax, [(2, 3, 4, 6)], {"mask": MASK, "scale": 0.5}, 1),
    "npu_scaled_masked_softmax-triangle": (
        masked_softmax,
        [(1, 2, 6, 6)],
        {"mask": torch.zeros(6, 6, dtype=torch.bool), "fixed_triu_mask": True},
        1,
    ),
    "npu_gemma_rms_norm": (lambda x, g, **k: rms_norm(x, 1 + g, **k), [(2, 3, 8), (8,)], {}, 0),
    "npu_layer_norm_eval": (F.layer_norm, [(2, 3, 8)], {"normalized_shape": [3, 8]}, 0),
    "npu_add_layer_norm": (add_layer_norm, [(2, 3, 8), (2, 3, 8), (8,), (8,)], {}, 4),
    "npu_add_layer_norm-two": (
        add_layer_norm,
        [(2, 3, 8), (2, 3, 8), (3, 8), (3, 8)],
        {"epsilon": 0.1, "additional_output": True},
        4,
    ),
    "npu_deep_norm": (deep_norm, [(2, 3, 8), (2, 3, 8), (8,), (8,)], {}, 4),
    "npu_deep_norm-alpha": (deep_norm, [(5, 8), (5, 8), (8,), (8,)], {"alpha": 2.0}, 4),
    "npu_interleave_rope": (interleave_rope, [(2, 3, 4, 8), (2, 1, 4, 8), (2, 1, 4, 8)], {}, 0),
    "npu_apply_rotary_pos_emb": (
        rotary_pair,
        [(2, 3, 4, 8), (2, 3, 2, 8), (2, 3, 1, 8), (2, 3, 1, 8)],
        {},
        0,
    ),
    "npu_apply_rotary_pos_emb-interleave": (
        rotary_pair,
        [(5, 4, 8), (5, 1, 8), (5, 1, 8), (5, 1, 8)],
        {"layout": "TND", "rotary_mode": "interleave"},
        0,
    ),
    "npu_cross_entropy_loss": (cross_entropy, [(5, 4)], {"target": TARGET}, 1),
    "npu_cross_entropy_loss-weights": (
        cross_entropy,
        [(5, 4)],
        {"target": TARGET, "weight": WEIGHT, "reduction": "sum", "label_smoothing": 0.1},
        1,
    ),
    "npu_cross_entropy_loss-none": (
        cross_entropy,
        [(5, 4)],
        {"target": TARGET.abs() % 4, "reduction": "none", "ignore_index": 1},
        1,
    ),
    "kl_div_backward": (gradient_of(F.kl_div), [(1,), (3, 4), (3, 4)], {"log_target": True}, 0),
    "kl_div_target_backward": (
        gradient_of(F.kl_div, 1),
        [(3, 4), (3, 4), (3, 4)],
        {"reduction": 0, "log_target": True},
        0,
    ),
    "l1_loss_backward": (gradient_of(F.l1_loss), [(3, 4), (3, 4), (3, 4)], {"reduction": 0}, 0),
    "l1_loss_backward-sum": (gradient_of(F.l1_loss), [(1,), (3, 4), (3, 4)], {"reduction": 2}, 0),
    "npu_binary_cross_entropy_with_logits_backward": (
        lambda grad, x, target, weight_opt, pos_weight_opt, reduction: gradient_of(
            F.binary_cross_entropy_with_logits
        )(grad, x, target, reduction=reduction),
        [(3, 4), (3, 4), (3, 4)],
        {"weight_opt": None, "pos_weight_opt": None, "reduction": 0},
        0,
    ),
    "npu_transpose": (lambda x, perm: x.permute(perm), [(2, 3, 4)], {"perm": [2, 0, -2]}, 0),
}


def on_npu(value):
    return value.npu() if isinstance(value, torch.Tensor) else value


def listed(result):
    return [result] if isinstance(result, torch.Tensor) else list(result)


def check_near(got, reference, length, extra=0.0):
    """`length` terms in float32 or wider, each with up to 8 roundings, and one rounding of the result."""
    if not reference.numel():
        assert got.shape == reference.shape
        return
    widened = torch.finfo(torch.promote_types(got.dtype, torch.float32)).eps
    size = reference.abs().max().clamp(min=1)
    terms = 8 * length**0.5 * widened * size + torch.finfo(got.dtype).tiny + extra
    accuracy.assert_close(got, reference, Tolerance(torch.finfo(got.dtype).eps, terms))


@pytest.mark.parametrize("dtype", FLOATING, ids=str)
@pytest.mark.parametrize("name", CASES)
def test_values(name, dtype):
    definition, sizes, others, _ = CASES[name]
    args = [x.to(dtype) for x in tensors(*sizes)]
    expected = listed(definition(*(x.double() for x in args), **others))
    given = [x.npu() for x in args], {k: on_npu(v) for k, v in others.items()}
    op = getattr(torch_npu, name.split("-")[0])
    for got, reference in zip(listed(op(*given[0], **given[1])), expected, strict=True):
        assert got.device.type == "npu"
        check_near(got, reference, args[0].numel())


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_add_rms_norm_cast_gives_both_types(dtype):
    args = [x.to(dtype) for x in tensors((2, 3, 8), (2, 3, 8), (8,))]
    got = torch_npu.npu_add_rms_norm_cast(*(x.npu() for x in args))
    assert [t.dtype for t in got] == [torch.float32, dtype, torch.float32, dtype]
    # The sum may or may not be rounded to its type before the normalization.
    extra = 4 * torch.finfo(dtype).eps * args[0].double().abs().max()
    for t, reference in zip(got, add_rms_norm_cast(*(x.double() for x in args)), strict=True):
        check_near(t, reference, 8, extra)


def differentiable(name):
    """The outputs that have gradients, as a function of the tensors that have them, and these tensors."""
    _, sizes, others, count = CASES[name]
    args = tensors(*sizes)[:count]
    others = {k: on_npu(v) for k, v in others.items()}
    op = getattr(OPS, name.split("-")[0])
    return (lambda *a: [t for t in listed(op(*a, **others)) if t.requires_grad]), args


WITH_GRADIENTS = [name for name, case in CASES.items() if case[3]]


@pytest.mark.parametrize("name", WITH_GRADIENTS)
def test_gradients_agree_with_finite_differences(name):
    function, args = differentiable(name)
    given = [x.npu().requires_grad_() for x in args]
    assert gradcheck(lambda *a: tuple(function(*a)), given, nondet_tol=0.0)


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32], ids=str)
@pytest.mark.parametrize("name", WITH_GRADIENTS)
def test_gradients(name, dtype):
    definition, _, others, _ = CASES[name]
    _, args = differentiable(name)
    args = [x.to(dtype) for x in args]
    widened = [x.double().requires_grad_() for x in args]
    near = [x.npu().requires_grad_() for x in args]
    op = getattr(OPS, name.split("-")[0])
    given = op(*near, **{k: on_npu(v) for k, v in others.items()})
    which = next(i for i, t in enumerate(listed(given)) if t.requires_grad)
    weights = torch.arange(1, 1 + listed(given)[which].numel(), dtype=torch.float64) / 8
    weights = weights.reshape(listed(given)[which].shape)
    (listed(definition(*widened, **others))[which] * weights).sum().backward()
    (listed(given)[which] * weights.to(dtype).npu()).sum().backward()
    # Values saved by the forward pass are rounded to the type.
    kept = 8 * torch.finfo(dtype).eps
    for x, reference in zip(near, widened, strict=True):
        assert x.grad.dtype == dtype
        check_near(x.grad, reference.grad, 64, kept * reference.grad.abs().max().clamp(min=1))


# autograd_registration_check of torch 2.13 supports only CPU, CUDA and XPU:
# test_every_operator_has_a_kernel_for_the_key checks it instead.
CHECKS = ("test_schema", "test_faketensor", "test_aot_dispatch_dynamic")


@pytest.mark.parametrize("name", CASES)
def test_opcheck(name):
    """Schema, meta functions, and AOT dispatch with symbolic sizes."""
    _, sizes, others, count = CASES[name]
    given = [x.float().npu().requires_grad_(i < count) for i, x in enumerate(tensors(*sizes))]
    op = getattr(OPS, name.split("-")[0]).default
    kwargs = {k: on_npu(v) for k, v in others.items()}
    torch.library.opcheck(op, tuple(given), kwargs, test_utils=CHECKS)


# Operators without a case of their own: sizes of the tensors, and further arguments.
REST = {
    "npu_add_layer_norm_backward": (
        [(2, 3, 8), (2, 3, 8), (2, 3, 8), (2, 3, 1), (2, 3, 1), (8,)],
        (None,),
    ),
    "npu_cross_entropy_loss_backward": ([(1,), (5, 4)], (TARGET,)),
    "npu_deep_norm_backward": ([(2, 3, 8)] * 3 + [(8,), (2, 3, 1), (2, 3, 1)], ()),
    "npu_add_rms_norm_cast": ([(2, 3, 8), (2, 3, 8), (8,)], ()),
    "npu_fast_gelu_backward": ([(3, 5), (3, 5)], ()),
    "npu_gelu_backward": ([(3, 5), (3, 5)], ()),
    "npu_geglu_grad": ([(3, 4), (3, 8), (3, 4)], ()),
    "npu_mish_backward": ([(3, 5), (3, 5)], ()),
    "npu_rms_norm_backward": ([(2, 3, 8), (2, 3, 8), (8,), (2, 3, 1)], ()),
    "npu_rotary_mul_backward": ([(2, 3, 8), (2, 3, 8), (1, 3, 8), (1, 3, 8)], ()),
    "npu_scaled_masked_softmax_backward": ([(2, 3, 4, 6), (2, 3, 4, 6)], (MASK, 0.5, False)),
    "npu_silu_": ([(3, 5)], ()),
    "npu_silu_backward": ([(3, 5), (3, 5), (3, 5)], ()),
    "npu_swiglu_backward": ([(3, 4), (3, 8)], ()),
    "sepia_filter_backward": ([(2, 3, 4, 5), (2, 3, 4, 5)], ()),
    "sepia_filter_forward": ([(2, 3, 4, 5)], ()),  # more in test_ops.py
}


@pytest.mark.parametrize("name", REST)
def test_opcheck_of_operators_without_gradients(name):
    sizes, others = REST[name]
    dtype = torch.float16 if name.endswith("_cast") else torch.float32
    given = (*(x.to(dtype).npu() for x in tensors(*sizes)), *map(on_npu, others))
    torch.library.opcheck(getattr(OPS, name).default, given, test_utils=CHECKS)


def arguments_of(name):
    """The operator's arguments on npu, by the names in its schema."""
    if name in CASES:
        _, sizes, others, _ = CASES[name]
        given = tensors(*sizes)
    else:
        sizes, others = REST[name]
        given = [*tensors(*sizes), *others]
    dtype = torch.float16 if name.endswith("_cast") else torch.float32
    parameters = [a.name for a in getattr(OPS, name.split("-")[0]).default._schema.arguments]
    named = dict(zip(parameters, given, strict=False)) | dict(others if name in CASES else {})
    return {
        k: on_npu(v.to(dtype) if isinstance(v, torch.Tensor) and v.is_floating_point() else v)
        for k, v in named.items()
    }


@pytest.mark.parametrize("name", [*CASES, *REST])
def test_an_argument_on_the_cpu_is_named(name):
    op = getattr(OPS, name.split("-")[0]).default
    given = arguments_of(name)
    op(**{k: v.clone() if isinstance(v, torch.Tensor) else v for k, v in given.items()})
    for parameter, value in given.items():
        if isinstance(value, torch.Tensor):
            with pytest.raises(RuntimeError, match=f"npu::{op._opname}.*{parameter} is .*on cpu"):
                op(**{**given, parameter: value.cpu()})


def test_opcheck_of_out():
    x, out = torch.randn(2, 3, device="npu"), torch.empty(3, 2, device="npu")
    torch.library.opcheck(OPS.npu_transpose.out, (x, [1, 0]), {"out": out}, test_utils=CHECKS)


# Checked in test_fusion_attention.py and test_npu_infer_attention.py.
ATTENTION = {
    "_npu_dropout_gen_mask",
    "_npu_fused_infer_attention_score_get_max_workspace",
    "_npu_fused_infer_attention_score_infer_output",
    "_npu_fused_infer_attention_score_v2_get_max_workspace",
    "_npu_fused_infer_attention_score_v2_infer_output",
    "npu_fused_infer_attention_score",
    "npu_fused_infer_attention_score_v2",
    "npu_fusion_attention",
    "npu_fusion_attention_grad",
    "npu_fusion_attention_grad_v2",
    "npu_fusion_attention_v2",
    "npu_incre_flash_attention",
    "npu_prompt_flash_attention",
}
# Checked in test_npu_quantization.py.
QUANTIZATION = {
    "npu_anti_quant",
    "npu_dynamic_quant",
    "npu_dynamic_quant_asymmetric",
    "npu_quant_matmul",
    "npu_quantize",
    "npu_trans_quant_param",
    "npu_weight_quant_batchmatmul",
}
# Checked in test_npu_experts.py and test_npu_grouped_matmul.py.
EXPERTS = {
    "npu_grouped_matmul",
    "npu_moe_compute_expert_tokens",
    "npu_moe_finalize_routing",
    "npu_moe_gating_top_k",
    "npu_moe_gating_top_k_backward",
    "npu_moe_gating_top_k_softmax",
    "npu_moe_init_routing",
    "npu_moe_init_routing_v2",
    "npu_moe_token_permute",
    "npu_moe_token_permute_grad",
    "npu_moe_token_unpermute",
    "npu_moe_token_unpermute_grad",
}
# Checked in test_npu_kv_cache.py.
CACHES = {
    "_npu_paged_attention",
    "_npu_reshape_and_cache",
    "_npu_reshape_and_cache_siso",
    "_npu_rotary_embedding",
    "npu_scatter_pa_kv_cache",
}
# Checked in test_npu_composed.py, test_npu_composed_writes.py, test_npu_composed_states.py, test_npu_latent.py and
# test_atb.py.
COMPOSED = (
    test_npu_composed_writes.TESTED
    | test_npu_composed_states.TESTED
    | test_npu_latent.TESTED
    | test_atb.TESTED
    | {name.split("-")[0] for name in composed_families.CASES}
)
# Checked in tests/distributed/test_products.py.
COLLECTIVE = {
    "npu_all_gather_base_mm",
    "npu_all_gather_quant_mm",
    "npu_all_to_all_matmul",
    "npu_alltoallv_gmm",
    "npu_gmm_alltoallv",
    "npu_matmul_all_to_all",
    "npu_mm_all_reduce_base",
    "npu_mm_reduce_scatter_base",
    "npu_moe_distribute_combine",
    "npu_moe_distribute_combine_v2",
    "npu_moe_distribute_dispatch",
    "npu_moe_distribute_dispatch_v2",
    "npu_quant_mm_reduce_scatter",
}
# Checked in tests/api/test_overflow.py; they have no gradients.
FLOAT_STATUS = {"npu_alloc_float_status", "npu_clear_float_status", "npu_get_float_status"}
# Checked in test_scatter_nd_update.py.
INDEXING = {"npu_scatter_nd_update", "npu_scatter_nd_update_"}


def implemented():
    """The operators that codegen registers kernels for, without overloads."""
    refused = set(torch_npu.custom_ops.NOT_IMPLEMENTED)
    for name in torch_npu.custom_ops.__all__:
        packet = getattr(torch_npu.custom_ops, name)
        full = packet._qualified_op_name
        if any(f"{full}.{o}".removesuffix(".default") not in refused for o in packet.overloads()):
            yield name


def test_every_operator_is_checked():
    checked = {name.split("-")[0] for name in CASES} | set(REST)
    elsewhere = ATTENTION | QUANTIZATION | EXPERTS | INDEXING | CACHES | COMPOSED | FLOAT_STATUS
    elsewhere |= COLLECTIVE
    assert checked | elsewhere == set(implemented())


@pytest.mark.parametrize("key", ["PrivateUse1", "Meta", "AutogradPrivateUse1", "AutogradMeta"])
def test_every_operator_has_a_kernel_for_the_key(key):
    # One without tensors is chosen by its device, and one without results has no gradients.
    without = {"empty_with_swapped_memory"}
    without |= FLOAT_STATUS | {"npu_prefetch"} if key.startswith("Autograd") else set()
    for name in set(implemented()) - without:
        packet = getattr(torch_npu.custom_ops, name)
        for overload in packet.overloads():
            full = f"{packet._qualified_op_name}.{overload}".removesuffix(".default")
            if full in torch_npu.custom_ops.NOT_IMPLEMENTED:
                continue
            assert torch._C._dispatch_has_kernel_for_dispatch_key(full, key)


@pytest.mark.parametrize("name", [*CASES, *REST])
def test_views_give_the_same(name):
    """Tensors whose elements are not next to each other."""
    if name.split("-")[0].endswith("_"):
        return
    op = getattr(OPS, name.split("-")[0]).default
    given = arguments_of(name)
    spread = {
        k: torch.stack((v, v), -1)[..., 0] if isinstance(v, torch.Tensor) else v
        for k, v in given.items()
    }
    for a, b in zip(listed(op(**given)), listed(op(**spread)), strict=True):
        assert torch.equal(a.cpu(), b.cpu())


def test_strides_and_empty_tensors():
    x = torch.randn(4, 6, 10)
    for view in (x.mT, x[:, ::2], x[..., 1:9], x[:1].expand(4, 6, 10)):
        assert torch.equal(
            OPS.npu_swiglu(view.npu(), 0).cpu(), OPS.npu_swiglu(view.contiguous().npu(), 0).cpu()
        )
    assert OPS.npu_swiglu(x[:0].npu()).shape == (0, 6, 5)
    gamma = torch.ones(10, device="npu", requires_grad=True)
    OPS.npu_rms_norm(x[:0].npu(), gamma)[0].sum().backward()
    assert torch.equal(gamma.grad.cpu(), torch.zeros(10))


def _bad(*sizes, dtype=torch.float32):
    return [torch.ones(size, dtype=dtype, device="npu") for size in sizes]


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: OPS.npu_swiglu(*_bad((2, 3))), "dimension 1 of a tensor of size .2, 3. has no halves"),
        (lambda: OPS.npu_swiglu(*_bad((2, 4)), 2), "Dimension out of range"),
        (lambda: OPS.npu_clipped_swiglu(*_bad((2, 3))), "dimension 1 of a tensor of size .2, 3. has no halves"),
        (lambda: OPS.npu_add_layer_norm(*_bad((2, 4), (2, 3), (4,), (4,))), "are not added: they have one size"),
        (lambda: OPS.npu_deep_norm(*_bad((2, 4), (2, 4), (4,), (3,))), "gamma is of size .3."),
        (lambda: OPS.npu_gemma_rms_norm(*_bad((2, 4), (3,))), "gamma is of size .3."),
        (lambda: OPS.npu_layer_norm_eval(*_bad((2, 4)), [3]), "the last dimensions of"),
        (lambda: OPS.npu_interleave_rope(*_bad((2, 3), (3,), (3,))), "rows of pairs are needed"),
        (lambda: OPS.npu_apply_rotary_pos_emb(*_bad((2, 4), (2, 4), (4,), (4,)), "BNDS"), "layout is 'BNDS'"),
        (lambda: OPS.npu_apply_rotary_pos_emb(*_bad((2, 4), (2, 4), (4,), (4,)), "TND", "quarter"), "'quarter' is not taken"),
        (lambda: OPS.npu_cross_entropy_loss(*_bad((2, 4)), torch.zeros(3, device="npu").long()), "target of size .3."),
        (lambda: OPS.npu_cross_entropy_loss(*_bad((2, 4)), torch.zeros(2, device="npu").long(), reduction="most"), "reduction is 'most'"),
        (lambda: OPS.npu_cross_entropy_loss(*_bad((2, 4)), torch.zeros(2, device="npu").long(), return_zloss=True), "zloss is not computed"),
        (
            lambda: OPS.npu_swiglu(*_bad((2, 4), dtype=torch.int32)),
            "npu::npu_swiglu: input is a tensor of Int, size .2, 4., layout Strided on npu:0; dense tensors of "
            "Half, Float, Double, BFloat16 are taken",
        ),
        (lambda: OPS.npu_rms_norm(*_bad((2, 4), (3,))), "gamma is of size .3."),
        (lambda: OPS.npu_rms_norm(*_bad((2, 4)), torch.ones(4)), "gamma is a tensor of Float.* on cpu"),
        (lambda: OPS.npu_rotary_mul(*_bad((2, 4), (4,), (4,)), "quarter"), 'rotary_mode is "quarter"'),
        (lambda: OPS.npu_transpose(*_bad((2, 4)), [0, 0]), "names dimension 0 twice"),
        (lambda: OPS.npu_transpose(*_bad((2, 4)), [0]), "does not order the 2 dimensions"),
        (lambda: OPS.npu_swiglu(torch.ones(2, 4)), "npu::npu_swiglu: input is on cpu"),
    ],
)  # fmt: skip
def test_errors_name_the_cause(call, says):
    with pytest.raises((RuntimeError, IndexError), match=says):
        call()


def test_operators_are_exported_with_docs():
    for name in torch_npu.exposed_api.public_npu_functions:
        assert name in torch_npu.__all__
    assert torch_npu.npu_swiglu is OPS.npu_swiglu
    assert torch_npu.npu_swiglu.__doc__.startswith(
        "npu_swiglu(input: Tensor, dim: int = -1) -> Tensor\n"
    )
    assert (
        str(OPS.npu_swiglu.default._schema) == "npu::npu_swiglu(Tensor input, int dim=-1) -> Tensor"
    )
    assert torch.Tag.pt2_compliant_tag in OPS.npu_swiglu.default.tags
