// Indexing, sorting, scans.

#include <algorithm>

#include "base/text.h"
#include "graph/lower/rows.h"

namespace softnpu::graph {
namespace {

void gather(Call& call) {
  Builder& build = call.build();
  const int64_t axis = Builder::index(call.integer("axis", 0), build.rank(call.in(0)));
  const ValueId indices = wrapped(build, call.in(1), build.dims(call.in(0))[axis]);
  call.set(build.emit("GatherV2", {{call.in(0)}, {indices}, build.host({axis})}));
}

void gather_elements(Call& call) {
  Builder& build = call.build();
  const int64_t axis = Builder::index(call.integer("axis", 0), build.rank(call.in(0)));
  const ValueId indices = wrapped(build, call.in(1), build.dims(call.in(0))[axis]);
  call.set(build.emit("GatherElements", {{call.in(0)}, {indices}}, {{"dim", axis}}));
}

// Tuples of indices, the last dimension of `indices`, as indices of the first dimensions of `sizes` counted as one.
ValueId linear(Builder& build, ValueId indices, const Ints& sizes, int64_t first) {
  const int64_t depth = build.dims(indices)[build.rank(indices) - 1];
  const int64_t last = build.rank(indices) - 1;
  Ints strides(static_cast<size_t>(depth), 1);
  Ints limits(static_cast<size_t>(depth), 1);
  for (int64_t i = depth - 1; i >= 0; --i) {
    limits[i] = sizes[first + i];
    if (i + 1 < depth) strides[i] = strides[i + 1] * sizes[first + i + 1];
  }
  indices = build.cast(indices, ACL_INT64);
  const ValueId is_negative = build.emit("Less", {{indices}, build.host_int(0)});
  indices = build.emit("Select", {{is_negative}, {build.add(indices, build.ints(limits))}, {indices}});
  return build.reduce("ReduceSum", build.mul(indices, build.ints(strides)), {last}, false);
}

void gather_nd(Call& call) {
  Builder& build = call.build();
  const ValueId x = call.in(0);
  ValueId indices = call.in(1);
  const int64_t batch = call.integer("batch_dims", 0);
  const Ints sizes = build.sizes(x);
  const int64_t depth = build.dims(indices)[build.rank(indices) - 1];
  if (batch < 0 || batch + depth > build.rank(x)) throw Refused("the indices have more dimensions than the tensor");
  Ints result(sizes.begin(), sizes.begin() + batch);
  for (int64_t i = batch; i + 1 < build.rank(indices); ++i) result.push_back(build.dims(indices)[i]);
  for (int64_t i = batch + depth; i < build.rank(x); ++i) result.push_back(sizes[i]);

  int64_t batches = 1;
  for (int64_t i = 0; i < batch; ++i) batches *= sizes[i];
  int64_t places = 1;
  for (int64_t i = batch; i < batch + depth; ++i) places *= sizes[i];
  ValueId flat = build.view(linear(build, indices, sizes, batch), {batches, -1});
  if (batches > 1) {
    Ints offsets;
    for (int64_t i = 0; i < batches; ++i) offsets.push_back(i * places);
    flat = build.add(flat, build.ints(offsets, {batches, 1}));
  }
  const int64_t rest = batches * places == 0 ? 0 : build.count(x) / (batches * places);
  const ValueId rows = build.view(x, {batches * places, rest});
  const ValueId taken = build.emit("GatherV2", {{rows}, {build.view(flat, {-1})}, build.host({0})});
  call.set(build.view(taken, result));
}

std::string reduction(Call& call) {
  const std::string name = call.words("reduction", "none");
  if (name != "none" && name != "add" && name != "mul" && name != "max" && name != "min")
    throw Refused(text("the reduction ", name, " is not implemented"));
  return name;
}

void scatter_elements(Call& call) {
  Builder& build = call.build();
  const int64_t axis = Builder::index(call.integer("axis", 0), build.rank(call.in(0)));
  const ValueId indices = wrapped(build, call.in(1), build.dims(call.in(0))[axis]);
  call.set(build.emit("ScatterElements", {{call.in(0)}, {indices}, {call.in(2)}},
                      {{"axis", axis}, {"reduction", reduction(call)}}));
}

void scatter_nd(Call& call) {
  Builder& build = call.build();
  const ValueId x = call.in(0);
  const Ints sizes = build.sizes(x);
  const int64_t depth = build.dims(call.in(1))[build.rank(call.in(1)) - 1];
  if (depth > build.rank(x)) throw Refused("the indices have more dimensions than the tensor");
  int64_t places = 1;
  for (int64_t i = 0; i < depth; ++i) places *= sizes[i];
  const int64_t rest = places == 0 ? 0 : build.count(x) / places;
  ValueId rows = build.view(linear(build, call.in(1), sizes, 0), {-1, 1});
  rows = build.broadcast(rows, {build.dims(rows)[0], rest});
  const ValueId updates = build.view(call.in(2), {-1, rest});
  const ValueId y = build.emit("ScatterElements", {{build.view(x, {places, rest})}, {rows}, {updates}},
                               {{"axis", int64_t{0}}, {"reduction", reduction(call)}});
  call.set(build.view(y, sizes));
}

// depth, [off, on]
void one_hot(Call& call) {
  Builder& build = call.build();
  const int64_t depth = build.int_of(build.cast(call.in(1), ACL_INT64));
  const ValueId values = call.in(2);
  const ValueId indices = wrapped(build, build.cast(call.in(0), ACL_INT64), depth);
  const int64_t rank = build.rank(indices) + 1;
  const int64_t axis = Builder::index(call.integer("axis", -1), rank);
  // Indices out of range have no 1: compared, not scattered.
  Ints column(static_cast<size_t>(rank), 1);
  column[axis] = depth;
  Ints sizes = build.sizes(indices);
  sizes.insert(sizes.begin() + axis, 1);
  const ValueId is_on = build.emit("Equal", {{build.view(indices, sizes)}, {build.ints(iota(depth), column)}});
  call.set(build.emit(
      "Select",
      {{is_on}, {build.view(build.slice(values, 0, 1, 2), {})}, {build.view(build.slice(values, 0, 0, 1), {})}}));
}

void top_k(Call& call) {
  Builder& build = call.build();
  const int64_t k = call.has(1) ? build.int_of(call.in(1)) : call.integer("k", 1);
  const int64_t axis = Builder::index(call.integer("axis", -1), build.rank(call.in(0)));
  const std::vector<ValueId> results =
      build.emit_all("TopKV2", {{call.in(0)}, build.host({k})},
                     {{"dim", axis}, {"largest", call.integer("largest", 1) != 0}, {"sorted", true}});
  call.set(0, results[0]);
  call.set(1, results[1]);
}

template <bool is_max>
void arg_extreme(Call& call) {
  Builder& build = call.build();
  ValueId x = call.in(0);
  const int64_t axis = Builder::index(call.integer("axis", 0), build.rank(x));
  const bool takes_last = call.integer("select_last_index", 0) != 0;
  if (takes_last) x = build.emit("ReverseV2", {{x}, build.host({axis})});
  ValueId y = build.emit(is_max ? "ArgMaxV2" : "ArgMin", {{x}, build.host_int(axis)},
                         {{"keep_dims", call.integer("keepdims", 1) != 0}});
  if (takes_last) {
    const ValueId last = build.ints({build.dims(x)[axis] - 1}, {});
    y = build.sub(last, y);
  }
  call.set(y);
}

// Exclusive scans are moved by one, reverse ones run over the reversed tensor.
template <bool is_product>
void scan(Call& call) {
  Builder& build = call.build();
  ValueId x = call.in(0);
  const int64_t axis = Builder::index(build.int_of(call.in(1)), build.rank(x));
  const bool is_reverse = call.integer("reverse", 0) != 0;
  if (is_reverse) x = build.emit("ReverseV2", {{x}, build.host({axis})});
  if (call.integer("exclusive", 0) != 0) {
    Ints before(static_cast<size_t>(build.rank(x)), 0);
    Ints after = before;
    before[axis] = 1;
    after[axis] = -1;
    x = padded(build, x, before, after, is_product ? 1 : 0);
  }
  x = build.emit(is_product ? "Cumprod" : "Cumsum", {{x}, build.host_int(axis)});
  if (is_reverse) x = build.emit("ReverseV2", {{x}, build.host({axis})});
  call.set(x);
}

void reverse_sequence(Call& call) {
  Builder& build = call.build();
  const int64_t batch_axis = call.integer("batch_axis", 1);
  const int64_t time_axis = call.integer("time_axis", 0);
  const ValueId x = call.in(0);
  const int64_t steps = build.dims(x)[time_axis];
  const int64_t batch = build.dims(x)[batch_axis];
  // Step t of a sequence of n steps is step n - 1 - t, if t < n.
  Ints time_sizes(static_cast<size_t>(build.rank(x)), 1);
  time_sizes[time_axis] = steps;
  Ints batch_sizes(static_cast<size_t>(build.rank(x)), 1);
  batch_sizes[batch_axis] = batch;
  const ValueId lengths = build.view(build.cast(call.in(1), ACL_INT64), batch_sizes);
  const ValueId time = build.ints(iota(steps), time_sizes);
  const ValueId reversed = build.sub(build.shifted(lengths, -1), time);
  const ValueId is_within = build.emit("Less", {{time}, {lengths}});
  const ValueId positions = build.emit("Select", {{is_within}, {reversed}, {time}});
  call.set(build.emit("GatherElements", {{x}, {build.broadcast(positions, build.sizes(x))}}, {{"dim", time_axis}}));
}

// The condition has to be known: it decides sizes.
void compress(Call& call) {
  Builder& build = call.build();
  const Ints condition = build.ints_of(call.in(1));
  ValueId x = call.in(0);
  int64_t axis = 0;
  if (call.has_attribute("axis")) {
    axis = Builder::index(call.integer("axis", 0), build.rank(x));
  } else {
    x = build.view(x, {-1});
  }
  Ints positions;
  for (size_t i = 0; i < condition.size() && static_cast<int64_t>(i) < build.dims(x)[axis]; ++i) {
    if (condition[i] != 0) positions.push_back(static_cast<int64_t>(i));
  }
  call.set(build.take(x, axis, positions));
}

// The positions of elements that are not 0: [dimensions, count]. They decide sizes: the elements have to be known.
void non_zero(Call& call) {
  Builder& build = call.build();
  const Ints sizes = build.sizes(call.in(0));
  const std::vector<double> values = build.reals_of(call.in(0));
  std::vector<Ints> positions(std::max<size_t>(sizes.size(), 1));
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] == 0) continue;
    auto rest = static_cast<int64_t>(i);
    for (size_t dim = positions.size(); dim-- > 0;) {
      const int64_t size = sizes.empty() ? 1 : sizes[dim];
      positions[dim].push_back(rest % size);
      rest /= size;
    }
  }
  Ints all;
  for (const Ints& one : positions) all.insert(all.end(), one.begin(), one.end());
  call.set(build.ints(all, {static_cast<int64_t>(positions.size()), static_cast<int64_t>(positions[0].size())}));
}

constexpr LowerRow kRows[] = {
    {"Gather", gather},
    {"GatherElements", gather_elements},
    {"GatherND", gather_nd},
    {"Scatter", scatter_elements},
    {"ScatterElements", scatter_elements},
    {"ScatterND", scatter_nd},
    {"OneHot", one_hot},
    {"TopK", top_k},
    {"ArgMax", arg_extreme<true>},
    {"ArgMin", arg_extreme<false>},
    {"CumSum", scan<false>},
    {"CumProd", scan<true>},
    {"ReverseSequence", reverse_sequence},
    {"Compress", compress},
    {"NonZero", non_zero},
};

}  // namespace

std::span<const LowerRow> index_rows() { return kRows; }

}  // namespace softnpu::graph
