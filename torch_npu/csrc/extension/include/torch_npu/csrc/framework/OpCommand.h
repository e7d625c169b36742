#pragma once
// Work of an extension in the order of the current stream: a function that enqueues it, or an operator by its name.

#include <c10/core/Scalar.h>
#include <c10/util/ArrayRef.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "third_party/acl/inc/acl/acl.h"
#include "torch_npu/csrc/aten/CustomFunctions.h"
#include "torch_npu/csrc/aten/Tensor.h"
#include "torch_npu/csrc/core/npu/NPUMacros.h"
#include "torch_npu/csrc/core/npu/NPUStream.h"

namespace at_npu::native {

// Enqueues work on a stream; 0, or an error code.
using PROC_FUNC = std::function<int()>;

// Whether the operator compiler may read the values of an input in host memory.
enum CompileType { MEMORY_HOST_COMPILE_DEPENDENT = 1, MEMORY_HOST_COMPILE_INDEPENDENT = 2 };

// OpCommand cmd; cmd.Name("Add").Input(a).Input(b).Output(c).Run();
// Tensors are npu tensors. Run() throws what the runtime says.
class TORCH_NPU_API OpCommand {
 public:
  OpCommand();
  OpCommand(const OpCommand&) = delete;
  OpCommand& operator=(const OpCommand&) = delete;
  ~OpCommand();

  OpCommand& Name(const std::string& name);
  // Run() calls it, instead of the operator compiler.
  OpCommand& SetCustomHandler(PROC_FUNC function);

  // An omitted optional input.
  OpCommand& Input();
  // Made contiguous. A CPU tensor of rank 0 is copied to the device.
  OpCommand& Input(const at::Tensor& input, const std::string& name = "",
                   const std::optional<aclFormat>& format = std::nullopt, const std::string& real_dtype = "");
  OpCommand& InputWithoutContiguous(const at::Tensor& input, const std::string& name = "",
                                    const std::string& real_dtype = "");
  OpCommand& Inputs(const at::TensorList& inputs);
  // Numbers in host memory, converted to `type`.
  OpCommand& Input(const c10::IntArrayRef& values, at::ScalarType type = at::kLong,
                   CompileType compile_type = MEMORY_HOST_COMPILE_DEPENDENT, const std::string& real_dtype = "",
                   const std::string& name = "");
  OpCommand& Input(const c10::ArrayRef<double>& values, at::IntArrayRef sizes, at::ScalarType type = at::kDouble,
                   CompileType compile_type = MEMORY_HOST_COMPILE_DEPENDENT, const std::string& real_dtype = "");
  OpCommand& Input(const c10::Scalar& value, at::ScalarType type,
                   CompileType compile_type = MEMORY_HOST_COMPILE_INDEPENDENT);

  // Written in place: contiguous, of the operator's sizes.
  OpCommand& Output(at::Tensor& output, const std::string& name = "",
                    const std::optional<aclFormat>& format = std::nullopt, const std::string& real_dtype = "");

  OpCommand& Attr(const std::string& name, bool value);
  OpCommand& Attr(const std::string& name, int value) { return Attr(name, static_cast<int64_t>(value)); }
  OpCommand& Attr(const std::string& name, int64_t value);
  OpCommand& Attr(const std::string& name, float value);
  OpCommand& Attr(const std::string& name, double value) { return Attr(name, static_cast<float>(value)); }
  OpCommand& Attr(const std::string& name, const std::string& value);
  OpCommand& Attr(const std::string& name, const char* value) { return Attr(name, std::string(value)); }
  OpCommand& Attr(const std::string& name, at::ScalarType value);
  OpCommand& Attr(const std::string& name, c10::IntArrayRef value);
  OpCommand& Attr(const std::string& name, c10::ArrayRef<float> value);
  OpCommand& Attr(const std::string& name, c10::ArrayRef<uint8_t> value);  // of booleans
  // Only if `condition` holds.
  template <typename T>
  OpCommand& Attr(const std::string& name, const T& value, bool condition) {
    return condition ? Attr(name, value) : *this;
  }

  // Run() then waits for the stream.
  OpCommand& Sync();
  // Enqueues the operator on the current stream. Once.
  void Run();

  // Calls `function` after everything that was launched before, on the calling thread; `name` is what errors and
  // profiles say. With `sync` it waits for the current stream. Throws if `function` returns another code than 0.
  static void RunOpApi(const std::string& name, PROC_FUNC function, bool sync = false);
  static void RunOpApiV2(const std::string& name, const PROC_FUNC& function, bool sync = false);
  static void RunOpApiV3(const std::string& name, const PROC_FUNC& function, bool sync = false,
                         c10_npu::NPUStream* stream = nullptr);

 private:
  class Call;
  std::unique_ptr<Call> call_;
};

}  // namespace at_npu::native
