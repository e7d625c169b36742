#pragma once
// A fused node: a session of the graph engine whose inputs and outputs are copied from and to tensors of the CPU.

#include <deque>
#include <mutex>

#include "graph/onnx/model.h"
#include "graph/onnxruntime/api.h"
#include "graph/session/device_memory.h"
#include "graph/session/session.h"

namespace softnpu::graph::ort {

// Makes device 0 current in this thread.
void use_device();

// Throws Failure with the reason why the model does not compile, or if its outputs are not of the model's types and
// sizes.
std::unique_ptr<Session> compile(const onnx::Model& model);

class CompiledNode : public OrtNodeComputeInfo {
 public:
  // `inputs` are the numbers of the fused node's inputs that the session's are, in order.
  CompiledNode(const Api& api, std::unique_ptr<Session> session, std::vector<size_t> inputs);
  CompiledNode(const CompiledNode&) = delete;
  CompiledNode& operator=(const CompiledNode&) = delete;
  ~CompiledNode();

 private:
  void run(OrtKernelContext* context);

  Api api_;
  std::vector<size_t> numbers_;
  std::mutex running_;  // guards what follows
  std::deque<DeviceMemory> memory_;
  std::vector<Buffer> inputs_;
  std::vector<Buffer> outputs_;
  std::unique_ptr<Session> session_;
};

}  // namespace softnpu::graph::ort
