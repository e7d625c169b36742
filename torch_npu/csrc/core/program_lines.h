#pragma once
// Which lines of the program launched work, and which waited for it. Costs one load per launch while nothing records.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace torch_npu::program_lines {

// Times are ns of CLOCK_MONOTONIC_RAW, as softnpu's records have them.
struct Launch {
  std::string name;
  uint64_t task;  // its number among softnpu's records; 0: the host did the work itself
  int64_t begin;  // of the call that launched it
  int64_t end;
  int32_t thread;
  uint32_t stack;    // a number of Recording::stacks
  uint64_t bytes;    // of a copy from the host, else 0
  uint64_t content;  // equal for copies of the same bytes
};

struct Wait {
  int64_t begin;
  int64_t end;
  int32_t thread;
  uint32_t stack;
};

struct Recording {
  // The program's lines from the innermost one, "train.py:12|main.py:3"; empty where no Python runs.
  std::vector<std::string> stacks;
  std::vector<Launch> launches;
  std::vector<Wait> waits;
};

// Begins a recording of all threads; discards a running one.
void start();
Recording stop();

bool is_on() noexcept;
int64_t now() noexcept;
// The work `name` that this thread launched as `task` since `begin`.
void add_launch(const std::string& name, uint64_t task, int64_t begin) noexcept;

// `stack` returns the text of Recording::stacks for this thread.
// Of the copy from the host that this thread launches next.
void describe_copy(const void* from, std::size_t nbytes) noexcept;

void set_python_stack(std::string (*stack)());

// To be alive while the host waits for the device, on a thread that holds no lock.
class Waiting {
 public:
  Waiting() noexcept : begin_(is_on() ? now() : 0) {}
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
  ~Waiting();

 private:
  const int64_t begin_;
};

}  // namespace torch_npu::program_lines
