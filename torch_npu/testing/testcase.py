"""``TestCase``: unittest's, with seeds, the test's device and comparisons of tensors. Importing it does not use the npu."""

import inspect
import os
import random
import re
import sys
import time
import unittest
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from numbers import Number
from unittest.util import strclass

import numpy as np
import torch

from torch_npu._core import environment
from torch_npu.testing._comparison import relative_problem, tensor_problem
from torch_npu.testing.common_utils import (
    PERF_TEST_ENABLE,
    PerfBaseline,
    is_iterable,
    iter_indices,
    set_npu_device,
)

try:
    from expecttest import TestCase as _Base
except ImportError:  # assertExpected of the classes below needs it
    from unittest import TestCase as _Base

IS_IN_CI = environment.text("IN_CI") == "1"
TEST_REPORT_PATH = environment.text("TEST_REPORT_PATH")
# Measured times of PERF_TEST_ENABLE: slower than this fails, faster than that is the new baseline.
_SLOWER, _FASTER = 1.2, 0.9


def run_tests() -> None:
    """Runs the caller's file by unittest; with ``IN_CI=1`` it writes JUnit's XML, which needs ``xmlrunner``."""
    if not IS_IN_CI:
        unittest.main(argv=sys.argv)
        return
    import xmlrunner

    name = inspect.getfile(sys._getframe(1)).removesuffix(".py").replace("/", ".")
    verbosity = 2 if {"-v", "--verbose"} & set(sys.argv) else 1
    report = os.path.join(TEST_REPORT_PATH, name)
    unittest.main(
        argv=sys.argv, testRunner=xmlrunner.XMLTestRunner(output=report, verbosity=verbosity)
    )


class TestCase(_Base):
    """Each test begins with the seed of the variable ``SEED``, by default 666; its device is ``self.npu_device``."""

    __test__ = False  # not a test itself
    maxDiff = None
    exact_dtype = False
    _precision = 1e-5

    def __init_subclass__(cls, **kwargs: object) -> None:
        """Derived classes are tests."""
        super().__init_subclass__(**kwargs)
        cls.__test__ = True

    @property
    def precision(self) -> float:
        """The greatest difference that :meth:`assertEqual` accepts by default."""
        return self._precision

    @precision.setter
    def precision(self, prec: float) -> None:
        self._precision = prec

    @classmethod
    def setUpClass(cls) -> None:
        """Sets the device."""
        cls.npu_device = set_npu_device()

    def setUp(self) -> None:
        """Sets the seeds."""
        seed = environment.integer("SEED")
        torch.manual_seed(seed)
        random.seed(seed)

    # ---- comparisons

    def assertRtolEqual(
        self,
        x: object,
        y: object,
        prec: float = 1e-4,
        prec16: float = 1e-3,
        auto_trans_dtype: bool = False,
        message: str | None = None,
    ) -> None:
        """Fails unless absolute or relative errors of (nearly) all elements are at most ``prec``, of halves ``prec16``."""
        if text := relative_problem(x, y, prec, prec16, converts=auto_trans_dtype):
            self.fail(text if message is None else f"{message}: {text}")

    def assertEqual(
        self,
        x: object,
        y: object,
        prec: float | str | None = None,
        message: str = "",
        allow_inf: bool = False,
        exact_dtype: bool | None = None,
    ) -> None:
        """Fails unless numbers and tensors differ by at most ``prec``, and other objects are equal."""
        if isinstance(prec, str) and not message:
            prec, message = None, prec
        limit = self.precision if prec is None else prec
        exact = self.exact_dtype if exact_dtype is None else exact_dtype
        self._compare(x, y, limit, message or None, allow_inf, exact)

    def _compare(
        self, x: object, y: object, prec: float, message: str | None, allow_inf: bool, exact: bool
    ) -> None:
        rest = (prec, message, allow_inf, exact)
        if isinstance(x, Number) or isinstance(y, Number):
            self._compare_numbers(x, y, prec, message, allow_inf)
        elif isinstance(x, np.bool_) or isinstance(y, np.bool_):
            super().assertEqual(bool(x), bool(y), message)
        elif isinstance(x, torch.Tensor) and isinstance(y, torch.Tensor):
            self._compare_tensors(x, y, *rest)
        elif isinstance(x, (str, bytes, set)) or isinstance(y, (str, bytes, set)):
            super().assertEqual(x, y, message)
        elif isinstance(x, Mapping) and isinstance(y, Mapping):
            super().assertEqual(x.keys(), y.keys(), message)
            for key in x:
                self._compare(x[key], y[key], *rest)
        elif is_iterable(x) and is_iterable(y):
            x, y = list(x), list(y)
            super().assertEqual(len(x), len(y), message)
            for pair in zip(x, y, strict=True):
                self._compare(*pair, *rest)
        else:
            super().assertEqual(x, y, message)

    def _compare_numbers(
        self, x: object, y: object, prec: float, message: str | None, allow_inf: bool
    ) -> None:
        x, y = (v.item() if isinstance(v, torch.Tensor) else v for v in (x, y))
        if not isinstance(x, Number) or not isinstance(y, Number):
            super().assertEqual(x, y, message)
        elif abs(x) == float("inf") or abs(y) == float("inf"):
            if not allow_inf:
                self.fail(f"Expected finite numeric values - x={x}, y={y}")
            super().assertEqual(x, y, message)
        else:
            self.assertLessEqual(abs(x - y), prec, message)  # type: ignore[operator]

    def _compare_tensors(
        self, x: torch.Tensor, y: torch.Tensor, prec: float, message: str | None, allow_inf: bool, exact: bool
    ) -> None:  # fmt: skip
        super().assertEqual(x.is_sparse, y.is_sparse, message)
        super().assertEqual(x.is_quantized, y.is_quantized, message)
        if x.is_sparse:
            x, y = self.safeCoalesce(x), self.safeCoalesce(y)
            parts = [(x._indices(), y._indices()), (x._values(), y._values())]
        elif x.is_quantized:
            super().assertEqual(x.qscheme(), y.qscheme(), message)
            super().assertEqual(x.dtype, y.dtype, message)
            parts = [(x.dequantize(), y.dequantize()), (x.int_repr(), y.int_repr())]
        else:
            parts = [(x, y)]
        for part in parts:
            if text := tensor_problem(*part, prec, exact_dtype=exact, allow_inf=allow_inf):
                self.fail(self._formatMessage(message, text))

    def assertAlmostEqual(
        self,
        x: object,
        y: object,
        places: int | None = None,
        msg: str | None = None,
        delta: float | None = None,
        allow_inf: bool | None = None,
    ) -> None:
        """:meth:`assertEqual` with ``delta``, or 10 to the power of minus ``places``, as the precision."""
        prec = 10**-places if places else delta
        self.assertEqual(x, y, prec, msg or "", bool(allow_inf))

    def assertNotEqual(
        self, x: object, y: object, prec: float | str | None = None, message: str = ""
    ) -> None:
        """Fails if tensors or numbers differ by less than ``prec`` everywhere, or other objects are equal."""
        if isinstance(prec, str) and not message:
            prec, message = None, prec
        limit = self.precision if prec is None else prec
        if isinstance(x, torch.Tensor) and isinstance(y, torch.Tensor):
            x, y = (t.to_dense() if t.is_sparse else t for t in (x, y))
            if x.shape == y.shape:
                self.assertGreater(x.numel(), 0)
            if not tensor_problem(x, y.type_as(x), limit, exact_dtype=False, allow_inf=True):
                self.fail(self._formatMessage(message or None, "the tensors are equal"))
        elif isinstance(x, Number) and isinstance(y, Number):
            self.assertGreaterEqual(abs(x - y), limit, message)  # type: ignore[operator]
        else:
            super().assertNotEqual(x, y, message or None)

    def assertTensorsSlowEqual(
        self, x: torch.Tensor, y: torch.Tensor, prec: float | None = None, message: str = ""
    ) -> None:
        """Compares sizes, dtypes and each element by itself."""
        self.assertEqual(x.size(), y.size())
        self.assertEqual(x.dtype, y.dtype)
        if x.dtype == torch.bool:
            self.assertEqual(x, y)
            return
        limit = self.precision if prec is None else prec
        y = y.type_as(x)
        for index in iter_indices(x):
            self.assertLessEqual(abs(x[index] - y[index]).item(), limit, message)

    def assertObjectIn(self, obj: object, iterable: Iterable) -> None:
        """Fails unless the object itself is in ``iterable``."""
        if not any(obj is element for element in iterable):
            raise AssertionError("object not found in iterable")

    # ---- sparse tensors

    def genSparseTensor(
        self,
        size: tuple[int, ...],
        sparse_dim: int,
        nnz: int,
        is_uncoalesced: bool,
        device: str = "cpu",
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """A random COO tensor with its indices and values; an uncoalesced one has each index twice."""
        if nnz and not all(size[:sparse_dim]):
            raise RuntimeError("invalid arguments")
        values = torch.randn(nnz, *size[sparse_dim:], device=device)
        bounds = torch.tensor(size[:sparse_dim], device=device).unsqueeze(1)
        indices = (torch.rand(sparse_dim, nnz, device=device) * bounds).long()
        if is_uncoalesced:
            values = torch.cat([values, torch.randn_like(values)])
            indices = torch.cat([indices, indices], 1)
        x = torch.sparse_coo_tensor(indices, values, torch.Size(size))
        x = x.detach().clone() if is_uncoalesced else x.coalesce()
        return x, x._indices().clone(), x._values().clone()

    def safeCoalesce(self, t: torch.Tensor) -> torch.Tensor:
        """``t.coalesce()``, after a comparison with the dense tensor."""
        coalesced = t.coalesce()
        self.assertTrue(coalesced.is_coalesced())
        self.assertEqual(coalesced.to_dense(), t.to_dense())
        return coalesced

    def safeToDense(self, t: torch.Tensor) -> torch.Tensor:
        """The dense tensor of :meth:`safeCoalesce`."""
        return self.safeCoalesce(t).to_dense()

    # ---- warnings, errors, texts

    def _warnings_of(self, call_fn: Callable[[], object]) -> list:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            call_fn()
        return caught

    def assertNotWarn(self, call_fn: Callable[[], object], msg: str = "") -> None:
        """Fails if the call warns."""
        self.assertFalse(self._warnings_of(call_fn), msg)

    def assertWarns(self, call_fn: Callable[[], object], msg: str = "") -> None:
        """Fails unless the call warns."""
        self.assertTrue(self._warnings_of(call_fn), msg)

    @contextmanager
    def maybeWarnsRegex(self, category: type[Warning], regex: str = "") -> Iterator[None]:
        """A context that may warn of this category with a text that begins with ``regex``, and of nothing else."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            warnings.filterwarnings("ignore", message=regex, category=category)
            yield
        if caught:
            texts = [f"{w.category.__name__}: {w.message} ({w.filename}:{w.lineno})" for w in caught]  # fmt: skip
            self.fail("Caught unexpected warnings:\n" + "\n".join(texts))

    def assertExpectedRaises(
        self, exc_type: type[Exception], call_fn: Callable, *args: object, **kwargs: object
    ) -> None:
        """Compares an exception's text with the stored one of the test (``assertExpected``)."""
        subname = kwargs.pop("subname", None)
        try:
            call_fn(*args, **kwargs)
        except exc_type as error:
            self.assertExpected(str(error), subname)
            return
        self.fail(msg="Did not raise when expected to")

    def assertExpectedStripMangled(self, s: str, subname: str | None = None) -> None:
        """Compares a text without TorchScript's mangled names with the stored one."""
        self.assertExpected(re.sub(r"__torch__[^ ]+", "", s), subname)

    # ---- times

    def run(self, result: unittest.TestResult | None = None) -> unittest.TestResult | None:
        """Runs the test; with ``PERF_TEST_ENABLE=1`` once more, and compares the time with the stored one."""
        found = super().run(result)
        if PERF_TEST_ENABLE:
            self._measure(result)
        return found

    def _measure(self, result: unittest.TestResult | None) -> None:
        measured = unittest.TestResult()
        start = time.perf_counter()
        super().run(measured)
        seconds = time.perf_counter() - start
        if not measured.wasSuccessful():
            return
        name = f"{strclass(type(self))}.{self._testMethodName}"
        baseline = PerfBaseline.get_baseline(name)
        if baseline is not None and seconds > baseline * _SLOWER and result is not None:
            text = f"{seconds} s, {baseline} s before"
            result.addFailure(self, (self.failureException, self.failureException(text), None))
        elif baseline is None or seconds < baseline * _FASTER:
            PerfBaseline.set_baseline(name, seconds)
