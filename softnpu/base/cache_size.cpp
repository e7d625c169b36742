#include "base/cache_size.h"

#include <unistd.h>

#include <fstream>
#include <string>

namespace softnpu {
namespace {

// The kernel's text is "32768K". On some processors (aarch64) the C library does not know the size.
int64_t from_kernel(int index) {
  std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/size");
  int64_t value = 0;
  char unit = '\0';
  if (!(file >> value)) return 0;
  file >> unit;
  return unit == 'K' ? value << 10 : unit == 'M' ? value << 20 : value;
}

int64_t read() {
  for (int64_t bytes : {static_cast<int64_t>(sysconf(_SC_LEVEL3_CACHE_SIZE)), from_kernel(3),
                        static_cast<int64_t>(sysconf(_SC_LEVEL2_CACHE_SIZE)), from_kernel(2)}) {
    if (bytes > 0) return bytes;
  }
  return 0;
}

}  // namespace

int64_t last_level_cache_bytes() {
  static const int64_t bytes = read();
  return bytes;
}

}  // namespace softnpu
