#pragma once
// Draws arguments: handles that live, that are dead, null and garbage ones, and sizes from the edges.

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "acl/acl.h"

namespace fuzz {

// Handles of one kind. What a reset took away stays among the live ones: the runtime has to know better.
class Handles {
 public:
  void made(void* handle);
  // `handle` was given to a call that ends it.
  void ended(void* handle);
  // Mostly a live one; else dead, null, or nothing that was ever handed out.
  void* draw(std::mt19937& random) const;
  // One that lives; null while there is none.
  void* draw_live(std::mt19937& random) const;
  // One that was handed out, dead or alive; null while there is none.
  void* draw_real(std::mt19937& random) const;

 private:
  mutable std::mutex mutex_;
  std::vector<void*> live_;
  std::vector<void*> dead_;
};

// What the threads of one run share.
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

// One thread's hand.
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

  // A copy's arguments. Host memory is this thread's own and large enough for them: what is not would be the caller's
  // crash.
  struct Copy {
    void* dst;
    size_t dst_max;
    void* src;
    size_t count;
  };
  Copy copy();
  // Memory to fill.
  void* target(size_t* count);

  World& world;
  std::mt19937 random;
  std::vector<char> host;
  Handles pinned;  // freed by this thread only, which may read it

 private:
  void* device_address();
  void* address(size_t* count);
};

}  // namespace fuzz
