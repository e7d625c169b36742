// Memory of the device and of the host, and copies between them.
#include <string.h>

#include "check.h"

enum { COUNT = 1 << 20 };

int main(void) {
  CHECK(aclInit(NULL));
  CHECK(aclrtSetDevice(0));

  // Device memory. The host must not touch it: copies do. With SOFTNPU_PROTECT=1 a program that touches it crashes
  // there.
  int32_t* device = NULL;
  CHECK(aclrtMalloc((void**)&device, COUNT * sizeof(int32_t), ACL_MEM_MALLOC_HUGE_FIRST));
  // Pinned host memory: copies from and to it can run while the program goes on.
  int32_t* host = NULL;
  CHECK(aclrtMallocHost((void**)&host, COUNT * sizeof(int32_t)));
  for (int32_t i = 0; i < COUNT; ++i) host[i] = i;

  // The second argument says how much room there is behind the first: a copy past it fails and writes nothing.
  CHECK(aclrtMemcpy(device, COUNT * sizeof(int32_t), host, COUNT * sizeof(int32_t), ACL_MEMCPY_HOST_TO_DEVICE));
  memset(host, 0, COUNT * sizeof(int32_t));
  CHECK(aclrtMemcpy(host, COUNT * sizeof(int32_t), device, COUNT * sizeof(int32_t), ACL_MEMCPY_DEVICE_TO_HOST));
  printf("copied there and back: %d, %d\n", host[1], host[COUNT - 1]);

  // A column of a matrix of 1024 x 1024: rows of 4 bytes that begin 4096 bytes apart there, and 4 here.
  int32_t column[1024];
  CHECK(aclrtMemcpy2d(column, sizeof(int32_t), device + 5, 1024 * sizeof(int32_t), sizeof(int32_t), 1024,
                      ACL_MEMCPY_DEVICE_TO_HOST));
  printf("column 5: %d, %d\n", column[0], column[1023]);

  // Bytes are set by value, as memset does.
  CHECK(aclrtMemset(device, COUNT * sizeof(int32_t), 0xff, COUNT * sizeof(int32_t)));
  CHECK(aclrtMemcpy(host, sizeof(int32_t), device, sizeof(int32_t), ACL_MEMCPY_DEVICE_TO_HOST));
  printf("after the fill: %d\n", host[0]);

  // Mistakes are errors, not accidents.
  if (aclrtMemcpy(device + COUNT, 8, host, 8, ACL_MEMCPY_HOST_TO_DEVICE) != ACL_SUCCESS) {
    printf("as expected: %s\n", aclGetRecentErrMsg());
  }
  CHECK(aclrtFree(device));
  if (aclrtFree(device) != ACL_SUCCESS) printf("as expected: %s\n", aclGetRecentErrMsg());

  CHECK(aclrtFreeHost(host));
  CHECK(aclrtResetDevice(0));
  CHECK(aclFinalize());
  return 0;
}
