// Operators that use each class and function of the extension interface, for test_interface.py.

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <torch/library.h>

#include <array>
#include <functional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "op_plugin/utils/op_api_common.h"
#include "torch_npu/csrc/aten/CustomFunctions.h"
#include "torch_npu/csrc/aten/NPUNativeFunctions.h"
#include "torch_npu/csrc/core/npu/DeviceUtils.h"
#include "torch_npu/csrc/core/npu/NPUCachingAllocator.h"
#include "torch_npu/csrc/core/npu/NPUEvent.h"
#include "torch_npu/csrc/core/npu/NPUFormat.h"
#include "torch_npu/csrc/core/npu/NPUFunctions.h"
#include "torch_npu/csrc/core/npu/NPUGuard.h"
#include "torch_npu/csrc/core/npu/NPUStream.h"
#include "torch_npu/csrc/framework/OpCommand.h"
#include "torch_npu/csrc/framework/OpHook.h"
#include "torch_npu/csrc/framework/utils/CalcuOpUtil.h"
#include "torch_npu/csrc/framework/utils/OpAdapter.h"
#include "torch_npu/csrc/include/ops.h"
#include "torch_npu/torch_npu.h"

namespace {

using at_npu::native::OpCommand;
using at_npu::native::OpPreparation;
using c10_npu::NPUStream;

// --- streams, guards, events ---

std::vector<int64_t> streams() {
  const NPUStream pool = c10_npu::getNPUStreamFromPool();
  const NPUStream urgent = c10_npu::getStreamFromPool(true, -1);
  const NPUStream unpacked = NPUStream::unpack3(pool.id(), pool.device_index(), pool.device_type());
  const bool is_same = unpacked == pool && pool != urgent && unpacked.stream() == pool.stream(false) &&
                       std::hash<NPUStream>{}(unpacked) == std::hash<NPUStream>{}(pool);
  const NPUStream before = c10_npu::getCurrentNPUStream();
  c10_npu::setCurrentNPUStream(pool);
  const int64_t within = c10_npu::getCurrentNPUStream().id();
  c10_npu::setCurrentNPUStream(before);
  return {c10_npu::getDefaultNPUStream().id(), pool.id(),         within,
          c10_npu::getCurrentNPUStream().id(), urgent.priority(), is_same ? 1 : 0};
}

int64_t current_stream() { return c10_npu::getCurrentNPUStream().id(); }
int64_t current_handle() { return reinterpret_cast<int64_t>(static_cast<aclrtStream>(c10_npu::getCurrentNPUStream())); }
void use_stream(c10::Stream stream) { static_cast<void>(NPUStream(stream)); }

// The program's own stream.
bool external_stream() {
  aclrtStream result = nullptr;
  NPU_CHECK_ERROR(aclrtCreateStream(&result));
  const NPUStream stream = c10_npu::getStreamFromExternal(result, c10_npu::current_device());
  const bool is_kept =
      stream.stream() == result && stream == c10_npu::getStreamFromExternal(result, stream.device_index());
  stream.synchronize();
  const bool is_idle = stream.query();
  NPU_CHECK_ERROR(aclrtDestroyStream(result));
  return is_kept && is_idle;
}

std::vector<int64_t> stream_guards() {
  const NPUStream first = c10_npu::getNPUStreamFromPool();
  const NPUStream second = c10_npu::getNPUStreamFromPool();
  std::vector<int64_t> seen;
  {
    c10_npu::NPUStreamGuard guard(first.unwrap());
    seen.push_back(current_stream() == first.id() && guard.current_stream() == first);
    guard.reset_stream(second.unwrap());
    seen.push_back(current_stream() == second.id() && guard.original_stream().id() == 0);
  }
  {
    c10_npu::OptionalNPUStreamGuard nothing;
    seen.push_back(current_stream() == 0 && !nothing.current_stream().has_value());
    nothing.reset_stream(first.unwrap());
    seen.push_back(current_stream() == first.id());
  }
  {
    const c10_npu::NPUMultiStreamGuard guard(std::vector<NPUStream>{second});
    seen.push_back(current_stream() == second.id());
  }
  seen.push_back(current_stream() == 0);
  return seen;
}

// The current device within each guard, and after them.
std::vector<int64_t> device_guards(int64_t device) {
  const auto index = static_cast<c10::DeviceIndex>(device);
  std::vector<int64_t> seen;
  {
    const c10_npu::NPUGuard guard(index);
    seen.push_back(c10_npu::current_device());
  }
  {
    c10_npu::OptionalNPUGuard guard;
    guard.set_index(index);
    seen.push_back(c10_npu::current_device());
  }
  seen.push_back(c10_npu::current_device());
  const int before = c10_npu::ExchangeDevice(index);
  seen.push_back(c10_npu::current_device());
  c10_npu::set_device(static_cast<c10::DeviceIndex>(before));
  int32_t now = -1;
  NPU_CHECK_ERROR(c10_npu::GetDevice(&now));
  seen.push_back(now);
  seen.push_back(c10_npu::device_count());
  return seen;
}

void guard_device(c10::Device device) { const c10_npu::NPUGuard guard(device); }

// `fill` waits for what `source` did to `x` before it copies it: the event orders the streams.
std::tuple<at::Tensor, double, bool> events(const at::Tensor& x, c10::Stream source, c10::Stream target) {
  c10_npu::NPUEvent start;
  c10_npu::NPUEvent end;
  const bool was_created = start.isCreated();
  start.record(NPUStream(source));
  end.record(NPUStream(source));
  at::Tensor copy = at::empty_like(x);
  end.block(NPUStream(target));
  {
    const c10_npu::NPUStreamGuard guard(target);
    copy.copy_(x, true);
  }
  c10_npu::NPUEvent moved(std::move(end));
  moved.synchronize();
  NPUStream(target).synchronize();
  return {copy, start.elapsed_time(moved), !was_created && moved.isCreated() && moved.query()};
}

// --- memory ---

std::vector<int64_t> raw_memory(int64_t nbytes) {
  namespace allocator = c10_npu::NPUCachingAllocator;
  const auto bytes = static_cast<std::size_t>(nbytes);
  const auto allocated = [] {
    return allocator::getDeviceStats(c10_npu::current_device())
        .allocated_bytes[static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE)]
        .current;
  };
  const int64_t before = allocated();
  void* block = allocator::raw_alloc(bytes);
  const int64_t during = allocated();
  allocator::raw_delete(block);
  void* again = allocator::raw_alloc_with_stream(bytes, c10_npu::getCurrentNPUStream().stream());
  allocator::raw_delete(again);
  const auto [free, total] = allocator::getMemoryInfo(c10_npu::current_device());
  allocator::emptyCache();
  return {during - before, allocated() - before, block == again ? 1 : 0, free <= total && free > 0 ? 1 : 0};
}

void record_stream(const at::Tensor& x, c10::Stream stream) {
  c10_npu::NPUCachingAllocator::recordStream(x.storage().data_ptr(), NPUStream(stream));
}

// A view of the memory of `x`, from `offset` on, and how often the deleter was called after its end.
std::tuple<at::Tensor, int64_t> from_blob(const at::Tensor& x, int64_t offset) {
  int64_t calls = 0;
  at::Tensor copy;
  {
    const at::Tensor blob = at_npu::native::from_blob(
        x.data_ptr(), {x.numel() - offset}, {1}, offset, [&calls](void*) { ++calls; }, x.options());
    copy = blob.clone();
  }
  return {copy, calls};
}

at::Tensor blob_of_sizes(const at::Tensor& x, int64_t size) {
  return at_npu::native::from_blob(x.data_ptr(), {size}, x.options()).clone();
}

// --- operators ---

at::Tensor add(const at::Tensor& a, const at::Tensor& b, const at::Scalar& alpha);

// A copy in stream order, made by CANN's function, of a result that is launched after the stream's handle is known.
at::Tensor copy_by_lambda(const at::Tensor& x, bool sync) {
  at::Tensor out = at::empty_like(x);
  aclrtStream stream = c10_npu::getCurrentNPUStream().stream(false);
  const at::Tensor source = add(x, x, 0);
  OpCommand::RunOpApi(
      "MyCopy",
      [=] {
        return aclrtMemcpyAsync(out.data_ptr(), out.nbytes(), source.data_ptr(), source.nbytes(),
                                ACL_MEMCPY_DEVICE_TO_DEVICE, stream);
      },
      sync);
  return out;
}

void fail_by_lambda(int64_t code) {
  OpCommand::RunOpApiV2("MyFailure", [=] { return static_cast<int>(code); });
}

void fail_in_runtime() { NPU_CHECK_ERROR(aclrtSetDevice(77)); }
void fail_by_name(int64_t code) { NPU_CHECK_ERROR(static_cast<int>(code), "my name for it"); }
std::string error_code() { return PTA_ERROR(ErrCode::PARAM) + OPS_ERROR(ErrCode::NOT_SUPPORT); }

at::Tensor handler(const at::Tensor& x) {
  at::Tensor out = at::empty_like(x);
  const auto copy = [=, stream = c10_npu::getCurrentNPUStream().stream()] {
    return aclrtMemcpyAsync(out.data_ptr(), out.nbytes(), x.data_ptr(), x.nbytes(), ACL_MEMCPY_DEVICE_TO_DEVICE,
                            stream);
  };
  OpCommand command;
  command.Name("MyCopy").SetCustomHandler(copy).Run();
  return out;
}

// Operators of the operator compiler, by their types.
at::Tensor typed_mul(const at::Tensor& a, const at::Tensor& b) {
  at::Tensor out = OpPreparation::apply_tensor(a);
  OpCommand command;
  command.Name("Mul").Input(a).Input(b).Output(out).Run();
  return out;
}

at::Tensor typed_sum(const at::Tensor& x, at::IntArrayRef dims, at::IntArrayRef sizes) {
  at::Tensor out = OpPreparation::apply_tensor_without_format(x, sizes);
  OpCommand command;
  command.Name("ReduceSum").Input(x).Input(dims, at::kLong).Output(out).Attr("keep_dims", true).Sync().Run();
  return out;
}

void typed_unknown(const at::Tensor& x) {
  at::Tensor out = at::empty_like(x);
  OpCommand command;
  command.Name("NoSuchOperator").Input(x).Output(out).Run();
}

// What the hooks saw since the last call; registers them.
std::vector<std::string> seen_by_hooks() {
  static std::vector<std::string> seen;
  at_npu::native::RegisterOpHookBeginFn([](const std::string& name) { seen.push_back(name); });
  at_npu::native::RegisterOpHookPreFn([](const at::Tensor& x) { seen.push_back(c10::str("before ", x.sizes())); });
  at_npu::native::RegisterOpHookPostFn([](const at::Tensor& x) { seen.push_back(c10::str("after ", x.sizes())); });
  at_npu::native::RegisterOpHookEndFn([] { seen.emplace_back("end"); });
  return std::exchange(seen, {});
}

// Each kind of argument: tensors and a scalar; a list and a number; an array, a boolean and a data type; optional
// tensors and a double; optional scalars; a list of scalars; arrays of booleans.
at::Tensor add(const at::Tensor& a, const at::Tensor& b, const at::Scalar& alpha) {
  at::Tensor out = at::empty_like(a);
  EXEC_NPU_CMD(aclnnAdd, a, b, alpha, out);
  return out;
}

at::Tensor cat(std::vector<at::Tensor> tensors, int64_t dim, at::IntArrayRef sizes) {
  at::Tensor out = OpPreparation::apply_tensor_without_format(sizes, tensors[0].options());
  EXEC_NPU_CMD(aclnnCat, tensors, dim, out);
  return out;
}

at::Tensor sum(const at::Tensor& x, std::vector<int64_t> dims, bool keep, at::IntArrayRef sizes) {
  at::Tensor out = OpPreparation::apply_tensor_without_format(sizes, x.options().dtype(at::kDouble));
  EXEC_NPU_CMD_EXT(aclnnReduceSum, x, dims, keep, at::kDouble, out);
  return out;
}

at::Tensor layer_norm(const at::Tensor& x, at::IntArrayRef shape, const std::optional<at::Tensor>& weight,
                      const std::optional<at::Tensor>& bias, double eps) {
  at::Tensor out = at::empty_like(x);
  const at::Tensor none;
  EXEC_NPU_CMD(aclnnLayerNorm, x, shape, weight, bias, eps, out, none, nullptr);
  return out;
}

at::Tensor clamp(const at::Tensor& x, const std::optional<at::Scalar>& least, const std::optional<at::Scalar>& most) {
  at::Tensor out = at::empty_like(x);
  EXEC_NPU_CMD(aclnnClamp, x, least, most, out);
  return out;
}

std::vector<at::Tensor> add_each(at::TensorList tensors, std::vector<double> numbers) {
  std::vector<at::Tensor> out;
  for (const at::Tensor& tensor : tensors) out.push_back(at::empty_like(tensor));
  const std::vector<at::Scalar> scalars(numbers.begin(), numbers.end());
  EXEC_NPU_CMD(aclnnForeachAddScalarList, tensors, scalars, out);
  return out;
}

std::tuple<at::Tensor, at::Tensor> conv_gradients(const at::Tensor& grad, const at::Tensor& x,
                                                  const at::Tensor& weight) {
  at::Tensor grad_x = at::empty_like(x);
  at::Tensor grad_weight = at::empty_like(weight);
  const at::Tensor none;
  const std::array<bool, 3> mask{true, true, false};
  const std::array<int64_t, 2> ones{1, 1};
  const c10::SmallVector<int64_t, 2> zeros{0, 0};
  const at::OptionalIntArrayRef bias_sizes;
  const int64_t groups = 1;
  const int8_t math = OpPreparation::get_cube_math_type(false);
  EXEC_NPU_CMD(aclnnConvolutionBackward, grad, x, weight, bias_sizes, ones, zeros, ones, false, zeros, groups, mask,
               math, grad_x, grad_weight, none);
  return {grad_x, grad_weight};
}

at::Tensor or_else(const at::Tensor& x) {
  DO_COMPATIBILITY(aclnnNoSuchOperator, x.neg());
  return x;
}

void missing(const at::Tensor& x) { EXEC_NPU_CMD(aclnnNoSuchOperator, x); }

// In the format of the argument, without making it plain.
at::Tensor cast_in_format(const at::Tensor& x) {
  at::Tensor out = at_npu::native::empty_with_format(x.sizes(), x.options(), at_npu::native::get_npu_format(x));
  EXEC_NPU_NO_FORMAT_CHECK_CMD(aclnnRelu, x, out);
  return out;
}

std::vector<int64_t> storage_sizes(const at::Tensor& x) { return at_npu::native::get_npu_storage_sizes(x); }

at::Tensor swiglu(const at::Tensor& x) { return at_npu::native::custom_ops::npu_swiglu(x, -1); }

std::tuple<at::Tensor, int64_t, int64_t> formats(const at::Tensor& x, int64_t format) {
  namespace ops = at_npu::native::custom_ops;
  at::Tensor result = ops::npu_format_cast(x, format);
  const int64_t found = ops::get_npu_format(result);
  at::Tensor back = ops::npu_format_cast(result, x);
  at::Tensor storage = ops::empty_with_format({2 * x.numel()}, x.scalar_type(), std::nullopt, x.device());
  storage.zero_();
  ops::npu_change_data_ptr(back, storage, x.numel());
  back.fill_(7);
  return {storage, found, ops::get_storage_size(x)};
}

std::string convert(at::ScalarType type) {
  const aclDataType converted = at_npu::native::CalcuOpUtil::ConvertToAclDataType(type);
  return c10::str(static_cast<int>(converted), " ", OpPreparation::convert_to_scalar_type(converted));
}

at::Tensor number(const at::Scalar& value) { return OpPreparation::copy_scalar_to_device(value, at::kFloat); }
void check_npu(const at::Tensor& x) { torch_npu::utils::torch_check_npu(x); }

TORCH_LIBRARY(npu_interface, m) {
  m.def("streams", &streams);
  m.def("current_stream", &current_stream);
  m.def("current_handle", &current_handle);
  m.def("use_stream", &use_stream);
  m.def("external_stream", &external_stream);
  m.def("stream_guards", &stream_guards);
  m.def("device_guards", &device_guards);
  m.def("guard_device", &guard_device);
  m.def("events", &events);
  m.def("raw_memory", &raw_memory);
  m.def("record_stream", &record_stream);
  m.def("from_blob", &from_blob);
  m.def("blob_of_sizes", &blob_of_sizes);
  m.def("copy_by_lambda", &copy_by_lambda);
  m.def("fail_by_lambda", &fail_by_lambda);
  m.def("fail_in_runtime", &fail_in_runtime);
  m.def("fail_by_name", &fail_by_name);
  m.def("error_code", &error_code);
  m.def("handler", &handler);
  m.def("typed_mul", &typed_mul);
  m.def("typed_sum", &typed_sum);
  m.def("typed_unknown", &typed_unknown);
  m.def("seen_by_hooks", &seen_by_hooks);
  m.def("add", &add);
  m.def("cat", &cat);
  m.def("sum", &sum);
  m.def("layer_norm", &layer_norm);
  m.def("clamp", &clamp);
  m.def("add_each", &add_each);
  m.def("conv_gradients", &conv_gradients);
  m.def("or_else", &or_else);
  m.def("missing", &missing);
  m.def("cast_in_format", &cast_in_format);
  m.def("storage_sizes", &storage_sizes);
  m.def("swiglu", &swiglu);
  m.def("formats", &formats);
  m.def("convert", &convert);
  m.def("number", &number);
  m.def("check_npu", &check_npu);
}

}  // namespace
