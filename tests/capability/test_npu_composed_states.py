"""Composed operators of npu that write states, take lists, or choose: against PyTorch's own."""

import math

import pytest
import torch

import torch_npu
from tests.capability import expert_cases, recurrent_cases, region_cases, sparse_cases
from tests.capability.composed_cases import values
from torch_npu import accuracy
from torch_npu.accuracy import Tolerance

OPS = torch.ops.npu
TESTED = {
    "npu_advance_step_flashattn", "npu_grouped_matmul_add_", "npu_grouped_matmul_swiglu_quant_v2", "npu_nms_rotated",
    "npu_recurrent_gated_delta_rule", "npu_scatter_pa_cache", "npu_transpose_quant_batchmatmul",
}  # fmt: skip


def near(got, expected, steps=16):
    eps = torch.finfo(got.dtype).eps
    bound = steps * eps * expected.abs().max().clamp(min=1)
    accuracy.assert_close(got, expected, Tolerance(steps * eps, bound))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32], ids=str)
def test_states_of_a_recurrence(dtype):
    rows = [t.to(dtype) for t in sparse_cases.ROWS]
    state = values(6, 4, 2, 3).to(dtype)
    kwargs = {
        "beta": values(5, 4, low=0, high=1).to(dtype), "actual_seq_lengths": torch.tensor([3, 2]).int(),
        "ssm_state_indices": torch.tensor([5, 0, 2, 4, 1]).int(), "num_accepted_tokens": torch.tensor([2, 1]).int(),
        "g": values(5, 4, low=-1, high=0).float(),
    }  # fmt: skip
    widened = {k: v.double() if v.is_floating_point() else v for k, v in kwargs.items()}
    out, states = sparse_cases.recurrent_rule(
        *(t.double() for t in rows), state.double(), **widened
    )
    device = state.npu()
    version = device._version
    got = torch_npu.npu_recurrent_gated_delta_rule(
        *(t.npu() for t in rows), device, **{k: v.npu() for k, v in kwargs.items()}
    )
    near(got, out)
    near(device, states)
    assert device._version > version
    kwargs["num_accepted_tokens"] = torch.tensor([1, 3])
    given = {k: v.npu() for k, v in kwargs.items()}
    with pytest.raises(RuntimeError, match="num_accepted_tokens has 3 for a sequence of 2"):
        torch_npu.npu_recurrent_gated_delta_rule(*(t.npu() for t in rows), device, **given)


def test_a_step_of_sequences_in_pages():
    tokens, positions = torch.zeros(4).long().npu(), torch.tensor([7, 7, 7, 7]).npu()
    lengths, slots = torch.tensor([3, 8, 5, 2]).npu(), torch.zeros(4).long().npu()
    table = torch.tensor([[9, 1, 2], [3, 4, 5], [6, 7, 8], [0, 0, 0]]).npu()
    sampled = torch.tensor([[11], [12], [13]]).npu()
    torch_npu.npu_advance_step_flashattn(tokens, sampled, positions, lengths, slots, table, 4, 3, 4)
    assert tokens.tolist() == [11, 12, 13, 0]
    assert positions.tolist() == [3, 8, 5, 7]
    assert lengths.tolist() == [4, 9, 6, 2]
    assert slots.tolist() == [9 * 4 + 3, 5 * 4, 7 * 4 + 1, 0]
    with pytest.raises(RuntimeError, match="a sequence has more rows than block_tables"):
        torch_npu.npu_advance_step_flashattn(
            tokens, sampled, positions, lengths + 9, slots, table, 4, 3, 4
        )


def test_keys_into_pages():
    key, cache = values(3, 2, 8).float(), torch.zeros(4, 3, 2, 8).npu()
    slots = torch.tensor([7, 0, -1])
    assert OPS.npu_scatter_pa_cache.value(key.npu(), slots.npu(), key_cache=cache) is cache
    expected = torch.zeros(12, 2, 8)
    expected[[7, 0]] = key[:2]
    assert torch.equal(cache.cpu().flatten(0, 1), expected)


@pytest.mark.parametrize("has_counts", [False, True])
def test_sums_of_groups_in_place(has_counts):
    own, x, weight = values(2, 3, 4).float(), values(5, 3).half(), values(5, 4).half()
    groups = torch.tensor([2, 3] if has_counts else [2, 5])
    device = own.npu()
    result = OPS.npu_grouped_matmul_add_(
        device, x.npu(), weight.npu(), groups.npu(), group_list_type=int(has_counts)
    )
    assert result is device
    near(device, expert_cases.added(own.double(), x.double(), weight.double(), groups, int(has_counts)))  # fmt: skip
    with pytest.raises(RuntimeError, match="group_list has 9 behind 2 for 5 rows"):
        OPS.npu_grouped_matmul_add_(device, x.npu(), weight.npu(), torch.tensor([2, 9]).npu())


def test_gated_products_of_groups():
    args = expert_cases.X8, expert_cases.W8, expert_cases.SCALES.float(), expert_cases.ROWS
    x, weight, scales, rows = (t.npu() for t in args)
    for groups, kind in ((expert_cases.ENDS, 0), (expert_cases.COUNTS, 1)):
        y, factors = torch_npu.npu_grouped_matmul_swiglu_quant_v2(
            x, [weight], [scales], rows, groups.npu(), group_list_type=kind
        )
        values_, expected = expert_cases.gated_v2(
            args[0], [args[1]], [args[2]], args[3], groups, kind
        )
        assert (y.cpu().int() - values_.int()).abs().max() <= 1
        near(factors, expected)
    with pytest.raises(NotImplementedError, match="dequant_mode is 2"):
        torch_npu.npu_grouped_matmul_swiglu_quant_v2(
            x, [weight], [scales], rows, groups.npu(), dequant_mode=2
        )


@pytest.mark.parametrize("number", [5, 15])
def test_products_of_float8(number):
    x1, x2 = expert_cases.FLOAT8
    s1, s2 = values(2, low=0.5, high=1).float(), values(5, low=0.5, high=1).float()
    y = torch_npu.npu_transpose_quant_batchmatmul(
        x1.npu(), x2.npu(), number, x1_scale=s1.npu(), x2_scale=s2.npu()
    )
    assert y.dtype == {5: torch.float16, 15: torch.bfloat16}[number]
    near(y, expert_cases.transposed(x1, x2, number, s1, s2))
    again = torch_npu.npu_transpose_quant_batchmatmul(
        x1.npu(), x2.transpose(1, 2).contiguous().npu(), number, x1_scale=s1.npu(), x2_scale=s2.npu(), perm_x2=[0, 2, 1]
    )  # fmt: skip
    assert torch.equal(again, y)


def test_boxes_with_angles_that_overlap_no_better_one():
    boxes, scores = region_cases.rotated(1, 30)[0].float(), values(30, low=0, high=1).float()
    overlaps = region_cases.rotated_iou(boxes[None].double(), boxes[None].double())[0]
    order = [i for i in scores.argsort(descending=True).tolist() if scores[i] > 0.1]
    kept = []
    for i in order:
        if all(overlaps[i, j] <= 0.2 for j in kept):
            kept.append(i)
    for most in (-1, 4):
        indices, count = OPS.npu_nms_rotated(boxes.npu(), scores.npu(), 0.2, 0.1, most)
        expected = kept if most < 0 else kept[:most]
        assert indices.tolist() == expected
        assert count.tolist() == [len(expected)]
    with pytest.raises(NotImplementedError, match="depends on the elements"):
        OPS.npu_nms_rotated(boxes.to("meta"), scores.to("meta"), 0.2)


def test_weights_that_dropout_keeps():
    call = [t.float().npu() for t in recurrent_cases.CALL]
    numbers = (*recurrent_cases.NUMBERS[:4], 0.5, True)
    leaves = [t.requires_grad_() for t in call]
    y, mask, *_, scores, weights, _ = torch_npu.npu_multi_head_attention(*leaves, None, None, None, None, None, *numbers)  # fmt: skip
    bits = ((mask.cpu()[:, None] >> torch.arange(8)) & 1).flatten()[: scores.numel()]
    kept = bits.reshape(scores.shape).bool()
    near(weights, torch.where(kept, scores.cpu().double() * 2, 0))
    # As many as 80 draws allow: five standard deviations.
    assert abs(kept.double().mean() - 0.5) < 5 * math.sqrt(0.25 / kept.numel())
    y.sum().backward()
    value, value_weight = (t.detach().cpu().double() for t in (call[2], call[5]))
    heads, width, sources = numbers[:3]
    v = (value @ value_weight.T).reshape(-1, sources, heads, width).transpose(1, 2)
    context = (torch.where(kept, scores.cpu().double() * 2, 0) @ v).transpose(1, 2).reshape(-1, heads * width)  # fmt: skip
    near(call[7].grad, context.sum(0).expand(heads * width, -1))


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: OPS.npu_gru(ones(2, 3, 4), ones(3, 5), ones(4, 14), ones(5, 15), ones(15), ones(15), ones(1), True, 1, 0.0, True, False, False), "weight_input of size .4, 14."),
        (lambda: torch_npu.npu_lstm(ones(2, 3, 4), ones(7, 12), ones(12), ones(1), ones(1, 3, 3), ones(1, 3, 3), True, 2, 0.0, True, False, False, False, False), "num_layers is 2"),
        (lambda: torch_npu.npu_rotated_iou(ones(1, 2, 5), ones(1, 3, 5), False, 0, False), "is_cross is 0"),
        (lambda: torch_npu.npu_ps_roi_pooling(ones(1, 7, 2, 2), ones(1, 5, 2), 1.0, 2, 2), "output_dim group_size"),
        (lambda: torch_npu.npu_deformable_conv2d(ones(1, 2, 4, 4), ones(3, 2, 3, 3), ones(1, 26, 4, 4), None, [3, 3], [1] * 4, [1] * 4), "offset of size .1, 26, 4, 4."),
        (lambda: torch_npu.npu_lightning_indexer(ones(1, 2, 3, 4), ones(1, 2, 2, 4), ones(1, 2, 3)), "one head of keys"),
        (lambda: torch_npu.npu_sparse_flash_attention(ones(1, 2, 3, 4), ones(1, 2, 1, 4), None, ones(1, 2, 1, 2).int(), 1.0, attention_mode=2), "query_rope is None"),
        (lambda: torch_npu.npu_block_sparse_attention(ones(4, 2, 8), ones(4, 1, 8), ones(4, 1, 8), ones(1, 2, 1, 1).to(torch.int8), [4, 4]), "is None with layout TND"),
        (lambda: torch_npu.npu_mhc_sinkhorn(ones(2, 3, 4)), r"\[T, n, n\]"),
        (lambda: torch_npu.npu_ffn(ones(2, 4), ones(4, 6), ones(6, 4), "tanh"), "activation is 'tanh'"),
        (lambda: torch_npu.npu_moe_update_expert(ones(2, 2).int(), ones(2, 3).int()), "local_rank_id -1, world_size -1"),
        (lambda: OPS.npu_moe_re_routing(ones(3, 4), ones(2, 2).int()), "has a sum of 4 for 3 tokens"),
        (lambda: torch_npu.npu_rotate_quant(ones(2, 6), ones(4, 4)), "a multiple of K"),
        (lambda: OPS.npu_chunk_gated_delta_rule(ones(3, 1, 2), ones(3, 1, 2), ones(3, 1, 2)), "actual_seq_lengths is None"),
    ],
)  # fmt: skip
def test_errors_name_the_cause(call, says):
    with pytest.raises((RuntimeError, NotImplementedError), match=says):
        call()


def ones(*size):
    return torch.ones(size, device="npu")
