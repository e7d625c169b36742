#include "fuzz/draw.h"

#include <algorithm>
#include <limits>

#include "softnpu/softnpu.h"

namespace fuzz {
namespace {

constexpr size_t kPage = size_t{2} << 20;

template <typename T, size_t N>
T pick(const T (&values)[N], std::mt19937& random) {
  return values[random() % N];
}

void* pick(const std::vector<void*>& handles, std::mt19937& random) {
  return handles.empty() ? nullptr : handles[random() % handles.size()];
}

bool in_device(const void* address) {
  for (int32_t id : {0, 1}) {
    void* base = nullptr;
    size_t size = 0;
    if (softnpuDeviceRange(id, &base, &size) != ACL_SUCCESS) {
      (void)aclGetRecentErrMsg();
    } else if (address >= base && address < static_cast<char*>(base) + size) {
      return true;
    }
  }
  return false;
}

}  // namespace

void Handles::created(void* handle) {
  std::lock_guard lock(mutex_);
  live_.push_back(handle);
}

void Handles::ended(void* handle) {
  std::lock_guard lock(mutex_);
  if (auto it = std::ranges::find(live_, handle); it != live_.end()) {
    live_.erase(it);
    dead_.push_back(handle);
  }
}

void* Handles::draw(std::mt19937& random) const {
  std::lock_guard lock(mutex_);
  switch (random() % 16) {
    case 0: return nullptr;
    case 1: return reinterpret_cast<void*>(static_cast<uintptr_t>(random()) << (random() % 32));
    case 2: return static_cast<char*>(pick(live_, random)) + 8;
    case 3:
    case 4: return pick(dead_, random);
    default: return pick(live_, random);
  }
}

void* Handles::draw_real(std::mt19937& random) const {
  std::lock_guard lock(mutex_);
  return pick(random() % 4 == 0 ? dead_ : live_, random);
}

void* Handles::draw_live(std::mt19937& random) const {
  std::lock_guard lock(mutex_);
  return pick(live_, random);
}

size_t Draw::size() {
  constexpr size_t kMax = std::numeric_limits<size_t>::max();
  constexpr size_t kSizes[] = {0,     1,         4,     511,       512,          513,          4096,     40'000,
                               kPage, kPage + 1, kPage, 4 * kPage, kMax / 2 + 1, kMax - kPage, kMax - 7, kMax};
  return pick(kSizes, random);
}

int32_t Draw::device() {
  constexpr int32_t kDevices[] = {0, 0, 0, 0, 1, 1, 1, 1, 2, 15, 16, -1, std::numeric_limits<int32_t>::min()};
  return pick(kDevices, random);
}

int32_t Draw::timeout() {
  constexpr int32_t kTimeouts[] = {-1, 0, 1, 1000};
  return pick(kTimeouts, random);
}

aclrtMemcpyKind Draw::kind() { return static_cast<aclrtMemcpyKind>(once_in(16) ? random() : number(8)); }

std::string Draw::key() {
  std::lock_guard lock(world.keys_mutex);
  if (world.keys.empty() || once_in(16)) return "no key";
  std::string key = world.keys[random() % world.keys.size()];
  if (once_in(4)) key[random() % key.size()] = "0123456789abcdef-\x7f"[random() % 18];
  return key;
}

void* Draw::device_address() {
  auto* at = static_cast<char*>((once_in(3) ? world.ranges : world.memory).draw_real(random));
  if (at == nullptr) return nullptr;
  constexpr ptrdiff_t kSteps[] = {0, 0, 0, 0, 1, 511, 512, 4096, static_cast<ptrdiff_t>(kPage), -1};
  char* moved = at + pick(kSteps, random);
  return in_device(moved) ? moved : at;
}

// Limits `count` to the size of the host memory.
void* Draw::address(size_t* count) {
  const uint32_t dice = number(8);
  if (dice > 1) return device_address();
  *count = std::min(*count, kHostBytes);
  void* own = dice == 0 ? pinned.draw_live(random) : nullptr;
  return own != nullptr && !once_in(2) ? own : host.data();
}

Draw::Copy Draw::copy() {
  size_t count = size();
  void* dst = address(&count);
  void* src = address(&count);
  return {dst, once_in(8) ? size() : count, src, count};
}

void* Draw::target(size_t* count) {
  *count = size();
  return address(count);
}

}  // namespace fuzz
