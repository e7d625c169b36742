"""Each row of the tables of algorithms serves the work that it is for, as ``explain`` says, and is right.

The reference is the same work in float64. A result of ``n`` terms may have ``n + 2`` roundings of the sum of the terms'
magnitudes; Winograd's transforms cost 2^-16 of the largest of them, factors of HF32 and of bfloat16 parts 2^-10.
"""

import json
from pathlib import Path

import fresh
import pytest

from torch_npu._core import state

PROGRAM = """
import ctypes, json, sys
from pathlib import Path

import torch
import torch.nn.functional as F
from torch_npu import _load
from torch_npu.utils import explain

sys.path.insert(0, str(Path.cwd()))
from tests.aclnn.library import Library

torch.manual_seed(0)
torch.set_num_threads(2)
torch.ones(1, device="npu")
opapi = ctypes.CDLL(str(Path(_load.bound_library()).parent / "libopapi.so"))



def image(*sizes, dtype=torch.float32):
    return torch.randn(sizes).to(dtype)


def conv(x, weight, **how):
    return lambda move: F.conv2d(move(x), move(weight), **how)


def product(a, b):
    return lambda move: torch.matmul(move(a), move(b))


def by_aclnn(a, b):
    # The plug-in gives no products of float64 to aclnnMm.
    def work(move):
        if not move(a).is_npu:
            return torch.matmul(move(a), move(b))
        out = torch.empty(a.size(0), b.size(1), dtype=a.dtype)
        Library(Path(_load.bound_library()).parent).call("aclnnMm", a, b, out, 0)
        return out
    return work


def sampling(mode, result=lambda sampled, x: sampled):
    # At positions whose weights float32 has exactly.
    x, grid = 1 + torch.rand(2, 3, 8, 8), torch.randint(0, 7, (2, 5, 4, 2)) / 8

    def work(move):
        moved = move(x).requires_grad_()
        return result(F.grid_sample(moved, move(grid), mode=mode, align_corners=False), moved).detach()
    return work


def sampling_gradient(mode):
    return sampling(mode, lambda sampled, x: torch.autograd.grad(sampled.sum(), x)[0])


BY_RULE = {
    "convolution": {
        "product": conv(image(2, 32, 24, 24), image(48, 32, 1, 1)),
        "planes": conv(image(2, 32, 20, 20), image(32, 1, 3, 3), padding=1, groups=32),
        "Winograd": conv(image(2, 64, 28, 28), image(64, 64, 3, 3), padding=1),
        "oneDNN": conv(image(2, 16, 20, 20), image(24, 16, 5, 5), stride=2),
        "reference": conv(image(1, 4, 9, 9, dtype=torch.float64), image(6, 4, 3, 3, dtype=torch.float64)),
    },
    "product": {
        "direct": product(image(2, 300), image(300, 200)),
        "panels": product(image(64, 300), image(300, 512)),
        "oneDNN": product(image(4, 300, 100), image(4, 100, 200)),
        "reference": by_aclnn(image(20, 30, dtype=torch.float64), image(30, 40, dtype=torch.float64)),
    },
    "sampling": {"vectors": sampling("bilinear"), "reference": sampling("bicubic")},
    "gradient of sampling": {"vectors": sampling_gradient("nearest"), "reference": sampling_gradient("bicubic")},
}
BY_TIME = {
    "convolution": {"bfloat16 products": conv(image(1, 32, 32, 32), image(32, 32, 5, 5), padding=2)},
    "product": {
        "oneDNN, a thread for each matrix": product(image(8, 128, 64), image(8, 64, 128)),
        "bfloat16 products": product(image(600, 160), image(160, 160)),
    },
}


def error(work):
    # The largest error by the bound of one rounding, and what served.
    said = explain(work, lambda t: t.npu())
    exact = work(lambda t: t.double())
    magnitudes = work(lambda t: t.double().abs())
    excess = (said.result.cpu().double() - exact).abs() / magnitudes.clamp_min(1e-300)
    served = [one.algorithm for one in said.served] + [one.chosen for one in said.tuned]
    again = explain(work, lambda t: t.npu())
    assert torch.equal(again.result, said.result)
    return served, excess.max().item()


def delay(names, us):
    for name in names:
        opapi.softnpuDelayCandidate(name.encode(), ctypes.c_uint64(us))


table, row = sys.argv[1:]
torch.npu.conv.allow_hf32 = torch.npu.matmul.allow_hf32 = True
if row in BY_RULE[table]:
    torch.use_deterministic_algorithms("gradient" not in table)
    found = error(BY_RULE[table][row])
else:
    import torch_npu
    others = [name for t, name, _ in torch_npu._C.algorithms() if t == table and name != row]
    delay(others, 300_000)  # us: far more than a run takes
    found = error(BY_TIME[table][row])
print(json.dumps(found))
"""
ROOT = Path(__file__).resolve().parents[2]
# Of one rounding of the magnitudes of a result's terms: float64's and float32's, by their number, and the rest.
TERMS = 1152
BOUNDS = {
    ("convolution", "Winograd"): 2**-16,
    ("convolution", "bfloat16 products"): 2**-10,
    ("product", "bfloat16 products"): 2**-10,
    ("convolution", "reference"): (TERMS + 2) * 2**-53,
    ("product", "reference"): (TERMS + 2) * 2**-53,
}
# The second row is for CPUs without AVX-512, whose oneDNN has no packed weights. SOFTNPU_SPLIT=tune offers the parts on
# CPUs without AMX, too.
ENVIRONMENTS = {
    ("product", "panels"): {"SOFTNPU_CPU_CAPABILITY": "avx2"},
    ("convolution", "bfloat16 products"): {"SOFTNPU_SPLIT": "tune"},
    ("product", "bfloat16 products"): {"SOFTNPU_SPLIT": "tune"},
    ("product", "oneDNN, a thread for each matrix"): {"SOFTNPU_SPLIT": "0"},
}


# Best first.
ROWS = [
    ("convolution", "product"),
    ("convolution", "planes"),
    ("convolution", "Winograd"),
    ("convolution", "oneDNN"),
    ("convolution", "bfloat16 products"),
    ("convolution", "reference"),
    ("product", "direct"),
    ("product", "panels"),
    ("product", "oneDNN"),
    ("product", "oneDNN, a thread for each matrix"),
    ("product", "bfloat16 products"),
    ("product", "reference"),
    ("sampling", "vectors"),
    ("sampling", "reference"),
    ("gradient of sampling", "vectors"),
    ("gradient of sampling", "reference"),
]


def test_every_row_is_tested():
    assert [(table, name) for table, name, _ in state.native().algorithms()] == ROWS


@pytest.mark.parametrize(("table", "row"), ROWS)
def test_a_row_serves_and_is_right(table, row):
    environment = ENVIRONMENTS.get((table, row), {})
    served, error = json.loads(
        fresh.output(PROGRAM, table, row, cwd=str(ROOT), **environment).splitlines()[-1]
    )
    assert row == served[-1], served
    assert error <= BOUNDS.get((table, row), (TERMS + 2) * 2**-24)


def test_explain_says_why_the_rows_above_refuse():
    program = """
import torch
import torch.nn.functional as F
from torch_npu.utils import explain

torch.use_deterministic_algorithms(True)
said = explain(F.conv2d, torch.randn(1, 8, 9, 9).npu(), torch.randn(8, 8, 5, 5).npu())
(one,) = said.served
assert one.algorithm == "oneDNN", one
assert list(one.refused) == ["product", "planes", "Winograd"], one
assert "not product: the filter is not 1 x 1" in str(said), str(said)
assert "not product: the filter is not 1 x 1" in said._repr_html_()
assert explain(torch.ones(2, device="npu").add, 1).served == ()
"""
    fresh.output(program)
