#include "core/program_lines.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <ctime>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace torch_npu::program_lines {
namespace {

struct Slices {
  std::atomic<bool> is_on{false};
  std::atomic<std::string (*)()> python_stack{nullptr};
  std::mutex mutex;  // guards all below; never held while Python's lock is taken
  Recording recording;
  std::unordered_map<std::string, uint32_t> numbers;
};

Slices& lines() {
  static Slices& instance = *std::make_unique<Slices>().release();  // used until the end of the process
  return instance;
}

std::string stack_now() {
  const auto stack = lines().python_stack.load(std::memory_order_relaxed);
  return stack == nullptr ? std::string() : stack();
}

// lines().mutex is held.
uint32_t number_of(const std::string& stack) {
  auto& recording = lines().recording;
  const auto [found, is_new] = lines().numbers.emplace(stack, static_cast<uint32_t>(recording.stacks.size()));
  if (is_new) recording.stacks.push_back(stack);
  return found->second;
}

struct Copy {
  uint64_t bytes = 0;
  uint64_t content = 0;
};

thread_local Copy next_copy;

int32_t thread_id() { return static_cast<int32_t>(syscall(SYS_gettid)); }

}  // namespace

bool is_on() noexcept { return lines().is_on.load(std::memory_order_relaxed); }

int64_t now() noexcept {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC_RAW, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

void start() {
  const std::lock_guard lock(lines().mutex);
  lines().recording = {};
  lines().numbers.clear();
  lines().is_on = true;
}

Recording stop() {
  const std::lock_guard lock(lines().mutex);
  lines().is_on = false;
  lines().numbers.clear();
  return std::exchange(lines().recording, {});
}

void add_launch(const std::string& name, uint64_t task, int64_t begin) noexcept {
  try {
    const int64_t end = now();
    const Copy copy = std::exchange(next_copy, {});
    const std::string stack = stack_now();
    const std::lock_guard lock(lines().mutex);
    if (!is_on()) return;
    lines().recording.launches.push_back(
        {name, task, begin, end, thread_id(), number_of(stack), copy.bytes, copy.content});
  } catch (const std::exception&) {
    // Without memory the launch has no line.
  }
}

void describe_copy(const void* from, std::size_t nbytes) noexcept {
  if (!is_on()) return;
  // FNV-1a over words in equal distances: whole buffers would cost as much as the copy.
  constexpr std::size_t kWords = 512;
  constexpr uint64_t kPrime = 0x100000001b3;
  uint64_t hash = 0xcbf29ce484222325;
  const std::size_t words = nbytes / sizeof(uint64_t);
  const std::size_t step = words > kWords ? words / kWords : 1;
  for (std::size_t i = 0; i < words; i += step) {
    uint64_t word = 0;
    std::memcpy(&word, static_cast<const char*>(from) + i * sizeof word, sizeof word);
    hash = (hash ^ word) * kPrime;
  }
  next_copy = {nbytes, hash};
}

void set_python_stack(std::string (*stack)()) { lines().python_stack.store(stack, std::memory_order_relaxed); }

Waiting::~Waiting() {
  if (begin_ == 0) return;
  try {
    const int64_t end = now();
    const std::string stack = stack_now();
    const std::lock_guard lock(lines().mutex);
    if (is_on()) lines().recording.waits.push_back({begin_, end, thread_id(), number_of(stack)});
  } catch (const std::exception&) {
    // Without memory the wait has no line.
  }
}

}  // namespace torch_npu::program_lines
