// Loads a compiled model (.om), runs it on inputs of ones, and prints its outputs: acl_example_model FILE.om
#include "acl/acl_mdl.h"
#include "check.h"

// Device memory for each input or output, `size` bytes of it, as one buffer of `dataset`.
static void* add_buffer(aclmdlDataset* dataset, size_t size) {
  void* memory = NULL;
  CHECK(aclrtMalloc(&memory, size, ACL_MEM_MALLOC_HUGE_FIRST));
  CHECK(aclmdlAddDatasetBuffer(dataset, aclCreateDataBuffer(memory, size)));
  return memory;
}

static void release(aclmdlDataset* dataset) {
  for (size_t i = 0; i < aclmdlGetDatasetNumBuffers(dataset); ++i) {
    aclDataBuffer* buffer = aclmdlGetDatasetBuffer(dataset, i);
    CHECK(aclrtFree(aclGetDataBufferAddr(buffer)));
    CHECK(aclDestroyDataBuffer(buffer));
  }
  CHECK(aclmdlDestroyDataset(dataset));
}

int main(int count, char** words) {
  if (count != 2) {
    fprintf(stderr, "usage: %s FILE.om\n", words[0]);
    return 1;
  }
  CHECK(aclInit(NULL));
  CHECK(aclrtSetDevice(0));
  uint32_t model = 0;
  CHECK(aclmdlLoadFromFile(words[1], &model));
  aclmdlDesc* desc = aclmdlCreateDesc();
  CHECK(aclmdlGetDesc(desc, model));

  aclmdlDataset* inputs = aclmdlCreateDataset();
  aclmdlDataset* outputs = aclmdlCreateDataset();
  for (size_t i = 0; i < aclmdlGetNumInputs(desc); ++i) {
    const size_t size = aclmdlGetInputSizeByIndex(desc, i);
    float* ones = malloc(size);
    for (size_t k = 0; k < size / sizeof(float); ++k) ones[k] = 1;
    CHECK(aclrtMemcpy(add_buffer(inputs, size), size, ones, size, ACL_MEMCPY_HOST_TO_DEVICE));
    free(ones);
  }
  for (size_t i = 0; i < aclmdlGetNumOutputs(desc); ++i) add_buffer(outputs, aclmdlGetOutputSizeByIndex(desc, i));
  CHECK(aclmdlExecute(model, inputs, outputs));

  for (size_t i = 0; i < aclmdlGetNumOutputs(desc); ++i) {
    const size_t size = aclmdlGetOutputSizeByIndex(desc, i);
    float* values = malloc(size);
    CHECK(aclrtMemcpy(values, size, aclGetDataBufferAddr(aclmdlGetDatasetBuffer(outputs, i)), size,
                      ACL_MEMCPY_DEVICE_TO_HOST));
    printf("%s:", aclmdlGetOutputNameByIndex(desc, i));
    for (size_t k = 0; k < size / sizeof(float) && k < 4; ++k) printf(" %g", values[k]);
    printf("\n");
    free(values);
  }
  release(inputs);
  release(outputs);
  CHECK(aclmdlDestroyDesc(desc));
  CHECK(aclmdlUnload(model));
  CHECK(aclrtResetDevice(0));
  return aclFinalize() == ACL_SUCCESS ? 0 : 1;
}
