"""Warnings and errors of single operators that PyTorch's tests expect of a device, with the line of Python."""

import inspect
import re
import warnings

import pytest
import torch


def half() -> torch.Tensor:
    return torch.ones(3, dtype=torch.chalf, device="npu")


COMPLEX_HALF = {
    "randn": lambda: torch.randn(3, dtype=torch.chalf, device="npu"),
    "rand": lambda: torch.rand(3, dtype=torch.chalf, device="npu"),
    "empty": lambda: torch.empty(3, dtype=torch.chalf, device="npu"),
    "zeros": lambda: torch.zeros(3, dtype=torch.chalf, device="npu"),
    "like": lambda: torch.empty_like(half()),
    "strided": lambda: torch.empty_strided((2, 2), (1, 2), dtype=torch.chalf, device="npu"),
    "add": lambda: half() + 1,
    "cast": lambda: torch.ones(3, device="npu").to(torch.chalf),
}


@pytest.fixture
def always():
    before = torch.is_warn_always_enabled()
    torch.set_warn_always(True)
    yield
    torch.set_warn_always(before)


@pytest.mark.parametrize("name", COMPLEX_HALF)
def test_complex_half_is_experimental(name, always):
    with pytest.warns(UserWarning, match="ComplexHalf support is experimental"):
        COMPLEX_HALF[name]()


def test_complex_half_is_warned_of_once():
    torch.set_warn_always(False)
    half()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        half()


def resized() -> int:
    torch.arange(0, 3, out=torch.empty(5, device="npu"))
    return inspect.currentframe().f_lineno - 1


def added() -> int:
    ones = torch.ones(3, device="npu")
    torch.add(ones, ones, out=torch.empty(5, device="npu"))
    return inspect.currentframe().f_lineno - 1


def decomposed() -> int:
    matrix = torch.ones(3, 3, device="npu")
    torch.linalg.svdvals(matrix, out=torch.empty(5, device="npu"))
    return inspect.currentframe().f_lineno - 1


@pytest.mark.parametrize("work", [resized, added, decomposed], ids=lambda work: work.__name__)
def test_warnings_of_kernels_carry_the_line_of_python(work):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        line = work()
    assert [(w.filename, w.lineno) for w in caught] == [(__file__, line)]
    assert re.search("elements was resized|number of elements in the out", str(caught[0].message))
    assert "Triggered internally at" in str(caught[0].message)


def test_a_tensor_without_elements_has_no_item():
    empty = torch.empty(0, device="npu")
    with pytest.raises(RuntimeError, match="Empty tensor not supported"):
        torch.ops.aten._local_scalar_dense(empty)
    with pytest.raises(RuntimeError) as on_npu:
        empty.item()
    with pytest.raises(RuntimeError) as on_cpu:
        empty.cpu().item()
    assert str(on_npu.value) == str(on_cpu.value)
