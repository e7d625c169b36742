#include "runtime/status_page.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <new>

#include "base/file.h"
#include "base/log.h"
#include "base/no_destroy.h"
#include "runtime/config.h"

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010  // Linux 5.1
#endif

namespace softnpu {

StatusPage& StatusPage::get() {
  static NoDestroy<StatusPage> page;
  return page.get();
}

StatusPage::StatusPage() {
  if (!share()) log(ACL_WARNING, "runtime", "no page in shared memory: npu-smi does not list this process");
  const Config& config = softnpu::config();
  layout_->pid = getpid();
  layout_->installed = config.installed;
  layout_->cores = config.cores;
  // The last byte stays 0.
  config.soc_name.copy(layout_->soc.data(), layout_->soc.size() - 1);
  layout_->magic.store(kStatusMagic, std::memory_order_release);
}

bool StatusPage::share() {
  File file(memfd_create(kStatusName, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (file.fd() < 0 || ftruncate(file.fd(), sizeof(StatusLayout)) != 0) return false;
  void* shared = mmap(nullptr, sizeof(StatusLayout), PROT_READ | PROT_WRITE, MAP_SHARED, file.fd(), 0);
  if (shared == MAP_FAILED) return false;
  if (fcntl(file.fd(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0) {
    munmap(shared, sizeof(StatusLayout));
    return false;
  }
  // Others may only read; an older kernel refuses this seal, and readers check what they read.
  (void)fcntl(file.fd(), F_ADD_SEALS, F_SEAL_FUTURE_WRITE);
  layout_ = ::new (shared) StatusLayout;
  file.release();  // open as long as the process lives: readers find the page by it
  return true;
}

}  // namespace softnpu
