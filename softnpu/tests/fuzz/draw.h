#pragma once
// Draws arguments: live, dead, null and invalid handles, and sizes including extreme ones.

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "acl/acl.h"

namespace fuzz {

// Handles of one kind. After a reset its handles stay among the live ones: the runtime must detect that.
class Handles {
 public:
  void created(void* handle);
  // `handle` was passed to a call that ends it.
  void ended(void* handle);
  // Usually a live one; otherwise dead, null, or never created.
  void* draw(std::mt19937& random) const;
  // A live one; null if there is none.
  void* draw_live(std::mt19937& random) const;
  // One that was created, dead or alive; null if there is none.
  void* draw_real(std::mt19937& random) const;

 private:
  mutable std::mutex mutex_;
  std::vector<void*> live_;
  std::vector<void*> dead_;
};

// State shared by the threads of a run.
struct World {
  Handles streams;
  Handles events;
  Handles contexts;
  Handles memory;
  Handles ranges;
  Handles physical;
  std::mutex keys_mutex;
  std::vector<std::string> keys;
};

// The random generator of one thread.
class Draw {
 public:
  Draw(World* world, unsigned seed) : world(*world), random(seed), host(kHostBytes) {}

  static constexpr size_t kHostBytes = size_t{1} << 16;

  uint32_t number(uint32_t below) { return random() % below; }
  bool once_in(uint32_t times) { return number(times) == 0; }
  size_t size();
  int32_t device();
  int32_t timeout();
  aclrtMemcpyKind kind();
  std::string key();

  // A copy's arguments. Host memory belongs to this thread and is large enough: otherwise the crash would be the
  // caller's error.
  struct Copy {
    void* dst;
    size_t dst_max;
    void* src;
    size_t count;
  };
  Copy copy();
  // Memory for a fill.
  void* target(size_t* count);

  World& world;
  std::mt19937 random;
  std::vector<char> host;
  Handles pinned;  // freed only by this thread, which may read them

 private:
  void* device_address();
  void* address(size_t* count);
};

}  // namespace fuzz
