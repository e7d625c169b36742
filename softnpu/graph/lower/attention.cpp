// Attention and rotary embeddings. Definitions: the specification of ONNX, opset 23.

#include <cmath>
#include <limits>

#include "base/text.h"
#include "graph/lower/rows.h"

namespace softnpu::graph {
namespace {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

// [B, S, heads D] as [B, heads, S, D].
ValueId by_head(Builder& build, ValueId x, int64_t heads) {
  if (build.rank(x) == 4) return x;
  if (build.rank(x) != 3 || heads < 1 || build.dims(x)[2] % heads != 0)
    throw Refused("the heads do not divide the width");
  const Ints sizes = build.sizes(x);
  return build.transpose(build.view(x, {sizes[0], sizes[1], heads, sizes[2] / heads}), {0, 2, 1, 3});
}

// Each head `times` times.
ValueId repeated(Builder& build, ValueId x, int64_t times) {
  if (times == 1) return x;
  const Ints sizes = build.sizes(x);
  x = build.view(x, {sizes[0], sizes[1], 1, sizes[2], sizes[3]});
  x = build.broadcast(x, {sizes[0], sizes[1], times, sizes[2], sizes[3]});
  return build.view(x, {sizes[0], sizes[1] * times, sizes[2], sizes[3]});
}

// 0 where a mask is true, else minus infinity.
ValueId bias_of(Builder& build, ValueId mask, aclDataType dtype) {
  if (build.dtype(mask) != ACL_BOOL) return build.cast(mask, dtype);
  return build.emit("Select", {{mask}, {build.scalar(0, dtype)}, {build.scalar(kMinusInfinity, dtype)}});
}

// Row i sees the columns up to i + offset.
ValueId causal_bias(Builder& build, int64_t rows, int64_t columns, int64_t offset, aclDataType dtype) {
  const ValueId row = build.ints(iota(rows, offset), {rows, 1});
  const ValueId column = build.ints(iota(columns), {1, columns});
  return bias_of(build, build.emit("LessEqual", {{column}, {row}}), dtype);
}

// (q, k, v, mask?, past key?, past value?) to (y, key?, value?, scores?)
void attention(Call& call) {
  Builder& build = call.build();
  if (call.has(6)) throw Refused("lengths without padding (input 6) are not implemented");
  const bool is_flat = build.rank(call.in(0)) == 3;
  const ValueId q = by_head(build, call.in(0), call.integer("q_num_heads", 0));
  ValueId k = by_head(build, call.in(1), call.integer("kv_num_heads", 0));
  ValueId v = by_head(build, call.in(2), call.integer("kv_num_heads", 0));
  const aclDataType dtype = build.dtype(q);
  int64_t past = 0;
  if (call.has(4)) {
    past = build.dims(call.in(4))[2];
    k = build.concatenate({call.in(4), k}, 2);
    v = build.concatenate({call.in(5), v}, 2);
  }
  call.set(1, k);
  call.set(2, v);
  const int64_t heads = build.dims(q)[1];
  const int64_t rows = build.dims(q)[2];
  const int64_t columns = build.dims(k)[2];
  if (build.dims(k)[1] == 0 || heads % build.dims(k)[1] != 0) throw Refused("the heads of k do not divide those of q");
  k = repeated(build, k, heads / build.dims(k)[1]);
  v = repeated(build, v, heads / build.dims(v)[1]);
  const double scale = call.real("scale", 1 / std::sqrt(static_cast<double>(build.dims(q)[3])));
  // Each factor is scaled by the root: 16-bit types overflow less.
  const double root = std::sqrt(scale);
  const ValueId keys = build.transpose(build.scaled(k, root), {0, 1, 3, 2});
  ValueId scores = build.emit("BatchMatMulV2", {{build.scaled(q, root)}, {keys}});
  const int64_t mode = call.integer("qk_matmul_output_mode", 0);
  if (mode == 0) call.set(3, scores);
  const double cap = call.real("softcap", 0);
  if (cap > 0) scores = build.scaled(build.emit("Tanh", {{build.scaled(scores, 1 / cap)}}), cap);
  if (mode == 1 && cap > 0) call.set(3, scores);
  const bool has_mask = call.has(3) || call.integer("is_causal", 0) != 0;
  if (call.has(3)) {
    ValueId mask = call.in(3);
    const int64_t missing = columns - build.dims(mask)[build.rank(mask) - 1];
    if (missing > 0) {
      Ints none(static_cast<size_t>(build.rank(mask)), 0);
      Ints after = none;
      after.back() = missing;
      mask = padded(build, bias_of(build, mask, dtype), none, after, kMinusInfinity);
    }
    scores = build.add(scores, bias_of(build, mask, dtype));
  }
  if (call.integer("is_causal", 0) != 0) {
    scores = build.add(scores, causal_bias(build, rows, columns, past, dtype));
  }
  if (mode == 2 || (mode == 1 && cap <= 0)) call.set(3, scores);
  if (call.has_attribute("softmax_precision")) {
    scores = build.cast(scores, onnx::dtype_of(static_cast<int32_t>(call.integer("softmax_precision", 1))));
  }
  ValueId weights = build.emit("SoftmaxV2", {{scores}}, {{"axes", Ints{3}}});
  if (has_mask) {  // a row that sees nothing has the weights 0
    const ValueId largest = build.reduce("ReduceMax", scores, {3}, true);
    const ValueId is_blind = build.emit("Equal", {{largest}, build.number(kMinusInfinity)});
    weights = build.emit("Select", {{is_blind}, {build.scalar(0, build.dtype(weights))}, {weights}});
  }
  weights = build.cast(weights, dtype);
  if (mode == 3) call.set(3, weights);
  ValueId y = build.emit("BatchMatMulV2", {{weights}, {v}});
  if (is_flat) {
    const Ints sizes = build.sizes(y);
    y = build.view(build.transpose(y, {0, 2, 1, 3}), {sizes[0], sizes[2], sizes[1] * sizes[3]});
  }
  call.set(0, y);
}

// (x, cosines, sines, positions?); x is [B, heads, S, D] or [B, S, heads D].
void rotary_embedding(Call& call) {
  Builder& build = call.build();
  const Ints original = build.sizes(call.in(0));
  ValueId x = call.in(0);
  if (original.size() == 4) {
    x = build.transpose(x, {0, 2, 1, 3});
  } else {
    const int64_t heads = call.integer("num_heads", 0);
    if (original.size() != 3 || heads < 1) throw Refused("num_heads is needed");
    x = build.view(x, {original[0], original[1], heads, original[2] / heads});
  }
  const Ints sizes = build.sizes(x);  // [B, S, heads, D]
  int64_t width = call.integer("rotary_embedding_dim", 0);
  if (width == 0) width = sizes[3];
  const auto table = [&](size_t i) {
    ValueId values = call.in(i);
    if (call.has(3)) values = build.emit("GatherV2", {{values}, {build.cast(call.in(3), ACL_INT64)}, build.host({0})});
    return build.view(values, {build.dims(values)[0], build.dims(values)[1], 1, width / 2});
  };
  const ValueId cosine = table(1);
  const ValueId sine = table(2);
  const bool is_interleaved = call.integer("interleaved", 0) != 0;
  const ValueId turned = build.slice(x, 3, 0, width);
  ValueId a = kNoValue;
  ValueId b = kNoValue;
  const Ints half = {sizes[0], sizes[1], sizes[2], width / 2};
  if (is_interleaved) {
    const ValueId pairs = build.view(turned, {sizes[0], sizes[1], sizes[2], width / 2, 2});
    a = build.view(build.slice(pairs, 4, 0, 1), half);
    b = build.view(build.slice(pairs, 4, 1, 2), half);
  } else {
    a = build.slice(turned, 3, 0, width / 2);
    b = build.slice(turned, 3, width / 2, width);
  }
  ValueId real = build.sub(build.mul(cosine, a), build.mul(sine, b));
  ValueId imaginary = build.add(build.mul(sine, a), build.mul(cosine, b));
  ValueId y = kNoValue;
  if (is_interleaved) {
    y = build.emit("Pack", {{real}, {imaginary}}, {{"axis", int64_t{4}}});
    y = build.view(y, {sizes[0], sizes[1], sizes[2], width});
  } else {
    y = build.concatenate({real, imaginary}, 3);
  }
  if (width < sizes[3]) y = build.concatenate({y, build.slice(x, 3, width, sizes[3])}, 3);
  call.set(original.size() == 4 ? build.transpose(y, {0, 2, 1, 3}) : build.view(y, original));
}

constexpr LowerRow kRows[] = {
    {"Attention", attention},
    {"RotaryEmbedding", rotary_embedding},
};

}  // namespace

std::span<const LowerRow> attention_rows() { return kRows; }

}  // namespace softnpu::graph
