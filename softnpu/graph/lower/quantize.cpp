// Quantization: x = (q - zero point) scale.

#include <algorithm>
#include <limits>

#include "base/text.h"
#include "graph/lower/rows.h"

namespace softnpu::graph {
namespace {

struct Range {
  double low, high;
};

Range range_of(aclDataType dtype) {
  switch (dtype) {
    case ACL_INT8: return {-128, 127};
    case ACL_UINT8: return {0, 255};
    case ACL_INT16: return {-32768, 32767};
    case ACL_UINT16: return {0, 65535};
    default: throw Refused("quantization to int8, uint8, int16 and uint16 is implemented");
  }
}

// A scale or zero point, so that it broadcasts with `x`: one number, one per element of `axis`, or one per block.
ValueId spread(Call& call, ValueId one, ValueId x) {
  Builder& build = call.build();
  if (build.count(one) == 1) return build.view(one, {});
  const int64_t rank = build.rank(x);
  const int64_t axis = Builder::index(call.integer("axis", 1), rank);
  if (build.rank(one) <= 1) return along(build, one, axis, rank);
  const int64_t block = call.integer("block_size", 0);
  Ints sizes = build.sizes(one);
  if (block < 1 || build.rank(one) != rank) throw Refused("a block size is needed");
  Ints column = sizes;
  column.insert(column.begin() + axis + 1, 1);
  Ints repeated = column;
  repeated[axis + 1] = block;
  sizes[axis] *= block;
  return build.slice(build.view(build.broadcast(build.view(one, column), repeated), sizes), axis, 0,
                     build.dims(x)[axis]);
}

ValueId quantized(Builder& build, ValueId x, ValueId scale, ValueId zero, aclDataType dtype) {
  const Range range = range_of(dtype);
  ValueId y = build.emit("Round", {{build.div(x, scale)}});
  if (zero != kNoValue) y = build.add(y, build.cast(zero, build.dtype(y)));
  y = build.emit("Maximum", {{y}, build.number(range.low)});
  return build.cast(build.emit("Minimum", {{y}, build.number(range.high)}), dtype);
}

ValueId dequantized(Builder& build, ValueId q, ValueId scale, ValueId zero) {
  ValueId x = build.cast(q, ACL_FLOAT);
  if (zero != kNoValue) x = build.sub(x, build.cast(zero, ACL_FLOAT));
  return build.mul(x, build.cast(scale, ACL_FLOAT));
}

void quantize_linear(Call& call) {
  Builder& build = call.build();
  const ValueId x = call.in(0);
  aclDataType dtype = ACL_UINT8;
  if (call.has_attribute("output_dtype") && call.integer("output_dtype", 0) != 0) {
    dtype = onnx::dtype_of(static_cast<int32_t>(call.integer("output_dtype", 0)));
  }
  if (call.has(2)) dtype = build.dtype(call.in(2));
  const ValueId widened = is_floating(build.dtype(x)) ? x : build.cast(x, ACL_FLOAT);
  const ValueId scale = build.cast(spread(call, call.in(1), x), build.dtype(widened));
  call.set(quantized(build, widened, scale, call.has(2) ? spread(call, call.in(2), x) : kNoValue, dtype));
}

void dequantize_linear(Call& call) {
  Builder& build = call.build();
  const ValueId x = call.in(0);
  const ValueId zero = call.has(2) ? spread(call, call.in(2), x) : kNoValue;
  const aclDataType dtype = build.dtype(call.in(1));
  call.set(build.cast(dequantized(build, x, spread(call, call.in(1), x), zero), dtype));
}

// The range of x, with 0, in 8 bits.
void dynamic_quantize_linear(Call& call) {
  Builder& build = call.build();
  const ValueId x = call.in(0);
  const Ints all = iota(build.rank(x));
  const ValueId low = build.emit("Minimum", {{build.reduce("ReduceMin", x, all, false)}, build.number(0)});
  const ValueId high = build.emit("Maximum", {{build.reduce("ReduceMax", x, all, false)}, build.number(0)});
  const ValueId scale = build.div(build.sub(high, low), build.scalar(255, build.dtype(x)));
  ValueId zero = build.emit("Neg", {{build.div(low, scale)}});
  zero = build.emit("Minimum", {{build.emit("Maximum", {{zero}, build.number(0)})}, build.number(255)});
  zero = build.cast(build.emit("Round", {{zero}}), ACL_UINT8);
  call.set(0, quantized(build, x, scale, zero, ACL_UINT8));
  call.set(1, scale);
  call.set(2, zero);
}

// Zero points of the first factor are by row, of the second by column. In double precision, which is exact.
ValueId centered(Builder& build, ValueId x, ValueId zero, bool by_row) {
  x = build.cast(x, ACL_DOUBLE);
  if (zero == kNoValue) return x;
  zero = build.cast(zero, ACL_DOUBLE);
  if (build.count(zero) == 1)
    zero = build.view(zero, {});
  else if (by_row && build.rank(zero) == 1)
    zero = build.view(zero, {-1, 1});
  return build.sub(x, zero);
}

void matmul_integer(Call& call) {
  Builder& build = call.build();
  const ValueId a = centered(build, call.in(0), call.maybe(2), true);
  const ValueId b = centered(build, call.in(1), call.maybe(3), false);
  call.set(build.cast(build.emit("BatchMatMulV2", {{a}, {b}}), ACL_INT32));
}

// (a, scale, zero, b, scale, zero, scale, zero)
void qlinear_matmul(Call& call) {
  Builder& build = call.build();
  const ValueId a = centered(build, call.in(0), call.in(2), true);
  const ValueId b = centered(build, call.in(3), call.in(5), false);
  const auto number = [&](size_t i, bool by_row) {
    ValueId one = build.cast(call.in(i), ACL_DOUBLE);
    if (build.count(one) == 1) return build.view(one, {});
    return by_row && build.rank(one) == 1 ? build.view(one, {-1, 1}) : one;
  };
  const ValueId product = build.emit("BatchMatMulV2", {{a}, {b}});
  const ValueId x = build.mul(build.mul(product, number(1, true)), number(4, false));
  call.set(quantized(build, x, number(6, true), number(7, true), build.dtype(call.in(7))));
}

// (x, scale, zero, filter, scale, zero, scale, zero, bias?)
void qlinear_conv(Call& call) {
  Builder& build = call.build();
  const auto real = [&](size_t i, int64_t dim, int64_t rank) {
    const ValueId one = build.cast(call.in(i), ACL_DOUBLE);
    return build.count(one) == 1 ? build.view(one, {}) : along(build, one, dim, rank);
  };
  ValueId x = build.cast(call.in(0), ACL_DOUBLE);
  ValueId filter = build.cast(call.in(3), ACL_DOUBLE);
  const int64_t rank = build.rank(x);
  x = build.sub(x, real(2, 1, rank));
  filter = build.sub(filter, real(5, 0, rank));
  const Ints sizes = build.sizes(x);
  const Ints kernel_sizes = build.sizes(filter);
  const Windows windows =
      Windows::read(call, {sizes.begin() + 2, sizes.end()}, {kernel_sizes.begin() + 2, kernel_sizes.end()});
  const ValueId bias = call.has(8) ? build.cast(call.in(8), ACL_DOUBLE) : kNoValue;
  ValueId y = convolved(build, x, filter, bias, windows, call.integer("group", 1));
  y = build.mul(build.mul(y, real(1, 1, rank)), real(4, 1, rank));
  call.set(quantized(build, y, real(6, 1, rank), real(7, 1, rank), build.dtype(call.in(7))));
}

constexpr LowerRow kRows[] = {
    {"QuantizeLinear", quantize_linear},
    {"DequantizeLinear", dequantize_linear},
    {"DynamicQuantizeLinear", dynamic_quantize_linear},
    {"MatMulInteger", matmul_integer},
    {"QLinearMatMul", qlinear_matmul},
    {"QLinearConv", qlinear_conv},
};

}  // namespace

std::span<const LowerRow> quantize_rows() { return kRows; }

}  // namespace softnpu::graph
