// Arithmetic, comparisons, logic.

#include <cmath>
#include <limits>

#include "base/text.h"
#include "graph/lower/rows.h"

namespace softnpu::graph {
namespace {

// Opsets before 7 align the second operand by an attribute.
ValueId aligned_second(Call& call) {
  Builder& build = call.build();
  ValueId b = call.in(1);
  if (call.version() >= 7 || !call.has_attribute("axis")) return b;
  const int64_t rank = build.rank(call.in(0));
  Ints sizes(static_cast<size_t>(rank), 1);
  const int64_t axis = Builder::index(call.integer("axis", 0), rank);
  for (int64_t i = 0; i < build.rank(b) && axis + i < rank; ++i) sizes[axis + i] = build.dims(b)[i];
  return build.view(b, sizes);
}

template <const char* const& type>
void unary(Call& call) {
  call.set(call.build().emit(type, {{call.in(0)}}));
}

template <const char* const& type>
void binary(Call& call) {
  const ValueId b = aligned_second(call);
  call.set(call.build().emit(type, {{call.in(0)}, {b}}));
}

// Of any number of tensors.
template <const char* const& type>
void variadic(Call& call) {
  ValueId sum = call.in(0);
  for (size_t i = 1; i < call.count(); ++i) sum = call.build().emit(type, {{sum}, {call.in(i)}});
  call.set(sum);
}

void mean(Call& call) {
  ValueId sum = call.in(0);
  for (size_t i = 1; i < call.count(); ++i) sum = call.build().add(sum, call.in(i));
  call.set(call.build().scaled(sum, 1.0 / static_cast<double>(call.count())));
}

// Integers are truncated.
void divide(Call& call) {
  const ValueId b = aligned_second(call);
  const bool is_real = is_floating(call.build().dtype(call.in(0)));
  call.set(call.build().emit(is_real ? "RealDiv" : "TruncateDiv", {{call.in(0)}, {b}}));
}

void mod(Call& call) {
  const char* type = call.integer("fmod", 0) != 0 ? "Mod" : "FloorMod";
  call.set(call.build().emit(type, {{call.in(0)}, {call.in(1)}}));
}

// The result has the base's type.
void power(Call& call) {
  Builder& build = call.build();
  const aclDataType dtype = build.dtype(call.in(0));
  ValueId exponent = aligned_second(call);
  ValueId base = call.in(0);
  if (is_floating(dtype)) exponent = build.cast(exponent, dtype);
  if (is_integral(dtype) && is_floating(build.dtype(exponent))) {
    base = build.cast(base, ACL_DOUBLE);
    exponent = build.cast(exponent, ACL_DOUBLE);
  } else if (is_integral(dtype)) {
    exponent = build.cast(exponent, dtype);
  }
  call.set(build.cast(build.emit("Pow", {{base}, {exponent}}), dtype));
}

void is_nan(Call& call) { call.set(call.build().emit("NotEqual", {{call.in(0)}, {call.in(0)}})); }

void is_inf(Call& call) {
  Builder& build = call.build();
  const double infinity = std::numeric_limits<double>::infinity();
  const bool negative = call.integer("detect_negative", 1) != 0;
  const bool positive = call.integer("detect_positive", 1) != 0;
  ValueId x = call.in(0);
  if (positive && negative) x = build.emit("Abs", {{x}});
  if (!positive && !negative) x = build.emit("ZerosLike", {{x}});
  call.set(build.emit("Equal", {{x}, build.number(!positive && negative ? -infinity : infinity)}));
}

void exclusive_or(Call& call) { call.set(call.build().emit("NotEqual", {{call.in(0)}, {aligned_second(call)}})); }

void shift(Call& call) {
  const char* type = call.words("direction", "") == "LEFT" ? "LeftShift" : "RightShift";
  call.set(call.build().emit(type, {{call.in(0)}, {call.in(1)}}));
}

void where(Call& call) { call.set(call.build().emit("Select", {{call.in(0)}, {call.in(1)}, {call.in(2)}})); }

void cast(Call& call) {
  const auto to = static_cast<int32_t>(call.integer("to", 0));
  const aclDataType dtype = onnx::dtype_of(to);
  if (dtype == ACL_DT_UNDEFINED) throw Refused(text("a cast to ", onnx::name_of(to), " is not implemented"));
  call.set(call.build().cast(call.in(0), dtype));
}

void cast_like(Call& call) { call.set(call.build().cast(call.in(0), call.build().dtype(call.in(1)))); }

void identity(Call& call) { call.set(call.in(0)); }

// The mask of an evaluation is all true.
void dropout(Call& call) {
  Builder& build = call.build();
  const bool trains = call.has(2) && build.int_of(call.in(2)) != 0;
  const double ratio = call.has(1) ? build.real_of(call.in(1)) : call.real("ratio", 0.5);
  if (trains && ratio != 0) throw Refused("dropout in training is not implemented");
  call.set(0, call.in(0));
  if (call.wants(1)) {
    const aclDataType dtype = call.version() >= 10 ? ACL_BOOL : build.dtype(call.in(0));
    call.set(1, build.broadcast(build.scalar(1, dtype), build.sizes(call.in(0))));
  }
}

void clip(Call& call) {
  Builder& build = call.build();
  ValueId x = call.in(0);
  if (call.version() < 11) {
    if (call.has_attribute("min")) x = build.emit("Maximum", {{x}, build.number_for(x, call.real("min", 0))});
    if (call.has_attribute("max")) x = build.emit("Minimum", {{x}, build.number_for(x, call.real("max", 0))});
  } else {
    if (call.has(1)) x = build.emit("Maximum", {{x}, {call.in(1)}});
    if (call.has(2)) x = build.emit("Minimum", {{x}, {call.in(2)}});
  }
  call.set(x);
}

void round_half_even(Call& call) { call.set(call.build().emit("Round", {{call.in(0)}})); }

constexpr const char* kAbs = "Abs";
constexpr const char* kNeg = "Neg";
constexpr const char* kSign = "Sign";
constexpr const char* kReciprocal = "Reciprocal";
constexpr const char* kCeil = "Ceil";
constexpr const char* kFloor = "Floor";
constexpr const char* kSqrt = "Sqrt";
constexpr const char* kExp = "Exp";
constexpr const char* kLog = "Log";
constexpr const char* kSin = "Sin";
constexpr const char* kCos = "Cos";
constexpr const char* kTan = "Tan";
constexpr const char* kAsin = "Asin";
constexpr const char* kAcos = "Acos";
constexpr const char* kAtan = "Atan";
constexpr const char* kSinh = "Sinh";
constexpr const char* kCosh = "Cosh";
constexpr const char* kTanh = "Tanh";
constexpr const char* kAsinh = "Asinh";
constexpr const char* kAcosh = "Acosh";
constexpr const char* kAtanh = "Atanh";
constexpr const char* kErf = "Erf";
constexpr const char* kNot = "LogicalNot";
constexpr const char* kInvert = "Invert";
constexpr const char* kAdd = "Add";
constexpr const char* kSub = "Sub";
constexpr const char* kMul = "Mul";
constexpr const char* kMax = "Maximum";
constexpr const char* kMin = "Minimum";
constexpr const char* kAnd = "LogicalAnd";
constexpr const char* kOr = "LogicalOr";
constexpr const char* kBitAnd = "BitwiseAnd";
constexpr const char* kBitOr = "BitwiseOr";
constexpr const char* kBitXor = "BitwiseXor";
constexpr const char* kEqual = "Equal";
constexpr const char* kGreater = "Greater";
constexpr const char* kGreaterEqual = "GreaterEqual";
constexpr const char* kLess = "Less";
constexpr const char* kLessEqual = "LessEqual";

constexpr LowerRow kRows[] = {
    {"Abs", unary<kAbs>},
    {"Neg", unary<kNeg>},
    {"Sign", unary<kSign>},
    {"Reciprocal", unary<kReciprocal>},
    {"Ceil", unary<kCeil>},
    {"Floor", unary<kFloor>},
    {"Sqrt", unary<kSqrt>},
    {"Exp", unary<kExp>},
    {"Log", unary<kLog>},
    {"Sin", unary<kSin>},
    {"Cos", unary<kCos>},
    {"Tan", unary<kTan>},
    {"Asin", unary<kAsin>},
    {"Acos", unary<kAcos>},
    {"Atan", unary<kAtan>},
    {"Sinh", unary<kSinh>},
    {"Cosh", unary<kCosh>},
    {"Tanh", unary<kTanh>},
    {"Asinh", unary<kAsinh>},
    {"Acosh", unary<kAcosh>},
    {"Atanh", unary<kAtanh>},
    {"Erf", unary<kErf>},
    {"Not", unary<kNot>},
    {"BitwiseNot", unary<kInvert>},
    {"Round", round_half_even},
    {"Add", binary<kAdd>},
    {"Sub", binary<kSub>},
    {"Mul", binary<kMul>},
    {"Div", divide},
    {"Mod", mod},
    {"Pow", power},
    {"And", binary<kAnd>},
    {"Or", binary<kOr>},
    {"Xor", exclusive_or},
    {"BitwiseAnd", binary<kBitAnd>},
    {"BitwiseOr", binary<kBitOr>},
    {"BitwiseXor", binary<kBitXor>},
    {"BitShift", shift},
    {"Equal", binary<kEqual>},
    {"Greater", binary<kGreater>},
    {"GreaterOrEqual", binary<kGreaterEqual>},
    {"Less", binary<kLess>},
    {"LessOrEqual", binary<kLessEqual>},
    {"Max", variadic<kMax>},
    {"Min", variadic<kMin>},
    {"Sum", variadic<kAdd>},
    {"Mean", mean},
    {"IsNaN", is_nan},
    {"IsInf", is_inf},
    {"Where", where},
    {"Cast", cast},
    {"CastLike", cast_like},
    {"Identity", identity},
    {"Dropout", dropout},
    {"Clip", clip},
};

}  // namespace

std::span<const LowerRow> elementwise_rows() { return kRows; }

}  // namespace softnpu::graph
