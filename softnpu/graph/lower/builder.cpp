#include "graph/lower/builder.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/text.h"
#include "graph/ir/numbers.h"
#include "graph/session/operators.h"
#include "graph/session/session.h"

namespace softnpu::graph {
namespace {

void require(const Status& status) {
  if (!status.is_ok()) throw Refused(status.message());
}

bool is_real(aclDataType dtype) {
  return dtype == ACL_FLOAT || dtype == ACL_DOUBLE || dtype == ACL_FLOAT16 || dtype == ACL_BF16;
}

}  // namespace

Ints broadcast_sizes(const Ints& a, const Ints& b) {
  Ints whole = a.size() >= b.size() ? a : b;
  const Ints& other = a.size() >= b.size() ? b : a;
  const size_t shift = whole.size() - other.size();
  for (size_t i = 0; i < other.size(); ++i) {
    int64_t& size = whole[shift + i];
    if (size != other[i] && size != 1 && other[i] != 1) {
      throw Refused(text("sizes ", size, " and ", other[i], " of one dimension do not match"));
    }
    if (size == 1) size = other[i];
  }
  return whole;
}

int64_t CheckedDims::at(int64_t dim) const {
  if (dim >= 0 && dim < static_cast<int64_t>(dims_.size())) return dims_[dim];
  throw Refused(text("dimension ", dim, " of a tensor of ", dims_.size(), " dimensions"));
}

int64_t Builder::index(int64_t dim, int64_t rank) {
  const int64_t most = std::max<int64_t>(rank, 1);
  if (dim < -most || dim >= most) throw Refused(text("dimension ", dim, " of a tensor of ", rank, " dimensions"));
  return dim < 0 ? dim + most : dim;
}

ValueId Builder::constant(aclDataType dtype, const Ints& dims, Bytes bytes) {
  Value value;
  value.kind = ValueKind::kConstant;
  value.dtype = dtype;
  value.dims = Dims(dims);
  value.bytes = std::move(bytes);
  const ValueId id = graph_.add(std::move(value));
  is_known_.resize(graph_.values.size());
  is_known_[id] = true;
  return id;
}

ValueId Builder::ints(const Ints& values, const Ints& dims) {
  return constant(ACL_INT64, dims, copy_bytes(values.data(), values.size() * sizeof(int64_t)));
}

ValueId Builder::reals(const std::vector<double>& values, aclDataType dtype, const Ints& dims) {
  std::vector<char> bytes;
  bytes.reserve(values.size() * aclDataTypeSize(dtype));
  for (const double value : values) {
    if (!append_number(&bytes, value, dtype)) throw Refused("a number of this data type is not implemented");
  }
  return constant(dtype, dims, copy_bytes(bytes.data(), bytes.size()));
}

Operand Builder::number_for(ValueId like, double value) {
  if (is_real(dtype(like))) return number(value);
  return host_int(static_cast<int64_t>(value));
}

ValueId Builder::resolve(ValueId id) const {
  const auto found = evaluated_.find(id);
  return found == evaluated_.end() ? id : found->second;
}

Value Builder::result(const aclTensor& tensor) {
  Value value;
  value.dtype = tensor.dtype;
  value.dims = tensor.dims;
  for (const int64_t size : value.dims) {
    if (size < 0) throw Refused("the sizes of its results are known after a run only");
  }
  return value;
}

std::vector<ValueId> Builder::emit_all(const std::string& type, std::vector<Operand> inputs, Attributes attributes) {
  RegistryCall call;
  Node node;
  bool is_known = true;
  for (Operand& input : inputs) {
    RegistryTensor& typed = call.inputs.emplace_back();
    if (input.value == kNoValue) continue;
    input.value = resolve(input.value);
    is_known &= this->is_known(input.value);
    const Value& value = graph_.values[input.value];
    typed.is_given = true;
    typed.tensor.dims = value.dims;
    typed.tensor.storage_dims = value.dims;
    typed.tensor.dtype = value.dtype;
    typed.tensor.strides = Dims(value.dims.size());
    int64_t stride = 1;
    for (size_t i = value.dims.size(); i-- > 0; stride *= std::max<int64_t>(value.dims[i], 1)) {
      typed.tensor.strides[i] = stride;
    }
    if (!input.on_host) continue;
    const Bytes bytes = bytes_of(input.value);
    typed.host.assign(bytes.data, bytes.data + bytes.size);
    input.value = resolve(input.value);
  }
  auto set = std::make_shared<aclopAttr>();
  set->values = std::move(attributes);
  call.type = type;
  call.attributes = set;
  if (Status status = infer_outputs(&call); !status.is_ok()) throw Refused(text(type, ": ", status.message()));

  node.type = type;
  node.name = node_name_;
  node.inputs = std::move(inputs);
  node.attributes = std::move(set);
  for (const RegistryTensor& output : call.outputs) {
    Value value = result(output.tensor);
    value.name = node_name_;
    const ValueId id = graph_.add(std::move(value));
    producers_[id] = graph_.nodes.size();
    is_known_.resize(graph_.values.size());
    is_known_[id] = is_known;
    node.outputs.push_back(id);
  }
  std::vector<ValueId> outputs = node.outputs;
  graph_.nodes.push_back(std::move(node));
  return outputs;
}

ValueId Builder::view(ValueId x, const Ints& dims) {
  x = resolve(x);
  Ints sizes = dims;
  const auto open = std::ranges::find(sizes, -1);
  if (open != sizes.end()) {
    *open = 1;
    const int64_t others = element_count(Dims(sizes));
    if (others == 0 || count(x) % others != 0) throw Refused("the elements do not fill the sizes");
    *open = count(x) / others;
  }
  if (element_count(Dims(sizes)) != count(x)) {
    throw Refused(text(count(x), " elements do not fill ", element_count(Dims(sizes))));
  }
  if (sizes == this->sizes(x)) return x;
  if (graph_.values[x].kind == ValueKind::kConstant) return constant(dtype(x), sizes, graph_.values[x].bytes);
  Value value;
  value.kind = ValueKind::kView;
  value.dtype = dtype(x);
  value.dims = Dims(sizes);
  value.base = x;
  value.name = node_name_;
  const ValueId id = graph_.add(std::move(value));
  is_known_.resize(graph_.values.size());
  is_known_[id] = is_known_[x];
  return id;
}

ValueId Builder::cast(ValueId x, aclDataType dtype) {
  if (this->dtype(x) == dtype) return x;
  return emit("Cast", {{x}}, {{"dst_type", int64_t{dtype}}});
}

ValueId Builder::transpose(ValueId x, const Ints& order) {
  if (std::ranges::is_sorted(order)) return x;
  return emit("Transpose", {{x}, host(order)});
}

ValueId Builder::broadcast(ValueId x, const Ints& dims) {
  if (sizes(x) == dims) return x;
  return emit("BroadcastTo", {{x}, host(dims)});
}

ValueId Builder::slice(ValueId x, int64_t dim, int64_t first, int64_t last) {
  if (first == 0 && last == dims(x)[dim]) return x;
  Ints offsets(dims(x).size(), 0);
  Ints lengths = sizes(x);
  offsets[dim] = first;
  lengths[dim] = last - first;
  return emit("Slice", {{x}, host(offsets), host(lengths)});
}

ValueId Builder::concatenate(const std::vector<ValueId>& xs, int64_t dim) {
  if (xs.size() == 1) return xs[0];
  std::vector<Operand> inputs;
  inputs.reserve(xs.size());
  for (const ValueId x : xs) inputs.push_back({x});
  return emit("ConcatD", std::move(inputs), {{"concat_dim", dim}});
}

ValueId Builder::take(ValueId x, int64_t dim, const Ints& positions) {
  return emit("GatherV2", {{x}, {ints(positions)}, host({dim})});
}

bool Builder::is_known(ValueId id) const { return is_known_[id]; }

Bytes Builder::bytes_of(ValueId id) {
  id = graph_.root(resolve(id));
  id = resolve(id);
  if (graph_.values[id].kind == ValueKind::kConstant) return graph_.values[id].bytes;
  return graph_.values[evaluate(id)].bytes;
}

// Runs the nodes that `id`, a result, depends on.
ValueId Builder::evaluate(ValueId id) {
  if (!is_known_[id]) {
    throw Refused("a size, an axis or another value that the model's plan needs is computed from an input's elements");
  }
  Graph part;
  std::unordered_map<ValueId, ValueId> copies;
  // On a stack of its own: chains may be long.
  std::vector<std::pair<ValueId, bool>> stack = {{id, false}};
  while (!stack.empty()) {
    const auto [one, is_ready] = stack.back();
    stack.pop_back();
    if (copies.contains(one)) continue;
    const Value& value = graph_.values[one];
    const ValueId computed = resolve(one);
    if (computed != one || value.kind == ValueKind::kConstant) {
      copies[one] = part.add(graph_.values[computed]);
      continue;
    }
    if (value.kind == ValueKind::kView) {
      if (is_ready) {
        Value copy = value;
        copy.base = copies[value.base];
        copies[one] = part.add(std::move(copy));
      } else {
        stack.push_back({one, true});
        stack.push_back({value.base, false});
      }
      continue;
    }
    const Node& node = graph_.nodes[producers_.at(one)];
    if (!is_ready) {
      stack.push_back({one, true});
      for (const Operand& input : node.inputs) {
        if (input.value != kNoValue) stack.push_back({input.value, false});
      }
      continue;
    }
    Node copy = node;
    for (Operand& input : copy.inputs) {
      if (input.value != kNoValue) input.value = copies[input.value];
    }
    for (ValueId& output : copy.outputs) {
      const ValueId before = output;
      output = part.add(graph_.values[before]);
      copies[before] = output;
    }
    part.nodes.push_back(std::move(copy));
  }
  part.outputs = {copies[id]};

  const Value& wanted = graph_.values[id];
  const size_t bytes = byte_count(wanted);
  std::vector<char> host(bytes);
  if (bytes > 0) {
    std::unique_ptr<Session> session;
    DeviceMemory memory;
    require(Session::create(std::make_shared<Graph>(std::move(part)), {}, &session));
    require(memory.allocate(bytes));
    const Buffer out{memory.data(), bytes};
    require(session->run({}, std::span(&out, 1), nullptr));
    require(session->wait());
    require(status_of(aclrtMemcpy(host.data(), bytes, memory.data(), bytes, ACL_MEMCPY_DEVICE_TO_HOST)));
  }
  const ValueId created = constant(wanted.dtype, sizes(id), copy_bytes(host.data(), bytes));
  evaluated_[id] = created;
  return created;
}

Value Builder::computed(ValueId id) {
  Value constant;
  constant.dtype = dtype(id);
  constant.bytes = bytes_of(id);
  return constant;
}

int64_t Builder::int_of(ValueId id) {
  const Ints values = ints_of(id);
  if (values.empty()) throw Refused("a number is needed, not a tensor without elements");
  return values[0];
}

double Builder::real_of(ValueId id) {
  const std::vector<double> values = reals_of(id);
  if (values.empty()) throw Refused("a number is needed, not a tensor without elements");
  return values[0];
}

Ints Builder::ints_of(ValueId id) {
  Ints values;
  require(read_integers(computed(id), &values));
  return values;
}

std::vector<double> Builder::reals_of(ValueId id) {
  std::vector<double> values;
  require(read_numbers(computed(id), &values));
  return values;
}

}  // namespace softnpu::graph
