"""oneDNN's OpenMP calls are bound to softnpu's workers."""

import sys
from pathlib import Path

import lief
import pytest

from softnpu.workers import bind_onednn
from softnpu.workers.bind_onednn import FUNCTIONS, LIBGOMP, PREFIX, bind

LIBRARIES = Path(__file__).resolve().parents[2] / "build" / "python" / "torch_npu" / "lib"
PACKAGED = Path(sys.prefix) / "lib" / "libdnnl.so.3"


def test_onednn_calls_the_workers_instead_of_libgomp():
    onednn = lief.ELF.parse(LIBRARIES / "libdnnl.so.3")
    workers = lief.ELF.parse(LIBRARIES / "libsoftnpu_workers.so")
    assert LIBGOMP not in onednn.libraries
    assert "libsoftnpu_workers.so" in onednn.libraries
    asked = {s.name for s in onednn.imported_symbols if s.name.startswith(PREFIX)}
    assert not {s.name for s in onednn.imported_symbols} & FUNCTIONS
    assert asked == {PREFIX + name for name in FUNCTIONS}
    assert asked <= {s.name for s in workers.exported_symbols}


def test_a_library_without_libgomp_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"libhwy.*needs libgomp\.so\.1"):
        bind(LIBRARIES / "libhwy.so.1", tmp_path / "bound.so", "libworkers.so")
    assert not list(tmp_path.iterdir())


def test_functions_that_the_workers_lack_are_named(tmp_path, monkeypatch):
    monkeypatch.setattr(bind_onednn, "FUNCTIONS", FUNCTIONS - {"GOMP_barrier"})
    with pytest.raises(ValueError, match=r"calls GOMP_barrier; openmp\.cpp has to have them"):
        bind(PACKAGED, tmp_path / "bound.so", "libworkers.so")
    assert not list(tmp_path.iterdir())
