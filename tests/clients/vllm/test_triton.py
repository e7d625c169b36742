"""Triton's backend npu: kernels in Triton's interpreter on tensors of npu, and what it says without."""

import os
import subprocess
import sys

import pytest
import torch
import triton
import triton.language as tl
from triton.language.extra.cann.extension import extract_slice, get_element, insert_slice
from triton.runtime import driver
from vllm.v1.worker.block_table import _compute_slot_mapping_kernel


@triton.jit
def _double(source, target, count, block: tl.constexpr):
    at = tl.program_id(0) * block + tl.arange(0, block)
    tl.store(target + at, 2 * tl.load(source + at, mask=at < count), mask=at < count)


@triton.jit
def _slices(source, target, first):
    at = tl.arange(0, 8)[:, None] * 4 + tl.arange(0, 4)[None, :]
    block = tl.load(source + at)
    part = extract_slice(block, [first, 0], [2, 2], [2, 1])
    block = insert_slice(block, -part, [first, 0], [2, 2], [2, 1])
    block += get_element(block, [0, 3])
    tl.store(target + at, block)


def test_it_is_the_only_active_driver():
    active = driver.active
    assert active.get_active_torch_device() == torch.device("npu", 0)
    assert active.get_current_target().backend == "npu"
    cores = active.utils.get_device_properties(0)
    assert min(cores["num_aicore"], cores["num_vectorcore"]) > 0


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.int32])
def test_a_kernel_on_npu(dtype):
    source = torch.arange(100, device="npu").to(dtype)
    target = torch.zeros(100, device="npu", dtype=dtype)
    _double[(2,)](source, target, 90, block=64)
    assert target[:90].equal(2 * source[:90])
    assert not target[90:].any()


@pytest.mark.parametrize("first", [0, 3])
def test_slices_of_a_block(first):
    source = torch.randn(8, 4, device="npu")
    target = torch.empty_like(source)
    _slices[(1,)](source, target, first)
    expected = source.clone()
    expected[first : first + 3 : 2, :2] *= -1
    assert target.equal(expected + expected[0, 3])


def test_a_slice_outside_of_its_block():
    source = torch.randn(8, 4, device="npu")
    with pytest.raises(Exception, match="2 elements from 7 on, 2 apart, are not in an axis of 8"):
        _slices[(1,)](source, source, 7)


def test_the_slot_mapping_of_vllm():
    starts = torch.tensor([0, 3, 5], dtype=torch.int32, device="npu")
    positions = torch.tensor([0, 1, 2, 4, 5], device="npu")
    blocks = torch.tensor([[7, 0], [2, 5]], dtype=torch.int32, device="npu")
    slots = torch.full((8,), -9, device="npu")
    _compute_slot_mapping_kernel[(3,)](
        5, 8, starts, positions, blocks, blocks.stride(0), 4, slots,
        TOTAL_CP_WORLD_SIZE=1, TOTAL_CP_RANK=0, CP_KV_CACHE_INTERLEAVE_SIZE=1, PAD_ID=-1, BLOCK_SIZE=1024,
    )  # fmt: skip
    assert slots.tolist() == [28, 29, 30, 20, 21, -1, -1, -1]


def test_without_the_interpreter_no_driver_is_active():
    program = "import torch; from triton.backends import backends; print(backends['npu'].driver.is_active())"
    environment = {"TRITON_INTERPRET": "0"}
    result = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True, text=True, check=True, env={**os.environ, **environment},
    )  # fmt: skip
    assert result.stdout.split() == ["False"]
