#include "base/log_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "base/text.h"

namespace softnpu {

std::string LogFile::path(int number) const {
  return number == 0 ? text(folder_, "/softnpu-", ::getpid(), ".log")
                     : text(folder_, "/softnpu-", ::getpid(), ".", number, ".log");
}

bool LogFile::open() {
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (error) {
    errno = error.value();
    return false;
  }
  file_ = File(::open(path().c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640));
  pid_ = ::getpid();
  return file_.fd() >= 0;
}

void LogFile::rotate(size_t bytes) {
  struct stat mine {};
  // Where files cannot be renamed it grows.
  for (int tries = 0; tries < 3 && file_.fd() >= 0 && ::fstat(file_.fd(), &mine) == 0 && mine.st_size != 0 &&
                      static_cast<size_t>(mine.st_size) + bytes > max_bytes_;
       ++tries) {
    ::flock(file_.fd(), LOCK_EX);
    struct stat named {};
    // Another instance may have done it already; its new file may be full, too.
    if (::stat(path().c_str(), &named) == 0 && named.st_ino == mine.st_ino) {
      for (int number = kFiles - 1; number > 0; --number) ::rename(path(number - 1).c_str(), path(number).c_str());
    }
    ::flock(file_.fd(), LOCK_UN);
    open();
  }
}

bool LogFile::write(std::string_view line) {
  const std::lock_guard lock(mutex_);
  if ((file_.fd() < 0 || pid_ != ::getpid()) && !open()) return false;
  rotate(line.size());
  return file_.fd() >= 0 && ::write(file_.fd(), line.data(), line.size()) == static_cast<ssize_t>(line.size());
}

}  // namespace softnpu
