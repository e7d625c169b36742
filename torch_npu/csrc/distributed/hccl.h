#pragma once
// HCCL's functions in the bound CANN, each looked up at its first use, checked and counted.

#include <hccl/hccl.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace torch_npu {

// A function of libhccl.so. Throws if the bound CANN has no such library or function.
void* hccl_symbol(const char* name);
// The same for a function that only some have: null if there is none.
void* find_hccl_symbol(const char* name);

// Throws c10::DistBackendError unless `code` is success: the call, HCCL's message, the official error code.
void hccl_check(HcclResult code, const char* call);

// How often this process called each function that works on tensors, of those that it called.
std::vector<std::pair<std::string, uint64_t>> hccl_calls();

namespace detail {
// A counter that lives as long as the process.
std::atomic<uint64_t>& hccl_counter(const char* name);
void mark_hccl_route(const char* name) noexcept;
}  // namespace detail

// One function: static const HcclFunction<decltype(HcclBarrier)> barrier("HcclBarrier");
template <typename Function>
class HcclFunction {
 public:
  explicit HcclFunction(const char* name) : name_(name), function_(reinterpret_cast<Function*>(hccl_symbol(name))) {}

  template <typename... Args>
  void operator()(Args... args) const {
    hccl_check(function_(args...), name_);
  }
  // For code that must not throw.
  template <typename... Args>
  HcclResult result(Args... args) const noexcept {
    return function_(args...);
  }
  const char* name() const { return name_; }

 private:
  const char* name_;
  Function* function_;
};

// The same for functions that work on tensors: counted, and the route of the operator that calls them.
template <typename Function>
class HcclCollective {
 public:
  explicit HcclCollective(const char* name) : function_(name), calls_(detail::hccl_counter(name)) {}

  template <typename... Args>
  void operator()(Args... args) const {
    calls_.fetch_add(1, std::memory_order_relaxed);
    detail::mark_hccl_route(function_.name());
    function_(args...);
  }
  const char* name() const { return function_.name(); }

 private:
  HcclFunction<Function> function_;
  std::atomic<uint64_t>& calls_;
};

}  // namespace torch_npu
