#include "runtime/stream/stream_list.h"

#include <utility>

#include "runtime/stream/stream.h"

namespace softnpu {

void StreamList::push(std::shared_ptr<Stream> stream) noexcept {
  Stream* added = stream.get();
  (last_ == nullptr ? first_ : last_->next_) = std::move(stream);
  last_ = added;
}

std::shared_ptr<Stream> StreamList::pop() noexcept {
  std::shared_ptr<Stream> popped = std::move(first_);
  if (popped) first_ = std::move(popped->next_);
  if (!first_) last_ = nullptr;
  return popped;
}

void StreamList::clear() noexcept {
  while (!empty()) (void)pop();
}

}  // namespace softnpu
