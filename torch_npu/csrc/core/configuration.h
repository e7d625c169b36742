#pragma once
// The configuration file of aclInit: TORCH_ACL_INIT_CONFIG_PATH, which torch_npu/npu/_acl_configuration.py checks.

#include <string>

namespace torch_npu {

// To be called before the runtime starts. `file` is passed to aclInit unless it is empty. If `error` is not empty, it
// is what the start of the runtime throws.
void set_configuration(const std::string& file, const std::string& error);

}  // namespace torch_npu
