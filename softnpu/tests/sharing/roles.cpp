// What the other process does on request. It has one range of memory and one event at a time. Answers are "ok", a
// value, or "error" with the code.

#include <unistd.h>

#include <array>
#include <thread>

#include "acl/acl.h"
#include "acl/acl_rt.h"
#include "sharing/other_process.h"

namespace sharing {
namespace {

constexpr size_t kPage = size_t{2} << 20;

void* memory = nullptr;
aclrtEvent event = nullptr;
aclrtStream stream = nullptr;

std::string answer(aclError code) { return code == ACL_SUCCESS ? "ok" : "error " + std::to_string(code); }

std::string import_key(std::istringstream& arguments) {
  std::string key;
  arguments >> key;
  return answer(aclrtIpcMemImportByKey(&memory, key.c_str(), 0));
}

std::string close_key(std::istringstream& arguments) {
  std::string key;
  arguments >> key;
  return answer(aclrtIpcMemClose(key.c_str()));
}

// Imports and maps one page of physical memory.
std::string import_number(std::istringstream& arguments) {
  uint64_t number = 0;
  arguments >> number;
  aclrtDrvMemHandle handle = nullptr;
  if (const aclError code = aclrtMemImportFromShareableHandle(number, 0, &handle); code != ACL_SUCCESS) {
    return answer(code);
  }
  if (const aclError code = aclrtReserveMemAddress(&memory, kPage, 0, nullptr, 0); code != ACL_SUCCESS) {
    return answer(code);
  }
  return answer(aclrtMapMem(memory, kPage, 0, handle, 0));
}

std::string read(std::istringstream&) {
  char value = 0;
  const aclError code = aclrtMemcpy(&value, 1, memory, 1, ACL_MEMCPY_DEVICE_TO_HOST);
  return code == ACL_SUCCESS ? std::string(1, value) : answer(code);
}

std::string write(std::istringstream& arguments) {
  char value = 0;
  size_t count = 0;
  arguments >> value >> count;
  return answer(aclrtMemset(memory, count, value, count));
}

std::string make_key(std::istringstream&) {
  if (const aclError code = aclrtMalloc(&memory, kPage, ACL_MEM_MALLOC_HUGE_FIRST); code != ACL_SUCCESS) {
    return answer(code);
  }
  std::array<char, ACL_IPC_HANDLE_SIZE> key{};
  const aclError code =
      aclrtIpcMemGetExportKey(memory, kPage, key.data(), key.size(), ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION);
  return code == ACL_SUCCESS ? key.data() : answer(code);
}

// A child that outlives this process, and has everything that a fork leaves it. The answer is its number.
std::string fork_sleeper(std::istringstream&) {
  const pid_t child = fork();
  if (child == 0) {
    close(STDIN_FILENO);
    close(STDOUT_FILENO);
    sleep(60);
    _exit(0);
  }
  return std::to_string(child);
}

std::string open_event(std::istringstream& arguments) {
  std::string text;
  arguments >> text;
  aclrtIpcEventHandle handle{};
  text.copy(handle.reserved, sizeof handle.reserved - 1);
  return answer(aclrtIpcOpenEventHandle(handle, &event));
}

// Records the event on a stream that waits for ever.
std::string record_never(std::istringstream&) {
  aclrtEvent never = nullptr;
  (void)aclrtCreateStream(&stream);
  (void)aclrtCreateEventExWithFlag(&never, ACL_EVENT_EXTERNAL);
  (void)aclrtStreamWaitEvent(stream, never);
  return answer(aclrtRecordEvent(event, stream));
}

std::string record(std::istringstream&) {
  (void)aclrtCreateStream(&stream);
  (void)aclrtRecordEvent(event, stream);
  return answer(aclrtSynchronizeStream(stream));
}

// Sets the element of int64 at a place to one value and to another, until the process ends.
std::string change(std::istringstream& arguments) {
  size_t location = 0;
  int64_t first = 0;
  int64_t second = 0;
  arguments >> location >> first >> second;
  std::thread([=, at = static_cast<int64_t*>(memory) + location] {
    (void)aclrtSetDevice(0);
    while (true) {
      for (const int64_t value : {first, second}) {
        (void)aclrtMemcpy(at, sizeof value, &value, sizeof value, ACL_MEMCPY_HOST_TO_DEVICE);
      }
    }
  }).detach();
  return "ok";
}

}  // namespace

const Commands& commands() {
  static const Commands all = {
      {"import", import_key},
      {"close", close_key},
      {"import-number", import_number},
      {"read", read},
      {"write", write},
      {"make-key", make_key},
      {"fork", fork_sleeper},
      {"open-event", open_event},
      {"record", record},
      {"record-never", record_never},
      {"change", change},
  };
  return all;
}

}  // namespace sharing
