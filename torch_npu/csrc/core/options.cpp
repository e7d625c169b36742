#include "core/options.h"

#include <c10/util/Exception.h>

#include <atomic>

namespace torch_npu {
namespace {

constexpr int64_t kLast = 4;

std::atomic<int8_t> cube_math{0};
std::atomic<bool> conv_less{false};
std::atomic<bool> jit{false};
std::atomic<bool> internal_format{false};

}  // namespace

int8_t cube_math_type() { return cube_math.load(std::memory_order_relaxed); }

void set_cube_math_type(int64_t type) {
  TORCH_CHECK_VALUE(type >= 0 && type <= kLast, "cube_math_type ", type, " does not exist: it is 0 to ", kLast);
  cube_math = static_cast<int8_t>(type);
}

int8_t conv_cube_math_type() { return conv_less.load(std::memory_order_relaxed) ? 1 : 0; }
void set_conv_allows_less(bool on) { conv_less = on; }

bool jit_compile() { return jit.load(std::memory_order_relaxed); }
void set_jit_compile(bool on) { jit = on; }

bool allow_internal_format() { return internal_format.load(std::memory_order_relaxed); }
void set_allow_internal_format(bool on) { internal_format = on; }

}  // namespace torch_npu
