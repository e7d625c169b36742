#include "fault/inject.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdlib>
#include <new>

#define EXPORTED __attribute__((visibility("default")))

namespace fault {
namespace {

constexpr uint64_t kNever = ~uint64_t{0};

std::atomic<bool> from_then_on{false};
std::atomic<uint64_t> fails_at{kNever};
std::atomic<uint64_t> calls{0};
std::atomic<uint64_t> failures{0};
std::atomic<const char*> first{nullptr};

bool fails(const char* call) {
  const uint64_t at = fails_at.load();
  if (at == kNever) return false;
  const uint64_t number = ++calls;
  if (number != at && !(from_then_on && number > at)) return false;
  if (failures++ == 0) first = call;
  return true;
}

// The function that this executable's function of the same name replaces.
template <typename Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

void* allocate(std::size_t size, std::size_t alignment, const char* call) {
  if (fails(call)) return nullptr;
  if (alignment <= alignof(std::max_align_t)) return std::malloc(size == 0 ? 1 : size);
  void* memory = nullptr;
  return posix_memalign(&memory, alignment, size) == 0 ? memory : nullptr;
}

void* allocate_or_throw(std::size_t size, std::size_t alignment) {
  void* memory = allocate(size, alignment, "operator new");
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void arm(Mode mode, uint64_t number) {
  from_then_on = mode == Mode::kFromThenOn;
  calls = 0;
  failures = 0;
  first = nullptr;
  fails_at = number == 0 ? kNever : number;
}

uint64_t disarm() {
  fails_at = kNever;
  return failures;
}

const char* first_failed() { return first; }

}  // namespace fault

using fault::allocate_or_throw;
using fault::fails;

void* operator new(std::size_t size) { return allocate_or_throw(size, 1); }
void* operator new[](std::size_t size) { return allocate_or_throw(size, 1); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocate_or_throw(size, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return fault::allocate(size, 1, "operator new(nothrow)");
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }

extern "C" {

EXPORTED void* aligned_alloc(size_t alignment, size_t size) noexcept {
  static auto* const real = fault::next<void*(size_t, size_t)>("aligned_alloc");
  if (!fails("aligned_alloc")) return real(alignment, size);
  errno = ENOMEM;
  return nullptr;
}

EXPORTED int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
                            void* argument) noexcept {
  static auto* const real =
      fault::next<int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)>("pthread_create");
  return fails("pthread_create") ? EAGAIN : real(thread, attributes, start, argument);
}

EXPORTED void* mmap(void* address, size_t size, int protection, int flags, int fd, off_t offset) noexcept {
  static auto* const real = fault::next<void*(void*, size_t, int, int, int, off_t)>("mmap");
  if (!fails("mmap")) return real(address, size, protection, flags, fd, offset);
  errno = ENOMEM;
  return MAP_FAILED;
}

EXPORTED int munmap(void* address, size_t size) noexcept {
  static auto* const real = fault::next<int(void*, size_t)>("munmap");
  if (!fails("munmap")) return real(address, size);
  errno = ENOMEM;
  return -1;
}

EXPORTED int madvise(void* address, size_t size, int advice) noexcept {
  static auto* const real = fault::next<int(void*, size_t, int)>("madvise");
  if (!fails("madvise")) return real(address, size, advice);
  errno = EINVAL;
  return -1;
}

EXPORTED int memfd_create(const char* name, unsigned flags) noexcept {
  static auto* const real = fault::next<int(const char*, unsigned)>("memfd_create");
  if (!fails("memfd_create")) return real(name, flags);
  errno = EMFILE;
  return -1;
}

EXPORTED int ftruncate(int fd, off_t size) noexcept {
  static auto* const real = fault::next<int(int, off_t)>("ftruncate");
  if (!fails("ftruncate")) return real(fd, size);
  errno = ENOSPC;
  return -1;
}

EXPORTED int open(const char* path, int flags, ...) {
  static auto* const real = fault::next<int(const char*, int, ...)>("open");
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  if (!fails("open")) return real(path, flags, mode);
  errno = EMFILE;
  return -1;
}

EXPORTED int fstat(int fd, struct stat* status) noexcept {
  static auto* const real = fault::next<int(int, struct stat*)>("fstat");
  if (!fails("fstat")) return real(fd, status);
  errno = EIO;
  return -1;
}

}  // extern "C"
