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
  Message made;
  for (const int64_t size : dims) made.number(1, static_cast<uint64_t>(size));
  std::string raw(values.size() * sizeof(T), '\0');
  std::memcpy(raw.data(), values.data(), raw.size());
  return made.number(2, static_cast<uint64_t>(type)).words(8, name).words(9, raw);
}

inline Message attribute(const std::string& name, const std::vector<int64_t>& values) {
  Message made;
  made.words(1, name);
  for (const int64_t value : values) made.number(8, static_cast<uint64_t>(value));
  return made.number(20, 7);
}

inline Message node(const std::string& type, const std::vector<std::string>& inputs, const std::string& output,
                    const std::vector<Message>& attributes = {}) {
  Message made;
  for (const std::string& input : inputs) made.words(1, input);
  made.words(2, output).words(3, "node_" + output).words(4, type);
  for (const Message& one : attributes) made.message(5, one);
  return made;
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

}  // namespace graph_tests
