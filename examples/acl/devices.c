// What devices there are, and what they say of themselves.
#include "check.h"

int main(void) {
  // Once per process, before anything else. The argument is the path of a JSON file with settings, or NULL.
  CHECK(aclInit(NULL));

  // Asking for the number of devices sets none of them up.
  uint32_t count = 0;
  CHECK(aclrtGetDeviceCount(&count));
  // The name of the chip that this machine has, or plays.
  printf("%u device(s), %s\n", count, aclrtGetSocName());

  for (uint32_t id = 0; id < count; ++id) {
    // Attributes are numbers; enum aclrtDevAttr lists them.
    int64_t cores = 0;
    int64_t bytes = 0;
    CHECK(aclrtGetDeviceInfo(id, ACL_DEV_ATTR_AICORE_CORE_NUM, &cores));
    CHECK(aclrtGetDeviceInfo(id, ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE, &bytes));
    printf("device %u: %lld cores, %.1f GiB\n", id, (long long)cores, (double)bytes / (1 << 30));

    // Makes it this thread's device; the first use sets it up. Every thread chooses its own.
    CHECK(aclrtSetDevice((int32_t)id));
    // Memory of the current device: what is free, and all of it.
    size_t free_bytes = 0;
    size_t total_bytes = 0;
    CHECK(aclrtGetMemInfo(ACL_HBM_MEM, &free_bytes, &total_bytes));
    printf("device %u: %.1f GiB free\n", id, (double)free_bytes / (1 << 30));
    // Drops all that the device holds: memory, streams, events.
    CHECK(aclrtResetDevice((int32_t)id));
  }

  // A device that does not exist is an error with a sentence; the program goes on.
  if (aclrtSetDevice(1000) != ACL_SUCCESS) printf("as expected: %s\n", aclGetRecentErrMsg());

  CHECK(aclFinalize());
  return 0;
}
