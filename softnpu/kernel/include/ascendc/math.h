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
void issue(const char* name, Function function, const LocalTensor<T>& to, const LocalTensor<T>& from, double number,
           uint64_t count, const Where& where) {
  static_assert(std::is_same_v<T, half> || std::is_same_v<T, float>, "this function is of half or float");
  softnpu::kernel::MathInstruction made{};
  made.name = name;
  made.pipe = softnpu::kernel::Pipe::kV;
  made.bytes = sizeof(made);
  made.execute = &softnpu::kernel::execute_math;
  made.touch = &softnpu::kernel::touch_math;
  made.where = where;
  made.destination = to.memory();
  made.source = from.memory();
  made.number = number;
  made.count = count;
  made.function = function;
  made.type = softnpu::kernel::data_type_of<T>();
  softnpu::kernel::issue(made);
}

}  // namespace computing

// Of radians, of any size.
template <typename T, bool reuses_source = false>
void Sin(const LocalTensor<T>& to, const LocalTensor<T>& from, uint32_t count,
         const computing::Where& where = computing::Where::current()) {
  computing::issue("Sin", computing::Function::kSin, to, from, 0, count, where);
}
template <typename T, bool reuses_source = false>
void Sin(const LocalTensor<T>& to, const LocalTensor<T>& from,
         const computing::Where& where = computing::Where::current()) {
  computing::issue("Sin", computing::Function::kSin, to, from, 0, from.GetSize(), where);
}
template <typename T, bool reuses_source = false>
void Sin(const LocalTensor<T>& to, const LocalTensor<T>& from, [[maybe_unused]] const LocalTensor<uint8_t>& work,
         uint32_t count, const computing::Where& where = computing::Where::current()) {
  computing::issue("Sin", computing::Function::kSin, to, from, 0, count, where);
}
template <typename T, bool reuses_source = false>
void Sin(const LocalTensor<T>& to, const LocalTensor<T>& from, [[maybe_unused]] const LocalTensor<uint8_t>& work,
         const computing::Where& where = computing::Where::current()) {
  computing::issue("Sin", computing::Function::kSin, to, from, 0, from.GetSize(), where);
}

template <typename T, bool reuses_source = false>
void Cos(const LocalTensor<T>& to, const LocalTensor<T>& from, uint32_t count,
         const computing::Where& where = computing::Where::current()) {
  computing::issue("Cos", computing::Function::kCos, to, from, 0, count, where);
}
template <typename T, bool reuses_source = false>
void Cos(const LocalTensor<T>& to, const LocalTensor<T>& from,
         const computing::Where& where = computing::Where::current()) {
  computing::issue("Cos", computing::Function::kCos, to, from, 0, from.GetSize(), where);
}
template <typename T, bool reuses_source = false>
void Cos(const LocalTensor<T>& to, const LocalTensor<T>& from, [[maybe_unused]] const LocalTensor<uint8_t>& work,
         uint32_t count, const computing::Where& where = computing::Where::current()) {
  computing::issue("Cos", computing::Function::kCos, to, from, 0, count, where);
}
template <typename T, bool reuses_source = false>
void Cos(const LocalTensor<T>& to, const LocalTensor<T>& from, [[maybe_unused]] const LocalTensor<uint8_t>& work,
         const computing::Where& where = computing::Where::current()) {
  computing::issue("Cos", computing::Function::kCos, to, from, 0, from.GetSize(), where);
}

template <typename T, bool reuses_source = false>
void Tan(const LocalTensor<T>& to, const LocalTensor<T>& from, uint32_t count,
         const computing::Where& where = computing::Where::current()) {
  computing::issue("Tan", computing::Function::kTan, to, from, 0, count, where);
}
template <typename T, bool reuses_source = false>
void Tan(const LocalTensor<T>& to, const LocalTensor<T>& from,
         const computing::Where& where = computing::Where::current()) {
  computing::issue("Tan", computing::Function::kTan, to, from, 0, from.GetSize(), where);
}
template <typename T, bool reuses_source = false>
void Tan(const LocalTensor<T>& to, const LocalTensor<T>& from, [[maybe_unused]] const LocalTensor<uint8_t>& work,
         uint32_t count, const computing::Where& where = computing::Where::current()) {
  computing::issue("Tan", computing::Function::kTan, to, from, 0, count, where);
}
template <typename T, bool reuses_source = false>
void Tan(const LocalTensor<T>& to, const LocalTensor<T>& from, [[maybe_unused]] const LocalTensor<uint8_t>& work,
         const computing::Where& where = computing::Where::current()) {
  computing::issue("Tan", computing::Function::kTan, to, from, 0, from.GetSize(), where);
}

template <typename T, bool reuses_source = false>
void Atan(const LocalTensor<T>& to, const LocalTensor<T>& from, uint32_t count,
          const computing::Where& where = computing::Where::current()) {
  computing::issue("Atan", computing::Function::kAtan, to, from, 0, count, where);
}
template <typename T, bool reuses_source = false>
void Atan(const LocalTensor<T>& to, const LocalTensor<T>& from,
          const computing::Where& where = computing::Where::current()) {
  computing::issue("Atan", computing::Function::kAtan, to, from, 0, from.GetSize(), where);
}
template <typename T, bool reuses_source = false>
void Atan(const LocalTensor<T>& to, const LocalTensor<T>& from, [[maybe_unused]] const LocalTensor<uint8_t>& work,
          uint32_t count, const computing::Where& where = computing::Where::current()) {
  computing::issue("Atan", computing::Function::kAtan, to, from, 0, count, where);
}
template <typename T, bool reuses_source = false>
void Atan(const LocalTensor<T>& to, const LocalTensor<T>& from, [[maybe_unused]] const LocalTensor<uint8_t>& work,
          const computing::Where& where = computing::Where::current()) {
  computing::issue("Atan", computing::Function::kAtan, to, from, 0, from.GetSize(), where);
}

// The natural logarithm.
template <typename T, bool reuses_source = false>
void Log(const LocalTensor<T>& to, const LocalTensor<T>& from, uint32_t count,
         const computing::Where& where = computing::Where::current()) {
  computing::issue("Log", computing::Function::kLog, to, from, 0, count, where);
}
template <typename T, bool reuses_source = false>
void Log(const LocalTensor<T>& to, const LocalTensor<T>& from,
         const computing::Where& where = computing::Where::current()) {
  computing::issue("Log", computing::Function::kLog, to, from, 0, from.GetSize(), where);
}
template <typename T, bool reuses_source = false>
void Log(const LocalTensor<T>& to, const LocalTensor<T>& from, [[maybe_unused]] const LocalTensor<uint8_t>& work,
         uint32_t count, const computing::Where& where = computing::Where::current()) {
  computing::issue("Log", computing::Function::kLog, to, from, 0, count, where);
}
template <typename T, bool reuses_source = false>
void Log(const LocalTensor<T>& to, const LocalTensor<T>& from, [[maybe_unused]] const LocalTensor<uint8_t>& work,
         const computing::Where& where = computing::Where::current()) {
  computing::issue("Log", computing::Function::kLog, to, from, 0, from.GetSize(), where);
}

// -1, 0 or 1; 0 for NaN.
template <typename T, bool reuses_source = false>
void Sign(const LocalTensor<T>& to, const LocalTensor<T>& from, uint32_t count,
          const computing::Where& where = computing::Where::current()) {
  computing::issue("Sign", computing::Function::kSign, to, from, 0, count, where);
}
template <typename T, bool reuses_source = false>
void Sign(const LocalTensor<T>& to, const LocalTensor<T>& from,
          const computing::Where& where = computing::Where::current()) {
  computing::issue("Sign", computing::Function::kSign, to, from, 0, from.GetSize(), where);
}
template <typename T, bool reuses_source = false>
void Sign(const LocalTensor<T>& to, const LocalTensor<T>& from, [[maybe_unused]] const LocalTensor<uint8_t>& work,
          uint32_t count, const computing::Where& where = computing::Where::current()) {
  computing::issue("Sign", computing::Function::kSign, to, from, 0, count, where);
}
template <typename T, bool reuses_source = false>
void Sign(const LocalTensor<T>& to, const LocalTensor<T>& from, [[maybe_unused]] const LocalTensor<uint8_t>& work,
          const computing::Where& where = computing::Where::current()) {
  computing::issue("Sign", computing::Function::kSign, to, from, 0, from.GetSize(), where);
}

template <typename T, bool reuses_source = false>
void Ceil(const LocalTensor<T>& to, const LocalTensor<T>& from, uint32_t count,
          const computing::Where& where = computing::Where::current()) {
  computing::issue("Ceil", computing::Function::kCeil, to, from, 0, count, where);
}
template <typename T, bool reuses_source = false>
void Ceil(const LocalTensor<T>& to, const LocalTensor<T>& from,
          const computing::Where& where = computing::Where::current()) {
  computing::issue("Ceil", computing::Function::kCeil, to, from, 0, from.GetSize(), where);
}
template <typename T, bool reuses_source = false>
void Ceil(const LocalTensor<T>& to, const LocalTensor<T>& from, [[maybe_unused]] const LocalTensor<uint8_t>& work,
          uint32_t count, const computing::Where& where = computing::Where::current()) {
  computing::issue("Ceil", computing::Function::kCeil, to, from, 0, count, where);
}
template <typename T, bool reuses_source = false>
void Ceil(const LocalTensor<T>& to, const LocalTensor<T>& from, [[maybe_unused]] const LocalTensor<uint8_t>& work,
          const computing::Where& where = computing::Where::current()) {
  computing::issue("Ceil", computing::Function::kCeil, to, from, 0, from.GetSize(), where);
}

template <typename T, bool reuses_source = false>
void Floor(const LocalTensor<T>& to, const LocalTensor<T>& from, uint32_t count,
           const computing::Where& where = computing::Where::current()) {
  computing::issue("Floor", computing::Function::kFloor, to, from, 0, count, where);
}
template <typename T, bool reuses_source = false>
void Floor(const LocalTensor<T>& to, const LocalTensor<T>& from,
           const computing::Where& where = computing::Where::current()) {
  computing::issue("Floor", computing::Function::kFloor, to, from, 0, from.GetSize(), where);
}
template <typename T, bool reuses_source = false>
void Floor(const LocalTensor<T>& to, const LocalTensor<T>& from, [[maybe_unused]] const LocalTensor<uint8_t>& work,
           uint32_t count, const computing::Where& where = computing::Where::current()) {
  computing::issue("Floor", computing::Function::kFloor, to, from, 0, count, where);
}
template <typename T, bool reuses_source = false>
void Floor(const LocalTensor<T>& to, const LocalTensor<T>& from, [[maybe_unused]] const LocalTensor<uint8_t>& work,
           const computing::Where& where = computing::Where::current()) {
  computing::issue("Floor", computing::Function::kFloor, to, from, 0, from.GetSize(), where);
}

// The nearest integer, ties to even.
template <typename T, bool reuses_source = false>
void Round(const LocalTensor<T>& to, const LocalTensor<T>& from, uint32_t count,
           const computing::Where& where = computing::Where::current()) {
  computing::issue("Round", computing::Function::kRound, to, from, 0, count, where);
}
template <typename T, bool reuses_source = false>
void Round(const LocalTensor<T>& to, const LocalTensor<T>& from,
           const computing::Where& where = computing::Where::current()) {
  computing::issue("Round", computing::Function::kRound, to, from, 0, from.GetSize(), where);
}
template <typename T, bool reuses_source = false>
void Round(const LocalTensor<T>& to, const LocalTensor<T>& from, [[maybe_unused]] const LocalTensor<uint8_t>& work,
           uint32_t count, const computing::Where& where = computing::Where::current()) {
  computing::issue("Round", computing::Function::kRound, to, from, 0, count, where);
}
template <typename T, bool reuses_source = false>
void Round(const LocalTensor<T>& to, const LocalTensor<T>& from, [[maybe_unused]] const LocalTensor<uint8_t>& work,
           const computing::Where& where = computing::Where::current()) {
  computing::issue("Round", computing::Function::kRound, to, from, 0, from.GetSize(), where);
}

// The integer towards zero.
template <typename T, bool reuses_source = false>
void Trunc(const LocalTensor<T>& to, const LocalTensor<T>& from, uint32_t count,
           const computing::Where& where = computing::Where::current()) {
  computing::issue("Trunc", computing::Function::kTrunc, to, from, 0, count, where);
}
template <typename T, bool reuses_source = false>
void Trunc(const LocalTensor<T>& to, const LocalTensor<T>& from,
           const computing::Where& where = computing::Where::current()) {
  computing::issue("Trunc", computing::Function::kTrunc, to, from, 0, from.GetSize(), where);
}
template <typename T, bool reuses_source = false>
void Trunc(const LocalTensor<T>& to, const LocalTensor<T>& from, [[maybe_unused]] const LocalTensor<uint8_t>& work,
           uint32_t count, const computing::Where& where = computing::Where::current()) {
  computing::issue("Trunc", computing::Function::kTrunc, to, from, 0, count, where);
}
template <typename T, bool reuses_source = false>
void Trunc(const LocalTensor<T>& to, const LocalTensor<T>& from, [[maybe_unused]] const LocalTensor<uint8_t>& work,
           const computing::Where& where = computing::Where::current()) {
  computing::issue("Trunc", computing::Function::kTrunc, to, from, 0, from.GetSize(), where);
}

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

}  // namespace AscendC
