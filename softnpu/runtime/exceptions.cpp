#include "runtime/exceptions.h"

#include <atomic>

namespace softnpu {
namespace {

std::atomic<aclrtExceptionInfoCallback> callback{nullptr};  // one per process, as in the ABI

}  // namespace

void set_exception_callback(aclrtExceptionInfoCallback function) noexcept { callback.store(function); }

void report_exception(aclrtExceptionInfo info) noexcept {
  auto* function = callback.load();
  if (function == nullptr) return;
  try {
    function(&info);
  } catch (...) {
    // An exception of the program's callback: there is no caller to report it to.
  }
}

}  // namespace softnpu
