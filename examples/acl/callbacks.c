// Functions of the program that run when a stream reaches them.
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "check.h"

static atomic_int stop;

// Adds one to what its argument points at.
static void count(void* argument) { ++*(int*)argument; }

// A thread that serves callbacks: it runs what its streams have launched, one at a time.
static void* serve(void* unused) {
  (void)unused;
  // Waits up to 100 ms for the next one; a time-out is no failure here.
  while (!atomic_load(&stop)) (void)aclrtProcessReport(100);
  return NULL;
}

int main(void) {
  CHECK(aclInit(NULL));
  CHECK(aclrtSetDevice(0));
  aclrtStream stream = NULL;
  CHECK(aclrtCreateStream(&stream));
  void* device = NULL;
  CHECK(aclrtMalloc(&device, 1 << 20, ACL_MEM_MALLOC_HUGE_FIRST));

  // The short way: the function runs on a thread of the library, in the stream's order, and the stream waits for it.
  int host_calls = 0;
  CHECK(aclrtMemsetAsync(device, 1 << 20, 1, 1 << 20, stream));
  CHECK(aclrtLaunchHostFunc(stream, count, &host_calls));
  CHECK(aclrtSynchronizeStream(stream));
  printf("host functions: %d\n", host_calls);

  // The long way: a thread of the program serves the stream.
  pthread_t server;
  if (pthread_create(&server, NULL, serve, NULL) != 0) return 1;
  CHECK(aclrtSubscribeReport((uint64_t)server, stream));
  int calls = 0;
  for (int i = 0; i < 3; ++i) {
    CHECK(aclrtMemsetAsync(device, 1 << 20, i, 1 << 20, stream));
    // ACL_CALLBACK_BLOCK: the stream goes on when the function has returned.
    CHECK(aclrtLaunchCallback(count, &calls, ACL_CALLBACK_BLOCK, stream));
  }
  CHECK(aclrtSynchronizeStream(stream));
  printf("callbacks: %d\n", calls);

  atomic_store(&stop, 1);
  pthread_join(server, NULL);
  CHECK(aclrtUnSubscribeReport((uint64_t)server, stream));
  CHECK(aclrtDestroyStream(stream));
  CHECK(aclrtFree(device));
  CHECK(aclrtResetDevice(0));
  CHECK(aclFinalize());
  return 0;
}
