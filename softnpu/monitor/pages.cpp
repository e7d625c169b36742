#include "monitor/pages.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <memory>
#include <optional>
#include <string_view>

#include "base/file.h"
#include "base/status_layout.h"
#include "base/ticks.h"

namespace softnpu::monitor {
namespace {

constexpr uint64_t kMaxBytes = uint64_t{1} << 46;

struct CloseFolder {
  void operator()(DIR* folder) const { closedir(folder); }
};
using Folder = std::unique_ptr<DIR, CloseFolder>;

std::optional<int> number_of(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

// The names of a folder that are whole numbers, ascending; none if it cannot be read.
std::vector<int> numbers_in(const std::string& path) {
  std::vector<int> numbers;
  const Folder folder(opendir(path.c_str()));
  if (folder == nullptr) return numbers;
  while (const dirent* entry = readdir(folder.get())) {
    if (const auto number = number_of(entry->d_name)) numbers.push_back(*number);
  }
  std::ranges::sort(numbers);
  return numbers;
}

// The page that a descriptor names, mapped for reading.
class Mapped {
 public:
  explicit Mapped(const std::string& path) {
    const File file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat about {};
    if (file.fd() < 0 || fstat(file.fd(), &about) != 0 || !S_ISREG(about.st_mode)) return;
    // Without the seal its owner could shrink it while it is read.
    const int seals = fcntl(file.fd(), F_GET_SEALS);
    if (about.st_size != sizeof(StatusLayout) || seals < 0 || (seals & F_SEAL_SHRINK) == 0) return;
    void* mapped = mmap(nullptr, sizeof(StatusLayout), PROT_READ, MAP_SHARED, file.fd(), 0);
    if (mapped != MAP_FAILED) layout_ = static_cast<const StatusLayout*>(mapped);
  }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;
  ~Mapped() {
    if (layout_ != nullptr) munmap(const_cast<StatusLayout*>(layout_), sizeof(StatusLayout));
  }

  const StatusLayout* layout() const { return layout_; }

 private:
  const StatusLayout* layout_ = nullptr;
};

// The time that tasks have run until now. A task that ends meanwhile counts once, or not at all.
uint64_t busy_ns(const DeviceStatus& device) {
  constexpr int kTries = 4;
  uint64_t busy = 0;
  uint64_t since = 0;
  for (int i = 0; i < kTries; ++i) {
    busy = device.busy.load(std::memory_order_acquire);
    since = device.since.load(std::memory_order_acquire);
    if (device.busy.load(std::memory_order_acquire) == busy) break;
  }
  const uint64_t now = steady_ns();
  return since == 0 || since > now ? busy : busy + (now - since);
}

bool is_name_part(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' || c == '-' || c == '.';
}

// The name of the process in the tables of monitors, which have columns of words.
std::string name_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/comm");
  std::string name;
  std::getline(file, name);
  for (char& c : name) {
    if (!is_name_part(c)) c = '_';
  }
  return name.empty() ? "unknown" : name;
}

std::optional<ProcessPage> read_page(pid_t pid, const StatusLayout& layout) {
  ProcessPage page;
  // A child made by fork has its parent's page.
  if (layout.magic.load(std::memory_order_acquire) != kStatusMagic || layout.version != kStatusVersion ||
      layout.pid != pid) {
    return std::nullopt;
  }
  page.pid = pid;
  page.installed = layout.installed;
  page.cores = layout.cores;
  const auto soc = layout.soc;
  page.soc.assign(soc.data(), std::ranges::find(soc, '\0') - soc.begin());
  const bool is_valid = page.installed >= 0 && page.installed <= static_cast<int>(StatusLayout::kDevices) &&
                        page.cores > 0 && page.soc.size() < soc.size() && std::ranges::all_of(page.soc, is_name_part);
  if (!is_valid) return std::nullopt;
  for (const DeviceStatus& device : layout.devices) {
    if (device.is_open.load(std::memory_order_relaxed) == 0) continue;
    const uint32_t number = device.number.load(std::memory_order_relaxed);
    DeviceUse use{static_cast<int>(number), device.capacity.load(std::memory_order_relaxed),
                  device.used.load(std::memory_order_relaxed), busy_ns(device)};
    if (number >= StatusLayout::kDevices || use.capacity > kMaxBytes || use.used > use.capacity) return std::nullopt;
    page.devices.push_back(use);
  }
  return page;
}

// The page among the descriptors of a process; none if it has no valid one.
std::optional<ProcessPage> find_page(pid_t pid) {
  const std::string folder = "/proc/" + std::to_string(pid) + "/fd/";
  const std::string wanted = std::string("/memfd:") + kStatusName + " (deleted)";
  for (const int fd : numbers_in(folder)) {
    const std::string path = folder + std::to_string(fd);
    std::array<char, 64> link{};
    const ssize_t length = readlink(path.c_str(), link.data(), link.size());
    if (length < 0 || std::string_view(link.data(), static_cast<size_t>(length)) != wanted) continue;
    const Mapped mapped(path);
    if (mapped.layout() == nullptr) continue;
    if (auto page = read_page(pid, *mapped.layout())) {
      page->name = name_of(pid);
      return page;
    }
  }
  return std::nullopt;
}

}  // namespace

std::vector<ProcessPage> read_pages() {
  std::vector<ProcessPage> pages;
  const uid_t user = geteuid();
  for (const int pid : numbers_in("/proc")) {
    struct stat about {};
    if (stat(("/proc/" + std::to_string(pid)).c_str(), &about) != 0 || about.st_uid != user) continue;
    if (auto page = find_page(pid)) pages.push_back(*std::move(page));
  }
  return pages;
}

}  // namespace softnpu::monitor
