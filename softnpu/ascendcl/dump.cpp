// Dumps of operators' tensors as files: {type}.{name}.{task}.{stream}.{microseconds}, each with the length of a header
// in eight bytes, the header, and the tensors' bytes. The header is this project's own; libascend_dump_parser reads it.

#include "softnpu/dump.h"

#include <sys/time.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include "acl/acl_mdl.h"
#include "ascendcl/api.h"
#include "base/json.h"
#include "base/no_destroy.h"
#include "runtime/overflow.h"

using softnpu::api;
using softnpu::guarded;
using softnpu::Json;
using softnpu::NoDestroy;
using softnpu::Process;
using softnpu::require;
using softnpu::Status;
using softnpu::text;

namespace {

struct Settings {
  std::filesystem::path folder;
  int32_t parts = SOFTNPU_DUMP_OUTPUTS;
  std::set<std::string, std::less<>> names;  // of operators; empty: all
};

struct State {
  std::mutex mutex;  // guards all members
  bool is_initialized = false;
  std::shared_ptr<const Settings> settings;  // null: nothing is dumped
};

State& state() {
  static NoDestroy<State> instance;
  return instance.get();
}

std::atomic<bool> is_dumping{false};
std::atomic<uint64_t> next_number{0};

std::shared_ptr<const Settings> settings() {
  State& s = state();
  std::lock_guard lock(s.mutex);
  return s.settings;
}

// "aclnnMul" is of the type Mul.
std::string_view type_of(std::string_view op) {
  constexpr std::string_view kPrefix = "aclnn";
  return op.starts_with(kPrefix) ? op.substr(kPrefix.size()) : op;
}

Status wrong(const char* path, std::string_view what) {
  return {ACL_ERROR_INVALID_PARAM, text("the dump's configuration ", path, ": ", what)};
}

Status read_names(const char* path, const Json& dump, Settings* out) {
  const Json* list = dump.find("dump_list");
  if (list == nullptr) return Status::ok();
  if (list->list() == nullptr) return wrong(path, "dump_list is a list");
  for (const Json& entry : *list->list()) {
    const Json* layers = entry.find("layer");
    if (layers == nullptr) continue;
    if (layers->list() == nullptr) return wrong(path, "layer is a list of operators' names");
    for (const Json& layer : *layers->list()) {
      if (layer.text() == nullptr) return wrong(path, "layer is a list of operators' names");
      out->names.insert(*layer.text());
    }
  }
  return Status::ok();
}

Status read_settings(const char* path, Settings* out) {
  std::ifstream file(path);
  std::stringstream content;
  content << file.rdbuf();
  if (!file) return {ACL_ERROR_INVALID_FILE, text("the dump's configuration ", path, " cannot be read")};
  Json json;
  if (const Status status = softnpu::parse_json(content.str(), &json); !status.is_ok()) {
    return wrong(path, status.message());
  }
  const Json* dump = json.find("dump");
  if (dump == nullptr) return wrong(path, "there is no object 'dump'");
  const Json* folder = dump->find("dump_path");
  if (folder == nullptr || folder->text() == nullptr) return wrong(path, "dump_path names a folder");
  out->folder = *folder->text();
  if (const Json* mode = dump->find("dump_mode")) {
    const std::string word = mode->text() == nullptr ? "" : *mode->text();
    if (word == "all") {
      out->parts = SOFTNPU_DUMP_INPUTS | SOFTNPU_DUMP_OUTPUTS;
    } else if (word == "input") {
      out->parts = SOFTNPU_DUMP_INPUTS;
    } else if (word != "output") {
      return wrong(path, "dump_mode is input, output or all");
    }
  }
  if (const Json* on = dump->find("dump_op_switch"); on != nullptr && on->text() != nullptr && *on->text() == "off") {
    return wrong(path, "dump_op_switch is off, and softnpu dumps operators: set it on");
  }
  return read_names(path, *dump, out);
}

// The numbers that readers of dumps have for data types.
int dump_type(aclDataType dtype) {
  switch (dtype) {
    case ACL_FLOAT: return 1;
    case ACL_FLOAT16: return 2;
    case ACL_INT8: return 3;
    case ACL_UINT8: return 4;
    case ACL_INT16: return 5;
    case ACL_UINT16: return 6;
    case ACL_INT32: return 7;
    case ACL_INT64: return 8;
    case ACL_UINT32: return 9;
    case ACL_UINT64: return 10;
    case ACL_BOOL: return 11;
    case ACL_DOUBLE: return 12;
    case ACL_COMPLEX64: return 16;
    case ACL_COMPLEX128: return 17;
    case ACL_BF16: return 27;
    default: return 0;
  }
}

std::string described(const softnpuDumpTensor* tensors, size_t count) {
  std::string out;
  for (size_t i = 0; i < count; ++i) {
    const softnpuDumpTensor& tensor = tensors[i];
    std::string dims;
    for (size_t d = 0; d < tensor.rank; ++d) dims += text(d == 0 ? "" : ", ", tensor.dims[d]);
    out += text(i == 0 ? "" : ", ", R"({"data_type": )", dump_type(tensor.dtype), R"(, "format": )",
                static_cast<int>(tensor.format), R"(, "shape": {"dim": [)", dims, R"(]}, "size": )", tensor.size, "}");
  }
  return out;
}

bool is_name_part(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

// A part of a file's name, between points.
std::string part(std::string_view name) {
  std::string out(name);
  std::ranges::replace_if(
      out, [](char c) { return !is_name_part(c); }, '_');
  return out;
}

}  // namespace

aclError aclmdlInitDump() {
  return api("aclmdlInitDump", [&]() -> Status {
    SOFTNPU_RETURN_IF_ERROR(Process::get().check_usable());
    State& s = state();
    std::lock_guard lock(s.mutex);
    // Operators that are planned from now on keep their tensors' descriptions.
    if (!std::exchange(s.is_initialized, true)) softnpu::Overflow::add_watcher();
    return Status::ok();
  });
}

aclError aclmdlSetDump(const char* dumpCfgPath) {
  return api("aclmdlSetDump", [&]() -> Status {
    SOFTNPU_RETURN_IF_ERROR(require(dumpCfgPath, "dumpCfgPath"));
    Settings read;
    SOFTNPU_RETURN_IF_ERROR(read_settings(dumpCfgPath, &read));
    State& s = state();
    std::lock_guard lock(s.mutex);
    if (!s.is_initialized) return {ACL_ERROR_DUMP_NOT_RUN, "aclmdlSetDump comes after aclmdlInitDump"};
    std::error_code error;
    std::filesystem::create_directories(read.folder, error);
    if (error) {
      return {ACL_ERROR_INVALID_FILE, text("the folder ", read.folder.string(), " of the dump: ", error.message())};
    }
    s.settings = std::make_shared<const Settings>(std::move(read));
    is_dumping = true;
    return Status::ok();
  });
}

// Waits for the operators that were launched before: their files are complete then.
aclError aclmdlFinalizeDump() {
  return api("aclmdlFinalizeDump", [&]() -> Status {
    SOFTNPU_RETURN_IF_ERROR(Process::get().check_usable());
    Status first;
    for (int32_t id = 0; id < Process::kMaxDevices; ++id) {
      softnpu::Device* device = Process::get().live_device(id);
      if (device == nullptr) continue;
      Status status = device->synchronize(std::chrono::milliseconds(-1));
      if (first.is_ok()) first = std::move(status);
    }
    State& s = state();
    std::lock_guard lock(s.mutex);
    is_dumping = false;
    s.settings = nullptr;
    if (std::exchange(s.is_initialized, false)) softnpu::Overflow::remove_watcher();
    return first;
  });
}

int32_t softnpuDumps(const char* op) {
  return guarded(int32_t{0}, [&]() -> int32_t {
    if (!is_dumping.load(std::memory_order_relaxed)) return 0;
    const auto current = settings();
    if (current == nullptr) return 0;
    const bool is_named =
        current->names.empty() || current->names.contains(std::string_view(op)) || current->names.contains(type_of(op));
    return is_named ? current->parts : 0;
  });
}

aclError softnpuWriteDump(const char* op, int32_t streamId, const softnpuDumpTensor* inputs, size_t inputCount,
                          const softnpuDumpTensor* outputs, size_t outputCount) {
  return api("softnpuWriteDump", [&]() -> Status {
    const auto current = settings();
    if (current == nullptr) return Status::ok();  // ended meanwhile
    timeval now{};
    gettimeofday(&now, nullptr);
    const auto microseconds = static_cast<uint64_t>(now.tv_sec) * 1'000'000 + static_cast<uint64_t>(now.tv_usec);
    const std::string header = text(R"({"version": "softnpu 1", "dump_time": ")", microseconds, R"(", "op_name": ")",
                                    part(op), R"(", "input": [)", described(inputs, inputCount), R"(], "output": [)",
                                    described(outputs, outputCount), R"(], "buffer": [], "attr": [], "space": []})");
    const std::string name =
        text(part(type_of(op)), '.', part(op), '.', next_number++, '.', streamId, '.', microseconds);
    const std::filesystem::path path = current->folder / name;
    std::ofstream file(path, std::ios::binary);
    const uint64_t length = header.size();
    file.write(reinterpret_cast<const char*>(&length), sizeof length);
    file << header;
    for (size_t i = 0; i < inputCount; ++i) {
      file.write(static_cast<const char*>(inputs[i].bytes), static_cast<std::streamsize>(inputs[i].size));
    }
    for (size_t i = 0; i < outputCount; ++i) {
      file.write(static_cast<const char*>(outputs[i].bytes), static_cast<std::streamsize>(outputs[i].size));
    }
    file.close();
    if (file) return Status::ok();
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
    return {ACL_ERROR_INVALID_FILE, text("the dump ", path.string(), " cannot be written")};
  });
}
