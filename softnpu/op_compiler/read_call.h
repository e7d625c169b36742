#pragma once

#include <string>

#include "acl/acl_op.h"
#include "nnopbase/typed_call.h"

namespace softnpu {

// Reads the handles of aclopCompileAndExecute. Each is checked: null, destroyed, a size that is not known, a buffer
// that is smaller than its description.
Status read_tensors(const char* role, int count, const aclTensorDesc* const* descs, const aclDataBuffer* const* buffers,
                    std::vector<TypedTensor>* out);
// Null stands for no attributes.
Status read_attributes(const aclopAttr* attributes, std::shared_ptr<const aclopAttr>* out);

// All of the call but addresses, so that equal keys mean one compiled operator.
std::string key_of(const TypedCall& call);

}  // namespace softnpu
