"""Products in Ascend C, called from PyTorch: python product.py [--kernel FILE] [--depth K]."""

import argparse
from pathlib import Path

import torch

from torch_npu.utils.cpp_extension import load_ascendc

parser = argparse.ArgumentParser()
parser.add_argument("--kernel", default="product.asc")
parser.add_argument("--depth", type=int, help="what the kernel is told; default: the depth")
options = parser.parse_args()

CORES = 4  # cube cores, with two vector cores each
M, N, K = 200, 150, 96

product = load_ascendc(
    "product_example",
    str(Path(__file__).with_name(options.kernel)),
    "product(Tensor a, Tensor b) -> Tensor",
    launch=lambda a, b, c: (CORES, (a, b, c, M, N, options.depth or K)),
    outputs=lambda a, b: a.new_empty((M, N), dtype=torch.float32),
)

a, b = torch.randn(M, K).half(), torch.randn(K, N).half()
c = product(a.npu(), b.npu()).cpu()
expected = a.double() @ b.double()
if options.kernel != "product.asc":
    expected = expected.relu()
# A rounding step of float32 for each term.
bound = (K + 1) * torch.finfo(torch.float32).eps * (a.double().abs() @ b.double().abs())
assert ((c - expected).abs() <= bound).all(), "results are wrong"
print(f"{M} by {N} elements are right")
