// Mathematical functions of whole tensors: in double, in pieces of 64 elements, rounded once.

#include "softnpu_kernel/math.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "ascendc/instructions/vector/overlap.h"
#include "simd/math/functions.h"
#include "simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ascendc/instructions/vector/math.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace softnpu::kernel {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

constexpr size_t kChunk = 64;

using Doubles = hn::ScalableTag<double>;
using Function = MathInstruction::Function;
// The function of each number of a piece, in place; `y` is the function's own number.
using BlockFunction = void (*)(double* x, double y);

struct Sign {
  static HWY_INLINE auto of(auto x) {
    const auto zero = hn::Zero(Doubles());
    return hn::IfThenElseZero(hn::Or(x > zero, x < zero), hn::CopySign(hn::Set(Doubles(), 1), x));
  }
};
struct Ceil {
  static HWY_INLINE auto of(auto x) { return hn::Ceil(x); }
};
struct Floor {
  static HWY_INLINE auto of(auto x) { return hn::Floor(x); }
};
struct Round {
  static HWY_INLINE auto of(auto x) { return hn::Round(x); }
};
struct Trunc {
  static HWY_INLINE auto of(auto x) { return hn::Trunc(x); }
};

template <typename F>
void by_vectors(double* x, double) {
  const size_t lanes = hn::Lanes(Doubles());
  for (size_t i = 0; i < kChunk; i += lanes) hn::StoreU(F::of(hn::LoadU(Doubles(), x + i)), Doubles(), x + i);
}

// The operators' function of float64.
template <MathFunction function>
void by_operator(double* x, double) {
  static const MathKernel kernel = math_kernel(function, FloatType::kF64);
  const void* in = x;
  kernel(x, &in, kChunk, nullptr);
}

void power_block(double* x, double y) {
  for (size_t i = 0; i < kChunk; ++i) x[i] = std::pow(x[i], y);
}
// NaN stays.
void clamp_max_block(double* x, double y) {
  for (size_t i = 0; i < kChunk; ++i) x[i] = x[i] > y ? y : x[i];
}
void clamp_min_block(double* x, double y) {
  for (size_t i = 0; i < kChunk; ++i) x[i] = x[i] < y ? y : x[i];
}

BlockFunction block_function_for(Function function) {
  switch (function) {
    case Function::kSin: return &by_operator<MathFunction::kSin>;
    case Function::kCos: return &by_operator<MathFunction::kCos>;
    case Function::kTan: return &by_operator<MathFunction::kTan>;
    case Function::kAtan: return &by_operator<MathFunction::kAtan>;
    case Function::kLog: return &by_operator<MathFunction::kLog>;
    case Function::kSign: return &by_vectors<Sign>;
    case Function::kCeil: return &by_vectors<Ceil>;
    case Function::kFloor: return &by_vectors<Floor>;
    case Function::kRound: return &by_vectors<Round>;
    case Function::kTrunc: return &by_vectors<Trunc>;
    case Function::kPower: return &power_block;
    case Function::kClampMax: return &clamp_max_block;
    case Function::kClampMin: return &clamp_min_block;
    case Function::kFmod: break;
  }
  return nullptr;
}

// `count` numbers from element `first` on; ones behind them.
template <typename T>
void load(const Memory& memory, uint64_t first, size_t count, double* to) {
  T raw[kChunk];
  std::memcpy(raw, static_cast<const T*>(memory.address) + first, count * sizeof(T));
  for (size_t i = 0; i < count; ++i) to[i] = static_cast<double>(static_cast<float>(raw[i]));
  std::fill(to + count, to + kChunk, 1.0);
}

template <typename T>
void map_all(const MathInstruction& math) {
  const BlockFunction chunk = block_function_for(math.function);
  for (uint64_t first = 0; first < math.count; first += kChunk) {
    const auto count = static_cast<size_t>(std::min<uint64_t>(kChunk, math.count - first));
    double x[kChunk];
    load<T>(math.source, first, count, x);
    if (math.function == Function::kFmod) {
      double divisors[kChunk];
      load<T>(math.other, first, count, divisors);
      for (size_t i = 0; i < count; ++i) x[i] = std::fmod(x[i], divisors[i]);
    } else {
      chunk(x, math.number);
    }
    T raw[kChunk];
    for (size_t i = 0; i < count; ++i) raw[i] = static_cast<T>(static_cast<float>(x[i]));
    std::memcpy(static_cast<T*>(math.destination.address) + first, raw, count * sizeof(T));
  }
}

void math_any(const MathInstruction& math) {
  if (math.type == DataType::kHalf)
    map_all<half>(math);
  else
    map_all<float>(math);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace softnpu::kernel
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace softnpu::kernel {
namespace {
HWY_EXPORT(math_any);
}  // namespace

void execute_math(const Instruction& instruction) {
  limit_simd_targets();
  HWY_DYNAMIC_DISPATCH(math_any)(static_cast<const MathInstruction&>(instruction));
}

void touch_math(const Instruction& instruction, Touches* touches) {
  const auto& math = static_cast<const MathInstruction&>(instruction);
  if (math.count == 0) return;
  const uint64_t bytes = math.count * (math.type == DataType::kHalf ? 2 : 4);
  const bool has_other = math.function == MathInstruction::Function::kFmod;
  for (const Memory& memory : {math.destination, math.source, has_other ? math.other : math.source}) {
    if (reinterpret_cast<uintptr_t>(memory.address) % 32 != 0)
      touches->misuse("an operand's address is no multiple of 32");
  }
  const auto footprint = [bytes](const Memory& memory) {
    const auto begin = reinterpret_cast<uint64_t>(memory.address);
    return Footprint{begin, 0, {{0, begin, begin + std::min(bytes, memory.bytes)}}};
  };
  const auto read = [&](const Memory& memory, const char* name) {
    touches->read(memory.address, bytes);
    const std::string wrong = misuse_of_overlap(footprint(math.destination), footprint(memory), name);
    if (!wrong.empty()) touches->misuse(wrong.c_str());
  };
  read(math.source, "src");
  if (has_other) read(math.other, "the divisors");
  touches->write(math.destination.address, bytes);
}

}  // namespace softnpu::kernel
#endif  // HWY_ONCE
