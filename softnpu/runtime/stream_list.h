#pragma once
// A queue of streams that allocates nothing: each stream is in one such list at most and carries the link itself.

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
  // The oldest one; null where the list is empty.
  std::shared_ptr<Stream> pop() noexcept;
  void clear() noexcept;

 private:
  std::shared_ptr<Stream> first_;
  Stream* last_ = nullptr;
};

}  // namespace softnpu
