#pragma once
// Mathematical functions of whole tensors of half or float. Each takes a number of elements or, without one, all of the
// source; a tensor of temporary bytes is taken, and not used. Sources: their use in DrivingSDK kernels.

#include <cstdint>
#include <source_location>
#include <type_traits>

#include "ascendc/tensor.h"
#include "softnpu_kernel/math.h"

namespace AscendC {
namespace computing {

using Function = softnpu::kernel::MathInstruction::Function;
using Where = std::source_location;

template <typename T>
softnpu::kernel::MathInstruction instruction(const char* name, Function function, const LocalTensor<T>& to,
                                             const LocalTensor<T>& from, double number, uint64_t count,
                                             const Where& where) {
  static_assert(std::is_same_v<T, half> || std::is_same_v<T, float>, "this function is of half or float");
  auto result = softnpu::kernel::make_instruction<softnpu::kernel::MathInstruction>(
      name, softnpu::kernel::Pipe::kV, &softnpu::kernel::execute_math, &softnpu::kernel::touch_math, where);
  result.destination = to.memory();
  result.source = from.memory();
  result.number = number;
  result.count = count;
  result.function = function;
  result.type = softnpu::kernel::data_type_of<T>();
  return result;
}

template <typename T>
void issue(const char* name, Function function, const LocalTensor<T>& to, const LocalTensor<T>& from, double number,
           uint64_t count, const Where& where) {
  softnpu::kernel::issue(instruction(name, function, to, from, number, count, where));
}

}  // namespace computing

// The four overloads of one name; a template cannot make names.
#define SOFTNPU_KERNEL_FUNCTION(Name, function)                                                                      \
  template <typename T, bool reuses_source = false>                                                                  \
  void Name(const LocalTensor<T>& to, const LocalTensor<T>& from, uint32_t count,                                    \
            const computing::Where& where = computing::Where::current()) {                                           \
    computing::issue(#Name, computing::Function::function, to, from, 0, count, where);                               \
  }                                                                                                                  \
  template <typename T, bool reuses_source = false>                                                                  \
  void Name(const LocalTensor<T>& to, const LocalTensor<T>& from,                                                    \
            const computing::Where& where = computing::Where::current()) {                                           \
    computing::issue(#Name, computing::Function::function, to, from, 0, from.GetSize(), where);                      \
  }                                                                                                                  \
  template <typename T, bool reuses_source = false>                                                                  \
  void Name(const LocalTensor<T>& to, const LocalTensor<T>& from, [[maybe_unused]] const LocalTensor<uint8_t>& work, \
            uint32_t count, const computing::Where& where = computing::Where::current()) {                           \
    computing::issue(#Name, computing::Function::function, to, from, 0, count, where);                               \
  }                                                                                                                  \
  template <typename T, bool reuses_source = false>                                                                  \
  void Name(const LocalTensor<T>& to, const LocalTensor<T>& from, [[maybe_unused]] const LocalTensor<uint8_t>& work, \
            const computing::Where& where = computing::Where::current()) {                                           \
    computing::issue(#Name, computing::Function::function, to, from, 0, from.GetSize(), where);                      \
  }

SOFTNPU_KERNEL_FUNCTION(Sin, kSin)  // of radians, of any size
SOFTNPU_KERNEL_FUNCTION(Cos, kCos)
SOFTNPU_KERNEL_FUNCTION(Tan, kTan)
SOFTNPU_KERNEL_FUNCTION(Atan, kAtan)
SOFTNPU_KERNEL_FUNCTION(Log, kLog)    // the natural logarithm
SOFTNPU_KERNEL_FUNCTION(Sign, kSign)  // -1, 0 or 1; 0 for NaN
SOFTNPU_KERNEL_FUNCTION(Ceil, kCeil)
SOFTNPU_KERNEL_FUNCTION(Floor, kFloor)
SOFTNPU_KERNEL_FUNCTION(Round, kRound)  // the nearest integer, ties to even
SOFTNPU_KERNEL_FUNCTION(Trunc, kTrunc)  // the integer towards zero

#undef SOFTNPU_KERNEL_FUNCTION

// base[i] to the power of a number.
template <typename T, bool reuses_source = false>
void Power(const LocalTensor<T>& to, const LocalTensor<T>& base, std::type_identity_t<T> exponent, uint32_t count,
           const computing::Where& where = computing::Where::current()) {
  computing::issue("Power", computing::Function::kPower, to, base, static_cast<double>(exponent), count, where);
}

// No more than `most`; NaN stays.
template <typename T, bool reuses_source = false>
void ClampMax(const LocalTensor<T>& to, const LocalTensor<T>& from, std::type_identity_t<T> most, uint32_t count,
              const computing::Where& where = computing::Where::current()) {
  computing::issue("ClampMax", computing::Function::kClampMax, to, from, static_cast<double>(most), count, where);
}

// No less than `least`; NaN stays.
template <typename T, bool reuses_source = false>
void ClampMin(const LocalTensor<T>& to, const LocalTensor<T>& from, std::type_identity_t<T> least, uint32_t count,
              const computing::Where& where = computing::Where::current()) {
  computing::issue("ClampMin", computing::Function::kClampMin, to, from, static_cast<double>(least), count, where);
}

// The rest of from[i] / divisor[i], with the sign of from[i].
template <typename T, bool reuses_source = false>
void Fmod(const LocalTensor<T>& to, const LocalTensor<T>& from, const LocalTensor<T>& divisor, uint32_t count,
          const computing::Where& where = computing::Where::current()) {
  auto result = computing::instruction("Fmod", computing::Function::kFmod, to, from, 0, count, where);
  result.other = divisor.memory();
  softnpu::kernel::issue(result);
}

}  // namespace AscendC
