"""Tests for each of several dtypes, formats or operators."""

import functools
import inspect
import itertools
from collections.abc import Callable, Iterable

import torch

Test = Callable[..., object]


class Dtypes:
    """Gives a test the dtypes for which :func:`instantiate_tests` repeats it."""

    def __init__(self, *args: torch.dtype) -> None:
        """``args``: at least one dtype."""
        if not args:
            raise RuntimeError("No dtypes given")
        if not all(isinstance(arg, torch.dtype) for arg in args):
            raise RuntimeError(f"Unknown dtype in {args}")
        self.args = args

    def __call__(self, fn: Test) -> Test:
        """``fn`` with the attribute ``dtypes``."""
        fn.dtypes = self.args  # type: ignore[attr-defined]
        return fn


class Formats:
    """The same for formats of npu tensors."""

    def __init__(self, *args: int) -> None:
        """``args``: at least one format."""
        if not args:
            raise RuntimeError("No formats given")
        self.args = args

    def __call__(self, fn: Test) -> Test:
        """``fn`` with the attribute ``formats``."""
        fn.formats = self.args  # type: ignore[attr-defined]
        return fn


def feed_data(func: Test, new_name: str, *args: object, **kwargs: object) -> Test:
    """A test of the name ``new_name`` that calls ``func`` with these arguments."""

    @functools.wraps(func)
    def test(self: object) -> object:
        return func(self, *args, **kwargs)

    test.__name__ = new_name
    return test


def _suffix(key: str, value: object) -> str:
    return "_" + str(value).removeprefix("torch.") if key == "dtype" else f"_{value}"


def _parameter(key: str, parameters: list[str]) -> str:
    """The one parameter whose name contains ``key``."""
    found = [name for name in parameters if key in name]
    if len(found) > 1:
        raise RuntimeError(f"Multiple matches for {key}")
    return found[0]


def instantiate_tests(arg: type | None = None, **kwargs: object) -> type:
    """Replaces each test of a class that has dtypes or formats by one test for each combination.

    A parameter ``device`` gets ``"npu"``; those with "dtype" and "format" in their names get the combination.
    """
    assert arg is not None, "instantiate_tests decorates a class"
    for name, function in list(vars(arg).items()):
        given = {"dtype": getattr(function, "dtypes", None), "format": getattr(function, "formats", None)}  # fmt: skip
        choices = {key: values for key, values in given.items() if values is not None}
        if not choices:
            continue
        parameters = inspect.getfullargspec(function).args
        for values in itertools.product(*choices.values()):
            arguments = {"device": "npu"} if "device" in parameters else {}
            test_name = name
            for key, value in zip(choices, values, strict=True):
                test_name += _suffix(key, value)
                arguments[_parameter(key, parameters)] = value
            setattr(arg, test_name, feed_data(function, test_name, **arguments))
        delattr(arg, name)
    return arg


def gen_op_input(testcase: str, func: Test, op_info: object) -> dict[str, Iterable]:
    """The dtypes and formats of a test of an operator: the test's own, else the operator's.

    ``test_variant_consistency_eager`` takes one dtype: float32 where the operator has it.
    """
    dtypes = op_info.dtypesIfNPU  # type: ignore[attr-defined]
    chosen = getattr(func, "dtypes", dtypes)
    if "test_variant_consistency_eager" in testcase:
        chosen = {torch.float32} if torch.float32 in dtypes else {list(dtypes)[-1]}
    formats = getattr(func, "formats", None) or op_info.formats  # type: ignore[attr-defined]
    return {"dtype": chosen, "npu_format": formats}


def gen_ops_testcase(
    cls: type, func: Test, name: str, keys: Iterable[str], value: tuple, op_info: object
) -> None:
    """Adds the test ``func`` of one operator for one combination to ``cls``, with the operator's decorators."""
    arguments = dict(zip(keys, value, strict=True))
    test_name = f"{func.__name__}_{name}"
    test_name += "".join(_suffix(key, chosen) for key, chosen in arguments.items())
    test = functools.partialmethod(func, **arguments, op=op_info)
    setattr(cls, test_name, test)
    for decorate in op_info.get_decorators(cls.__name__, func.__name__, "cpu", value[0], {}):  # type: ignore[attr-defined]
        setattr(cls, test_name, decorate(test))


def instantiate_ops_tests(op_db: Iterable) -> Callable[[type], type]:
    """A class decorator that replaces each test by one for each operator, dtype and format."""
    operators = list(op_db)

    def decorate(cls: type) -> type:
        for testcase in [name for name in dir(cls) if name.startswith("test_")]:
            function = getattr(cls, testcase)
            for op_info in operators:
                data = gen_op_input(testcase, function, op_info)
                for value in itertools.product(*data.values()):
                    gen_ops_testcase(cls, function, op_info.name, data.keys(), value, op_info)
            delattr(cls, testcase)
        return cls

    return decorate
