"""torch_npu.utils.explain: routes of operators, numbers of calls, and waits for the device."""

import pytest
import torch

from torch_npu.utils import explain, synchronizations


def rows(explanation):
    return {row.operator: row for row in explanation.rows}


@pytest.fixture
def square():
    return torch.ones(64, 64, device="npu")


def test_an_aclnn_operator(square):
    explanation = explain(torch.mm, square, square)
    (row,) = explanation.rows
    assert (row.operator, row.route, row.kernel, row.calls) == ("aten::mm", "aclnn", "aclnnMm", 1)
    assert torch.equal(explanation.result, square @ square)
    assert 0 < row.self_us <= row.total_us


def test_an_operator_of_the_ai_cpu(square, aicpu_route):
    explanation = explain(torch.cumsum, square.double().logcumsumexp(0), 0)
    assert rows(explanation)["aten::cumsum"].route in ("AI CPU", "aclnn")
    found = rows(explain(torch.logcumsumexp, square, 0))
    # The operator, and the kernel that its own code calls; nothing inside of the kernel.
    assert "AI CPU" in {row.route for row in found.values()}
    assert found["aten::logcumsumexp"].calls == 1


def test_a_copy(square):
    explanation = explain(square.cpu)
    assert explanation.calls("copy") == 1
    assert explanation.calls(operator="aten::_to_copy") == 1
    assert explanation.synchronizations >= 1


def test_a_composite_and_its_parts(square):
    explanation = explain(torch.nn.functional.linear, square, square)
    found = rows(explanation)
    assert found["aten::linear"].route == "composite"
    assert found["aten::mm"].route == "aclnn"
    assert found["aten::t"].route == "composite"
    assert found["aten::transpose.int"].calls == 1
    assert found["aten::linear"].total_us >= found["aten::mm"].total_us
    assert found["aten::linear"].self_us < found["aten::linear"].total_us


def test_a_view_is_no_device_work(square):
    explanation = explain(square.view, -1)
    assert explanation.routes() == {"no device work": 1}


def test_the_fallback_with_copies(square):
    torch.npu.set_operator_fallback("cpu")
    try:
        explanation = explain(torch.logcumsumexp, square, 0)
    finally:
        torch.npu.set_operator_fallback("npu")
    assert explanation.calls("CPU fallback") == 1
    assert explanation.calls("AI CPU") == 0
    assert explain(torch.logcumsumexp, square, 0).calls("CPU fallback") == 0


def test_calls_are_counted_and_the_backward_pass_with_them():
    layer = torch.nn.Linear(8, 8).npu()
    x = torch.ones(4, 8, device="npu")

    def step():
        for _ in range(3):
            layer(x).sum().backward()

    found = rows(explain(step))
    assert found["aten::addmm"].calls == 3
    assert found["aten::addmm"].route == "aclnn"
    assert found["aten::mm"].calls >= 3


def test_a_chain_of_aclnn_operators_does_not_wait(square):
    def chain():
        y = square
        for _ in range(10):
            y = torch.addmm(square, y, square)
        return y

    torch.npu.synchronize()
    explanation = explain(chain)
    assert explanation.routes() == {"aclnn": 10}
    assert explanation.synchronizations == 0


def test_waits_are_counted():
    before = synchronizations()
    torch.npu.synchronize()
    event = torch.npu.Event()
    event.record()
    event.synchronize()
    assert synchronizations() - before == 2


def test_the_printed_table_is_aligned(square):
    explanation = explain(torch.nn.functional.linear, square, square)
    lines = str(explanation).splitlines()
    assert lines[0].split() == ["operator", "route", "kernel", "calls", "total", "us", "self", "us"]
    assert set(lines[1]) == {"-", " "}
    table = lines[: lines.index("algorithms:")]
    assert len(table) == len(explanation.rows) + 3
    # Columns are aligned: each row's calls end at the same column as the heading.
    end = lines[0].index("calls") + len("calls")
    assert [line[:end].split()[-1] for line in table[2:-1]] == [
        str(row.calls) for row in explanation.rows
    ]
    assert table[-1].startswith("calls: ")
    assert repr(explanation) == str(explanation)
    text = explanation._repr_html_()
    assert text.startswith("<table><tr><th>operator</th>")
    assert text.count("<tr>") == len(explanation.rows) + 1


def test_the_functions_error_is_raised(square):
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        explain(torch.mm, square, square[:3])
    assert explain(torch.mm, square, square).calls("aclnn") == 1


def test_it_does_not_nest(square):
    with pytest.raises(RuntimeError, match="explain\\(\\) does not nest"):
        explain(lambda: explain(torch.mm, square, square))


def test_nothing_is_counted_outside(square):
    explain(torch.mm, square, square)
    square @ square
    assert explain(lambda: None).rows == ()
