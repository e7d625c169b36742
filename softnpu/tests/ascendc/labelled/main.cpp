// Runs the labelled kernels, in the mode that the environment asks for; without checks the fixed ones alone.
//   kernel_checks               a line for each: name, check, bug or fixed, checks that reported, error, hash of z
//   kernel_checks --report NAME the reports of one bug, on stderr
//   kernel_checks --time        milliseconds of an addition, one launch a line
//   kernel_checks --add         one such launch

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "ascendc/labelled/labelled.h"
#include "softnpu/softnpu.h"
#include "softnpu_kernel/launch.h"

namespace {

void check(aclError error, const char* what) {
  if (error == ACL_SUCCESS) return;
  const char* message = aclGetRecentErrMsg();
  std::fprintf(stderr, "%s: %d %s\n", what, error, message == nullptr ? "" : message);
  std::exit(2);
}

GM_ADDR kernel_address(void* device) {
  void* address = nullptr;
  check(softnpuKernelAddress(device, 1, &address), "softnpuKernelAddress");
  return static_cast<GM_ADDR>(address);
}

// x, y and z in device memory. x has an allocation of its own; behind y and z is another tensor each.
class Tensors {
 public:
  explicit Tensors(size_t elements) : elements_(elements) {
    for (int i = 0; i < 3; ++i) {
      const size_t tensors = i == 0 ? 1 : 2;
      check(aclrtMalloc(&memory_[i], tensors * bytes(), ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
      if (i == 0) continue;
      softnpuBlockAllocated(memory_[i], bytes(), nullptr);
      softnpuBlockAllocated(static_cast<char*>(memory_[i]) + bytes(), bytes(), nullptr);
    }
    std::vector<float> values(elements);
    for (size_t i = 0; i < elements; ++i) values[i] = static_cast<float>(i);
    for (int i = 0; i < 2; ++i)
      check(aclrtMemcpy(memory_[i], bytes(), values.data(), bytes(), ACL_MEMCPY_HOST_TO_DEVICE), "aclrtMemcpy");
    check(aclrtMemset(memory_[2], bytes(), 0, bytes()), "aclrtMemset");
  }
  Tensors(const Tensors&) = delete;
  Tensors& operator=(const Tensors&) = delete;
  ~Tensors() {
    for (void* memory : memory_) (void)aclrtFree(memory);
  }

  // The memory of y becomes a new tensor.
  void renew_y() const { softnpuBlockAllocated(memory_[1], bytes(), nullptr); }
  GM_ADDR operator[](int i) const { return kernel_address(memory_[i]); }
  // FNV-1a of z.
  uint64_t hash() const {
    std::vector<unsigned char> host(bytes());
    check(aclrtMemcpy(host.data(), bytes(), memory_[2], bytes(), ACL_MEMCPY_DEVICE_TO_HOST), "aclrtMemcpy");
    uint64_t value = 0xcbf29ce484222325ULL;
    for (const unsigned char byte : host) value = (value ^ byte) * 0x100000001b3ULL;
    return value;
  }

 private:
  size_t bytes() const { return elements_ * sizeof(float); }

  size_t elements_;
  void* memory_[3] = {};
};

struct Arguments {
  labelled::Kernel kernel;
  GM_ADDR x, y, z;
};

aclError run(const labelled::Row& row, bool is_fixed, const Tensors& tensors) {
  if (row.is_y_unwritten) tensors.renew_y();
  softnpuKernel kernel{};
  kernel.name = row.name;
  kernel.run = [](const void* arguments) {
    const auto& a = *static_cast<const Arguments*>(arguments);
    a.kernel(a.x, a.y, a.z);
  };
  const Arguments arguments{is_fixed ? row.fixed : row.buggy, tensors[0], tensors[1], tensors[2]};
  check(softnpuKernelEnqueue(SOFTNPU_KERNEL_ENTRY_VERSION, &kernel, row.blocks, nullptr, &arguments, sizeof arguments),
        "softnpuKernelEnqueue");
  return aclrtSynchronizeStream(nullptr);
}

// What `work` writes to stderr.
template <typename Work>
std::string captured(const Work& work) {
  std::FILE* file = std::tmpfile();
  const int kept = dup(STDERR_FILENO);
  std::fflush(stderr);
  dup2(fileno(file), STDERR_FILENO);
  work();
  std::fflush(stderr);
  dup2(kept, STDERR_FILENO);
  close(kept);
  std::string text(static_cast<size_t>(lseek(fileno(file), 0, SEEK_END)), '\0');
  std::rewind(file);
  text.resize(std::fread(text.data(), 1, text.size(), file));
  std::fclose(file);
  return text;
}

// "memcheck,racecheck"
std::string checks_of(const std::string& reports) {
  std::string found;
  for (const char* name : {"memcheck", "initcheck", "synccheck", "racecheck", "blockcheck"}) {
    if (reports.find(std::string("========= ") + name + ":") == std::string::npos) continue;
    if (!found.empty()) found += ',';
    found += name;
  }
  return found.empty() ? "-" : found;
}

std::vector<labelled::Row> all_rows() {
  std::vector<labelled::Row> rows;
  for (const auto table : {labelled::memcheck_rows(), labelled::initcheck_rows(), labelled::synccheck_rows(),
                           labelled::racecheck_rows(), labelled::blockcheck_rows()})
    rows.insert(rows.end(), table.begin(), table.end());
  return rows;
}

void run_all() {
  for (const labelled::Row& row : all_rows()) {
    for (const bool is_fixed : {false, true}) {
      if (!is_fixed && !softnpu::kernel::is_checked) continue;
      const Tensors tensors(labelled::kElements);
      aclError error = ACL_SUCCESS;
      const std::string reports = captured([&] { error = run(row, is_fixed, tensors); });
      std::printf("%s\t%s\t%s\t%s\t%d\t%016llx\n", row.name, row.check, is_fixed ? "fixed" : "bug",
                  checks_of(reports).c_str(), error, static_cast<unsigned long long>(tensors.hash()));
    }
  }
}

int report(const char* name) {
  for (const labelled::Row& row : all_rows()) {
    if (std::strcmp(row.name, name) == 0) {
      const Tensors tensors(labelled::kElements);
      return run(row, false, tensors) == ACL_SUCCESS ? 1 : 0;
    }
  }
  std::fprintf(stderr, "there is no labelled kernel '%s'\n", name);
  return 2;
}

void time_additions(int rounds) {
  constexpr size_t kElements = 1 << 20;
  constexpr uint32_t kBlocks = 8;
  const Tensors tensors(kElements);
  softnpuKernel kernel{};
  kernel.name = "timed_add";
  kernel.run = [](const void* arguments) {
    const auto& a = *static_cast<const Arguments*>(arguments);
    labelled::timed_add(a.x, a.y, a.z, kElements);
  };
  const Arguments arguments{nullptr, tensors[0], tensors[1], tensors[2]};
  for (int i = 0; i < rounds; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    check(softnpuKernelEnqueue(SOFTNPU_KERNEL_ENTRY_VERSION, &kernel, kBlocks, nullptr, &arguments, sizeof arguments),
          "softnpuKernelEnqueue");
    check(aclrtSynchronizeStream(nullptr), "timed_add");
    const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - begin;
    std::printf("%.4f\n", taken.count());
  }
}

}  // namespace

int main(int count, char** words) {
  check(aclInit(nullptr), "aclInit");
  check(aclrtSetDevice(0), "aclrtSetDevice");
  if (count == 1) {
    run_all();
  } else if (count == 3 && std::strcmp(words[1], "--report") == 0) {
    return report(words[2]);
  } else if (count == 2 && std::strcmp(words[1], "--time") == 0) {
    time_additions(15);
  } else if (count == 2 && std::strcmp(words[1], "--add") == 0) {
    time_additions(1);
  } else {
    std::fputs("usage: kernel_checks [--report NAME | --time | --add]\n", stderr);
    return 2;
  }
  return 0;
}
