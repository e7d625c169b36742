#pragma once
// Process groups by the names of their communicators: what operators with an argument `hcom` name.

#include <c10/util/intrusive_ptr.h>

#include <torch/csrc/distributed/c10d/Backend.hpp>

#include <string>

namespace torch_npu {

// From now on `name` means `group`, as long as that lives.
void name_group(const std::string& name, c10d::Backend& group);

// Throws where no group that lives has the name.
c10::intrusive_ptr<c10d::Backend> group_named(const std::string& name);

}  // namespace torch_npu
