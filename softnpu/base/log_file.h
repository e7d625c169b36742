#pragma once

#include <sys/types.h>

#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "base/file.h"

namespace softnpu {

// The file softnpu-<pid>.log of one folder. When it reaches `max_bytes` it becomes softnpu-<pid>.1.log, that one
// .2.log, up to kFiles in sum. Several instances of a process may write the same file, each a whole line at a time.
class LogFile {
 public:
  static constexpr int kFiles = 5;

  LogFile(std::string folder, size_t max_bytes) : folder_(std::move(folder)), max_bytes_(max_bytes) {}

  // Makes the folder and the file if they do not exist; after a fork those of the child. False if that fails: errno
  // says why.
  bool write(std::string_view line);

  // Its name, or that of the older one of this number.
  std::string path(int number = 0) const;

 private:
  // mutex_ is held.
  bool open();
  void rotate(size_t bytes);

  const std::string folder_;
  const size_t max_bytes_;
  std::mutex mutex_;  // guards all below
  File file_;
  pid_t pid_ = 0;  // that opened it
};

}  // namespace softnpu
