#pragma once
// The plug-in's own timing event: PyTorch's events use the guard, which stores bare handles.

#include <acl/acl.h>
#include <c10/core/Stream.h>

#include <memory>

namespace torch_npu {

class Event {
 public:
  // Records it on `stream`; the first call creates the runtime's event. The stream's device must be bound.
  void record(c10::Stream stream);

  bool is_recorded() const noexcept { return handle_ != nullptr; }

  // Blocks until the stream has passed the newest record.
  void synchronize() const;

 private:
  friend double elapsed_ms(const Event& start, const Event& end);

  struct Destroy {
    void operator()(aclrtEvent event) const noexcept;
  };
  std::unique_ptr<void, Destroy> handle_;
};

// Device time between two events of one device; waits for both.
double elapsed_ms(const Event& start, const Event& end);

}  // namespace torch_npu
