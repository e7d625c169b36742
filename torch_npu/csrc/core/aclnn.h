#pragma once
// aclnn operators from PyTorch's side: looked up by name, fed with descriptors, launched on the current stream.

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

// A function of the bound CANN's operator library; null where it has none of this name.
void* aclnn_symbol(const char* name);

// Throws c10::Error where `status` is not success: which function, and the library's own words.
void check_aclnn(aclnnStatus status, const char* name);

// Throws for the function `name`, with the library's own words.
[[noreturn]] void aclnn_fail(const char* name);

// aclnn operators that this process has launched, and calls that a first phase has refused without an error to the
// caller: another way was taken.
uint64_t aclnn_launches() noexcept;
uint64_t aclnn_refusals() noexcept;

namespace detail {

// A launch that launch() does not know of.
void count_launch() noexcept;

// A first phase has refused its arguments; throws where it failed otherwise.
void count_refusal(aclnnStatus status, const char* name);

// The first phase of the function `name`.
void* first_phase(const char* name);

// Phase two on the current stream of `device`, at once or by the queue (core/task_queue.h), with a workspace from the
// caching allocator.
void launch(const char* name, SecondPhase phase, uint64_t workspace_bytes, aclOpExecutor* executor,
            c10::DeviceIndex device);

// Whether no argument loses digits on its way into the function: a double that would become a float.
template <typename FirstPhase, typename Arguments, typename Places>
inline constexpr bool kKeepsDigits = false;
template <typename R, typename... Parameters, typename... Arguments, std::size_t... kPlaces>
inline constexpr bool kKeepsDigits<R(Parameters...), std::tuple<Arguments...>, std::index_sequence<kPlaces...>> =
    (!(std::is_same_v<Arguments, double> &&
       std::is_same_v<std::tuple_element_t<kPlaces, std::tuple<Parameters...>>, float>)&&...);

}  // namespace detail

// One operator, looked up once:
//   static const AclnnOp<decltype(aclnnMmGetWorkspaceSize)> mm("aclnnMm");
// The prototype in aclnnop/ says what the arguments become on their way.
template <typename FirstPhase>
class AclnnOp {
 public:
  // `needs`: what its arguments become beside tensors and scalars.
  template <std::same_as<AclObject>... Needs>
  explicit AclnnOp(const char* name, Needs... needs)
      : name_(name),
        first_(reinterpret_cast<FirstPhase*>(detail::first_phase(name))),
        second_(reinterpret_cast<SecondPhase>(aclnn_symbol(name))),
        available_(first_ != nullptr && second_ != nullptr && (has_acl_object(needs) && ...)) {}

  // Whether the bound CANN has it.
  bool available() const { return available_; }

  // Both phases. The arguments are those of the first one without its two results, as PyTorch knows them.
  template <typename... Args>
  void operator()(c10::DeviceIndex device, const Args&... args) const {
    check_aclnn(call(device, args...), name_);
  }

  // The same for a caller that has another way: false where the first phase refuses the arguments.
  template <typename... Args>
  bool try_launch(c10::DeviceIndex device, const Args&... args) const {
    const aclnnStatus status = call(device, args...);
    if (status == ACLNN_SUCCESS) [[likely]]
      return true;
    detail::count_refusal(status, name_);
    return false;
  }

 private:
  // What the first phase says, if there is one.
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
