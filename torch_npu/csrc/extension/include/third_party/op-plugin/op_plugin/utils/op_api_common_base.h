#pragma once
// Calls of aclnn functions by name, on the current stream:
//   EXEC_NPU_CMD(aclnnAdd, self, other, alpha, result);

#include <array>
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "op_plugin/utils/op_api_convert.h"
#include "torch_npu/csrc/aten/CustomFunctions.h"
#include "torch_npu/csrc/aten/Tensor.h"
#include "torch_npu/csrc/core/npu/NPUException.h"
#include "torch_npu/csrc/core/npu/NPUFunctions.h"
#include "torch_npu/csrc/core/npu/NPUMacros.h"
#include "torch_npu/csrc/core/npu/NPUStream.h"
#include "torch_npu/csrc/framework/OpCommand.h"
#include "torch_npu/csrc/framework/utils/OpPreparation.h"

// A function of the operator library; null if it has none of this name.
TORCH_NPU_API void* GetOpApiFuncAddr(const char* name);

namespace at_npu::native::op_api {

// Both phases of an operator, looked up once.
class TORCH_NPU_API Function {
 public:
  // `name` has to live as long as the process.
  explicit Function(const char* name);

  bool available() const { return first_ != nullptr && second_ != nullptr; }
  // Throws if the operator library lacks it.
  void* first_phase() const;
  // Throws with the library's message unless `status` is that of success. Launches phase two on the current stream of
  // the current device, with a workspace from the caching allocator.
  void launch(int status, uint64_t workspace_bytes, aclOpExecutor* executor) const;

 private:
  const char* name_;
  void* first_;
  void* second_;
};

// Makes the bytes of a tensor plain, if they are in a private format.
TORCH_NPU_API void make_plain(const at::Tensor& tensor);

// How EXEC_NPU_CMD and EXEC_NPU_NO_FORMAT_CHECK_CMD pass a tensor in a private format: in plain format, or as it is.
enum class Format { kPlain, kStored };

// An argument of the first phase. Objects of the operator library are destroyed with it.
template <typename T>
struct Argument {
  T value;
};
template <typename Object>
struct Owned {
  explicit Owned(Object* object) : value(object) {}
  Owned(Owned&& other) noexcept : value(std::exchange(other.value, nullptr)) {}
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() { Release(value); }
  Object* value;
};

// Numbers, enumerators and pointers are passed as they are: their types have to be those of the function.
template <typename T>
std::enable_if_t<std::is_arithmetic_v<T> || std::is_pointer_v<T> || std::is_null_pointer_v<T> || std::is_enum_v<T>,
                 Argument<T>>
convert(T value) {
  return {value};
}
inline Argument<aclDataType> convert(at::ScalarType type) { return {ConvertType(type)}; }
inline Argument<int64_t> convert(const c10::SymInt& value) { return {value.guard_int(__FILE__, __LINE__)}; }
inline Argument<const char*> convert(const std::string& text) { return {text.c_str()}; }
inline Owned<aclTensor> convert(const at::Tensor& tensor) { return Owned(ConvertType(tensor)); }
inline Owned<aclScalar> convert(const at::Scalar& scalar) { return Owned(ConvertType(scalar)); }
inline Owned<aclTensorList> convert(const at::ITensorListRef& tensors) { return Owned(ConvertType(tensors)); }
template <typename T>
auto convert(const at::ArrayRef<T>& values) {
  return Owned(ConvertType(values));
}
template <typename T>
auto convert(const std::vector<T>& values) {
  return convert(at::ArrayRef<T>(values));
}
template <typename T, unsigned kSize>
auto convert(const c10::SmallVector<T, kSize>& values) {
  return convert(at::ArrayRef<T>(values));
}
template <typename T, std::size_t kSize>
auto convert(const std::array<T, kSize>& values) {
  return convert(at::ArrayRef<T>(values));
}
// Null if it is omitted; for objects only.
template <typename T>
auto convert(const std::optional<T>& value) -> Owned<std::remove_pointer_t<decltype(convert(*value).value)>> {
  if (value.has_value()) return convert(*value);
  return Owned<std::remove_pointer_t<decltype(convert(*value).value)>>(nullptr);
}
inline Owned<aclIntArray> convert(const at::OptionalIntArrayRef& values) { return Owned(ConvertType(values)); }

template <typename T>
void to_plain(const T& argument) {
  if constexpr (std::is_same_v<T, at::Tensor>) {
    make_plain(argument);
  } else if constexpr (std::is_same_v<T, std::optional<at::Tensor>>) {
    if (argument.has_value()) make_plain(*argument);
  } else if constexpr (std::is_convertible_v<const T&, at::TensorList>) {
    for (const at::Tensor& tensor : at::TensorList(argument)) make_plain(tensor);
  }
}

// Calls both phases with the arguments of the first one, without its two results.
template <Format kFormat, typename... Args>
void exec(const Function& function, const Args&... args) {
  if constexpr (kFormat == Format::kPlain) (to_plain(args), ...);
  const std::tuple<decltype(convert(args))...> converted{convert(args)...};
  std::apply(
      [&](const auto&... arguments) {
        using First = int (*)(decltype(arguments.value)..., uint64_t*, aclOpExecutor**);
        const auto first = reinterpret_cast<First>(function.first_phase());
        uint64_t workspace_bytes = 0;
        aclOpExecutor* executor = nullptr;
        const int status = first(arguments.value..., &workspace_bytes, &executor);
        function.launch(status, workspace_bytes, executor);
      },
      converted);
}

}  // namespace at_npu::native::op_api

#define TORCH_NPU_EXEC(format, aclnn_api, ...)                                                      \
  do {                                                                                              \
    static const at_npu::native::op_api::Function function_of(#aclnn_api);                          \
    at_npu::native::op_api::exec<at_npu::native::op_api::Format::format>(function_of, __VA_ARGS__); \
  } while (false)

#define EXEC_NPU_CMD(aclnn_api, ...) TORCH_NPU_EXEC(kPlain, aclnn_api, __VA_ARGS__)
#define EXEC_NPU_CMD_EXT(aclnn_api, ...) TORCH_NPU_EXEC(kPlain, aclnn_api, __VA_ARGS__)
#define EXEC_NPU_NO_FORMAT_CHECK_CMD(aclnn_api, ...) TORCH_NPU_EXEC(kStored, aclnn_api, __VA_ARGS__)

// Returns the value of `otherwise` from the calling function if the operator library lacks the operator.
#define DO_COMPATIBILITY(aclnn_api, otherwise)                             \
  do {                                                                     \
    static const at_npu::native::op_api::Function function_of(#aclnn_api); \
    if (!function_of.available()) return otherwise;                        \
  } while (false)
