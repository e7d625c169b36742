#include "acl/rt/callback.h"

#include <memory>
#include <utility>

#include "ascendcl/api.h"
#include "base/join.h"
#include "base/text.h"
#include "runtime/exceptions.h"
#include "softnpu/softnpu.h"

using softnpu::api;
using softnpu::Cost;
using softnpu::Event;
using softnpu::Process;
using softnpu::require;
using softnpu::Status;
using softnpu::Stream;

namespace {

Status require_function(const void* function) { return require(function, "the function"); }

// The stream of `handle`, by which callbacks are sorted; null names the default stream.
Status find(aclrtStream handle, std::shared_ptr<Stream>* out) { return Process::get().stream(handle, out); }

constexpr const char* kInCapture = "end the graph before it and begin another one after it";

thread_local bool in_callback = false;

// Calls the program's function. An exception becomes the stream's error.
template <typename Function>
void call(const char* name, const std::weak_ptr<Stream>& stream, Function function) {
  struct Scope {
    bool previous = std::exchange(in_callback, true);
    ~Scope() { in_callback = previous; }
  } scope;
  try {
    function();
  } catch (...) {
    if (auto alive = stream.lock()) alive->keep_error(name, {ACL_ERROR_RT_INTERNAL_ERROR, "the function threw"});
  }
}

}  // namespace

aclError aclrtLaunchHostFunc(aclrtStream stream, aclrtHostFunc func, void* args) {
  return api("aclrtLaunchHostFunc", [&] {
    SOFTNPU_RETURN_IF_ERROR(require_function(reinterpret_cast<const void*>(func)));
    std::shared_ptr<Stream> target;
    SOFTNPU_RETURN_IF_ERROR(find(stream, &target));
    SOFTNPU_RETURN_IF_ERROR(target->refuse_in_capture("a function of the host (aclrtLaunchHostFunc)", kInCapture));
    auto done = std::make_shared<Event>();
    const uint64_t generation = done->begin_record();
    auto start = [func, args, done, generation, weak = std::weak_ptr<Stream>(target)] {
      Process::get().host_thread().post([=] {
        call("aclrtLaunchHostFunc", weak, [&] { func(args); });
        done->complete(generation);
      });
      return Status::ok();
    };
    return target->gate("aclrtLaunchHostFunc", std::move(start), std::move(done));
  });
}

int32_t softnpuInCallback(void) { return in_callback || softnpu::is_own_thread ? 1 : 0; }

aclError aclrtSubscribeReport(uint64_t threadId, aclrtStream stream) {
  return api("aclrtSubscribeReport", [&] {
    std::shared_ptr<Stream> target;
    SOFTNPU_RETURN_IF_ERROR(find(stream, &target));
    return Process::get().callback_queue().subscribe(threadId, target.get());
  });
}

aclError aclrtUnSubscribeReport(uint64_t threadId, aclrtStream stream) {
  return api("aclrtUnSubscribeReport", [&] {
    std::shared_ptr<Stream> target;
    SOFTNPU_RETURN_IF_ERROR(find(stream, &target));
    return Process::get().callback_queue().unsubscribe(threadId, target.get());
  });
}

aclError aclrtProcessReport(int32_t timeout) {
  return api("aclrtProcessReport", [&] {
    SOFTNPU_RETURN_IF_ERROR(Process::get().check_usable());
    return Process::get().callback_queue().serve(std::chrono::milliseconds(timeout));
  });
}

aclError aclrtLaunchCallback(aclrtCallback fn, void* userData, aclrtCallbackBlockType blockType, aclrtStream stream) {
  return api("aclrtLaunchCallback", [&]() -> Status {
    SOFTNPU_RETURN_IF_ERROR(require_function(reinterpret_cast<const void*>(fn)));
    if (blockType != ACL_CALLBACK_NO_BLOCK && blockType != ACL_CALLBACK_BLOCK) {
      return {ACL_ERROR_INVALID_PARAM,
              softnpu::text("aclrtCallbackBlockType ", static_cast<int>(blockType), " does not exist: it is 0 or 1")};
    }
    std::shared_ptr<Stream> target;
    SOFTNPU_RETURN_IF_ERROR(find(stream, &target));
    SOFTNPU_RETURN_IF_ERROR(target->refuse_in_capture("a function of the host (aclrtLaunchCallback)", kInCapture));
    if (!Process::get().callback_queue().is_subscribed(target.get())) {
      return {ACL_ERROR_RT_STREAM_NO_CB_REG, "no thread serves the stream: call aclrtSubscribeReport first"};
    }
    auto done = std::make_shared<Event>();
    const uint64_t generation = done->begin_record();
    auto start = [fn, userData, done, generation, handle = target.get(),
                  weak = std::weak_ptr<Stream>(target)]() -> Status {
      Status unserved(ACL_ERROR_RT_STREAM_NO_CB_REG, "its thread was unsubscribed before it ran");
      const bool posted = Process::get().callback_queue().post(handle, [=](bool served) {
        if (served) call("aclrtLaunchCallback", weak, [&] { fn(userData); });
        if (auto alive = weak.lock(); alive && !served) alive->keep_error("aclrtLaunchCallback", unserved);
        done->complete(generation);
      });
      if (posted) return Status::ok();
      done->complete(generation);
      return unserved;
    };
    if (blockType == ACL_CALLBACK_NO_BLOCK)
      return target->submit("aclrtLaunchCallback", Cost::kSmall, std::move(start));
    return target->gate("aclrtLaunchCallback", std::move(start), std::move(done));
  });
}
