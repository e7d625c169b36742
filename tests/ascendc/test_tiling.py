"""Tiling structures: the host's class and the kernel's struct have the same bytes."""

import subprocess

import pytest

from torch_npu.ascendc.command_line import main
from torch_npu.ascendc.errors import AscendcError
from torch_npu.ascendc.tiling import structs

HOST = """
#include "register/tilingdata_base.h"
#include "tiling/tiling_api.h"
namespace optiling {
BEGIN_TILING_DATA_DEF(InnerData)
  TILING_DATA_FIELD_DEF(uint8_t, first)
  TILING_DATA_FIELD_DEF(uint64_t, second)
END_TILING_DATA_DEF;
BEGIN_TILING_DATA_DEF(MyTilingData)
  TILING_DATA_FIELD_DEF(uint8_t, kind);
  // TILING_DATA_FIELD_DEF(uint8_t, none);
  TILING_DATA_FIELD_DEF(uint32_t, count);
  TILING_DATA_FIELD_DEF_ARR(int16_t, 3, parts);
  TILING_DATA_FIELD_DEF_STRUCT(InnerData, inner)
  TILING_DATA_FIELD_DEF_STRUCT(TCubeTiling, cube);
  TILING_DATA_FIELD_DEF(float, factor);
END_TILING_DATA_DEF
REGISTER_TILING_DATA_CLASS(My, MyTilingData)
}
"""

KERNEL = """
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void show(GM_ADDR out, GM_ADDR tiling) {
  GET_TILING_DATA(data, tiling);
  float* to = (float*)out;
  to[0] = data.kind;
  to[1] = data.count;
  to[2] = data.parts[2];
  to[3] = data.inner.second;
  to[4] = data.factor;
  to[5] = sizeof(data);
  to[6] = data.cube.Kb + data.cube.baseN;
}
"""

MAIN = """
#include <cstdio>
#include "tikicpulib.h"
#include "host_tiling.h"
extern "C" __global__ __aicore__ void show(GM_ADDR out, GM_ADDR tiling);
int main() {
  optiling::MyTilingData tiling;
  tiling.set_kind(7);
  tiling.set_count(1000);
  int16_t parts[] = {1, 2, -3};
  tiling.set_parts(parts);
  tiling.inner.set_second(4);
  tiling.set_factor(2.5f);
  matmul_tiling::MatmulApiTiling cut(*platform_ascendc::PlatformAscendCManager::GetInstance());
  cut.SetShape(100, 48, 3000);
  if (cut.GetTiling(tiling.cube) == -1) return 1;
  auto* out = (uint8_t*)AscendC::GmAlloc(64);
  auto* data = (uint8_t*)tik2::GmAlloc(tiling.GetDataSize());
  tiling.SaveToBuffer(data, tiling.GetDataSize() - 1);  // too small: nothing is written
  std::printf("%d ", data[0]);
  tiling.SaveToBuffer(data, tiling.GetDataSize());
  ICPU_RUN_KF(show, 1, out, data);
  auto* f = (float*)out;
  std::printf("%g %g %g %g %g %g %d %u\\n", f[0], f[1], f[2], f[3], f[4], f[6], f[5] == tiling.GetDataSize(), tiling.get_count());
  AscendC::GmFree(out);
  tik2::GmFree((void*)data);
}
"""


def test_the_kernel_reads_what_the_host_wrote(driver, tmp_path):
    for name, text in (("host_tiling.h", HOST), ("kernel.cpp", KERNEL), ("main.cpp", MAIN)):
        (tmp_path / name).write_text(text)
    arguments = (tmp_path / "main.cpp", tmp_path / "kernel.cpp", "-O0", "-o", tmp_path / "main")
    done = driver(*arguments, f"--tiling={tmp_path / 'host_tiling.h'}", f"-I{tmp_path}")
    assert (done.returncode, done.stderr) == (0, "")
    ran = subprocess.run([tmp_path / "main"], capture_output=True, text=True, timeout=60)
    assert ran.stdout == "0 7 1000 -3 4 2.5 3048 1 1000\n", ran.stderr


def test_the_structs_have_the_lines_of_the_header():
    header = structs(HOST, "host.h")
    text = header.text
    assert '#line 10 "host.h"\n  uint8_t kind;' in text
    assert '#line 12 "host.h"\n  uint32_t count;' in text
    assert "  int16_t parts[3];" in text
    assert "none" not in text
    assert header.default == "MyTilingData"
    assert header.operators == {"My": "MyTilingData"}


def test_without_a_registration_the_last_struct_counts():
    header = structs(HOST.replace("REGISTER_TILING_DATA_CLASS(My, MyTilingData)", ""), "host.h")
    assert header.default == "MyTilingData"
    assert header.operators == {}


@pytest.mark.parametrize(
    ("source", "fields"),
    [("mean.cpp", 1), ("mean_div.cpp", 2), ("MeanDiv.asc", 2), ("other.cpp", 1)],
)
def test_the_struct_is_that_of_the_operator_named_like_the_source(source, fields, tmp_path):
    struct = "BEGIN_TILING_DATA_DEF({0}Data)\n{1}END_TILING_DATA_DEF;\nREGISTER_TILING_DATA_CLASS({0}, {0}Data)\n"
    field = "TILING_DATA_FIELD_DEF(int32_t, f{});\n"
    (tmp_path / "tiling.h").write_text(
        struct.format("Mean", field.format(0))
        + struct.format("MeanDiv", field.format(0) + field.format(1))
    )
    (tmp_path / source).write_text(
        '#include "kernel_operator.h"\nextern "C" __global__ __aicore__ void k(GM_ADDR x, GM_ADDR t) {'
        f"GET_TILING_DATA(data, t); static_assert(sizeof(data) == {fields} * sizeof(int32_t)); (void)x; }}"
    )
    library = str(tmp_path / "libk.so")
    assert main([str(tmp_path / source), f"--tiling={tmp_path / 'tiling.h'}", "-o", library]) == 0


BEGIN, END = "BEGIN_TILING_DATA_DEF(A)\n", "\nEND_TILING_DATA_DEF;"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("int a;", "h.h has no BEGIN_TILING_DATA_DEF"),
        (BEGIN, "h.h: A has no END_TILING_DATA_DEF"),
        (BEGIN + BEGIN, "h.h:2: A has no END_TILING_DATA_DEF yet"),
        (END, "h.h:2: END_TILING_DATA_DEF without"),
        ("TILING_DATA_FIELD_DEF(int, a)", "h.h:1: TILING_DATA_FIELD_DEF outside"),
        (
            BEGIN + "TILING_DATA_FIELD_DEF(int)" + END,
            "h.h:2: TILING_DATA_FIELD_DEF takes 2 arguments",
        ),
        (
            BEGIN + "TILING_DATA_FIELD_DEF(Other, a)" + END,
            "h.h:2: a tiling field is a number, not a Other",
        ),
        (
            BEGIN + "TILING_DATA_FIELD_DEF_STRUCT(SortTiling, a)" + END,
            "h.h:2: no structure SortTiling",
        ),
    ],
)
def test_errors_name_their_line(text, sentence):
    with pytest.raises(AscendcError) as error:
        structs(text, "h.h")
    assert str(error.value).startswith(sentence)
