"""torch-npu compare: two saved results in a table, exit codes, and one clear error for bad input."""

import re

import numpy as np
import pytest
import torch
from dev.paths import ROOT

from torch_npu._command_line import main


@pytest.fixture
def save(tmp_path):
    def saved(name, value):
        path = tmp_path / name
        if path.suffix == ".npy":
            np.save(path, value)
        else:
            torch.save(value, path)
        return str(path)

    return saved


def rows(text):
    """The cells of the table's lines by name, and the last line."""
    _, *lines, last = text.splitlines()
    cells = [re.split(r"  +", line) for line in lines]
    return {name: rest for name, *rest in cells}, last


def compared(capsys, *arguments):
    code = main(["compare", *arguments])
    message = capsys.readouterr()
    return code, message.out, message.err


def refused(capsys, *arguments):
    code, out, err = compared(capsys, *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    return err


def test_state_dicts(capsys, save):
    layer = torch.nn.Linear(4, 3)
    one = save("one.pt", layer.state_dict())
    on_npu = save("npu.pt", layer.npu().state_dict())
    code, out, _ = compared(capsys, on_npu, one)
    found, last = rows(out)
    assert (code, last) == (0, "0 of 2 results differ")
    assert found["weight"] == ["3x4", "float32", "0 of 12", "0", "0", "1.000000", "close"]
    with torch.no_grad():
        layer.bias[1] += 1
    code, out, _ = compared(capsys, save("other.pt", layer.state_dict()), one)
    found, last = rows(out)
    assert (code, last) == (1, "1 of 2 results differ")
    assert found["bias"][2] == "1 of 3"
    assert (found["weight"][-1], found["bias"][-1]) == ("close", "differs")


def test_nested_lists_and_numbers(capsys, save):
    x = torch.arange(3.0)
    value = {"state": [{"step": 3, "lr": 0.1, "m": x}, (x, None)], "name": "adam"}
    one = save("one.pt", value)
    code, out, _ = compared(capsys, one, one)
    found, _ = rows(out)
    assert code == 0
    assert list(found) == ["state.0.step", "state.0.lr", "state.0.m", "state.1.0"]
    assert found["state.0.step"][:3] == ["scalar", "int64", "0 of 1"]
    value["state"][0]["step"] = 4
    assert compared(capsys, save("other.pt", value), one)[0] == 1


def test_numpy_arrays_and_references_in_double_precision(capsys, save):
    x = torch.linspace(0, 1, 50)
    exact = save("exact.npy", x.double().exp().numpy())
    for name in ("result.npy", "result.pt"):
        result = x.exp()
        path = save(name, result.numpy() if name.endswith("npy") else result)
        code, out, _ = compared(capsys, path, exact, "--kind", "elementwise")
        assert code == 0
        assert rows(out)[0]["tensor"][:2] == ["50", "float32"]


def test_the_tolerance_follows_kind_terms_and_given_numbers(capsys, save):
    eps = torch.finfo(torch.float32).eps
    one, other = save("one.pt", torch.ones(2)), save("other.pt", torch.ones(2) + 32 * eps)
    assert compared(capsys, other, one)[0] == 1
    assert compared(capsys, other, one, "--terms", "32")[0] == 0
    assert compared(capsys, other, one, "--kind", "product", "--terms", "27")[0] == 0
    assert compared(capsys, other, one, "--kind", "product", "--terms", "27", "--atol", "0")[0] == 1
    assert compared(capsys, other, one, "--rtol", "1e-5")[0] == 0
    assert compared(capsys, one, one, "--kind", "selection")[0] == 0


def test_shapes_and_types_that_differ_are_verdicts(capsys, save):
    one = save("one.pt", {"a": torch.ones(2), "b": torch.ones(2)})
    other = save("other.pt", {"a": torch.ones(3), "b": torch.ones(2).half()})
    code, out, _ = compared(capsys, other, one)
    found, last = rows(out)
    assert (code, last) == (1, "2 of 2 results differ")
    assert found["a"][-1] == "the shape is [3], not [2]"
    assert found["b"][-1] == "the dtype is torch.float16, not torch.float32"


def test_bad_input_is_one_error(capsys, save, tmp_path):
    good = save("good.pt", {"a": torch.ones(2)})
    missing = str(tmp_path / "none.pt")
    assert f"{missing}: No such file or directory" in refused(capsys, missing, good)
    assert "No such file" in refused(capsys, good, str(tmp_path / "none.npy"))
    assert "Is a directory" in refused(capsys, good, str(tmp_path))
    for name, content in (("text.pt", b"no tensor"), ("text.npy", b"no array"), ("empty.pt", b"")):
        (tmp_path / name).write_bytes(content)
        assert f"{name}: no " in refused(capsys, good, str(tmp_path / name))
    module = save("module.pt", torch.nn.Linear(1, 1))
    assert "module.pt: no tensor, and no dict or list of tensors, of torch.save" in refused(
        capsys, module, good
    )
    nothing = save("nothing.pt", {"lr": 0.1, "name": "x"})
    assert "nothing.pt: it has no tensor" in refused(capsys, nothing, good)
    other = save("other.pt", {"a": torch.ones(2), "b": torch.ones(2), "c": torch.ones(1)})
    assert refused(capsys, good, other) == (
        f"torch-npu compare: the names differ: only {other} has b, c\n"
    )


def test_bad_options(capsys, save):
    good = save("good.pt", torch.ones(2))
    for arguments in ([good], [good, good, "--terms", "0"], [good, good, "--kind", "sum"]):
        with pytest.raises(SystemExit) as end:
            main(["compare", *arguments])
        assert end.value.code == 2
    assert "usage: torch-npu compare" in capsys.readouterr().err


def test_the_example_of_the_document(capsys, monkeypatch, tmp_path):
    document = (ROOT / "docs" / "accuracy.md").read_text()
    example = (ROOT / "examples" / "compare_results.py").read_text()
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", document, re.DOTALL | re.MULTILINE)
    assert blocks[0] == ("python", example)
    (command,) = [text for kind, text in blocks if kind == "sh"]
    (printed,) = [text for kind, text in blocks if not kind]
    monkeypatch.chdir(tmp_path)
    exec(compile(example, "compare_results.py", "exec"), {})
    assert main(command.split()[1:]) == 1
    assert capsys.readouterr().out == printed
