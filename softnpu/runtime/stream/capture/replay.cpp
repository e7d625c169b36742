#include "runtime/stream/capture/replay.h"

#include <exception>
#include <new>
#include <utility>

namespace softnpu {
namespace {

Status step_of(Steps& part, bool* waits) {
  try {
    return part.step(waits);
  } catch (const std::bad_alloc&) {
    return {ACL_ERROR_BAD_ALLOC, "out of host memory"};
  } catch (const std::exception& e) {
    return {ACL_ERROR_RT_INTERNAL_ERROR, e.what()};
  }
}

}  // namespace

void GraphReplay::add(std::shared_ptr<Steps> part) {
  part->become_part(this);
  parts_.push_back(std::move(part));
}

Status GraphReplay::step(bool* again) {
  *again = false;
  for (; next_ < graph_->steps_.size(); ++next_) {
    const CapturedGraph::Step& step = graph_->steps_[next_];
    Status status;
    if (graph_->tasks_[step.first].make_steps == nullptr) {
      status = graph_->run(step);
    } else {
      computes_ = parts_.front()->computes();
      bool waits = false;
      status = step_of(*parts_.front(), &waits);
      if (status.is_ok() && waits) return *again = true, Status::ok();
      parts_.pop_front();  // nothing resumes it any more
    }
    if (failure_.is_ok()) failure_ = graph_->named(step, status);
  }
  return failure_;
}

}  // namespace softnpu
