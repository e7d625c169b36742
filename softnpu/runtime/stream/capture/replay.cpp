#include "runtime/stream/capture/replay.h"

#include <algorithm>
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

GraphReplay::GraphReplay(std::shared_ptr<const CapturedGraph> graph)
    : graph_(std::move(graph)), parts_(graph_->steps_.size()), waits_for_(graph_->steps_.size()) {
  for (uint32_t number = 0; number < parts_.size(); ++number) {
    waits_for_[number] = graph_->steps_[number].waits_for;
    if (waits_for_[number] == 0) ready_.push(number);
  }
}

void GraphReplay::add(uint32_t number, std::shared_ptr<Steps> part) {
  part->become_part(this);
  parts_[number] = std::move(part);
}

void GraphReplay::end(uint32_t number, const Status& status) {
  const CapturedGraph::Step& step = graph_->steps_[number];
  if (failure_.is_ok()) failure_ = graph_->named(step, status);
  for (const uint32_t next : step.before) {
    if (--waits_for_[next] == 0) ready_.push(next);
  }
}

bool GraphReplay::run(uint32_t number) {
  std::shared_ptr<Steps>& part = parts_[number];
  if (part == nullptr) {
    end(number, graph_->run(graph_->steps_[number]));
    return true;
  }
  bool waits = false;
  const Status status = step_of(*part, &waits);
  if (status.is_ok() && waits) return false;
  part = nullptr;  // nothing resumes it any more
  end(number, status);
  return true;
}

Status GraphReplay::step(bool* again) {
  // Which of them was resumed is not known; the others go on waiting.
  std::erase_if(parked_, [this](uint32_t number) { return run(number); });
  while (!ready_.empty()) {
    const uint32_t number = ready_.top();
    ready_.pop();
    if (!run(number)) parked_.push_back(number);
  }
  computes_ = std::ranges::all_of(parked_, [this](uint32_t number) { return parts_[number]->computes(); });
  *again = !parked_.empty();
  return *again ? Status::ok() : failure_;
}

}  // namespace softnpu
