// Counts of n-grams. Definitions: the specification of ONNX, opset 9.

#include <algorithm>

#include "base/text.h"
#include "graph/lower/rows.h"

namespace softnpu::graph {
namespace {

// How often `gram` is in each row of x [rows, n] with `skip` elements between its own: [rows, 1].
ValueId occurrences(Builder& build, ValueId x, const Ints& gram, int64_t skip) {
  const int64_t rows = build.dims(x)[0];
  const auto length = static_cast<int64_t>(gram.size());
  const int64_t starts = build.dims(x)[1] - (length - 1) * (skip + 1);
  if (starts < 1) return build.broadcast(build.scalar(0, ACL_FLOAT), {rows, 1});
  ValueId all = kNoValue;
  for (int64_t i = 0; i < length; ++i) {
    const ValueId part = build.slice(x, 1, i * (skip + 1), i * (skip + 1) + starts);
    const ValueId is_equal = build.emit("Equal", {{part}, build.host_int(gram[i])});
    all = all == kNoValue ? is_equal : build.emit("LogicalAnd", {{all}, {is_equal}});
  }
  return build.reduce("ReduceSum", build.cast(all, ACL_FLOAT), {1}, true);
}

void tf_idf(Call& call) {
  Builder& build = call.build();
  ValueId x = call.in(0);
  if (!is_integral(build.dtype(x))) throw Refused("n-grams of integers are implemented");
  const bool is_flat = build.rank(x) < 2;
  if (build.rank(x) > 2) throw Refused("one or two dimensions are needed");
  if (is_flat) x = build.view(x, {1, -1});
  const Ints pool = call.ints("pool_int64s");
  const Ints starts = call.ints("ngram_counts");  // of 1-grams, 2-grams, ..
  const Ints indexes = call.ints("ngram_indexes");
  const int64_t shortest = call.integer("min_gram_length", 1);
  const int64_t longest = call.integer("max_gram_length", 1);
  const int64_t skips = call.integer("max_skip_count", 0);
  const std::string mode = call.words("mode", "TF");
  std::vector<float> weights;
  if (const onnx::Attribute* given = call.attribute("weights")) weights = given->reals;
  if (pool.empty() || indexes.empty() || skips < 0) throw Refused("a pool of n-grams is needed");
  const int64_t rows = build.dims(x)[0];
  const int64_t columns = *std::ranges::max_element(indexes) + 1;
  std::vector<ValueId> counts(static_cast<size_t>(columns), kNoValue);
  size_t number = 0;
  for (size_t length = 1; length <= starts.size(); ++length) {
    const int64_t end = length < starts.size() ? starts[length] : static_cast<int64_t>(pool.size());
    for (int64_t at = starts[length - 1]; at + static_cast<int64_t>(length) <= end;
         at += static_cast<int64_t>(length)) {
      if (number >= indexes.size() || indexes[number] < 0) throw Refused("an n-gram has no index");
      const size_t column = static_cast<size_t>(indexes[number]);
      const double weight = number < weights.size() ? weights[number] : 1;
      ++number;
      if (static_cast<int64_t>(length) < shortest || static_cast<int64_t>(length) > longest) continue;
      ValueId sum = kNoValue;
      for (int64_t skip = 0; skip <= (length == 1 ? 0 : skips); ++skip) {
        const ValueId count =
            occurrences(build, x, {pool.begin() + at, pool.begin() + at + static_cast<int64_t>(length)}, skip);
        sum = sum == kNoValue ? count : build.add(sum, count);
      }
      if (mode == "IDF") sum = build.cast(build.emit("Greater", {{sum}, build.number(0)}), ACL_FLOAT);
      if (mode != "TF") sum = build.scaled(sum, weight);
      counts[column] = counts[column] == kNoValue ? sum : build.add(counts[column], sum);
    }
  }
  for (ValueId& count : counts) {
    if (count == kNoValue) count = build.broadcast(build.scalar(0, ACL_FLOAT), {rows, 1});
  }
  const ValueId y = build.concatenate(counts, 1);
  call.set(is_flat ? build.view(y, {columns}) : y);
}

constexpr LowerRow kRows[] = {{"TfIdfVectorizer", tf_idf}};

}  // namespace

std::span<const LowerRow> text_rows() { return kRows; }

}  // namespace softnpu::graph
