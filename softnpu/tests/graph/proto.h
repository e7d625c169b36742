#pragma once
// Writes messages of protobuf, for models of ONNX in tests. Facts: onnx-ml.proto of the package onnx 1.23.2
// (Apache-2.0).

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace graph_tests {

class Message {
 public:
  Message& number(int field, uint64_t value) {
    varint(static_cast<uint64_t>(field) << 3);
    varint(value);
    return *this;
  }
  Message& words(int field, const std::string& value) {
    varint(static_cast<uint64_t>(field) << 3 | 2);
    varint(value.size());
    bytes_ += value;
    return *this;
  }
  Message& message(int field, const Message& value) { return words(field, value.bytes_); }
  const std::string& bytes() const { return bytes_; }

 private:
  void varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

template <typename T>
Message tensor(const std::string& name, int type, const std::vector<int64_t>& dims, const std::vector<T>& values) {
  Message result;
  for (const int64_t size : dims) result.number(1, static_cast<uint64_t>(size));
  std::string raw(values.size() * sizeof(T), '\0');
  std::memcpy(raw.data(), values.data(), raw.size());
  return result.number(2, static_cast<uint64_t>(type)).words(8, name).words(9, raw);
}

inline Message attribute(const std::string& name, const std::vector<int64_t>& values) {
  Message result;
  result.words(1, name);
  for (const int64_t value : values) result.number(8, static_cast<uint64_t>(value));
  return result.number(20, 7);
}

inline Message integer(const std::string& name, int64_t value) {
  return Message().words(1, name).number(3, static_cast<uint64_t>(value)).number(20, 2);
}

inline Message string(const std::string& name, const std::string& value) {
  return Message().words(1, name).words(4, value).number(20, 3);
}

inline Message node(const std::string& type, const std::vector<std::string>& inputs, const std::string& output,
                    const std::vector<Message>& attributes = {}) {
  Message result;
  for (const std::string& input : inputs) result.words(1, input);
  result.words(2, output).words(3, "node_" + output).words(4, type);
  for (const Message& one : attributes) result.message(5, one);
  return result;
}

// float32
inline Message value_info(const std::string& name, const std::vector<int64_t>& dims) {
  Message shape;
  for (const int64_t size : dims) shape.message(1, Message().number(1, static_cast<uint64_t>(size)));
  const Message tensor_type = Message().number(1, 1).message(2, shape);
  return Message().words(1, name).message(2, Message().message(1, tensor_type));
}

// Two convolutions with a norm, a reshape whose sizes are computed, and a product: what networks have.
inline std::string small_network() {
  const std::vector<float> filter(4 * 3 * 3 * 3, 0.25F);
  const std::vector<float> channel(4, 0.5F);
  const std::vector<float> weight(16 * 5, 0.125F);
  Message graph;
  graph.message(1, node("Conv", {"x", "w"}, "c", {attribute("pads", {1, 1, 1, 1})}))
      .message(1, node("BatchNormalization", {"c", "s", "s", "s", "s"}, "n"))
      .message(1, node("Relu", {"n"}, "r"))
      .message(1, node("MaxPool", {"r"}, "p", {attribute("kernel_shape", {2, 2}), attribute("strides", {2, 2})}))
      .message(1, node("Shape", {"p"}, "d"))
      .message(1, node("Gather", {"d", "i"}, "b"))
      .message(1, node("Concat", {"b", "m"}, "t", {Message().words(1, "axis").number(3, 0).number(20, 2)}))
      .message(1, node("Reshape", {"p", "t"}, "f"))
      .message(1, node("Gemm", {"f", "k"}, "y"))
      .words(2, "g");
  graph.message(5, tensor("w", 1, {4, 3, 3, 3}, filter))
      .message(5, tensor("s", 1, {4}, channel))
      .message(5, tensor<int64_t>("i", 7, {1}, {0}))
      .message(5, tensor<int64_t>("m", 7, {1}, {-1}))
      .message(5, tensor("k", 1, {16, 5}, weight));
  graph.message(11, value_info("x", {1, 3, 4, 4})).message(12, value_info("y", {1, 5}));
  return Message().number(1, 8).message(7, graph).message(8, Message().words(1, "").number(2, 17)).bytes();
}

// One node each of operators with sizes, axes, indices and other numbers that a model may get wrong.
inline std::string many_operators() {
  Message graph;
  int results = 0;
  int constants = 0;
  const auto add = [&](const std::string& type, const std::vector<std::string>& inputs,
                       const std::vector<Message>& attributes = {}) {
    graph.message(1, node(type, inputs, "y" + std::to_string(results++), attributes));
  };
  const auto numbers = [&](const std::vector<int64_t>& values) {
    const std::string name = "n" + std::to_string(constants++);
    graph.message(5, tensor(name, 7, {static_cast<int64_t>(values.size())}, values));
    return name;
  };
  const auto reals = [&](const std::vector<int64_t>& dims) {
    size_t count = 1;
    for (const int64_t size : dims) count *= static_cast<size_t>(size);
    const std::string name = "n" + std::to_string(constants++);
    graph.message(5, tensor(name, 1, dims, std::vector<float>(count, 0.5F)));
    return name;
  };
  add("Transpose", {"x"}, {attribute("perm", {0, 2, 3, 1})});
  add("Slice", {"x", numbers({0, 1}), numbers({3, 4}), numbers({1, 2})});
  add("Pad", {"x", numbers({0, 0, 1, 1, 0, 0, 1, 1})});
  add("ReduceMean", {"x"}, {attribute("axes", {2, -1})});
  add("Unsqueeze", {"x", numbers({0, 5})});
  add("Expand", {"x", numbers({2, 3, 4, 4})});
  add("Reshape", {"x", numbers({0, -1})});
  add("Gather", {"x", numbers({2, 0})}, {integer("axis", 1)});
  add("Softmax", {"x"}, {integer("axis", 2)});
  add("LayerNormalization", {"x", reals({4})}, {integer("axis", -1)});
  add("InstanceNormalization", {"x", reals({3}), reals({3})});
  add("AveragePool", {"x"}, {attribute("kernel_shape", {2, 2}), attribute("pads", {1, 0, 0, 1})});
  add("ConvTranspose", {"x", reals({3, 2, 2, 2})}, {attribute("strides", {2, 2})});
  add("Resize", {"x", "", "", numbers({1, 3, 8, 8})}, {string("mode", "linear")});
  add("TopK", {"x", numbers({2})}, {integer("axis", -1)});
  add("CumSum", {"x", numbers({1})});
  add("OneHot", {numbers({1, 3, 0}), numbers({4}), reals({2})});
  add("Einsum", {"x", reals({4, 5})}, {string("equation", "nchw,wk->nchk")});
  add("DepthToSpace", {"x"}, {integer("blocksize", 1)});
  add("LRN", {"x"}, {integer("size", 3)});
  add("ArgMax", {"x"}, {integer("axis", 1)});
  add("Concat", {"x", "x"}, {integer("axis", 1)});
  add("Tile", {"x", numbers({1, 2, 1, 1})});
  add("Split", {"x", numbers({3})}, {integer("axis", 1)});
  add("DFT", {reals({1, 6, 1})}, {integer("axis", 1)});
  add("CenterCropPad", {"x", numbers({1, 3, 6, 2})});
  add("LpPool", {"x"}, {attribute("kernel_shape", {2, 2})});
  graph.words(2, "g").message(11, value_info("x", {1, 3, 4, 4}));
  for (int i = 0; i < results; ++i) graph.message(12, value_info("y" + std::to_string(i), {}));
  return Message().number(1, 8).message(7, graph).message(8, Message().words(1, "").number(2, 18)).bytes();
}

}  // namespace graph_tests
