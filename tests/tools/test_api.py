"""./dev api without a device: the tables, the parser of the official package, signatures, broken names."""

import sys
import types

import pytest
from dev import api
from dev.api import official, table
from dev.api.breaking import break_name, identity
from dev.api.marked import sample
from dev.api.signatures import difference, parse
from dev.run import DevError


@pytest.fixture
def wheel(tmp_path):
    """A package with the forms that the rules name."""
    package = tmp_path / "torch_npu"
    files = {
        "__init__.py": "",
        "npu/__init__.py": "__all__ = ['Stream', 'config', 'sum']\n"
        "from typing import Optional\nfrom .streams import Stream\nfrom ._maths import *\n"
        "config = object()\n",
        "npu/streams.py": "class Stream(Base):\n"
        "    limit = 3\n    hint: int\n    def __new__(cls, device: int = None, **kwargs): ...\n"
        "    def wait(self, event): ...\n    def _hidden(self): ...\n"
        "    @property\n    def id(self): ...\n",
        "npu/_maths.py": "def sum(a, /, b: float = 0.5, *c, d='x', **e) -> int: ...\n",
        "optim/__init__.py": "from .sgd import _SGD as SGD\n__all__ = ['SGD']\n",
        "optim/sgd.py": "class _SGD: ...\ndef helper(): ...\ndef _private(): ...\n",
    }
    for name, text in files.items():
        path = package / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return official.Wheel(package)


def test_official_names_follow_the_rules(wheel):
    found = {row.name: (row.kind, row.signature) for row in official.rows(wheel)}
    assert found == {
        "torch.npu.Stream": ("class", "(cls, device=None, **kwargs)"),
        "torch.npu.Stream.__new__": ("method", "(cls, device=None, **kwargs)"),
        "torch.npu.Stream.id": ("property", ""),
        "torch.npu.Stream.limit": ("attribute", ""),
        "torch.npu.Stream.wait": ("method", "(self, event)"),
        "torch.npu.config": ("data", ""),
        "torch.npu.sum": ("function", "(a, /, b=0.5, *c, d='x', **e)"),
        "torch.npu.streams.Stream": ("class", "(cls, device=None, **kwargs)"),
        "torch.npu.streams.Stream.__new__": ("method", "(cls, device=None, **kwargs)"),
        "torch.npu.streams.Stream.id": ("property", ""),
        "torch.npu.streams.Stream.limit": ("attribute", ""),
        "torch.npu.streams.Stream.wait": ("method", "(self, event)"),
        "torch_npu.optim.SGD": ("class", ""),
        "torch_npu.optim.sgd.helper": ("function", "()"),
    }


def test_another_official_package_can_be_counted(wheel, tmp_path, monkeypatch):
    monkeypatch.setattr(api, "BUILD", tmp_path)
    monkeypatch.setenv(table.OTHER_NAMES, "")  # so that it is as before after the test
    api.take_names_of(wheel.folder.parent)
    table.names.cache_clear()
    try:
        known = {row.name: row.signature for row in table.names()}
    finally:
        table.names.cache_clear()
    assert known["torch.npu.sum"] == "(a, /, b=0.5, *c, d='x', **e)"
    assert "torch_npu.optim.sgd.helper" in known
    assert "torch.npu.synchronize" not in known


def test_a_folder_without_the_official_package_is_refused(tmp_path):
    with pytest.raises(DevError, match="has no package torch_npu: unpack an official wheel there"):
        api.take_names_of(tmp_path)


def test_every_reason_applies_to_a_name_and_every_name_has_a_group():
    known = [row.name for row in table.names()]
    used = {row.pattern for name in known if (row := table.reason(name))}
    assert used == {row.pattern for row in table.reasons()}
    assert {row.status for row in table.reasons()} <= {table.LATER, table.HARDWARE}
    assert {row.group for row in table.names()} == set(table.GROUPS)


@pytest.mark.parametrize(
    ("official", "own", "expected"),
    [
        ("(a, b=1)", "(a, b=1, c=2)", ""),
        ("(a, b=1)", "(a, b=1, *, c=2)", ""),
        ("(a, b=1)", "(*args, **kwargs)", ""),
        ("(a, *, b=1)", "(a, b=1)", ""),
        ("(a, b=LIMIT)", "(a, b=3)", ""),
        ("(a, b=1)", "(b, a=1)", "parameter 0 is 'b', not 'a'"),
        ("(a, b=1)", "(a, b=2)", "another default of 'b'"),
        ("(a, b=1)", "(a, b)", "another default of 'b'"),
        ("(a, b=None)", "(a, b=0)", "another default of 'b'"),
        ("(a, b=1)", "(a)", "no parameter 'b'"),
        ("(a, *, b=1)", "(a)", "no keyword 'b'"),
        ("(a)", "(a, b)", "needs 'b'"),
        ("(a, **rest)", "(a)", "no **rest"),
        ("(a, *rest)", "(a)", "no *rest"),
    ],
)
def test_signatures_are_compared(official, own, expected):
    assert difference(parse(official), parse(own), protocol=False) == expected


@pytest.fixture
def module(monkeypatch):
    created = types.ModuleType("torch_npu.made")

    class Maker:
        limit = 3

        def __init__(self):
            self.number = 1

        def method(self):
            return 1

        @property
        def prop(self):
            return 1

        @staticmethod
        def static():
            return 1

    def closure(number):
        def inner(*, a=1):
            return number + a

        return inner

    created.Maker, created.function, created.builtin, created.data = Maker, closure(1), sum, 5
    created.alias = created.function
    package = sys.modules.get("torch_npu") or types.ModuleType("torch_npu")
    monkeypatch.setitem(sys.modules, "torch_npu", package)
    monkeypatch.setitem(sys.modules, "torch_npu.made", created)
    return created


@pytest.mark.parametrize(
    ("name", "broken"),
    [
        ("function", lambda m: m.alias()),
        ("builtin", lambda m: m.builtin([1])),
        ("data", lambda m: m.data),
        ("Maker.method", lambda m: m.Maker().method()),
        ("Maker.prop", lambda m: m.Maker().prop),
        ("Maker.static", lambda m: m.Maker().static()),
        ("Maker.limit", lambda m: m.Maker.limit),
        ("Maker", lambda m: m.Maker()),
    ],
)
def test_a_broken_name_returns_none(module, name, broken):
    assert broken(module) is not None
    break_name(f"torch_npu.made.{name}")
    assert broken(module) is None


def test_aliases_have_one_identity(module):
    assert identity("torch_npu.made.alias") == identity("torch_npu.made.function")
    assert identity("torch_npu.made.Maker.prop") != identity("torch_npu.made.Maker.static")


def test_consecutive_seeds_go_through_all_names():
    known = [f"name{number}" for number in range(10)]
    assert {name for seed in range(4) for name in sample(known, 3, seed)} == set(known)
    assert sample(known, 3, 1) == sample(known, 3, 1)
