#include "runtime/memory/address_lock.h"

#include "base/no_destroy.h"

namespace softnpu {

AddressLock& AddressLock::get() {
  static NoDestroy<AddressLock> lock;
  return lock.get();
}

}  // namespace softnpu
