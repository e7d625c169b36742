// Two processes share device memory and an event; nothing is copied between them.
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum { COUNT = 1000 };

// The other process: `key` names the memory, `mark` the event.
static int child(const char* key, const char* mark) {
  CHECK(aclInit(NULL));
  CHECK(aclrtSetDevice(0));
  // The same bytes as the parent's, at an address of this process.
  int32_t* shared = NULL;
  CHECK(aclrtIpcMemImportByKey((void**)&shared, key, ACL_RT_IPC_MEM_IMPORT_FLAG_DEFAULT));
  int32_t values[COUNT];
  CHECK(aclrtMemcpy(values, sizeof values, shared, sizeof values, ACL_MEMCPY_DEVICE_TO_HOST));
  for (int i = 0; i < COUNT; ++i) values[i] *= 2;
  CHECK(aclrtMemcpyAsync(shared, sizeof values, values, sizeof values, ACL_MEMCPY_HOST_TO_DEVICE, NULL));
  // The parent's event, recorded on this process's stream: the parent sees it when the copy is done.
  aclrtIpcEventHandle handle;
  memset(&handle, 0, sizeof handle);
  strncpy(handle.reserved, mark, sizeof handle.reserved - 1);
  aclrtEvent done = NULL;
  CHECK(aclrtIpcOpenEventHandle(handle, &done));
  CHECK(aclrtRecordEvent(done, NULL));
  CHECK(aclrtSynchronizeStream(NULL));
  CHECK(aclrtDestroyEvent(done));
  CHECK(aclrtIpcMemClose(key));
  CHECK(aclrtResetDevice(0));
  CHECK(aclFinalize());
  return 0;
}

int main(int argc, char** argv) {
  if (argc == 3) return child(argv[1], argv[2]);
  CHECK(aclInit(NULL));
  CHECK(aclrtSetDevice(0));
  int32_t values[COUNT];
  for (int i = 0; i < COUNT; ++i) values[i] = i;
  void* device = NULL;
  CHECK(aclrtMalloc(&device, sizeof values, ACL_MEM_MALLOC_HUGE_FIRST));
  CHECK(aclrtMemcpy(device, sizeof values, values, sizeof values, ACL_MEMCPY_HOST_TO_DEVICE));

  // A key is text: it goes to the other process by whatever means, here as an argument.
  char key[ACL_IPC_HANDLE_SIZE];
  CHECK(aclrtIpcMemGetExportKey(device, sizeof values, key, sizeof key,
                                ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION));
  aclrtEvent done = NULL;
  aclrtIpcEventHandle handle;
  CHECK(aclrtCreateEventExWithFlag(&done, ACL_EVENT_IPC));
  CHECK(aclrtIpcGetEventHandle(done, &handle));

  // A process of its own, not a copy of this one: a device does not survive fork() alone.
  const pid_t pid = fork();
  if (pid == 0) {
    execl("/proc/self/exe", argv[0], key, handle.reserved, (char*)NULL);
    _exit(127);
  }
  int status = -1;
  if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0) {
    fprintf(stderr, "the other process failed\n");
    return 1;
  }
  CHECK(aclrtSynchronizeEvent(done));
  CHECK(aclrtMemcpy(values, sizeof values, device, sizeof values, ACL_MEMCPY_DEVICE_TO_HOST));
  printf("doubled by the other process: %d, %d\n", values[1], values[COUNT - 1]);

  CHECK(aclrtDestroyEvent(done));
  CHECK(aclrtFree(device));
  CHECK(aclrtResetDevice(0));
  CHECK(aclFinalize());
  return 0;
}
