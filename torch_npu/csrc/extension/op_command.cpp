#include "torch_npu/csrc/framework/OpCommand.h"

#include "core/acl.h"
#include "core/aclnn.h"
#include "core/device.h"
#include "core/stream.h"
#include "core/task_queue.h"
#include "core/trace.h"
#include "core/wait.h"
#include "extension/typed_call.h"

namespace at_npu::native {

namespace {

void check(int code, const std::string& name) {
  if (C10_LIKELY(code == 0)) return;
  const char* message = aclGetRecentErrMsg();
  TORCH_CHECK(false, name, ": ", message != nullptr ? message : c10::str("the function returned ", code),
              OPS_ERROR(ErrCode::ACL));
}

}  // namespace

class OpCommand::Call {
 public:
  std::string name;
  PROC_FUNC function;
  torch_npu::RegistryCall typed;
  bool waits = false;
};

OpCommand::OpCommand() : call_(std::make_unique<Call>()) {}
OpCommand::~OpCommand() = default;

OpCommand& OpCommand::Name(const std::string& name) {
  call_->name = name;
  return *this;
}

OpCommand& OpCommand::SetCustomHandler(PROC_FUNC function) {
  call_->function = std::move(function);
  return *this;
}

OpCommand& OpCommand::Input() {
  call_->typed.add_omitted_input();
  return *this;
}

OpCommand& OpCommand::Input(const at::Tensor& input, const std::string& name, const std::optional<aclFormat>& format,
                            const std::string&) {
  call_->typed.add_input(input, name, format);
  return *this;
}

OpCommand& OpCommand::InputWithoutContiguous(const at::Tensor& input, const std::string& name, const std::string&) {
  TORCH_CHECK(input.is_contiguous(), call_->name, ": input ", name, " of sizes ", input.sizes(), " and strides ",
              input.strides(), " is not contiguous, which the operators of the operator compiler need: use Input()");
  return Input(input, name);
}

OpCommand& OpCommand::Inputs(const at::TensorList& inputs) {
  for (const at::Tensor& input : inputs) Input(input);
  return *this;
}

OpCommand& OpCommand::Input(const c10::IntArrayRef& values, at::ScalarType type, CompileType, const std::string&,
                            const std::string& name) {
  call_->typed.add_host_input(values, type, name);
  return *this;
}

OpCommand& OpCommand::Input(const c10::ArrayRef<double>& values, at::IntArrayRef sizes, at::ScalarType type,
                            CompileType, const std::string&) {
  call_->typed.add_host_input(values, sizes, type);
  return *this;
}

OpCommand& OpCommand::Input(const c10::Scalar& value, at::ScalarType type, CompileType) {
  call_->typed.add_host_input(value, type);
  return *this;
}

OpCommand& OpCommand::Output(at::Tensor& output, const std::string& name, const std::optional<aclFormat>& format,
                             const std::string&) {
  call_->typed.add_output(output, name, format);
  return *this;
}

OpCommand& OpCommand::Attr(const std::string& name, bool value) {
  call_->typed.attributes().set(name, value);
  return *this;
}
OpCommand& OpCommand::Attr(const std::string& name, int64_t value) {
  call_->typed.attributes().set(name, value);
  return *this;
}
OpCommand& OpCommand::Attr(const std::string& name, float value) {
  call_->typed.attributes().set(name, value);
  return *this;
}
OpCommand& OpCommand::Attr(const std::string& name, const std::string& value) {
  call_->typed.attributes().set(name, value);
  return *this;
}
OpCommand& OpCommand::Attr(const std::string& name, at::ScalarType value) {
  call_->typed.attributes().set(name, value);
  return *this;
}
OpCommand& OpCommand::Attr(const std::string& name, c10::IntArrayRef value) {
  call_->typed.attributes().set(name, value);
  return *this;
}
OpCommand& OpCommand::Attr(const std::string& name, c10::ArrayRef<float> value) {
  call_->typed.attributes().set(name, value);
  return *this;
}
OpCommand& OpCommand::Attr(const std::string& name, c10::ArrayRef<uint8_t> value) {
  call_->typed.attributes().set(name, value);
  return *this;
}

OpCommand& OpCommand::Sync() {
  call_->waits = true;
  return *this;
}

void OpCommand::Run() {
  const std::unique_ptr<Call> call = std::move(call_);
  TORCH_CHECK(call != nullptr, "OpCommand::Run() was called before: an OpCommand is one call");
  TORCH_CHECK(!call->name.empty(), "OpCommand::Run() needs the operator's name: Name()");
  if (call->function) return RunOpApiV3(call->name, call->function, call->waits);
  const c10::Stream stream = torch_npu::current_stream(torch_npu::current_device());
  call->typed.run(call->name.c_str(), stream);
  if (call->waits) torch_npu::wait_for_stream(stream);
}

void OpCommand::RunOpApiV3(const std::string& name, const PROC_FUNC& function, bool sync, c10_npu::NPUStream* stream) {
  const c10::Stream target = stream != nullptr ? stream->unwrap() : torch_npu::current_stream(-1);
  const c10::DeviceIndex device = target.device_index();
  torch_npu::bind_device(device);
  torch_npu::check_launches(device);
  {
    // What the function enqueues is not counted by the plug-in: waits ask the runtime from now on.
    static_cast<void>(torch_npu::stream_handle(target));
    const torch_npu::trace::Launch launch(name.c_str(), torch_npu::trace::Kind::kKernel, target);
    torch_npu::detail::count_launch();
    check(function(), name);
  }
  if (sync) torch_npu::wait_for_stream(target);
}

void OpCommand::RunOpApi(const std::string& name, PROC_FUNC function, bool sync) { RunOpApiV3(name, function, sync); }
void OpCommand::RunOpApiV2(const std::string& name, const PROC_FUNC& function, bool sync) {
  RunOpApiV3(name, function, sync);
}

}  // namespace at_npu::native
