"""Tiling structures of which the host passes too few bytes."""

import os
import struct
import subprocess
from pathlib import Path

import pytest
import torch

from torch_npu.ascendc.rewrite import GLOBAL, rewrite
from torch_npu.utils.cpp_extension import load_ascendc

KERNEL = """
#include "kernel_operator.h"
namespace tiling { struct Scale { uint32_t count; float factor; }; }
namespace {
struct Pair { uint64_t first, second; };
using namespace AscendC;
__global__ __aicore__ void named(GM_ADDR x, GM_ADDR pair, GM_ADDR scale) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
  GET_TILING_DATA_WITH_STRUCT(Pair, pair_data, pair);
  if (GetBlockIdx() != 0) return;
  GET_TILING_DATA_WITH_STRUCT(const tiling::Scale, scale_data, scale);
  ((__gm__ float*)x)[0] = pair_data.second * scale_data.factor;
}
}
"""
# Types that are known in the body alone, or are read by some launches: these compile, and are no part of the entry.
OTHERS = """
#include "kernel_operator.h"
namespace host { struct Big { uint64_t values[64]; }; }
__aicore__ inline void read(GM_ADDR x, GM_ADDR tiling) {
  GET_TILING_DATA_WITH_STRUCT(host::Big, big, tiling);
  ((__gm__ float*)x)[0] = big.values[0];
}
extern "C" {
__global__ __aicore__ void local(GM_ADDR x, GM_ADDR tiling) {
  struct Own { uint64_t values[64]; };
  GET_TILING_DATA_WITH_STRUCT(Own, own, tiling);
  ((__gm__ float*)x)[0] = own.values[0];
}
__global__ __aicore__ void imported(GM_ADDR x, GM_ADDR tiling) {
  using namespace host;
  GET_TILING_DATA_WITH_STRUCT(Big, big, tiling);
  ((__gm__ float*)x)[0] = big.values[0];
}
__global__ __aicore__ void some(GM_ADDR x, GM_ADDR tiling) {
  if (TILING_KEY_IS(1)) { GET_TILING_DATA_WITH_STRUCT(host::Big, big, tiling); ((__gm__ float*)x)[0] = big.values[0]; }
}
__global__ __aicore__ void helped(GM_ADDR x, GM_ADDR tiling) { read(x, tiling); }
}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("tiling_sizes")


def load(folder: Path, text: str, kernel: str, launch):
    source = folder / f"{kernel}.asc"
    source.write_text(text)
    return load_ascendc(
        "tiling_sizes",
        source,
        f"{kernel}_of(Tensor(a!) x) -> ()",
        launch=launch,
        kernel=kernel,
        extra_cflags="-O0 -Wall -Werror",
        build_directory=folder,
    )


@pytest.mark.parametrize("as_tensor", [False, True])
def test_too_few_bytes_are_an_error_of_the_call(as_tensor, folder):
    pair, scale = struct.pack("QQ", 3, 4), struct.pack("If", 1, 2.5)

    def value(data):
        return torch.frombuffer(bytearray(data), dtype=torch.uint8).npu() if as_tensor else data

    given = {"pair": pair, "scale": scale}
    named = load(
        folder,
        KERNEL,
        "named",
        lambda x: (1, (x, value(given["pair"]), value(given["scale"]))),
    )
    x = torch.zeros(8).npu()
    named(x)
    assert x[0].item() == 4 * 2.5
    given["scale"] += bytes(8)  # more than the structure
    named(x)
    given["scale"] = scale[:4]
    with pytest.raises(
        ValueError,
        match=r"kernel named reads its tiling structure tiling::Scale, which has 8 bytes, from argument 2, and"
        r" launch passes 4 bytes there",
    ):
        named(x)
    given |= {"pair": pair[:15], "scale": scale}
    with pytest.raises(ValueError, match=r"Pair, which has 16 bytes.*passes 15 bytes"):
        named(x)


def test_the_bytes_of_a_view_are_those_to_the_end_of_its_memory(folder):
    parts = torch.frombuffer(bytearray(struct.pack("QQIf", 3, 4, 1, 2.5)), dtype=torch.uint8).npu()
    at = [0, 16]
    named = load(folder, KERNEL, "named", lambda x: (1, (x, parts[at[0] :][:1], parts[at[1] :])))
    x = torch.zeros(8).npu()
    named(x)
    assert x[0].item() == 4 * 2.5
    at[:] = [0, 20]
    with pytest.raises(ValueError, match=r"Scale, which has 8 bytes.*passes 4 bytes"):
        named(x)


@pytest.mark.parametrize("kernel", ["local", "imported", "some", "helped"])
def test_types_that_are_not_known_outside_compile(kernel, folder):
    x = torch.zeros(8).npu()
    load(folder, OTHERS, kernel, lambda x: (1, (x, struct.pack("64Q", 7, *range(63)))))(x)
    assert x[0].item() == (0 if kernel == "some" else 7)


@pytest.mark.parametrize(
    ("end", "types"),
    [
        ("if (::softnpu::kernel::tiling_key_is(1)) { return; }", ["A"]),
        ("if (count < 3) return;", ["A"]),
        ("for (;;) goto done;", ["A"]),
        ("if (GetBlockIdx() >= count) return;", ["A", "B"]),
        ("if (AscendC::GetBlockIdx() != 0) {\n return; }", ["A", "B"]),
        ('PRINTF("return"); int returned = 0;', ["A", "B"]),
    ],
)
def test_reads_behind_an_early_end_are_not_those_of_every_launch(end, types):
    read = "T t = ::softnpu::kernel::tiling_of<{}>({});"
    body = f"{read.format('A', 'a')} {end} {read.format('B', 'b')}"
    text = f"{GLOBAL} void k(int a, int b, int count) {{ {body} }}"
    (kernel,) = rewrite(text, "k.asc").kernels
    assert [t.type for t in kernel.tilings] == types


def test_only_what_every_launch_reads_is_found():
    read = "T t = ::softnpu::kernel::tiling_of<{}>({});"
    body = (
        "Lost t = ::softnpu::kernel::tiling_of<Lost>(other); { " + read.format("N", "c") + " }"
        " A data = ::softnpu::kernel::tiling_of<A>(\n a); M<3> m = ::softnpu::kernel::tiling_of<M<3>>(b);"
    )
    text = f"namespace n {{ {GLOBAL} void k(int a, int b, int c) {{ {body} }} }}"
    (kernel,) = rewrite(text, "k.asc").kernels
    assert [(t.parameter, t.type) for t in kernel.tilings] == [(0, "A")]
    assert kernel.tilings[0].size.startswith("n::")


READER = """
#include "kernel_operator.h"
struct Tiling { uint64_t values[100]; };
extern "C" __global__ __aicore__ void show(GM_ADDR tiling) {
  GET_TILING_DATA_WITH_STRUCT(Tiling, data, tiling);  // the read
  AscendC::PRINTF("%d\\n", int(data.values[0]));
}
"""
PROGRAM = """
#include <cstdio>
#include "acl/acl.h"
#include "aclrtlaunch_show.h"
#include "tikicpulib.h"
extern "C" __global__ __aicore__ void show(GM_ADDR tiling);
int main(int count, char** values) {
  (void)values;
  aclInit(nullptr);
  aclrtSetDevice(0);
  void* memory = nullptr;
  aclrtMalloc(&memory, 512, ACL_MEM_MALLOC_HUGE_FIRST);
  if (count == 1) show<<<1, nullptr, nullptr>>>((uint8_t*)memory);
  if (count == 2) ACLRT_LAUNCH_KERNEL(show)(1, nullptr, memory);
  if (count == 3) ICPU_RUN_KF(show, 1, (uint8_t*)AscendC::GmAlloc(512));
  std::printf("%d\\n", aclrtSynchronizeStream(nullptr));
}
"""


@pytest.fixture(scope="module")
def program(driver, tmp_path_factory):
    folder = tmp_path_factory.mktemp("program")
    (folder / "main.cpp").write_text(PROGRAM)
    (folder / "show.cpp").write_text(READER)
    done = driver(folder / "main.cpp", folder / "show.cpp", "-o", folder / "main")
    assert done.returncode == 0, done.stderr
    return folder / "main"


@pytest.mark.parametrize("way", ["<<<>>>", "aclrtlaunch", "ICPU_RUN_KF"])
def test_checked_mode_reports_the_read(way, program):
    arguments = ["x"] * ["<<<>>>", "aclrtlaunch", "ICPU_RUN_KF"].index(way)
    ran = subprocess.run(
        [program, *arguments],
        env=os.environ | {"SOFTNPU_KERNEL_CHECK": "1"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    line = READER.splitlines().index(
        "  GET_TILING_DATA_WITH_STRUCT(Tiling, data, tiling);  // the read"
    )
    assert (
        "memcheck: GET_TILING_DATA reads 288 bytes behind the end of the allocation" in ran.stderr
    )
    assert f"GET_TILING_DATA on pipe S, show.cpp:{line + 1}" in ran.stderr
    assert "reads: 800 bytes" in ran.stderr
