#pragma once
// Graphs of softnpu's engine, built node by node.

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

struct softnpuBuiltGraph;

namespace torch_npu {

using GraphAttribute = std::variant<bool, std::int64_t, double, std::string, std::vector<std::int64_t>>;

struct GraphMemory {
  std::size_t work;
  std::size_t weights;
  std::size_t parameters;  // of the program
};

// A graph while it is built, then compiled. What the engine does not take is a ValueError with its sentence.
class BuiltGraph {
 public:
  enum class Kind : std::uint8_t { kInput, kParameter, kConstant };

  explicit BuiltGraph(c10::DeviceIndex device);
  BuiltGraph(const BuiltGraph&) = delete;
  BuiltGraph& operator=(const BuiltGraph&) = delete;
  ~BuiltGraph();

  // Of an input only the type and sizes count; a parameter is a contiguous npu tensor, a constant one on the CPU.
  int add_value(const at::Tensor& tensor, Kind kind);
  int view(int value, const std::vector<std::int64_t>& sizes);
  // Operands are values, -1 for none, and whether the operator needs the bytes when it is planned.
  std::vector<int> node(const std::string& type, const std::string& name,
                        const std::vector<std::pair<int, bool>>& operands,
                        const std::vector<std::pair<std::string, GraphAttribute>>& attributes);
  // The number of the value's aclDataType, and its sizes.
  std::pair<int, std::vector<std::int64_t>> describe(int value) const;
  void compile(const std::vector<int>& outputs);
  // Launches the graph on the current stream.
  void run(const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>& outputs);
  std::string print() const;
  GraphMemory memory() const;

 private:
  c10::DeviceIndex device_;
  softnpuBuiltGraph* graph_ = nullptr;
};

}  // namespace torch_npu
