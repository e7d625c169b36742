"""Automatic tuning: the fastest implementation of a shape serves, within the tolerance, and a fixed rule where nothing is timed."""

import json

import fresh
import pytest

# Programs of their own: a process times a shape once, and others may have done so.
PRELUDE = """
import ctypes, json
from pathlib import Path

import torch
import torch.nn.functional as F
from torch_npu import _load
from torch_npu.utils import explain

torch.manual_seed(0)
torch.ones(1, device="npu")
opapi = ctypes.CDLL(str(Path(_load.bound_library()).parent / "libopapi.so"))
SLOW = ctypes.c_uint64(300_000)  # us: far more than a run takes


def delay(name, us=SLOW):
    opapi.softnpuDelayCandidate(name.encode(), us)


def choices(work, *values):
    return {one.work: one.chosen for one in explain(work, *values).tuned}
"""


def answer(program: str, **env: str) -> object:
    """What ``program`` prints last, as JSON."""
    return json.loads(fresh.output(PRELUDE + program, **env).splitlines()[-1])


CONVOLUTION = """
image, weight = torch.randn(1, 64, 24, 40).npu(), torch.randn(64, 64, 3, 3).npu()
def work():
    return F.conv2d(image, weight, padding=1)
"""


def test_explain_has_the_times_and_the_choice():
    program = f"""{CONVOLUTION}
delay("Winograd")
first = explain(work)
delay("Winograd", 0)
again = explain(work)
assert torch.equal(first.result, again.result)
assert "tuned:" in str(first) and "oneDNN of Winograd" in str(first), str(first)
assert "tuned:" in first._repr_html_()
assert explain(lambda: image + 1).tuned == ()
print(json.dumps([[one.work, one.times, one.chosen] for e in (first, again) for one in e.tuned]))
"""
    (work, times, chosen), again = answer(program)
    assert "HF32 allowed" in work
    assert "[1, 64, 24, 40]" in work
    assert chosen == "oneDNN"
    assert list(times) == ["Winograd", "oneDNN"]
    assert 0 < times["oneDNN"] < 300_000 <= times["Winograd"]
    assert again == [work, times, chosen]


@pytest.mark.parametrize("slow", ["Winograd", "oneDNN"])
def test_gradients_and_fused_layers_avoid_the_slow_candidate(slow: str):
    """Each is within the tolerance of float32's result, whichever serves."""
    program = f"""
delay("{slow}")
x, w, s = torch.randn(2, 64, 24, 20), torch.randn(64, 64, 3, 3) / 24, torch.rand(64) + 0.5

def run(x, w, s):
    x, w = x.detach().requires_grad_(), w.detach().requires_grad_()
    y = F.conv2d(x, w, padding=1) * s[:, None, None]
    y.sum().backward()
    return y.detach(), x.grad, w.grad

def fused(x, w, s):
    with torch.no_grad():
        y = F.conv2d(x[:1], w, padding=2)
        return F.batch_norm(y, torch.zeros_like(s), s, s, s).relu_()

chosen = []
given = [v.npu() for v in (x, w, s)]
for work in (run, fused):
    explained = explain(work, *given)
    chosen += [one.chosen for one in explained.tuned]
    found = explained.result if work is run else [explained.result]
    expected = work(*(v.double() for v in (x, w, s)))
    expected = expected if work is run else [expected]
    magnitude = work(*(v.double().abs() for v in (x, w, s)))
    magnitude = magnitude if work is run else [magnitude]
    for f, e, m in zip(found, expected, magnitude):
        # HF32 rounds both factors of each term to 2^-12 of it.
        assert ((f.cpu().double() - e).abs() <= 2**-11 * m.max()).all()
    again = work(*given)
    for f, a in zip(found, again if work is run else [again]):
        assert torch.equal(f, a)
print(json.dumps(chosen))
"""
    chosen = answer(program)
    other = {"Winograd": "oneDNN", "oneDNN": "Winograd"}[slow]
    assert chosen == [other] * 4, chosen


def test_products_choose_among_float32_implementations():
    program = """
a, b = torch.randn(256, 320), torch.randn(320, 256)
exact = a.double() @ b.double()
found = []
for rows, slow in ((256, "oneDNN"), (255, "panels")):
    delay(slow)
    explained = explain(torch.mm, a[:rows].npu(), b.npu())
    delay(slow, 0)
    bound = 2**-24 * 320 * (a[:rows].double().abs() @ b.double().abs())
    assert ((explained.result.cpu().double() - exact[:rows]).abs() <= bound).all()
    found += [[slow, one.chosen, list(one.times)] for one in explained.tuned]
print(json.dumps(found))
"""
    for slow, chosen, names in answer(program, SOFTNPU_CPU_CAPABILITY="avx2"):
        assert set(names) == {"panels", "oneDNN"}
        assert chosen != slow


@pytest.mark.parametrize(
    ("before", "env"),
    [
        ("", {"SOFTNPU_TUNE": "0"}),
        ("torch.use_deterministic_algorithms(True, warn_only=True)", {}),
    ],
    ids=["SOFTNPU_TUNE=0", "use_deterministic_algorithms"],
)
def test_nothing_is_timed(before: str, env: dict[str, str]):
    program = f"""{before}
{CONVOLUTION}
delay("Winograd")
print(json.dumps([len(explain(work).tuned), work().double().sum().item()]))
"""
    count, found = answer(program, **env)
    assert count == 0
    # Winograd served, though it would have been slow.
    by_rule = answer(
        f'{CONVOLUTION}\ndelay("oneDNN")\nprint(json.dumps(work().double().sum().item()))'
    )
    assert found == by_rule


def test_determinism_may_be_asked_for_later_and_no_longer():
    program = f"""{CONVOLUTION}
delay("Winograd")
tuned = work()
torch.use_deterministic_algorithms(True, warn_only=True)
by_rule = [work() for _ in range(2)]
torch.use_deterministic_algorithms(False)
again = work()
print(json.dumps([torch.equal(tuned, again), torch.equal(*by_rule), torch.equal(tuned, by_rule[0])]))
"""
    assert answer(program) == [True, True, False]


def test_products_of_bfloat16_are_a_candidate_where_the_cpu_has_amx():
    """SOFTNPU_SPLIT=tune offers them on every CPU; here they need little memory, and nothing is packed."""
    program = """
image, weight = torch.randn(1, 32, 32, 32), torch.randn(32, 32, 5, 5) / 24
given = image.npu(), weight.npu()
delay("oneDNN")
explained = explain(lambda: F.conv2d(*given, padding=2))
allowed = explained.tuned
torch.npu.conv.allow_hf32 = False
forbidden = explain(lambda: F.conv2d(*given, padding=2)).tuned
expected = F.conv2d(image.double(), weight.double(), padding=2)
bound = 2**-14 * F.conv2d(image.double().abs(), weight.double().abs(), padding=2)
assert ((explained.result.cpu().double() - expected).abs() <= bound).all()
print(json.dumps([[one.chosen, list(one.times)] for one in (*allowed, *forbidden)]))
"""
    assert answer(program, SOFTNPU_SPLIT="tune") == [
        ["bfloat16 products", ["oneDNN", "bfloat16 products"]]
    ]


def test_a_product_that_adds_in_place_runs_once():
    program = """
torch.npu.matmul.allow_hf32 = True
a, b = torch.ones(520, 64).npu(), torch.ones(64, 256).npu()
separate = explain(torch.addmm, torch.ones(520, 256).npu(), a, b)
c = torch.ones(520, 256).npu()
in_place = explain(c.addmm_, a, b)
values = [r.unique().tolist() for r in (separate.result, c)]
print(json.dumps([values, [len(e.tuned) for e in (separate, in_place)]]))
"""
    assert answer(program, SOFTNPU_SPLIT="tune") == [[[65.0], [65.0]], [1, 0]]
