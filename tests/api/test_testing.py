"""torch_npu.testing: the official names, and what each helper does."""

import importlib
import inspect
import random
import unittest
import warnings

import fresh
import numpy as np
import pytest
import torch

import torch_npu
from torch_npu.testing import common_distributed, common_methods_invocations, common_utils
from torch_npu.testing.decorator import (
    Dtypes,
    Formats,
    feed_data,
    instantiate_ops_tests,
    instantiate_tests,
)
from torch_npu.testing.testcase import TestCase

# The modules and names of the official plug-in's list of its interface.
NAMES = """
common_distributed: TestSkip init_pg skipIfUnsupportMultiNPU with_comms
common_methods_invocations: sample_inputs_median_custom sample_inputs_normal_tensor_second
common_utils: Baseline Baseline.get_baseline Baseline.set_baseline Baseline.save_baseline SkipIfNoLapack
    SkipIfNotRegistered SupportedDevices check_operators_in_prof create_common_tensor create_dtype_tensor dump_baseline
    freeze_rng_state get_cycles_per_ms get_npu_device is_iterable iter_indices set_npu_device test_2args_broadcast
    SkipIfNotGteCANNVersion
decorator: Dtypes Formats feed_data gen_op_input gen_ops_testcase instantiate_ops_tests instantiate_tests
testcase: TestCase TestCase.setUpClass TestCase.setUp TestCase.assertTensorsSlowEqual TestCase.genSparseTensor
    TestCase.safeToDense TestCase.safeCoalesce TestCase.assertRtolEqual TestCase.assertEqual
    TestCase.assertAlmostEqual TestCase.assertNotEqual TestCase.assertObjectIn TestCase.assertExpectedRaises
    TestCase.assertNotWarn TestCase.assertWarns TestCase.maybeWarnsRegex TestCase.assertExpectedStripMangled
    TestCase.run run_tests
"""


def official_names():
    module = ""
    for word in NAMES.split():
        if word.endswith(":"):
            module = f"torch_npu.testing.{word[:-1]}"
        else:
            yield module, word


@pytest.mark.parametrize(("module", "name"), official_names())
def test_names(module, name):
    found = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    assert callable(found)
    assert inspect.getdoc(found)


def test_the_import_does_not_use_the_device():
    program = "import torch, torch_npu.testing.testcase, torch_npu.testing.decorator; print(torch.npu.is_initialized())"
    assert fresh.output(program) == "False"


class Case(TestCase):
    """Only its comparisons are called."""

    def runTest(self):  # noqa: N802
        pass


CASE = Case()
X = torch.tensor([1.0, -2.0, 0.0, 3e4])
HALF = torch.tensor([1.0, 2.0], dtype=torch.half)
EQUAL = {
    "numbers": (1.0, 1.0 + 1e-6),
    "tensors": (X, X + 1e-6),
    "tensors on both": (X, X),
    "a tensor and a number": (torch.tensor(2.0), 2),
    "strings": ("a", "a"),
    "lists": ([1, X], [1, X.clone()]),
    "dictionaries": ({"a": 1.0, "b": X}, {"b": X, "a": 1.0}),
    "sets": ({1, 2}, {2, 1}),
    "NaN": (torch.tensor([1.0, float("nan")]), torch.tensor([1.0, float("nan")])),
    "sparse": (torch.eye(2).to_sparse(), torch.eye(2).to_sparse()),
    "bool": (np.bool_(True), True),
    "none": (None, None),
}
UNEQUAL = {
    "numbers": (1.0, 1.0 + 1e-4),
    "tensors": (X, X + 1e-2),
    "shapes": (X, X[:3]),
    "strings": ("a", "b"),
    "lists": ([1, X], [1, X + 1]),
    "lengths": ([1], [1, 2]),
    "dictionaries": ({"a": 1}, {"b": 1}),
    "NaN": (torch.tensor([1.0, float("nan")]), torch.tensor([float("nan"), 1.0])),
    "sparse": (torch.eye(2).to_sparse(), (2 * torch.eye(2)).to_sparse()),
    "layouts": (torch.eye(2).to_sparse(), torch.eye(2)),
    "infinity": (float("inf"), 1.0),
    "none": (None, X),
}


def equal(name):
    """The values of EQUAL. Collecting the tests does not use the device."""
    first, second = EQUAL[name]
    return (first, second.npu()) if name == "tensors on both" else (first, second)


@pytest.mark.parametrize("name", EQUAL)
def test_assert_equal(name):
    CASE.assertEqual(*equal(name))
    if "NaN" not in name and name not in (
        "none",
        "lists",
    ):  # Python cannot compare lists of tensors
        with pytest.raises(AssertionError):
            CASE.assertNotEqual(*equal(name))


@pytest.mark.parametrize("name", UNEQUAL)
def test_assert_equal_fails(name):
    with pytest.raises(AssertionError):
        CASE.assertEqual(*UNEQUAL[name])


def test_precision_and_types_of_comparisons():
    CASE.assertEqual(X, X + 0.05, 0.1)
    CASE.assertAlmostEqual(1.0, 1.04, delta=0.05)
    CASE.assertAlmostEqual(1.0, 1.04, places=1)
    with pytest.raises(AssertionError):
        CASE.assertAlmostEqual(1.0, 1.04, places=2)
    CASE.assertEqual(X, X.double())
    with pytest.raises(AssertionError, match="dtypes"):
        CASE.assertEqual(X, X.double(), exact_dtype=True)
    infinite = torch.tensor([float("inf"), 1.0])
    CASE.assertEqual(infinite, infinite.clone(), allow_inf=True)
    with pytest.raises(AssertionError, match="infinities"):
        CASE.assertEqual(infinite, -infinite, allow_inf=True)
    CASE.assertNotEqual(X, X + 1)
    CASE.assertNotEqual("a", "b")
    CASE.assertTensorsSlowEqual(X, X.clone(), 1e-6)
    with pytest.raises(AssertionError):
        CASE.assertTensorsSlowEqual(X, X + 1, 1e-6)


def test_assert_rtol_equal():
    CASE.assertRtolEqual(X, X.npu() * (1 + 5e-5))
    CASE.assertRtolEqual(X.numpy(), X.numpy())
    CASE.assertRtolEqual(HALF, HALF * 1.0005)
    CASE.assertRtolEqual([X, 1], [X, 1])
    CASE.assertRtolEqual(X.double(), X, auto_trans_dtype=True)
    CASE.assertRtolEqual(X.bfloat16(), X.bfloat16())
    many = torch.ones(100_000)
    few = many.clone()
    few[:9] = 2  # a share of 1e-4 may be wrong
    CASE.assertRtolEqual(many, few)
    few[:11] = 2
    for wrong, text in (
        ((many, few), "result error"),
        ((X, X * 1.001), "result error"),
        ((X, X.double()), "dtype error"),
        ((X, X[:2]), "shape error"),
        ((HALF, HALF * 1.01), "result error"),
        ((X.bfloat16(), X.bfloat16() * 2), "result error"),
        ((torch.tensor([True]), torch.tensor([False])), "result error"),
        ((torch.tensor([1.0, float("nan")]), torch.tensor([1.0, 1.0])), "NaN"),
        (("a", 1), "are not compared"),
    ):
        with pytest.raises(AssertionError, match=text):
            CASE.assertRtolEqual(*wrong)


def test_other_assertions():
    item = object()
    CASE.assertObjectIn(item, [1, item])
    with pytest.raises(AssertionError, match="object not found"):
        CASE.assertObjectIn(X.clone(), [X.tolist()])
    CASE.assertNotWarn(lambda: None)
    CASE.assertWarns(lambda: warnings.warn("x", stacklevel=1))
    with pytest.raises(AssertionError):
        CASE.assertNotWarn(lambda: warnings.warn("x", stacklevel=1))
    with pytest.raises(AssertionError):
        CASE.assertWarns(lambda: None)
    with CASE.maybeWarnsRegex(UserWarning, "expected"):
        warnings.warn("expected once", stacklevel=1)
    with pytest.raises(AssertionError, match="unexpected warnings:\nUserWarning: other"), CASE.maybeWarnsRegex(UserWarning, "expected"):  # fmt: skip
        warnings.warn("other", stacklevel=1)
    with pytest.raises(AssertionError, match="Did not raise"):
        CASE.assertExpectedRaises(ValueError, lambda: None)


@pytest.mark.parametrize("is_uncoalesced", [True, False])
def test_sparse_tensors(is_uncoalesced):
    x, indices, values = CASE.genSparseTensor((4, 5, 3), 2, 6, is_uncoalesced)
    assert x.is_coalesced() != is_uncoalesced
    assert torch.equal(torch.sparse_coo_tensor(indices, values, (4, 5, 3)).to_dense(), x.to_dense())
    assert torch.equal(CASE.safeToDense(x), x.to_dense())
    with pytest.raises(RuntimeError, match="invalid arguments"):
        CASE.genSparseTensor((0, 5), 1, 2, is_uncoalesced)


def test_a_test_begins_with_its_seed_and_device(monkeypatch):
    seen = []

    class Drawn(TestCase):
        def test_it(self):
            seen.append((torch.rand(1).item(), random.random(), self.npu_device))

    for seed in ("666", "666", "5"):
        monkeypatch.setenv("SEED", seed)
        result = unittest.TestResult()
        unittest.defaultTestLoader.loadTestsFromTestCase(Drawn).run(result)
        assert result.wasSuccessful(), result.errors
    assert seen[0] == seen[1] != seen[2]
    assert seen[0][2] == "npu:0"


def test_tensors_on_both():
    cpu, npu = common_utils.create_common_tensor((np.float16, 2, (3, 4)), -2, 2)
    assert cpu.dtype == npu.dtype == torch.float16
    assert (npu.device.type, npu.shape) == ("npu", (3, 4))
    assert torch.equal(npu.cpu(), cpu)
    assert bool((cpu.abs() <= 2).all())
    cpu, npu = common_utils.create_common_tensor((np.float32, 1, (1, 2, 3, 4)), 0, 1)
    assert torch_npu.get_npu_format(npu) is torch_npu.Format.NHWC
    assert torch.equal(npu.cpu(), cpu)
    for dtype in (torch.bool, torch.half, torch.float32, torch.int32):
        cpu, npu = common_utils.create_dtype_tensor((40,), dtype, no_zero=True)
        assert cpu.dtype == npu.dtype == dtype
        assert torch.equal(npu.cpu(), cpu)
        assert bool(cpu.all())
    npu.zero_()
    assert bool(cpu.all())  # apart
    results = common_utils.test_2args_broadcast(torch.add)
    assert len(results) == 2
    for expected, actual in results:
        assert np.array_equal(expected, actual)
        assert expected.shape == (2, 3, 4, 5)


def test_small_helpers():
    before = torch.get_rng_state()
    with common_utils.freeze_rng_state():
        torch.rand(3)
    assert torch.equal(torch.get_rng_state(), before)
    assert list(common_utils.iter_indices(torch.ones(2, 2))) == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert list(common_utils.iter_indices(torch.ones(2))) == [0, 1]
    assert list(common_utils.iter_indices(torch.tensor(1))) == []
    assert common_utils.is_iterable([])
    assert not common_utils.is_iterable(3)
    assert common_utils.set_npu_device() == "npu:0"
    with pytest.raises(NotImplementedError, match=r"no torch\.npu\._sleep"):
        common_utils.get_cycles_per_ms()


def test_the_device_of_tests(monkeypatch):
    assert common_utils.get_npu_device() == "npu:0"
    monkeypatch.setenv("SET_NPU_DEVICE", "3")
    assert common_utils.get_npu_device() == "npu:3"


def test_operators_of_a_profile():
    with torch.profiler.profile() as prof:
        torch.ones(2) + 1
    expected = ["aten::add"]
    assert common_utils.check_operators_in_prof(expected, prof)
    assert expected == []
    assert not common_utils.check_operators_in_prof(["aten::mm"], prof)
    assert not common_utils.check_operators_in_prof([], prof, ["aten::add"])


def skipped(decorate) -> bool:
    try:
        return decorate(lambda self: False)(None)
    except unittest.SkipTest:
        return True


def test_reasons_to_skip():
    assert not skipped(common_utils.SupportedDevices(["Ascend910B"]))
    assert skipped(common_utils.SupportedDevices(["Ascend310P", "Ascend950"]))
    assert not skipped(common_utils.SkipIfNotGteCANNVersion("8.0.0"))
    assert skipped(common_utils.SkipIfNotGteCANNVersion("99.0.0"))
    assert skipped(common_utils.SkipIfNoLapack()) != torch._C.has_lapack
    assert skipped(common_utils.SkipIfNotRegistered()("no operator"))
    assert skipped(common_distributed.skipIfUnsupportMultiNPU(99))
    assert not skipped(common_distributed.skipIfUnsupportMultiNPU(1))


def test_times_are_kept(tmp_path):
    path = tmp_path / "times.json"
    times = common_utils.Baseline(str(path))
    assert times.get_baseline("a") is None
    times.set_baseline("a", 1.5)
    times.save_baseline()
    assert common_utils.Baseline(str(path)).get_baseline("a") == 1.5
    assert path.stat().st_mode & 0o777 == 0o600


def test_tests_for_each_dtype_and_format():
    seen = []

    @instantiate_tests
    class Cases:
        @Dtypes(torch.float32, torch.half)
        @Formats(0, 2)
        def test_both(self, device, dtype, npu_format):
            seen.append((device, dtype, npu_format))

        def test_plain(self):
            pass

    names = sorted(name for name in vars(Cases) if name.startswith("test_"))
    assert names == ["test_both_float16_0", "test_both_float16_2", "test_both_float32_0", "test_both_float32_2", "test_plain"]  # fmt: skip
    Cases().test_both_float16_2()
    assert seen == [("npu", torch.half, 2)]
    fed = feed_data(lambda self, a, b: (a, b), "named", 1, b=2)
    assert (fed.__name__, fed(None)) == ("named", (1, 2))
    for wrong in (Dtypes, Formats):
        with pytest.raises(RuntimeError, match="given"):
            wrong()
    with pytest.raises(RuntimeError, match="Unknown dtype"):
        Dtypes("float32")


def test_tests_for_each_operator():
    seen = []

    class Operator:
        name = "add"
        dtypesIfNPU = (torch.half, torch.float32)  # noqa: N815
        formats = (2,)

        def get_decorators(self, *_):
            return []

    @instantiate_ops_tests([Operator()])
    class Cases:
        def test_it(self, dtype, npu_format, op):
            seen.append((dtype, npu_format, op.name))

        def test_variant_consistency_eager(self, dtype, npu_format, op):
            seen.append(dtype)

    names = sorted(name for name in vars(Cases) if name.startswith("test_"))
    assert names == ["test_it_add_float16_2", "test_it_add_float32_2", "test_variant_consistency_eager_add_float32_2"]  # fmt: skip
    Cases().test_it_add_float16_2()
    assert seen == [(torch.half, 2, "add")]


GROUP = """
import sys, torch, torch.distributed
from torch_npu.testing.common_distributed import with_comms

class Case:
    world_size, rank, file_name = 1, 0, sys.argv[1]
    def destroy_pg(self):
        torch.distributed.destroy_process_group()
    @with_comms
    def test_it(self):
        x = torch.ones(2, device="npu")
        torch.distributed.all_reduce(x)
        print(torch.distributed.get_backend(), x.tolist(), torch.npu.initial_seed())

Case().test_it()
print(torch.distributed.is_initialized())
"""


def test_a_group_for_a_test(tmp_path):
    assert fresh.output(GROUP, str(tmp_path / "meet")).splitlines() == ["hccl [1.0, 1.0] 0", "False"]  # fmt: skip
    with pytest.raises(RuntimeError, match="99 ranks need 99 npu devices"):
        common_distributed.init_pg(world_size=99)
    with pytest.raises(RuntimeError, match="Backend mpi not supported"):
        common_distributed.init_pg("mpi")
    with pytest.raises(RuntimeError, match="function is None"):
        common_distributed.with_comms(None)
    assert common_distributed.TestSkip(3, "why") == (3, "why")


def test_samples_of_operators():
    median = list(common_methods_invocations.sample_inputs_median_custom(None, "npu", torch.float32, False))  # fmt: skip
    assert [s.input.shape for s in median[:2]] == [(2, 0), (0, 2)]
    assert len(median) > 4
    from torch.testing._internal.common_methods_invocations import op_db

    normal = next(op for op in op_db if op.name == "normal")
    samples = list(
        common_methods_invocations.sample_inputs_normal_tensor_second(
            normal, "npu", torch.float32, False
        )
    )
    assert len(samples) == 3


GENERIC = """
import torch_npu.testing
from torch.testing._internal.common_device_type import instantiate_device_type_tests, onlyCUDA
from torch.testing._internal.common_utils import TestCase

class TestIt(TestCase):
    def test_any(self, device):
        pass

    @onlyCUDA
    def test_accelerator(self, device):
        print(device)

instantiate_device_type_tests(TestIt, globals())
print(sorted(name for name in globals() if name.startswith("TestIt")))
case = TestItPRIVATEUSE1("test_accelerator_npu")
case.setUpClass()
case.test_accelerator_npu()
"""


def test_pytorchs_tests_run_on_npu():
    assert fresh.output(GENERIC).splitlines() == ["['TestItPRIVATEUSE1']", "npu:0"]
