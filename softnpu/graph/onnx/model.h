#pragma once
// A model of ONNX as it is in its file. Facts: onnx-ml.proto of the package onnx 1.23.2 (Apache-2.0).

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "graph/ir/graph.h"

namespace softnpu::graph::onnx {

// TensorProto.DataType.
enum DataType : int32_t {
  kUndefined = 0,
  kFloat = 1,
  kUint8 = 2,
  kInt8 = 3,
  kUint16 = 4,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kString = 8,
  kBool = 9,
  kFloat16 = 10,
  kDouble = 11,
  kUint32 = 12,
  kUint64 = 13,
  kComplex64 = 14,
  kComplex128 = 15,
  kBfloat16 = 16,
};

struct Tensor {
  std::string name;
  int32_t dtype = kUndefined;
  Dims dims;
  Bytes bytes;  // elements one after the other
};

struct GraphDef;

struct Attribute {
  std::string name;
  std::string reference;  // in the body of a function: the function's attribute that it takes the value of
  int32_t type = 0;
  float real = 0;
  int64_t integer = 0;
  std::string words;
  std::vector<float> reals;
  std::vector<int64_t> integers;
  std::vector<std::string> strings;
  std::shared_ptr<const Tensor> tensor;
  std::shared_ptr<const GraphDef> graph;
};

struct NodeDef {
  std::string type;
  std::string domain;
  std::string name;
  std::vector<std::string> inputs;  // empty: omitted
  std::vector<std::string> outputs;
  std::vector<Attribute> attributes;
};

// An input or output; sizes are -1 if they are not fixed.
struct ValueInfo {
  std::string name;
  int32_t dtype = kUndefined;
  bool is_tensor = false;
  bool has_shape = false;
  std::vector<int64_t> dims;
  std::vector<std::string> names;  // of the sizes, "" if they have none
};

struct GraphDef {
  std::string name;
  std::vector<NodeDef> nodes;
  std::vector<Tensor> initializers;
  std::vector<ValueInfo> inputs;
  std::vector<ValueInfo> outputs;
};

struct FunctionDef {
  std::string name;
  std::string domain;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<NodeDef> nodes;
  std::map<std::string, Attribute> defaults;
  std::map<std::string, int64_t> opsets;
};

struct Model {
  int64_t ir_version = 0;
  std::string producer;
  std::map<std::string, int64_t> opsets;  // domain ("" for ai.onnx) to version
  GraphDef graph;
  std::vector<FunctionDef> functions;
};

// The bytes of tensors outside of the model, by the location, offset and length that the model has for them.
using ExternalData = std::map<std::string, Bytes>;

// Where external data is: in `known`, else in the files of `folder`, if it is not empty. `known` gets what is read.
struct ExternalFiles {
  std::string folder;
  ExternalData* known = nullptr;
};

// Reads a serialized ModelProto. Tensors refer to `message`, which `owner` keeps, or have bytes of their own.
Status read_model(std::string_view message, std::shared_ptr<const void> owner, const ExternalFiles& files, Model* out);
// `bytes` and `external`, if they are given, get the file's and those of the files beside it.
Status read_model_file(const std::string& path, Model* out, Bytes* bytes = nullptr, ExternalData* external = nullptr);

// The elements of a serialized TensorProto.
Status read_tensor(std::string_view message, const std::shared_ptr<const void>& owner, const ExternalFiles& files,
                   Tensor* out);

// ACL_DT_UNDEFINED if operators do not have the type.
aclDataType dtype_of(int32_t type);
const char* name_of(int32_t type);

}  // namespace softnpu::graph::onnx
