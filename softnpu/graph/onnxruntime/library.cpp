// What ONNX Runtime looks up in a library that it registers.

#include "graph/onnxruntime/factory.h"

extern "C" {

ACL_FUNC_VISIBILITY OrtStatus* CreateEpFactories(const char* /*name*/, const OrtApiBase* base,
                                                 const OrtLogger* /*logger*/, OrtEpFactory** factories, size_t max,
                                                 size_t* count) {
  *count = 0;
  if (max == 0) return nullptr;
  OrtStatus* status = softnpu::graph::ort::create_factory(base, factories);
  if (status == nullptr) *count = 1;
  return status;
}

ACL_FUNC_VISIBILITY OrtStatus* ReleaseEpFactory(OrtEpFactory* factory) {
  return softnpu::graph::ort::release_factory(factory);
}
}
