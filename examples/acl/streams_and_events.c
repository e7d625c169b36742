// Work in order on streams; events order streams among each other and measure time.
#include "check.h"

enum { BYTES = 64 << 20 };

int main(void) {
  CHECK(aclInit(NULL));
  CHECK(aclrtSetDevice(0));

  // Tasks of one stream run in the order in which they were enqueued, those of two streams in any.
  aclrtStream first = NULL;
  aclrtStream second = NULL;
  CHECK(aclrtCreateStream(&first));
  CHECK(aclrtCreateStream(&second));
  aclrtEvent start = NULL;
  aclrtEvent end = NULL;
  // An event that remembers when it was reached.
  CHECK(aclrtCreateEventWithFlag(&start, ACL_EVENT_TIME_LINE));
  CHECK(aclrtCreateEventWithFlag(&end, ACL_EVENT_TIME_LINE));

  void* a = NULL;
  void* b = NULL;
  char* host = NULL;
  CHECK(aclrtMalloc(&a, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
  CHECK(aclrtMalloc(&b, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
  CHECK(aclrtMallocHost((void**)&host, BYTES));

  // Nothing here waits: each call enqueues a task and returns.
  CHECK(aclrtRecordEvent(start, first));
  CHECK(aclrtMemsetAsync(a, BYTES, 42, BYTES, first));
  CHECK(aclrtRecordEvent(end, first));
  // The second stream goes on when the first has reached `end`: the copy sees what the fill wrote.
  CHECK(aclrtStreamWaitEvent(second, end));
  CHECK(aclrtMemcpyAsync(b, BYTES, a, BYTES, ACL_MEMCPY_DEVICE_TO_DEVICE, second));
  CHECK(aclrtMemcpyAsync(host, BYTES, b, BYTES, ACL_MEMCPY_DEVICE_TO_HOST, second));

  // Here the program waits for the second stream, and through the event for the first.
  CHECK(aclrtSynchronizeStream(second));
  printf("the last byte: %d\n", host[BYTES - 1]);
  float ms = 0;
  CHECK(aclrtEventElapsedTime(&ms, start, end));
  printf("the fill took %s\n", ms > 0 ? "some time" : "no time");

  // Whether a stream has work left, without waiting.
  aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
  CHECK(aclrtStreamQuery(second, &status));
  printf("the second stream is %s\n", status == ACL_STREAM_STATUS_COMPLETE ? "idle" : "busy");

  CHECK(aclrtDestroyEvent(start));
  CHECK(aclrtDestroyEvent(end));
  CHECK(aclrtDestroyStream(first));
  CHECK(aclrtDestroyStream(second));
  CHECK(aclrtFree(a));
  CHECK(aclrtFree(b));
  CHECK(aclrtFreeHost(host));
  CHECK(aclrtResetDevice(0));
  CHECK(aclFinalize());
  return 0;
}
