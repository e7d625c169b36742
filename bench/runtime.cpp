// softnpu's runtime against the plainest means of the host, in turns in one process: one line a row on stdout, the
// name, the medians in ns and the median of the rounds' ratios, with tabs between them.

#include <acl/acl.h>
#include <aclnn/acl_meta.h>
#include <aclnnop/aclnn_masked_scale.h>
#include <softnpu/softnpu.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tests/make_task.h"

namespace {

constexpr int kRounds = 21;

void check(aclError code) {
  if (code == ACL_SUCCESS) return;
  const char* message = aclGetRecentErrMsg();
  std::fprintf(stderr, "error %d: %s\n", code, message == nullptr ? "" : message);
  std::exit(1);
}

// The plainest thread that takes work: a queue behind a mutex.
class Worker {
 public:
  Worker() : thread_([this] { run(); }) {}
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker() {
    submit(nullptr);
    thread_.join();
  }

  void submit(std::function<void()> work) {
    {
      std::lock_guard lock(mutex_);
      queue_.push_back(std::move(work));
      ++submitted_;
    }
    changed_.notify_all();
  }

  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return done_ == submitted_; });
  }

 private:
  void run() {
    while (true) {
      std::function<void()> work;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return !queue_.empty(); });
        work = std::move(queue_.front());
        queue_.pop_front();
      }
      if (!work) return;
      work();
      {
        std::lock_guard lock(mutex_);
        ++done_;
      }
      changed_.notify_all();
    }
  }

  std::mutex mutex_;  // guards all but the thread
  std::condition_variable changed_;
  std::deque<std::function<void()>> queue_;
  uint64_t submitted_ = 0;
  uint64_t done_ = 0;
  std::thread thread_;
};

double time(const std::function<void()>& work, int repeats) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < repeats; ++i) work();
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count() / repeats;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

void compare(const char* name, int repeats, const std::function<void()>& npu, const std::function<void()>& host) {
  std::vector<double> npus;
  std::vector<double> hosts;
  std::vector<double> ratios;
  (void)time(npu, repeats);
  (void)time(host, repeats);
  for (int round = 0; round < kRounds; ++round) {
    npus.push_back(time(npu, repeats));
    hosts.push_back(time(host, repeats));
    ratios.push_back(npus.back() / hosts.back());
  }
  std::printf("%s\t%.1f\t%.1f\t%.3f\n", name, median(npus), median(hosts), median(ratios));
  std::fflush(stdout);
}

void tasks() {
  aclrtStream stream = nullptr;
  check(aclrtCreateStream(&stream));
  const auto nothing_to_do = [](void*, char*, size_t) -> aclError { return ACL_SUCCESS; };
  const softnpuTask small = make_task("empty", SOFTNPU_COST_SMALL, nothing_to_do);
  const softnpuTask large = make_task("empty", SOFTNPU_COST_LARGE, nothing_to_do);
  std::mutex mutex;
  std::function<void()> nothing = [] {};
  Worker worker;
  compare(
      "empty task, inline (a call under a mutex)", 20000, [&] { check(softnpuLaunch(stream, &small)); },
      [&] {
        std::lock_guard lock(mutex);
        nothing();
      });
  compare(
      "empty task through the executor, with its wait (a queue and a thread)", 500,
      [&] {
        check(softnpuLaunch(stream, &large));
        check(aclrtSynchronizeStream(stream));
      },
      [&] {
        worker.submit([] {});
        worker.wait();
      });
  compare(
      "chain of 1,000 tasks, with one wait (a queue and a thread)", 5,
      [&] {
        for (int i = 0; i < 1000; ++i) check(softnpuLaunch(stream, &large));
        check(aclrtSynchronizeStream(stream));
      },
      [&] {
        for (int i = 0; i < 1000; ++i) worker.submit([] {});
        worker.wait();
      });
  aclrtStream other = nullptr;
  aclrtEvent event = nullptr;
  check(aclrtCreateStream(&other));
  check(aclrtCreateEventWithFlag(&event, ACL_EVENT_SYNC));
  compare(
      "record, wait on another stream, both idle (a call under a mutex)", 20000,
      [&] {
        check(aclrtRecordEvent(event, stream));
        check(aclrtStreamWaitEvent(other, event));
      },
      [&] {
        std::lock_guard lock(mutex);
        nothing();
      });
  compare(
      "task, record, wait, task on another stream, with its wait (two hand-overs)", 300,
      [&] {
        check(softnpuLaunch(stream, &large));
        check(aclrtRecordEvent(event, stream));
        check(aclrtStreamWaitEvent(other, event));
        check(softnpuLaunch(other, &large));
        check(aclrtSynchronizeStream(other));
      },
      [&] {
        worker.submit([] {});
        worker.submit([] {});
        worker.wait();
      });
}

// What an operator costs beside its arithmetic: three descriptors, both phases, on an idle stream.
void operators() {
  static constexpr int64_t kElements = 16;
  constexpr size_t kBytes = kElements * sizeof(float);
  void* memory[3] = {};
  for (void*& device : memory) {
    check(aclrtMalloc(&device, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
    check(aclrtMemset(device, kBytes, 0, kBytes));
  }
  const auto tensor = [](void* data) {
    const int64_t stride = 1;
    return aclCreateTensor(&kElements, 1, ACL_FLOAT, &stride, 0, ACL_FORMAT_ND, &kElements, 1, data);
  };
  aclrtStream stream = nullptr;
  check(aclrtCreateStream(&stream));
  aclTensor* result[3] = {};
  const auto describe = [&] {
    for (int i = 0; i < 3; ++i) result[i] = tensor(memory[i]);
  };
  const auto destroy = [&] {
    for (const aclTensor* t : result) check(aclDestroyTensor(t));
  };
  const auto run = [&] {
    uint64_t bytes = 0;
    aclOpExecutor* executor = nullptr;
    check(aclnnMaskedScaleGetWorkspaceSize(result[0], result[1], 2, result[2], &bytes, &executor));
    check(aclnnMaskedScale(nullptr, 0, executor, stream));
  };
  std::vector<float> host(size_t{3} * kElements);
  const auto multiply = [&] {
    for (size_t i = 0; i < kElements; ++i) host[i] = host[i + kElements] * host[i + 2 * kElements] * 2.0F;
    asm volatile("" ::: "memory");
  };
  compare(
      "three tensor descriptors made and destroyed (three blocks of glibc's)", 20000,
      [&] {
        describe();
        destroy();
      },
      [] {
        for (int i = 0; i < 3; ++i) {
          void* volatile block = std::malloc(256);
          std::free(block);
        }
      });
  describe();
  compare("both phases, 16 elements, inline (the loop)", 20000, run, multiply);
  destroy();
  compare(
      "descriptors and both phases, 16 elements, inline (the loop)", 20000,
      [&] {
        describe();
        run();
        destroy();
      },
      multiply);
  for (void* device : memory) check(aclrtFree(device));
}

void copies() {
  for (const size_t bytes : {size_t{4} << 10, size_t{1} << 20, size_t{64} << 20}) {
    void* a = nullptr;
    void* b = nullptr;
    void* pinned = nullptr;
    check(aclrtMalloc(&a, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
    check(aclrtMalloc(&b, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
    check(aclrtMallocHost(&pinned, bytes));
    check(aclrtMemset(a, bytes, 1, bytes));
    check(aclrtMemset(b, bytes, 1, bytes));
    std::vector<char> from(bytes, 1);
    std::vector<char> to(bytes, 1);
    std::memset(pinned, 1, bytes);
    const int repeats = static_cast<int>(std::clamp<size_t>((size_t{256} << 20) / bytes, 3, 5000));
    const std::string size = bytes < (size_t{1} << 20) ? "4 KiB" : bytes == (size_t{1} << 20) ? "1 MiB" : "64 MiB";
    const auto memcpy_once = [&] {
      std::memcpy(to.data(), from.data(), bytes);
      asm volatile("" ::: "memory");
    };
    compare(("copy to the device, " + size + " (memcpy)").c_str(), repeats,
            [&] { check(aclrtMemcpy(a, bytes, from.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE)); }, memcpy_once);
    compare(("copy from the device, " + size + " (memcpy)").c_str(), repeats,
            [&] { check(aclrtMemcpy(to.data(), bytes, a, bytes, ACL_MEMCPY_DEVICE_TO_HOST)); }, memcpy_once);
    compare(("copy within the device, " + size + " (memcpy)").c_str(), repeats,
            [&] { check(aclrtMemcpy(b, bytes, a, bytes, ACL_MEMCPY_DEVICE_TO_DEVICE)); }, memcpy_once);
    compare(("queued copy from pinned memory, with its wait, " + size + " (memcpy)").c_str(), repeats,
            [&] {
              check(aclrtMemcpyAsync(a, bytes, pinned, bytes, ACL_MEMCPY_HOST_TO_DEVICE, nullptr));
              check(aclrtSynchronizeStream(nullptr));
            },
            memcpy_once);
    check(aclrtFree(a));
    check(aclrtFree(b));
    check(aclrtFreeHost(pinned));
  }
}

void allocations() {
  for (const auto& [name, bytes] : {std::pair{"512 B", size_t{512}}, {"2 MiB", size_t{2} << 20}}) {
    compare((std::string("malloc and free, ") + name + " (glibc)").c_str(), 5000,
            [&] {
              void* device = nullptr;
              check(aclrtMalloc(&device, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
              check(aclrtFree(device));
            },
            [&] {
              void* volatile host = std::malloc(bytes);
              std::free(host);
            });
  }
}

}  // namespace

int main() {
  check(aclInit(nullptr));
  check(aclrtSetDevice(0));
  tasks();
  operators();
  copies();
  allocations();
  check(aclrtResetDevice(0));
  check(aclFinalize());
  return 0;
}
