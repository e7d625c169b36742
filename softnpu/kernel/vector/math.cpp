// Mathematical functions of whole tensors: in SIMD of double lanes, in pieces of 64 elements.

#include <algorithm>
#include <cmath>
#include <cstring>

#include "ops/simd/targets.h"
#include "softnpu_kernel/math.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/vector/math.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernel/vector/double_math.h"

HWY_BEFORE_NAMESPACE();
namespace softnpu {
namespace HWY_NAMESPACE {
namespace {

using kernel::DataType;
using kernel::MathInstruction;
using Function = MathInstruction::Function;

constexpr size_t kPiece = 64;

// The function of each number of a piece, in place.
template <typename F>
HWY_INLINE void map_piece(double* x, double) {
  double kept[kPiece];
  bool is_far = false;
  if constexpr (requires { F::scalar(0.0); }) {
    for (size_t i = 0; i < kPiece; ++i) is_far = is_far || !(std::fabs(x[i]) <= kMostRadians);
    if (is_far) std::memcpy(kept, x, sizeof(kept));
  }
  const size_t lanes = hn::Lanes(Doubles());
  for (size_t i = 0; i < kPiece; i += lanes) hn::StoreU(F::of(hn::LoadU(Doubles(), x + i)), Doubles(), x + i);
  if constexpr (requires { F::scalar(0.0); }) {
    for (size_t i = 0; is_far && i < kPiece; ++i) {
      if (!(std::fabs(kept[i]) <= kMostRadians)) x[i] = F::scalar(kept[i]);
    }
  }
}

void power_piece(double* x, double y) {
  for (size_t i = 0; i < kPiece; ++i) x[i] = std::pow(x[i], y);
}
// NaN stays.
void clamp_max_piece(double* x, double y) {
  for (size_t i = 0; i < kPiece; ++i) x[i] = x[i] > y ? y : x[i];
}
void clamp_min_piece(double* x, double y) {
  for (size_t i = 0; i < kPiece; ++i) x[i] = x[i] < y ? y : x[i];
}

template <typename F>
void map_piece_of(double* x, double y) {
  map_piece<F>(x, y);
}

using Piece = void (*)(double* x, double y);

Piece piece_for(Function function) {
  switch (function) {
    case Function::kSin: return &map_piece_of<Sin>;
    case Function::kCos: return &map_piece_of<Cos>;
    case Function::kTan: return &map_piece_of<Tan>;
    case Function::kAtan: return &map_piece_of<Atan>;
    case Function::kLog: return &map_piece_of<Log>;
    case Function::kSign: return &map_piece_of<Sign>;
    case Function::kCeil: return &map_piece_of<Ceil>;
    case Function::kFloor: return &map_piece_of<Floor>;
    case Function::kRound: return &map_piece_of<Round>;
    case Function::kTrunc: return &map_piece_of<Trunc>;
    case Function::kPower: return &power_piece;
    case Function::kClampMax: return &clamp_max_piece;
    case Function::kClampMin: return &clamp_min_piece;
  }
  return nullptr;
}

// `count` numbers from element `first` on; ones behind them.
template <typename T>
void load(const kernel::Memory& memory, uint64_t first, size_t count, double* to) {
  T raw[kPiece];
  std::memcpy(raw, static_cast<const T*>(memory.address) + first, count * sizeof(T));
  for (size_t i = 0; i < count; ++i) to[i] = static_cast<double>(static_cast<float>(raw[i]));
  std::fill(to + count, to + kPiece, 1.0);
}

template <typename T>
void map_all(const MathInstruction& math) {
  const Piece piece = piece_for(math.function);
  for (uint64_t first = 0; first < math.count; first += kPiece) {
    const auto count = static_cast<size_t>(std::min<uint64_t>(kPiece, math.count - first));
    double x[kPiece];
    load<T>(math.source, first, count, x);
    piece(x, math.number);
    T raw[kPiece];
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
}  // namespace softnpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace softnpu {
namespace {
HWY_EXPORT(math_any);
}  // namespace

namespace kernel {

void execute_math(const Instruction& instruction) {
  limit_simd_targets();
  HWY_DYNAMIC_DISPATCH(math_any)(static_cast<const MathInstruction&>(instruction));
}

void touch_math(const Instruction& instruction, Touches* touches) {
  const auto& math = static_cast<const MathInstruction&>(instruction);
  if (math.count == 0) return touches->misuse("the number of elements is 0");
  const uint64_t bytes = math.count * (math.type == DataType::kHalf ? 2 : 4);
  for (const Memory& memory : {math.destination, math.source}) {
    if (reinterpret_cast<uintptr_t>(memory.address) % 32 != 0)
      touches->misuse("an operand's address is no multiple of 32");
  }
  touches->read(math.source.address, bytes);
  touches->write(math.destination.address, bytes);
}

}  // namespace kernel
}  // namespace softnpu
#endif  // HWY_ONCE
