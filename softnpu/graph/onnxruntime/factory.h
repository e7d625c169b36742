#pragma once
// The factory of execution providers that ONNX Runtime registers.

#include "acl/acl_base.h"
#include "graph/onnxruntime/abi.h"

namespace softnpu::graph::ort {

// An error, in one sentence, if ONNX Runtime is older than 1.23.
ACL_FUNC_VISIBILITY OrtStatus* create_factory(const OrtApiBase* base, OrtEpFactory** out);
// An error while a session has one of its providers: the factory then lives as long as the process.
ACL_FUNC_VISIBILITY OrtStatus* release_factory(OrtEpFactory* factory);

}  // namespace softnpu::graph::ort
