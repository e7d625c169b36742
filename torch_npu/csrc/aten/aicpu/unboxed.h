#pragma once
// Turns one of ATen's CPU kernels into npu's kernel of the same signature: Unboxed<"add.Tensor", &at::cpu::add>::call.
// Npu tensors in the arguments become CPU views, the kernel runs, and its results become npu tensors.

#include <ATen/core/IListRef.h>
#include <ATen/core/List.h>

#include <algorithm>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "aten/aicpu/checks.h"
#include "aten/aicpu/dense_lists.h"
#include "aten/aicpu/derived.h"
#include "aten/aicpu/error.h"
#include "aten/aicpu/random.h"
#include "aten/aicpu/scope.h"
#include "core/device.h"
#include "core/format.h"

namespace torch_npu::aicpu {

// An operator's name as a template argument.
template <std::size_t N>
struct OpName {
  char text[N];
  constexpr OpName(const char (&name)[N]) { std::copy_n(name, N, text); }  // NOLINT(google-explicit-constructor)
};

// Deviations from the default conversion of arguments.
enum class InputLayout {
  kOneDevice,
  kCpuIndices,  // lists of indices may contain CPU tensors
  // The kernel reads tensors of any strides as if they were dense: it gets dense copies.
  kDense,
  kDenseWeights,  // of optional tensors only
  kDenseLists,    // the kernel reads and writes lists so: see DenseLists
};

// ---- the device ------------------------------------------------------------------------------------------------

template <typename T>
c10::DeviceIndex npu_index(const T&) {
  return -1;
}
inline c10::DeviceIndex npu_index(const at::Tensor& t) {
  return t.defined() && t.is_privateuseone() ? t.device().index() : c10::DeviceIndex{-1};
}
inline c10::DeviceIndex npu_index(const std::optional<at::Tensor>& t) { return t.has_value() ? npu_index(*t) : -1; }
inline c10::DeviceIndex npu_index(const std::optional<at::Device>& d) {
  return d.has_value() && d->is_privateuseone() ? d->index() : c10::DeviceIndex{-1};
}
template <typename List>
c10::DeviceIndex npu_index_of_list(const List& list) {
  for (const auto& element : list) {
    if (c10::DeviceIndex found = npu_index(element); found >= 0) return found;
  }
  return -1;
}
inline c10::DeviceIndex npu_index(const at::TensorList& list) { return npu_index_of_list(list); }
inline c10::DeviceIndex npu_index(const at::ITensorListRef& list) { return npu_index_of_list(list); }
inline c10::DeviceIndex npu_index(const c10::List<std::optional<at::Tensor>>& list) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (c10::DeviceIndex found = npu_index(list.get(i)); found >= 0) return found;
  }
  return -1;
}

// The device of the first argument that has one, else the current one.
template <typename... Args>
c10::DeviceIndex device_of(const Args&... args) {
  c10::DeviceIndex found = -1;
  ((found = found >= 0 ? found : npu_index(args)), ...);
  return found >= 0 ? found : current_device();
}

// ---- arguments --------------------------------------------------------------------------------------------------

// By default the argument is passed unchanged.
template <typename T, InputLayout kTakes>
class Param {
 public:
  Param(const AiCpuScope&, T value) : value_(std::forward<T>(value)) {}
  T pass() { return std::forward<T>(value_); }
  void sync(const AiCpuScope&) const {}

 private:
  T value_;
};

template <InputLayout kTakes>
class Param<const at::Tensor&, kTakes> {
 public:
  Param(const AiCpuScope& scope, const at::Tensor& npu) : npu_(npu), cpu_view_(scope.cpu_view(npu, false)) {
    if (kTakes == InputLayout::kDense && cpu_view_.defined()) cpu_view_ = cpu_view_.contiguous();
  }
  const at::Tensor& pass() const { return cpu_view_; }
  void sync(const AiCpuScope&) const {}
  const at::Tensor* base_of(const at::Tensor& result) const {
    return cpu_view_.defined() && npu_.is_privateuseone() && result.is_alias_of(cpu_view_) ? &npu_ : nullptr;
  }

 private:
  const at::Tensor& npu_;
  at::Tensor cpu_view_;
};

// An argument that the kernel may write.
template <InputLayout kTakes>
class Param<at::Tensor&, kTakes> {
 public:
  Param(const AiCpuScope& scope, at::Tensor& npu)
      : npu_(writable(npu)),
        cpu_view_(scope.cpu_view(npu, false)),
        cpu_storage_(cpu_view_.defined() ? cpu_view_.storage().unsafeGetStorageImpl() : nullptr) {}
  at::Tensor& pass() { return cpu_view_; }
  void sync(const AiCpuScope& scope) const { scope.sync(npu_, cpu_view_, cpu_storage_); }
  at::Tensor* written_as(const at::Tensor& result) const { return result.is_same(cpu_view_) ? &npu_ : nullptr; }
  const at::Tensor* base_of(const at::Tensor& result) const {
    return cpu_view_.defined() && result.is_alias_of(cpu_view_) ? &npu_ : nullptr;
  }

 private:
  static at::Tensor& writable(at::Tensor& npu) {
    if (npu.defined()) materialize(npu);
    return npu;
  }

  at::Tensor& npu_;
  at::Tensor cpu_view_;
  const c10::StorageImpl* cpu_storage_;
};

template <InputLayout kTakes>
class Param<const std::optional<at::Tensor>&, kTakes> {
 public:
  Param(const AiCpuScope& scope, const std::optional<at::Tensor>& npu) {
    if (npu.has_value()) cpu_view_ = scope.cpu_view(*npu, false);
    constexpr bool kIsDense = kTakes == InputLayout::kDense || kTakes == InputLayout::kDenseWeights;
    if (kIsDense && cpu_view_.has_value() && cpu_view_->defined()) cpu_view_ = cpu_view_->contiguous();
  }
  const std::optional<at::Tensor>& pass() const { return cpu_view_; }
  void sync(const AiCpuScope&) const {}

 private:
  std::optional<at::Tensor> cpu_view_;
};

// Lists of tensors; the kernel may write their elements.
template <typename List>
class ListParam {
 public:
  ListParam(const AiCpuScope& scope, const List& npu) {
    for (const at::Tensor& t : npu) {
      npu_.push_back(t);
      cpu_views_.push_back(scope.cpu_view(t, false));
      cpu_storages_.push_back(cpu_views_.back().defined() ? cpu_views_.back().storage().unsafeGetStorageImpl()
                                                          : nullptr);
    }
  }
  void sync(const AiCpuScope& scope) const {
    for (std::size_t i = 0; i < npu_.size(); ++i) scope.sync(npu_[i], cpu_views_[i], cpu_storages_[i]);
  }
  const at::Tensor* base_of(const at::Tensor& result) const {
    for (std::size_t i = 0; i < npu_.size(); ++i) {
      if (cpu_views_[i].defined() && npu_[i].is_privateuseone() && result.is_alias_of(cpu_views_[i])) return &npu_[i];
    }
    return nullptr;
  }

  std::vector<at::Tensor>* cpu_list() { return &cpu_views_; }

 protected:
  std::vector<at::Tensor> npu_;
  std::vector<at::Tensor> cpu_views_;
  std::vector<const c10::StorageImpl*> cpu_storages_;
};

template <InputLayout kTakes>
class Param<at::TensorList, kTakes> : public ListParam<at::TensorList> {
 public:
  using ListParam::ListParam;
  at::TensorList pass() const { return cpu_views_; }
};

template <InputLayout kTakes>
class Param<const at::ITensorListRef&, kTakes> : public ListParam<at::ITensorListRef> {
 public:
  using ListParam::ListParam;
  at::ITensorListRef pass() const { return cpu_views_; }
};

template <InputLayout kTakes>
class Param<const c10::List<std::optional<at::Tensor>>&, kTakes> {
 public:
  Param(const AiCpuScope& scope, const c10::List<std::optional<at::Tensor>>& npu) {
    cpu_views_.reserve(npu.size());
    for (std::size_t i = 0; i < npu.size(); ++i) {
      std::optional<at::Tensor> element = npu.get(i);
      if (element.has_value()) element = scope.cpu_view(*element, kTakes == InputLayout::kCpuIndices);
      cpu_views_.push_back(std::move(element));
    }
  }
  const c10::List<std::optional<at::Tensor>>& pass() const { return cpu_views_; }
  void sync(const AiCpuScope&) const {}

 private:
  c10::List<std::optional<at::Tensor>> cpu_views_;
};

template <InputLayout kTakes>
class Param<std::optional<at::Generator>, kTakes> {
 public:
  Param(const AiCpuScope& scope, const std::optional<at::Generator>& npu)
      : host_(kernel_generator(npu, scope.device())) {}
  std::optional<at::Generator> pass() const { return host_; }
  void sync(const AiCpuScope&) const {}

 private:
  at::Generator host_;
};

template <InputLayout kTakes>
class Param<std::optional<at::Device>, kTakes> {
 public:
  Param(const AiCpuScope&, const std::optional<at::Device>& npu) {
    if (npu.has_value()) host_ = at::Device(at::kCPU);
  }
  std::optional<at::Device> pass() const { return host_; }
  void sync(const AiCpuScope&) const {}

 private:
  std::optional<at::Device> host_;
};

// ---- results ----------------------------------------------------------------------------------------------------

template <typename P>
const at::Tensor* base_in(const P& param, const at::Tensor& result) {
  if constexpr (requires { param.base_of(result); }) return param.base_of(result);
  return nullptr;
}

template <typename P>
at::Tensor* written_in(const P& param, const at::Tensor& result) {
  if constexpr (requires { param.written_as(result); }) return param.written_as(result);
  return nullptr;
}

// Converts the results of one call to npu tensors.
template <typename Params>
class Results {
 public:
  Results(const AiCpuScope& scope, const Params& params) : scope_(scope), params_(params) {}

  // A new tensor, or a view of an argument or of another result.
  at::Tensor value(const at::Tensor& result) {
    if (!result.defined() || !is_plain_cpu(result)) return scope_.adopt(result);
    const at::Tensor* base = nullptr;
    std::apply([&](const auto&... p) { ((base = base ? base : base_in(p, result)), ...); }, params_);
    if (base != nullptr) return AiCpuScope::view(*base, result);
    for (const auto& [storage, npu] : adopted_) {
      if (result.storage().unsafeGetStorageImpl() == storage) return AiCpuScope::view(npu, result);
    }
    return scope_.adopt(result);
  }

  // The same for one of several results.
  at::Tensor one_value(const at::Tensor& result) {
    const bool has_storage = result.defined() && is_plain_cpu(result);
    const c10::StorageImpl* storage = has_storage ? result.storage().unsafeGetStorageImpl() : nullptr;
    at::Tensor npu = value(result);
    if (has_storage) adopted_.emplace_back(storage, npu);
    return npu;
  }

  // The argument that the kernel wrote and returned.
  at::Tensor& reference(const at::Tensor& result) {
    at::Tensor* found = nullptr;
    std::apply([&](const auto&... p) { ((found = found ? found : written_in(p, result)), ...); }, params_);
    TORCH_INTERNAL_ASSERT(found != nullptr, "the kernel returned a reference to none of its arguments");
    return *found;
  }

 private:
  const AiCpuScope& scope_;
  const Params& params_;
  // The results so far: the kernel's storage and the resulting npu tensor.
  c10::SmallVector<std::pair<const c10::StorageImpl*, at::Tensor>, 2> adopted_;
};

template <typename E, typename Convert>
E convert_element(E&& result, Convert& to_npu) {
  if constexpr (std::is_same_v<E, at::Tensor&>) {
    return to_npu.reference(result);
  } else if constexpr (std::is_same_v<E, at::Tensor>) {
    return to_npu.one_value(result);
  } else {
    return std::forward<E>(result);
  }
}

template <typename R, typename Convert>
R convert(R&& result, Convert& to_npu) {
  static_assert(!std::is_same_v<R, const at::Tensor&>, "no reference to a tensor that the kernel may not write");
  if constexpr (std::is_same_v<R, at::Tensor&>) {
    return to_npu.reference(result);
  } else if constexpr (std::is_same_v<R, at::Tensor>) {
    return to_npu.value(result);
  } else if constexpr (std::is_same_v<R, std::vector<at::Tensor>>) {
    for (at::Tensor& element : result) element = to_npu.one_value(element);
    return std::move(result);
  } else if constexpr (requires { std::tuple_size<R>::value; }) {
    return std::apply([&](auto&&... e) { return R{convert_element(std::forward<decltype(e)>(e), to_npu)...}; },
                      std::move(result));
  } else {
    return result;  // a number
  }
}

// The lists of CPU tensors among the arguments.
template <typename Params>
std::vector<std::vector<at::Tensor>*> lists_of(Params& params) {
  std::vector<std::vector<at::Tensor>*> lists;
  const auto add = [&lists](auto& param) {
    if constexpr (requires { param.cpu_list(); }) lists.push_back(param.cpu_list());
  };
  std::apply([&](auto&... p) { (add(p), ...); }, params);
  return lists;
}

// ---- the kernel -------------------------------------------------------------------------------------------------

// Not inline: operators of one signature share it.
template <InputLayout kTakes, typename R, typename... Args>
[[gnu::noinline]] R scope_unboxed(const char* name, R (*kernel)(Args...), Args... args) {
  const AiCpuScope scope(name, aicpu::device_of(args...));  // at:: has a function of this name
  // Braces: arguments are converted from left to right.
  std::tuple<Param<Args, kTakes>...> params{Param<Args, kTakes>(scope, std::forward<Args>(args))...};
  std::optional<DenseLists> lists;
  if constexpr (kTakes == InputLayout::kDenseLists) lists.emplace(lists_of(params));
  auto run = [&]() -> R {
    try {
      return std::apply([&](auto&... p) -> R { return kernel(p.pass()...); }, params);
    } catch (const std::exception&) {
      rethrow_as_npu(name);
    }
  };
  auto sync = [&] {
    if constexpr (kTakes == InputLayout::kDenseLists) lists->write_back();
    std::apply([&](auto&... p) { (p.sync(scope), ...); }, params);
  };
  if constexpr (std::is_void_v<R>) {
    run();
    sync();
  } else {
    R result = run();
    sync();
    Results<std::tuple<Param<Args, kTakes>...>> to_npu(scope, params);
    return convert(std::forward<R>(result), to_npu);
  }
}

// A name as a type.
template <OpName kName>
struct Named {
  static constexpr std::string_view kText = kName.text;
};

template <OpName kName, auto kKernel, InputLayout kTakes = InputLayout::kOneDevice>
struct Unboxed;

template <OpName kName, typename R, typename... Args, R (*kKernel)(Args...), InputLayout kTakes>
struct Unboxed<kName, kKernel, kTakes> {
  static R call(Args... args) {
    check_arguments(Named<kName>(), args...);
    return scope_unboxed<kTakes, R, Args...>(kName.text, kKernel, std::forward<Args>(args)...);
  }
};

}  // namespace torch_npu::aicpu
