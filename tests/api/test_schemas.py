"""The official operators of the namespaces npu and atb: all exist, and those without a kernel say so."""

import pytest
import torch
from dev.api import schemas

import torch_npu

REFUSED = [*torch_npu.custom_ops.NOT_IMPLEMENTED, *torch_npu.atb.NOT_IMPLEMENTED]


def test_every_schema_is_the_official_one():
    found = schemas.states()
    wrong = {s: state for s, state in found.items() if state in (schemas.OTHER, schemas.ABSENT)}
    assert wrong == {}
    assert sum(s.startswith("npu::") for s in found) == 425
    assert sum(s.startswith("atb::") for s in found) == 37


def test_every_operator_is_a_name_of_the_package():
    for schema in schemas.states():
        namespace, base, _ = schemas.name_of(schema)
        assert namespace == "atb" or hasattr(torch_npu, base)
        assert namespace == "npu" or hasattr(torch_npu, base) or hasattr(torch_npu.atb, base)


def _value(kind, device):
    """A value that an argument of this type takes."""
    tensor = torch.ones(2, 2, device=device)
    values = {
        "Tensor": tensor, "List[Tensor]": [tensor], "int": 1, "float": 1.0, "bool": True, "str": "",
        "number": 1, "List[int]": [1, 1, 1, 1], "List[bool]": [True, True, True],
    }  # fmt: skip
    return None if kind.startswith("Optional") else values[kind]


def _call(name, device):
    namespace, base, overload = schemas.name_of(f"{name}(")
    operator = getattr(getattr(getattr(torch.ops, namespace), base), overload)
    asked = [a for a in operator._schema.arguments if not a.has_default_value()]
    return operator(**{a.name: _value(str(a.type), device) for a in asked})


@pytest.mark.parametrize("device", ["npu", "cpu", "meta"])
def test_an_operator_without_a_kernel_names_itself(device):
    for name in REFUSED:
        base = name.partition(".")[0]
        with pytest.raises(
            NotImplementedError, match=f"{base}.* is not implemented by this version"
        ):
            _call(name, device)


def test_the_error_names_what_computes_the_same():
    x = torch.ones(2, 2, device="npu", requires_grad=True)
    with pytest.raises(NotImplementedError, match=r"computed by: torch\.softmax"):
        torch_npu.npu_attn_softmax_(x.detach())
    with pytest.raises(NotImplementedError, match="npu::npu_sub_sample is not implemented"):
        torch_npu.npu_sub_sample(x, 1, 0.5)
    assert "torch.softmax" in torch_npu.npu_attn_softmax_.__doc__


def test_a_library_registers_a_kernel_of_its_own():
    with torch.library._scoped_library("npu", "IMPL") as library:
        calls = []
        library.impl("npu_sub_sample", lambda *given: calls.append(given[1]) or given[0], "PrivateUse1")  # fmt: skip
        torch_npu.npu_sub_sample(torch.ones(1, device="npu"), 5, 0.5)
        assert calls == [5]


def test_functions_by_hand_stay_functions():
    assert callable(torch_npu.npu_format_cast)
    assert "NotImplementedError" not in torch_npu.npu_format_cast.__doc__
    a, b = torch.zeros(2, device="npu"), torch.arange(4.0, device="npu")
    assert torch_npu.npu_change_data_ptr(a, b, 2) == 0
    assert a.tolist() == [2.0, 3.0]
    c = torch.zeros(2, device="npu")
    assert torch.ops.npu.npu_change_data_ptr(c, b, 1) == 0
    assert c.tolist() == [1.0, 2.0]
