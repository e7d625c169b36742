"""Kernels that npu_native_functions.yaml declares as hand-written are registered under the declared keys."""

from pathlib import Path

import pytest
import torch

from codegen import parse

YAML = Path(__file__).resolve().parents[2] / "torch_npu/csrc/aten/npu_native_functions.yaml"


@pytest.fixture(scope="module")
def settings():
    return parse.read_settings(YAML, parse.native_functions())


def without_kernel(names, key: str) -> list[str]:
    has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key
    return sorted(name for name in names if not has_kernel(f"aten::{name}", key))


def test_kernels_by_hand_are_registered(settings):
    assert without_kernel(settings.supported, "PrivateUse1") == []
    assert without_kernel(settings.autograd, "AutogradPrivateUse1") == []
    assert settings.symint <= settings.supported | settings.supported_derived | settings.autograd


def test_entries_are_registered(settings):
    entries = {entry.func for entry in settings.official}
    assert len(entries) > 300
    assert without_kernel(entries, "PrivateUse1") == []
