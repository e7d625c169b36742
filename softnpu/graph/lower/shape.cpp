// Operators that make, view and move tensors.

#include <algorithm>

#include "base/text.h"
#include "graph/lower/rows.h"

namespace softnpu::graph {
namespace {

void constant(Call& call) {
  Builder& build = call.build();
  for (const onnx::Attribute& attribute : call.node().attributes) {
    if (attribute.name == "value" && attribute.tensor != nullptr) {
      const onnx::Tensor& tensor = *attribute.tensor;
      return call.set(
          build.constant(onnx::dtype_of(tensor.dtype), {tensor.dims.begin(), tensor.dims.end()}, tensor.bytes));
    }
    if (attribute.name == "value_float") return call.set(build.scalar(attribute.real, ACL_FLOAT));
    if (attribute.name == "value_int") return call.set(build.ints({attribute.integer}, {}));
    if (attribute.name == "value_ints") return call.set(build.ints(attribute.integers));
    if (attribute.name == "value_floats") {
      return call.set(build.reals({attribute.reals.begin(), attribute.reals.end()}, ACL_FLOAT,
                                  {static_cast<int64_t>(attribute.reals.size())}));
    }
  }
  throw Refused("constants that are tensors or numbers are implemented");
}

void constant_of_shape(Call& call) {
  Builder& build = call.build();
  const Ints sizes = build.ints_of(call.in(0));
  const onnx::Attribute* value = call.attribute("value");
  const ValueId number = value == nullptr || value->tensor == nullptr
                             ? build.scalar(0, ACL_FLOAT)
                             : build.constant(onnx::dtype_of(value->tensor->dtype), {}, value->tensor->bytes);
  call.set(build.broadcast(number, sizes));
}

void shape(Call& call) {
  Builder& build = call.build();
  const Ints sizes = build.sizes(call.in(0));
  const auto rank = static_cast<int64_t>(sizes.size());
  const auto within = [rank](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank); };
  const int64_t first = within(call.integer("start", 0));
  const int64_t last = std::max(first, within(call.integer("end", rank)));
  call.set(build.ints(Ints(sizes.begin() + first, sizes.begin() + last)));
}

void size(Call& call) { call.set(call.build().ints({call.build().count(call.in(0))}, {})); }

void reshape(Call& call) {
  Builder& build = call.build();
  Ints sizes = call.ints_at(1, "shape");
  if (call.integer("allowzero", 0) == 0) {
    for (size_t i = 0; i < sizes.size(); ++i) {
      if (sizes[i] != 0) continue;
      if (static_cast<int64_t>(i) >= build.rank(call.in(0))) throw Refused("a size of 0 copies no dimension");
      sizes[i] = build.dims(call.in(0))[i];
    }
  }
  call.set(build.view(call.in(0), sizes));
}

void flatten(Call& call) {
  Builder& build = call.build();
  const int64_t rank = build.rank(call.in(0));
  int64_t axis = call.integer("axis", 1);
  axis += axis < 0 ? rank : 0;
  if (axis < 0 || axis > rank) throw Refused(text("axis ", axis, " of ", rank, " dimensions"));
  int64_t rows = 1;
  int64_t columns = 1;
  for (int64_t i = 0; i < rank; ++i) (i < axis ? rows : columns) *= build.dims(call.in(0))[i];
  call.set(build.view(call.in(0), {rows, columns}));
}

void squeeze(Call& call) {
  Builder& build = call.build();
  const Ints sizes = build.sizes(call.in(0));
  const auto rank = static_cast<int64_t>(sizes.size());
  std::vector<bool> is_dropped(sizes.size());
  if (call.has_ints_at(1, "axes")) {
    for (const int64_t axis : call.ints_at(1, "axes")) is_dropped[Builder::index(axis, rank)] = true;
  } else {
    for (size_t i = 0; i < sizes.size(); ++i) is_dropped[i] = sizes[i] == 1;
  }
  Ints kept;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (is_dropped[i] && sizes[i] != 1) throw Refused(text("dimension ", i, " has ", sizes[i], " elements, not 1"));
    if (!is_dropped[i]) kept.push_back(sizes[i]);
  }
  call.set(build.view(call.in(0), kept));
}

void unsqueeze(Call& call) {
  Builder& build = call.build();
  const Ints axes = call.ints_at(1, "axes");
  const Ints sizes = build.sizes(call.in(0));
  const size_t rank = sizes.size() + axes.size();
  std::vector<bool> is_new(rank);
  for (const int64_t axis : axes) is_new[Builder::index(axis, static_cast<int64_t>(rank))] = true;
  Ints result;
  for (size_t i = 0, from = 0; i < rank; ++i) result.push_back(is_new[i] || from == sizes.size() ? 1 : sizes[from++]);
  call.set(build.view(call.in(0), result));
}

void transpose(Call& call) {
  Ints order = call.ints("perm");
  if (!call.has_attribute("perm")) {
    order = iota(call.build().rank(call.in(0)));
    std::ranges::reverse(order);
  }
  call.set(call.build().transpose(call.in(0), order));
}

void concat(Call& call) {
  Builder& build = call.build();
  std::vector<ValueId> xs;
  for (size_t i = 0; i < call.count(); ++i) xs.push_back(call.in(i));
  if (xs.empty()) throw Refused("nothing to concatenate");
  call.set(build.concatenate(xs, Builder::index(call.integer("axis", 1), build.rank(xs[0]))));
}

void split(Call& call) {
  Builder& build = call.build();
  const ValueId x = call.in(0);
  const int64_t axis = Builder::index(call.integer("axis", 0), build.rank(x));
  const auto parts = static_cast<int64_t>(call.node().outputs.size());
  const int64_t size = build.dims(x)[axis];
  if (parts < 1) throw Refused("a split into no parts");
  Ints sizes;
  if (call.has_ints_at(1, "split")) {
    sizes = call.ints_at(1, "split");
  } else {
    const int64_t chunk = (size + parts - 1) / parts;
    for (int64_t i = 0; i < parts; ++i) sizes.push_back(std::clamp<int64_t>(size - i * chunk, 0, chunk));
  }
  int64_t first = 0;
  for (size_t i = 0; i < sizes.size() && i < call.node().outputs.size(); ++i) {
    if (first + sizes[i] > size || sizes[i] < 0) throw Refused("the parts are larger than the whole");
    if (call.wants(i)) call.set(i, build.slice(x, axis, first, first + sizes[i]));
    first += sizes[i];
  }
}

// One dimension of a slice. Bounds are clamped, as Python's are.
ValueId slice_dim(Builder& build, ValueId x, int64_t dim, int64_t start, int64_t end, int64_t step) {
  const int64_t size = build.dims(x)[dim];
  if (step == 0) throw Refused("a slice has the step 0");
  const int64_t low = step > 0 ? 0 : -1;
  const int64_t high = step > 0 ? size : size - 1;
  start = std::clamp(start < 0 ? start + size : start, step > 0 ? 0 : int64_t{-1}, high);
  end = std::clamp(end < 0 ? end + size : end, low, step > 0 ? size : size - 1);
  if (step == 1) return build.slice(x, dim, start, std::max(start, end));
  Ints positions;
  for (int64_t at = start; step > 0 ? at < end : at > end; at += step) positions.push_back(at);
  return build.take(x, dim, positions);
}

void slice(Call& call) {
  Builder& build = call.build();
  ValueId x = call.in(0);
  const Ints starts = call.ints_at(1, "starts");
  const Ints ends = call.ints_at(2, "ends");
  const Ints axes = call.has_ints_at(3, "axes") ? call.ints_at(3, "axes") : iota(static_cast<int64_t>(starts.size()));
  const Ints steps = call.has(4) ? build.ints_of(call.in(4)) : Ints(starts.size(), 1);
  if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size()) {
    throw Refused("starts, ends, axes and steps differ in number");
  }
  for (size_t i = 0; i < starts.size(); ++i) {
    x = slice_dim(build, x, Builder::index(axes[i], build.rank(x)), starts[i], ends[i], steps[i]);
  }
  call.set(x);
}

void expand(Call& call) {
  Builder& build = call.build();
  call.set(build.broadcast(call.in(0), broadcast_sizes(build.sizes(call.in(0)), build.ints_of(call.in(1)))));
}

void tile(Call& call) {
  Builder& build = call.build();
  call.set(build.emit("Tile", {{call.in(0)}, build.host(build.ints_of(call.in(1)))}));
}

// The position that a padded one copies.
int64_t source(const std::string& mode, int64_t at, int64_t size) {
  if (mode == "edge") return std::clamp<int64_t>(at, 0, size - 1);
  if (mode == "wrap") return ((at % size) + size) % size;
  if (size == 1) return 0;
  const int64_t period = 2 * (size - 1);
  const int64_t within = ((at % period) + period) % period;
  return within < size ? within : period - within;
}

void pad(Call& call) {
  Builder& build = call.build();
  ValueId x = call.in(0);
  const int64_t rank = build.rank(x);
  const std::string mode = call.words("mode", "constant");
  const Ints pads = call.has(1)                  ? build.ints_of(call.in(1))
                    : call.has_attribute("pads") ? call.ints("pads")
                                                 : call.ints("paddings");
  Ints axes = call.has(3) ? build.ints_of(call.in(3)) : iota(rank);
  if (pads.size() != 2 * axes.size()) throw Refused("two paddings for each dimension are needed");
  Ints before(static_cast<size_t>(rank), 0);
  Ints after(static_cast<size_t>(rank), 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t axis = Builder::index(axes[i], rank);
    before[axis] = pads[i];
    after[axis] = pads[axes.size() + i];
  }
  if (mode == "constant") {
    Ints pairs;
    for (size_t i = 0; i < before.size(); ++i) {
      pairs.push_back(before[i]);
      pairs.push_back(after[i]);
    }
    Operand value = build.number_for(x, call.real("value", 0));
    if (call.has(2)) {
      const bool is_known = build.is_known(call.in(2));
      value = is_known ? build.number_for(x, build.real_of(call.in(2))) : Operand{build.view(call.in(2), {})};
    }
    return call.set(build.emit("PadV3", {{x}, build.host(pairs), value}));
  }
  if (mode != "edge" && mode != "reflect" && mode != "wrap") throw Refused(text("the mode ", mode, " is not known"));
  for (int64_t dim = 0; dim < rank; ++dim) {
    if (before[dim] == 0 && after[dim] == 0) continue;
    Ints positions;
    const int64_t size = build.dims(x)[dim];
    if (size == 0) throw Refused("an empty dimension has no edge");
    for (int64_t at = -before[dim]; at < size + after[dim]; ++at) positions.push_back(source(mode, at, size));
    x = build.take(x, dim, positions);
  }
  call.set(x);
}

void range(Call& call) {
  Builder& build = call.build();
  const Operand bounds[] = {{call.in(0), true}, {call.in(1), true}, {call.in(2), true}};
  const std::vector<double> numbers = {build.real_of(call.in(0)), build.real_of(call.in(1)), build.real_of(call.in(2))};
  const bool is_empty = numbers[2] > 0 ? numbers[0] >= numbers[1] : numbers[0] <= numbers[1];
  if (is_empty) return call.set(build.reals({}, build.dtype(call.in(0)), {0}));
  call.set(build.emit("Range", {bounds[0], bounds[1], bounds[2]}));
}

void eye_like(Call& call) {
  Builder& build = call.build();
  const ValueId x = call.in(0);
  if (build.rank(x) != 2) throw Refused("a matrix is needed");
  const aclDataType dtype =
      call.has_attribute("dtype") ? onnx::dtype_of(static_cast<int32_t>(call.integer("dtype", 1))) : build.dtype(x);
  const int64_t rows = build.dims(x)[0];
  const int64_t columns = build.dims(x)[1];
  const int64_t k = call.integer("k", 0);
  std::vector<double> values(static_cast<size_t>(rows * columns), 0);
  for (int64_t row = std::max<int64_t>(0, -k); row < rows && row + k < columns; ++row)
    values[row * columns + row + k] = 1;
  call.set(build.reals(values, dtype, {rows, columns}));
}

void trilu(Call& call) {
  Builder& build = call.build();
  const int64_t k = call.has(1) ? build.int_of(call.in(1)) : 0;
  const char* type = call.integer("upper", 1) != 0 ? "Triu" : "Tril";
  call.set(build.emit(type, {{call.in(0)}}, {{"diagonal", k}}));
}

// [N, C b b, H, W] to [N, C, H b, W b].
void depth_to_space(Call& call) {
  Builder& build = call.build();
  const Dims d = build.dims(call.in(0));
  const int64_t b = call.integer("blocksize", 1);
  if (d.size() != 4 || b < 1 || d[1] % (b * b) != 0) throw Refused("an image whose channels fill the blocks is needed");
  const int64_t c = d[1] / (b * b);
  const bool is_dcr = call.words("mode", "DCR") == "DCR";
  ValueId x = build.view(call.in(0), is_dcr ? Ints{d[0], b, b, c, d[2], d[3]} : Ints{d[0], c, b, b, d[2], d[3]});
  x = build.transpose(x, is_dcr ? Ints{0, 3, 4, 1, 5, 2} : Ints{0, 1, 4, 2, 5, 3});
  call.set(build.view(x, {d[0], c, d[2] * b, d[3] * b}));
}

void space_to_depth(Call& call) {
  Builder& build = call.build();
  const Dims d = build.dims(call.in(0));
  const int64_t b = call.integer("blocksize", 1);
  if (d.size() != 4 || b < 1 || d[2] % b != 0 || d[3] % b != 0) throw Refused("an image of whole blocks is needed");
  ValueId x = build.view(call.in(0), {d[0], d[1], d[2] / b, b, d[3] / b, b});
  x = build.transpose(x, {0, 3, 5, 1, 2, 4});
  call.set(build.view(x, {d[0], d[1] * b * b, d[2] / b, d[3] / b}));
}

constexpr LowerRow kRows[] = {
    {"Constant", constant},
    {"ConstantOfShape", constant_of_shape},
    {"Shape", shape},
    {"Size", size},
    {"Reshape", reshape},
    {"Flatten", flatten},
    {"Squeeze", squeeze},
    {"Unsqueeze", unsqueeze},
    {"Transpose", transpose},
    {"Concat", concat},
    {"Split", split},
    {"Slice", slice},
    {"Expand", expand},
    {"Tile", tile},
    {"Pad", pad},
    {"Range", range},
    {"EyeLike", eye_like},
    {"Trilu", trilu},
    {"DepthToSpace", depth_to_space},
    {"SpaceToDepth", space_to_depth},
};

}  // namespace

std::span<const LowerRow> shape_rows() { return kRows; }

}  // namespace softnpu::graph
