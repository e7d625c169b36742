#pragma once
// aclnn operators for PyTorch: looked up by name, called with descriptors, launched on the current stream.

#include <aclnn/aclnn_base.h>
#include <c10/core/Device.h>

#include <concepts>
#include <tuple>
#include <type_traits>
#include <utility>

#include "core/aclnn_argument.h"
#include "core/launch_cache.h"
#include "core/task_queue.h"

namespace torch_npu {

// A function of the bound CANN's operator library; null if it has none of this name.
void* aclnn_symbol(const char* name);

// Throws c10::Error unless `status` is success, with the function and the library's message.
void check_aclnn(aclnnStatus status, const char* name);

// Throws for the function `name`, with the library's message.
[[noreturn]] void aclnn_fail(const char* name);

// The number of aclnn operators launched by this process, and of calls rejected by a first phase that then fell back
// without an error.
uint64_t aclnn_launches() noexcept;
uint64_t aclnn_refusals() noexcept;

namespace detail {

// Counts a launch made outside of launch().
void count_launch() noexcept;

// Counts a first phase that rejected its arguments; throws if it failed for another reason.
void count_refusal(aclnnStatus status, const char* name);

// The first phase of the function `name`.
void* first_phase(const char* name);

// Launches phase two on the current stream of `device`, directly or by the queue (core/task_queue.h), with a workspace
// from the caching allocator.
void launch(const char* name, SecondPhase phase, uint64_t workspace_bytes, aclOpExecutor* executor,
            c10::DeviceIndex device);

// Whether no argument loses precision in its conversion, as from double to float.
template <typename FirstPhase, typename Arguments, typename Places>
inline constexpr bool kKeepsDigits = false;
template <typename R, typename... Parameters, typename... Arguments, std::size_t... kPlaces>
inline constexpr bool kKeepsDigits<R(Parameters...), std::tuple<Arguments...>, std::index_sequence<kPlaces...>> =
    (!(std::is_same_v<Arguments, double> &&
       std::is_same_v<std::tuple_element_t<kPlaces, std::tuple<Parameters...>>, float>)&&...);

}  // namespace detail

// One operator, looked up once:
//   static const AclnnOp<decltype(aclnnMmGetWorkspaceSize)> mm("aclnnMm");
// The prototype in aclnnop/ determines the conversions of arguments.
template <typename FirstPhase>
class AclnnOp {
 public:
  // `needs`: the kinds of its arguments in addition to tensors and scalars.
  template <std::same_as<AclObject>... Needs>
  explicit AclnnOp(const char* name, Needs... needs)
      : name_(name),
        first_(reinterpret_cast<FirstPhase*>(detail::first_phase(name))),
        second_(reinterpret_cast<SecondPhase>(aclnn_symbol(name))),
        available_(first_ != nullptr && second_ != nullptr && (has_acl_object(needs) && ...)) {}

  // Whether the bound CANN has it.
  bool available() const { return available_; }

  // Runs both phases. The arguments are those of the first one without its two results, as PyTorch types.
  template <typename... Args>
  void operator()(c10::DeviceIndex device, const Args&... args) const {
    check_aclnn(call(device, args...), name_);
  }

  // The same for callers with a fallback: false if the first phase rejects the arguments.
  template <typename... Args>
  bool try_launch(c10::DeviceIndex device, const Args&... args) const {
    const aclnnStatus status = call(device, args...);
    if (status == ACLNN_SUCCESS) [[likely]]
      return true;
    detail::count_refusal(status, name_);
    return false;
  }

 private:
  // The status of the first phase, if it exists.
  template <typename... Args>
  aclnnStatus call(c10::DeviceIndex device, const Args&... args) const {
    if constexpr ((launch_cache::Keyed<Args> && ...)) {
      if (launch_cache::is_on()) {
        launch_cache::Key key(this, device);
        (key.add(args), ...);
        if (key.fits()) return launch_cache::launch(key) ? ACLNN_SUCCESS : run(&key, device, acl_argument(args)...);
      }
    }
    return run(nullptr, device, acl_argument(args)...);
  }

  template <typename... Converted>
  aclnnStatus run(const launch_cache::Key* key, c10::DeviceIndex device, const Converted&... args) const {
    static_assert(detail::kKeepsDigits<FirstPhase, std::tuple<std::remove_cvref_t<decltype(args.get())>...>,
                                       std::index_sequence_for<Converted...>>,
                  "the function takes a float: say what becomes of a double that is none (attributes::as_float)");
    uint64_t workspace_bytes = 0;
    aclOpExecutor* executor = nullptr;
    const aclnnStatus status = first_(args.get()..., &workspace_bytes, &executor);
    if (status != ACLNN_SUCCESS) [[unlikely]]
      return status;
    if (key != nullptr) launch_cache::insert(*key, executor);
    detail::launch(name_, second_, workspace_bytes, executor, device);
    return status;
  }

  const char* name_;
  FirstPhase* first_;
  SecondPhase second_;
  bool available_;
};

}  // namespace torch_npu
