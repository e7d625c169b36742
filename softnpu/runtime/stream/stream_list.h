#pragma once
// An intrusive queue of streams, without allocations: each stream is in at most one list.

#include <memory>

namespace softnpu {

class Stream;

class StreamList {
 public:
  StreamList() = default;
  StreamList(const StreamList&) = delete;
  StreamList& operator=(const StreamList&) = delete;
  ~StreamList() { clear(); }

  bool empty() const { return first_ == nullptr; }
  void push(std::shared_ptr<Stream> stream) noexcept;
  // The oldest one; null if the list is empty.
  std::shared_ptr<Stream> pop() noexcept;
  void clear() noexcept;

 private:
  std::shared_ptr<Stream> first_;
  Stream* last_ = nullptr;
};

}  // namespace softnpu
