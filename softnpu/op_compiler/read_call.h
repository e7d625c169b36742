#pragma once

#include <span>
#include <string>

#include "acl/acl_op_compiler.h"
#include "ascendcl/tensor_desc.h"
#include "nnopbase/registry_call.h"

namespace softnpu {

enum class Reading : uint8_t {
  kAll,
  kDescriptions,  // without buffers in device memory, which may be missing
  kNoBuffers,
};

// Reads the handles of aclopCompileAndExecute. Checks that each is not null or destroyed, that all sizes are known, and
// that the buffer is as large as its description.
Status read_tensors(const char* role, int count, const aclTensorDesc* const* descs, const aclDataBuffer* const* buffers,
                    Reading reading, std::vector<RegistryTensor>* out);
// The same of descriptions that the caller keeps.
Status read_tensors(const char* role, std::span<const aclTensorDesc> descs, const aclDataBuffer* const* buffers,
                    std::vector<RegistryTensor>* out);
// Null means no attributes.
Status read_attributes(const aclopAttr* attributes, std::shared_ptr<const aclopAttr>* out);

// A call's arguments; without buffers for descriptions alone.
struct CallArguments {
  const char* type;
  int input_count;
  const aclTensorDesc* const* input_descs;
  const aclDataBuffer* const* inputs;
  int output_count;
  const aclTensorDesc* const* output_descs;
  const aclDataBuffer* const* outputs;
  const aclopAttr* attributes;
};
// Reads all of them.
Status read_call(const CallArguments& arguments, Reading reading, RegistryCall* call);

Status check_kinds(aclopEngineType engine, aclopCompileType compile_type);

// Everything of the call except addresses: equal keys mean the same compiled operator.
std::string key_of(const RegistryCall& call);

}  // namespace softnpu
