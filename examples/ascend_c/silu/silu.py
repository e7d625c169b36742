"""Calls the kernel silu from PyTorch: python silu.py [--kernel FILE] [--part ELEMENTS_OF_A_BLOCK]."""

import argparse
from pathlib import Path

import torch

import torch_npu  # noqa: F401
from torch_npu.utils.cpp_extension import load_ascendc

BLOCKS = 8

parser = argparse.ArgumentParser()
parser.add_argument("--kernel", default="silu.asc")
parser.add_argument("--part", type=int, default=1024)
options = parser.parse_args()

silu = load_ascendc(
    "tutorial",
    str(Path(__file__).with_name(options.kernel)),
    "silu(Tensor x) -> Tensor",
    launch=lambda x, y: (BLOCKS, (x, y, x.numel())),
)

x = torch.randn(BLOCKS * options.part, device="npu")
y = silu(x)
torch.npu.synchronize()
torch.testing.assert_close(y, torch.nn.functional.silu(x))
print(f"{x.numel()} elements are right")
