#pragma once
// Operators invoked by the name of their type, through aclopCompileAndExecute.

#include <ATen/core/Tensor.h>
#include <acl/acl.h>
#include <c10/core/Scalar.h>
#include <c10/core/Stream.h>
#include <c10/util/ArrayRef.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace torch_npu {

// An operator's attributes.
class RegistryAttributes {
 public:
  RegistryAttributes();
  void set(const std::string& name, bool value);
  void set(const std::string& name, int64_t value);
  void set(const std::string& name, float value);
  void set(const std::string& name, const std::string& value);
  void set(const std::string& name, at::ScalarType value);
  void set(const std::string& name, c10::IntArrayRef value);
  void set(const std::string& name, c10::ArrayRef<float> value);
  void set(const std::string& name, c10::ArrayRef<uint8_t> value);
  const aclopAttr* get() const { return attributes_.get(); }

 private:
  struct Destroy {
    void operator()(aclopAttr* attributes) const;
  };
  std::unique_ptr<aclopAttr, Destroy> attributes_;
};

// One tensor of a call: its description and where its elements are.
class RegistryOperand {
 public:
  // An omitted input.
  RegistryOperand();
  // Elements of a contiguous tensor, of an npu or of the CPU, which is kept.
  RegistryOperand(at::Tensor tensor, const std::string& name, std::optional<aclFormat> format);
  aclTensorDesc* description() const { return description_.get(); }
  aclDataBuffer* buffer() const { return buffer_.get(); }

 private:
  struct Destroy {
    void operator()(aclTensorDesc* description) const;
    void operator()(aclDataBuffer* buffer) const;
  };
  at::Tensor tensor_;
  std::unique_ptr<aclTensorDesc, Destroy> description_;
  std::unique_ptr<aclDataBuffer, Destroy> buffer_;
};

class RegistryCall {
 public:
  void add_omitted_input() { inputs_.emplace_back(); }
  void add_input(const at::Tensor& tensor, const std::string& name, std::optional<aclFormat> format);
  // Numbers in host memory, which the call copies.
  void add_host_input(c10::IntArrayRef values, at::ScalarType type, const std::string& name);
  void add_host_input(c10::ArrayRef<double> values, at::IntArrayRef sizes, at::ScalarType type);
  void add_host_input(const c10::Scalar& value, at::ScalarType type);
  // Throws unless it is a contiguous npu tensor.
  void add_output(const at::Tensor& tensor, const std::string& name, std::optional<aclFormat> format);
  RegistryAttributes& attributes() { return attributes_; }

  // Enqueues the operator. Throws what the operator compiler says.
  void run(const char* type, c10::Stream stream) const;

 private:
  std::vector<RegistryOperand> inputs_;
  std::vector<RegistryOperand> outputs_;
  RegistryAttributes attributes_;
};

}  // namespace torch_npu
