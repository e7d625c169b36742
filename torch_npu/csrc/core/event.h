#pragma once
// A timing event of this plug-in's own: PyTorch's events go through the guard, which keeps bare handles.

#include <acl/acl.h>
#include <c10/core/Stream.h>

#include <memory>

namespace torch_npu {

class Event {
 public:
  // Records it on `stream`; the first time makes the runtime's event. The stream's device has to be bound.
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

// Device time from one to the other, both of one device; waits for both.
double elapsed_ms(const Event& start, const Event& end);

}  // namespace torch_npu
