#pragma once
// A collective between its call and its end, as its Work and the group's watchdog see it. Has no tensors.

#include <c10/core/Event.h>
#include <c10/core/Stream.h>

#include <torch/csrc/distributed/c10d/Work.hpp>

#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace torch_npu {

// The end of the work on one stream.
struct FlightEnd {
  c10::Stream stream;
  std::shared_ptr<c10::Event> event;
};

class Flight {
 public:
  Flight(c10d::OpType op, uint64_t sequence, std::string text, std::chrono::milliseconds timeout,
         std::vector<FlightEnd> ends)
      : op(op), sequence(sequence), text(std::move(text)), timeout(timeout), ends(std::move(ends)) {}

  const c10d::OpType op;
  const uint64_t sequence;
  const std::string text;  // group, rank, tensors: for errors
  const std::chrono::milliseconds timeout;
  const std::vector<FlightEnd> ends;
  const std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();

  // Whether it has ended, with or without an error. A failure of its streams becomes its error.
  bool is_over();
  bool is_overdue() const { return std::chrono::steady_clock::now() - start > timeout; }

  // The first error stays.
  void fail(const std::string& message) noexcept;
  std::exception_ptr error() const;
  // The text of the error of an overdue collective.
  std::string overdue_message() const;

 private:
  mutable std::mutex mutex_;  // guards error_
  std::exception_ptr error_;
  std::atomic<bool> is_over_{false};
};

}  // namespace torch_npu
