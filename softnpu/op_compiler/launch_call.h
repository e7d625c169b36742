#pragma once

#include <span>

#include "acl/acl_base.h"
#include "nnopbase/registry_call.h"

namespace softnpu {

// Compiles the call, or finds it in the cache, and enqueues it. Errors contain the type name: a program that calls many
// operators through one function has no other way to tell them apart.
Status launch(RegistryCall* call, aclrtStream stream);

// Compiles the call alone, for which numbers in host memory may be missing. Errors contain the type name.
Status compile(const RegistryCall& call);

// Waits for sizes that the run determines, and writes them into the descriptions.
Status report_sizes(std::span<const RegistryTensor> outputs, aclTensorDesc* const* descs, aclrtStream stream);

}  // namespace softnpu
