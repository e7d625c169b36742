#pragma once
// Another process that has ranks, and its devices' memory, which this process reads.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "base/file.h"
#include "base/status.h"

namespace softnpu::ccl {

// A file, mapped for reading.
class Mapping {
 public:
  // The file must have at least `bytes` bytes and be sealed against shrinking.
  static Status map(int file, size_t bytes, std::shared_ptr<Mapping>* out);
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping();

  const char* base() const { return base_; }
  size_t bytes() const { return bytes_; }

 private:
  Mapping(const char* base, size_t bytes) : base_(base), bytes_(bytes) {}
  const char* const base_;
  const size_t bytes_;
};

// What a process sends about itself.
struct PeerFiles {
  File memory;   // of one device, readable
  File wakeup;   // an eventfd that wakes it
  File process;  // a pidfd
};

class Peer {
 public:
  // The peer of `token`, a random number of its process: one object while somebody uses it. Takes `files` if it is new.
  static Status join(uint64_t token, int32_t pid, int32_t device, size_t bytes, PeerFiles files,
                     std::shared_ptr<Peer>* out, std::shared_ptr<Mapping>* memory);

  // The number of this process.
  static uint64_t own_token();

  int32_t pid() const { return pid_; }
  // Readable when the process ends, for poll().
  int process() const { return process_.fd(); }
  bool has_ended() const { return ended_.load(std::memory_order_acquire); }
  void set_ended() { ended_.store(true, std::memory_order_release); }
  // Wakes its watcher.
  void ring() const;

 private:
  Peer(int32_t pid, File wakeup, File process) : pid_(pid), wakeup_(std::move(wakeup)), process_(std::move(process)) {}

  const int32_t pid_;
  const File wakeup_;
  const File process_;
  std::atomic<bool> ended_{false};
  std::mutex mutex_;                                  // guards the following
  std::map<int32_t, std::weak_ptr<Mapping>> memory_;  // by device
};

// Adds one to an eventfd.
void send_wakeup(int eventfd);

}  // namespace softnpu::ccl
